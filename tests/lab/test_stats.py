"""Statistics over seeds: against rliable, by hand, and where there is little or nothing to average."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rliable import metrics

from ewok.errors import ArgumentError
from ewok.lab import stats

SHAPES = [(1, 1), (2, 3), (3, 2), (4, 1), (5, 4), (7, 3), (10, 9), (40, 5)]


def scores(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Random scores, with ties among them."""
    return np.random.default_rng(seed).normal(200.0, 100.0, shape).round(-1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_aggregates_are_those_of_rliable_point_by_point(shape: tuple[int, int], seed: int) -> None:
    ours = scores(shape, seed)
    points = [ours[:, [index]] for index in range(shape[1])]
    np.testing.assert_allclose(stats.iqm(ours), [metrics.aggregate_iqm(point) for point in points], rtol=1e-14)
    np.testing.assert_allclose(stats.mean(ours), [metrics.aggregate_mean(point) for point in points], rtol=1e-14)
    # rliable's median is over tasks, of means over runs: seeds are its tasks when there is one run
    np.testing.assert_array_equal(stats.median(ours), [metrics.aggregate_median(point.T) for point in points])


@pytest.mark.parametrize("shape", SHAPES)
def test_probability_of_improvement_is_that_of_rliable_point_by_point(shape: tuple[int, int]) -> None:
    ours, theirs = scores(shape, 1), scores((shape[0] + 3, shape[1]), 2)
    each = [metrics.probability_of_improvement(ours[:, [i]], theirs[:, [i]]) for i in range(shape[1])]
    np.testing.assert_allclose(stats.probability_of_improvement(ours, theirs), each, rtol=1e-12)
    np.testing.assert_allclose(stats.probability_of_improvement(ours, ours), 0.5)


def test_iqm_by_hand() -> None:
    assert stats.iqm([1.0, 2.0, 3.0, 100.0]) == 2.5
    assert stats.iqm([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 700.0]) == 3.5
    assert stats.iqm([1.0, 2.0, 600.0]) == 201.0  # below four nothing is cut
    np.testing.assert_array_equal(stats.iqm(np.eye(4) * 8.0, axis=1), [0.0, 0.0, 0.0, 0.0])


def test_one_seed_is_its_own_aggregate() -> None:
    row = scores((1, 6))
    for aggregate in (stats.iqm, stats.mean, stats.median):
        np.testing.assert_array_equal(aggregate(row), row[0])


def test_constant_scores_stay_what_they_are() -> None:
    flat = np.full((9, 4), 0.1)
    for aggregate in (stats.iqm, stats.mean, stats.median):
        np.testing.assert_allclose(aggregate(flat), 0.1, rtol=1e-15)
    np.testing.assert_allclose(stats.area(flat, [1.0, 2.0, 5.0, 50.0], "log"), 0.1, rtol=1e-15)
    np.testing.assert_array_equal(stats.worst(flat), 0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "statistic",
    [
        stats.iqm,
        stats.mean,
        stats.median,
        stats.worst,
        stats.seed_means,
        lambda x: stats.area(x, [1.0, 2.0, 3.0], "linear"),
        lambda x: stats.probability_of_improvement(x, np.ones((2, 3))),
    ],
)
def test_scores_that_are_not_finite_are_an_error_that_says_where(statistic: object, bad: float) -> None:
    array = np.ones((5, 3))
    array[3, 1] = bad
    with pytest.raises(ArgumentError, match=r"must be finite numbers, but it is '1 of 15 are not, the first at \[3, 1"):
        statistic(array)  # type: ignore[operator]


def test_episodes_are_averaged_out() -> None:
    returns = scores((3, 2, 30))
    np.testing.assert_array_equal(stats.seed_means(returns), returns.mean(axis=2))
    np.testing.assert_array_equal(stats.seed_means(returns[:, :, 0]), returns[:, :, 0])
    for shape in [(3,), (0, 2), (2, 0, 4), (1, 2, 3, 4)]:
        with pytest.raises(ArgumentError, match=r"`returns` must be of shape \(seeds, points\)"):
            stats.seed_means(np.zeros(shape))


def test_area_is_the_mean_over_the_axis() -> None:
    rising = np.array([[0.0, 10.0, 30.0]])
    assert stats.area(rising, [0.0, 1.0, 3.0], "linear") == 15.0
    # over one decade and then two: (5 * 1 + 20 * 2) / 3
    assert stats.area(rising, [0.1, 1.0, 100.0], "log") == pytest.approx(15.0)
    assert stats.area([[7.0]], [9.8], "linear") == 7.0


@given(st.integers(1, 6), st.integers(2, 8), st.integers(0, 1000))
def test_area_does_not_depend_on_how_fine_the_grid_is(seeds: int, points: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.uniform(0.1, 100.0, points))
    heights = rng.normal(size=(seeds, points))
    for scale in ("linear", "log"):
        at = stats.positions(values, scale)  # type: ignore[arg-type]
        between = np.sort(np.concatenate([at, (at[1:] + at[:-1]) / 2]))
        finer = np.array([np.interp(between, at, row) for row in heights])
        exact = values if scale == "linear" else np.log10(values)
        np.testing.assert_array_equal(at, exact)
        coarse = stats.area(heights, values, scale)  # type: ignore[arg-type]
        np.testing.assert_allclose(stats.area(finer, between, "linear"), coarse, atol=1e-9)


def test_a_grid_that_cannot_be_an_axis_is_refused() -> None:
    heights = np.ones((2, 3))
    with pytest.raises(ArgumentError, match="`values` must be positive on a log axis"):
        stats.area(heights, [0.0, 1.0, 2.0], "log")
    with pytest.raises(ArgumentError, match="`values` must be in ascending order"):
        stats.area(heights, [0.0, 2.0, 1.0], "linear")
    with pytest.raises(ArgumentError, match="as many as the scores have points, 3"):
        stats.area(heights, [0.0, 2.0], "linear")
    with pytest.raises(ArgumentError, match="`scale` must be 'linear' or 'log'"):
        stats.area(heights, [0.0, 2.0, 3.0], "decades")  # type: ignore[arg-type]


def test_worst_is_the_least_of_each_seed() -> None:
    np.testing.assert_array_equal(stats.worst([[3.0, 1.0, 2.0], [5.0, 9.0, 4.0]]), [1.0, 4.0])

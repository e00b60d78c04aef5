"""Bootstrap intervals: to the last digits those of rliable where both mean the same, and none where seeds are few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rliable import library, metrics

from ewok.errors import ArgumentError
from ewok.lab import stats
from ewok.lab.bootstrap import Bootstrap

SMALL = Bootstrap(num_resamples=400)


def scores(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(200.0, 100.0, shape)


@pytest.mark.parametrize("num_seeds", [5, 8, 21, 40])
def test_intervals_are_those_of_rliable_given_its_draws(num_seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """rliable draws from the global generator, for one point at a time: its very draws give its very interval."""
    drawn = np.random.RandomState(3)
    draws = np.array([drawn.choice(num_seeds, (num_seeds, 1), replace=True)[:, 0] for _ in range(200)])
    monkeypatch.setattr(Bootstrap, "draws", lambda self, num: draws)
    for point in range(3):
        column = scores((num_seeds, 1), point)
        kept = np.random.get_state()
        np.random.seed(3)
        value, interval = library.get_interval_estimates(
            {"x": column}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=200
        )
        np.random.set_state(kept)
        ours = Bootstrap(num_resamples=200).estimate(column)
        np.testing.assert_allclose(ours.value, value["x"], rtol=1e-13)
        np.testing.assert_allclose([ours.low, ours.high], interval["x"], rtol=1e-12)


@pytest.mark.slow
def test_intervals_agree_with_those_of_rliable_by_draws_of_their_own() -> None:
    array = scores((40, 6))
    ours = Bootstrap(num_resamples=20_000).estimate(array)
    for point in range(6):
        _, interval = library.get_interval_estimates(
            {"x": array[:, [point]]}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=20_000
        )
        width = float(interval["x"][1, 0] - interval["x"][0, 0])
        assert ours.low is not None
        assert ours.high is not None
        assert abs(ours.low[point] - interval["x"][0, 0]) < 0.05 * width
        assert abs(ours.high[point] - interval["x"][1, 0]) < 0.05 * width


def test_the_same_seed_gives_the_same_interval() -> None:
    array = scores((12, 5))
    one, two, other = SMALL.estimate(array), SMALL.estimate(array), Bootstrap(num_resamples=400, seed=1).estimate(array)
    np.testing.assert_array_equal(one.low, two.low)
    np.testing.assert_array_equal(one.high, two.high)
    assert not np.array_equal(one.low, other.low)


def test_a_point_is_resampled_alike_whatever_stands_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    array = scores((12, 50))
    alone = SMALL.estimate(array[:, 7])
    monkeypatch.setattr("ewok.lab.bootstrap._BLOCK", 3 * 12 * 400)  # three points at a time
    together = SMALL.estimate(array)
    assert together.low is not None
    assert alone.low == together.low[7]
    assert alone.value == together.value[7]


def test_a_seeds_row_stays_together() -> None:
    """Seeds that are good everywhere or bad everywhere: a score over the grid is as uncertain as one point is."""
    skill = scores((20, 1))
    grid = np.repeat(skill, 30, axis=1)
    whole = SMALL.estimate(stats.area(grid, np.arange(30.0), "linear"))
    point = SMALL.estimate(skill[:, 0])
    np.testing.assert_allclose([whole.low, whole.high], [point.low, point.high], rtol=1e-12)


@pytest.mark.parametrize("aggregate", [stats.iqm, stats.mean, stats.median])
def test_intervals_hold_the_truth_about_as_often_as_they_say(aggregate: stats.Aggregate) -> None:
    estimate = SMALL.estimate(np.random.default_rng(5).normal(size=(25, 1000)), aggregate)
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0.90 < np.mean((estimate.low <= 0.0) & (estimate.high >= 0.0)) < 0.975


@pytest.mark.parametrize("num_seeds", [1, 2, 4])
def test_no_interval_is_claimed_below_five_seeds(num_seeds: int) -> None:
    array = scores((num_seeds, 3))
    for estimate in (SMALL.estimate(array), SMALL.difference(array, array), SMALL.improvement(array, array)):
        assert estimate.low is None
        assert estimate.high is None
        assert estimate.num_seeds == num_seeds
    assert SMALL.improvement(scores((9, 3)), array).low is None


def test_constant_scores_have_an_interval_of_no_width() -> None:
    flat = np.full((6, 2), 3.0)
    estimate = SMALL.estimate(flat)
    for ends in (estimate.value, estimate.low, estimate.high):
        np.testing.assert_array_equal(ends, [3.0, 3.0])
    np.testing.assert_array_equal(SMALL.improvement(flat, flat).low, 0.5)


def test_differences_are_paired() -> None:
    """A method that is better by 10 on every seed is so beyond doubt, however much seeds differ."""
    theirs = scores((10, 4))
    estimate = SMALL.difference(theirs + 10.0, theirs)
    for ends in (estimate.value, estimate.low, estimate.high):
        np.testing.assert_allclose(ends, 10.0)
    with pytest.raises(ArgumentError, match="Keep the seeds that both have"):
        SMALL.difference(theirs, theirs[:9])


def test_probability_of_improvement_has_the_interval_of_its_resamples() -> None:
    ours, theirs = scores((8, 2), 1), scores((6, 2), 2) - 50.0
    estimate = SMALL.improvement(ours, theirs)
    left, right = SMALL.draws(8), SMALL.draws(6, stream=1)
    slow = [stats.probability_of_improvement(ours[i], theirs[j]) for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(estimate.value, stats.probability_of_improvement(ours, theirs))
    np.testing.assert_allclose([estimate.low, estimate.high], np.quantile(slow, [0.025, 0.975], axis=0), rtol=1e-12)


def test_equally_many_seeds_are_not_yet_the_same_seeds() -> None:
    """Rows that belong together are resampled together; others are not, however many there are."""
    theirs = scores((8, 3))
    alike, apart = (SMALL.improvement(theirs + 30.0, theirs, paired=paired) for paired in (True, False))
    left, right = SMALL.draws(8), SMALL.draws(8, stream=1)
    slow = [stats.probability_of_improvement(theirs[i] + 30.0, theirs[j]) for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose([apart.low, apart.high], np.quantile(slow, [0.025, 0.975], axis=0), rtol=1e-12)
    np.testing.assert_array_equal(alike.value, apart.value)
    assert np.all(alike.high - alike.low < apart.high - apart.low)
    with pytest.raises(ArgumentError, match="as many as ours, if they are paired"):
        SMALL.improvement(theirs, theirs[:6], paired=True)


def test_scores_that_are_not_finite_or_not_there_are_errors() -> None:
    with pytest.raises(ArgumentError, match=r"`theirs` must be finite numbers.*the first at \[0\]"):
        SMALL.difference([1.0, 2.0], [np.nan, 2.0])
    with pytest.raises(ArgumentError, match="`scores` must be scores of one or more seeds"):
        SMALL.estimate(np.zeros((0, 3)))
    with pytest.raises(ArgumentError, match="`num_resamples` must be at least 100"):
        Bootstrap(num_resamples=3)
    with pytest.raises(ArgumentError, match="`confidence` must be between 0 and 1"):
        Bootstrap(confidence=95)


@given(st.integers(5, 12), st.floats(-100.0, 100.0), st.floats(0.1, 10.0), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_intervals_move_with_their_data(num_seeds: int, shift: float, scale: float, seed: int) -> None:
    """In other units, from another zero, in another order of points: the same interval."""
    array = np.random.default_rng(seed).normal(size=(num_seeds, 4))
    plain, moved = SMALL.estimate(array), SMALL.estimate(shift + scale * array[:, ::-1])
    for one, other in ((plain.low, moved.low), (plain.value, moved.value), (plain.high, moved.high)):
        assert one is not None
        assert other is not None
        np.testing.assert_allclose(other[::-1], shift + scale * one, atol=1e-9)
    assert plain.low is not None
    assert plain.high is not None
    assert np.all(array.min(axis=0) <= plain.low)
    assert np.all(plain.low <= plain.high)
    assert np.all(plain.high <= array.max(axis=0))

"""What N samples and one choice amount to: every draw counted, or sampled with error bars."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ewok.errors import ArgumentError
from ewok.tabular import KL, TabularMDP, estimated_kernel, robust_value_iteration, worst_kernel
from ewok.worst.tilt import kappa_of_radius

from ..worst.exact import expected_kernel
from .worlds import garnet, machine


@given(
    seed=st.integers(0, 10_000),
    size=st.integers(2, 4),
    num_samples=st.integers(1, 6),
    tempering=st.sampled_from([{"kappa": 0.05}, {"kappa": 1.0}, {"radius": 0.0}, {"radius": 0.3}, {"radius": 9.0}]),
)
@settings(max_examples=60, deadline=None)
def test_every_draw_is_counted(seed: int, size: int, num_samples: int, tempering: dict[str, float]) -> None:
    """As by summing over all ways the draws can fall, tilting each by what `WorstKernel` tilts by."""
    mdp = garnet(5, 2, size, seed=seed)
    value = np.random.default_rng(seed).normal(size=5)
    estimate = estimated_kernel(mdp, value, num_samples, **tempering)

    def kappa_of(drawn: np.ndarray) -> float:
        return tempering.get("kappa") or min(kappa_of_radius(drawn, tempering["radius"]), 1e9)

    scores = mdp.entry_rewards + mdp.discount * value[mdp.next_states]
    for k in range(mdp.num_pairs):
        entries = mdp.entries(k)
        expected = expected_kernel(mdp.probabilities[entries], scores[entries], num_samples, kappa_of)
        np.testing.assert_allclose(estimate.rows[entries], expected, atol=1e-7)
    np.testing.assert_array_equal(estimate.errors, 0.0)


@pytest.mark.parametrize("tempering", [{"kappa": 0.3}, {"radius": 0.2}])
def test_sampled_draws_are_as_far_off_as_their_error_bars_say(
    tempering: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    mdp = garnet(20, 2, 4)
    value = np.random.default_rng(1).normal(size=20)
    counted = estimated_kernel(mdp, value, 8, **tempering)
    monkeypatch.setattr("ewok.tabular.estimate._MOST_DRAWS", 0)
    sampled = estimated_kernel(mdp, value, 8, **tempering, rng=np.random.default_rng(2), num_draws=2_000)
    again = estimated_kernel(mdp, value, 8, **tempering, rng=np.random.default_rng(2), num_draws=2_000)
    np.testing.assert_array_equal(sampled.rows, again.rows)
    assert np.all(counted.errors == 0.0)
    assert np.all((sampled.errors > 0.0) & (sampled.errors < 0.02))
    deviations = (sampled.rows - counted.rows) / sampled.errors
    assert 0.8 < deviations.std() < 1.2, "160 of them, nearly independent"
    assert abs(deviations).max() < 4.5


def test_it_comes_to_the_exact_worst_kernel_as_samples_grow_and_the_radius_stays() -> None:
    mdp = garnet(6, 2, 3, seed=5)
    solution = robust_value_iteration(mdp, KL(0.1))
    exact = worst_kernel(mdp, solution.value, KL(0.1)).rows
    away = {n: abs(estimated_kernel(mdp, solution.value, n, radius=0.1).rows - exact).max() for n in (5, 20, 80, 160)}
    assert away[20] < 0.6 * away[5]
    assert away[160] < 0.65 * away[80], "about as 1 / N"
    assert away[160] < 0.01


def test_with_kappa_it_comes_to_the_tilted_kernel() -> None:
    mdp = TabularMDP.from_entries([0] * 3, [0] * 3, [1] * 3, [0.2, 0.3, 0.5], [0.0, 1.0, 2.0], discount=0.9)
    tilted = mdp.probabilities * np.exp(-np.array([0.0, 1.0, 2.0]) / 0.5)
    estimate = estimated_kernel(mdp, np.zeros(2), 150, kappa=0.5)
    np.testing.assert_allclose(estimate.rows, tilted / tilted.sum(), atol=0.01)


def test_one_sample_or_no_radius_is_the_nominal_kernel() -> None:
    mdp = garnet(5, 2, 3)
    for estimate in (
        estimated_kernel(mdp, np.arange(5.0), 1, kappa=0.01),
        estimated_kernel(mdp, np.arange(5.0), 9, radius=0.0),
        estimated_kernel(mdp, np.arange(5.0), 9, kappa=math.inf),
    ):
        np.testing.assert_allclose(estimate.rows, mdp.probabilities, atol=1e-12)


def test_samples_are_never_as_bad_as_the_exact_worst_and_costs_are_made_larger() -> None:
    """N samples leave out bad outcomes at times, and can carry no more than KL = log N."""
    mdp = machine(0.9)
    value = robust_value_iteration(mdp, KL(0.3), tolerance=1e-6).value
    exact = worst_kernel(mdp, value, KL(0.3))
    means = [np.add.reduceat(row * exact.scores, mdp.row_ptr[:-1]) for row in (exact.rows, mdp.probabilities)]
    estimate = estimated_kernel(mdp, value, 10, radius=0.3)
    mean = np.add.reduceat(estimate.rows * exact.scores, mdp.row_ptr[:-1])
    assert np.all(means[0] <= mean + 1e-9)
    assert np.all(mean <= means[1] + 1e-9)
    np.testing.assert_array_equal(estimate.kernel.probabilities, estimate.rows)


def test_a_row_of_many_outcomes_needs_a_generator() -> None:
    mdp = garnet(40, 1, 30)
    with pytest.raises(ArgumentError, match="`rng` must be a Generator, for rows too large to enumerate"):
        estimated_kernel(mdp, np.zeros(40), 10, kappa=0.1)
    estimate = estimated_kernel(mdp, np.arange(40.0), 10, kappa=0.1, rng=np.random.default_rng(0), num_draws=100)
    np.testing.assert_allclose(np.add.reduceat(estimate.rows, mdp.row_ptr[:-1]), 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of the two, but it is 'neither'"),
        ({"kappa": 0.1, "radius": 0.1}, "exactly one of the two, but it is 'kappa=0.1 and radius=0.1'"),
        ({"kappa": 0.0}, "`kappa` must be greater than 0"),
        ({"kappa": math.nan}, "`kappa` must be greater than 0"),
        ({"radius": -0.1}, "`radius` must be at least 0"),
        ({"kappa": 0.1, "num_samples": 0}, "`num_samples` must be at least 1"),
        ({"kappa": 0.1, "value": np.zeros(3)}, r"`value` must be of shape \(5,\)"),
        ({"kappa": 0.1, "num_draws": 0}, "`num_draws` must be at least 2"),
    ],
)
def test_what_is_wrong_is_named(options: dict[str, object], message: str) -> None:
    given = {"value": np.zeros(5), "num_samples": 3} | options
    with pytest.raises(ArgumentError, match=message):
        estimated_kernel(garnet(5, 2, 2), **given)  # type: ignore[arg-type]

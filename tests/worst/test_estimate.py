"""The kernel that N draws and one choice amount to: against enumeration, simulation and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ewok.worst.estimate import estimated_ratios, exact_ratio, kl_from_nominal, total_variation
from ewok.worst.tilt import tilt

NUMS = [1, 2, 5, 15, 100]


@pytest.mark.parametrize("kappa", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("num_samples", [2, 3, 7])
def test_it_is_what_enumerating_every_draw_gives(kappa: float, num_samples: int) -> None:
    tabular = pytest.importorskip("ewok.tabular", reason="needs the tables: pip install 'ewok[tabular]'")
    p, scores = np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.0, -1.0, 0.7, 2.0])
    mdp = tabular.TabularMDP.from_arrays(np.tile(p, (4, 1, 1)), np.zeros(4), discount=0.5)
    enumerated = tabular.estimated_kernel(mdp, 2.0 * scores, num_samples, kappa=kappa).rows[mdp.entries(0)]
    [ratio] = estimated_ratios(scores, [num_samples], kappa, p)
    np.testing.assert_allclose(p * ratio, enumerated, rtol=1e-8)


def test_it_is_what_simulating_gives() -> None:
    rng = np.random.default_rng(0)
    scores, num_samples, num_draws = rng.normal(size=6), 4, 40_000
    drawn = rng.integers(len(scores), size=(num_draws, num_samples))
    weights = np.array([tilt(scores[row], 0.5).weights for row in drawn])
    kept = np.bincount(drawn.ravel(), weights.ravel(), minlength=len(scores)) / num_draws
    [ratio] = estimated_ratios(scores, [num_samples], 0.5)
    np.testing.assert_allclose(ratio / len(scores), kept, atol=4e-3)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20), st.floats(0.01, 100.0))
def test_ratios_are_densities_and_no_sample_is_worth_more_than_n(values: list[float], kappa: float) -> None:
    scores = np.array(values)
    ratios = estimated_ratios(scores, NUMS, kappa)
    np.testing.assert_allclose(ratios.mean(axis=1), 1.0, rtol=1e-7)
    np.testing.assert_allclose(ratios[0], 1.0, rtol=1e-7)  # of one draw there is no choice
    assert (ratios <= np.array(NUMS)[:, None] * (1.0 + 1e-7)).all()
    order = np.argsort(scores)
    assert (np.diff(ratios[:, order], axis=1) <= 1e-7 * np.array(NUMS)[:, None]).all()


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.floats(0.05, 100.0))
def test_more_samples_come_closer_and_carry_more(values: list[float], kappa: float) -> None:
    scores = np.array(values)
    exact, ratios = exact_ratio(scores, kappa), estimated_ratios(scores, NUMS, kappa)
    distances = [total_variation(ratio, exact) for ratio in ratios]
    radii = [kl_from_nominal(ratio) for ratio in ratios]
    assert (np.diff(distances) <= 1e-7).all()
    assert (np.diff(radii) >= -1e-7).all()
    assert all(radius <= math.log(num) + 1e-7 for radius, num in zip(radii, NUMS, strict=True))
    assert radii[-1] <= kl_from_nominal(exact) + 1e-7


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.0])
def test_a_normal_score_has_the_closed_form(spread: float) -> None:
    """For v ~ N(0, spread^2) and kappa = 1 the exact worst kernel is N(-spread^2, spread^2): KL spread^2 / 2."""
    z = np.linspace(-9.0, 9.0, 4001)
    p = np.exp(-0.5 * z * z)
    p /= p.sum()
    exact = exact_ratio(spread * z, 1.0, p)
    np.testing.assert_allclose(exact, np.exp(-spread * z - 0.5 * spread**2), rtol=1e-6)
    assert kl_from_nominal(exact, p) == pytest.approx(0.5 * spread**2, rel=1e-6)
    shift = math.erf(0.5 * spread / math.sqrt(2.0))
    assert total_variation(exact, np.ones_like(z), p) == pytest.approx(shift, abs=1e-5)
    [many] = estimated_ratios(spread * z, [10**6], 1.0, p)
    assert total_variation(many, exact, p) < 1e-3


def test_drawn_next_states_stand_for_the_kernel_they_are_drawn_from() -> None:
    """The distance of a normal kernel at spread = kappa, from 2,000 draws at each of 20 states."""
    z = np.linspace(-9.0, 9.0, 4001)
    p = np.exp(-0.5 * z * z) / np.exp(-0.5 * z * z).sum()
    nums = [2, 15]
    known = [total_variation(ratio, exact_ratio(z, 1.0, p), p) for ratio in estimated_ratios(z, nums, 1.0, p)]
    found = np.zeros((20, len(nums)))
    for row, scores in zip(found, np.random.default_rng(0).normal(size=(20, 2000)), strict=True):
        exact = exact_ratio(scores, 1.0)
        row[:] = [total_variation(ratio, exact) for ratio in estimated_ratios(scores, nums, 1.0)]
    np.testing.assert_allclose(found.mean(axis=0), known, rtol=0.05)

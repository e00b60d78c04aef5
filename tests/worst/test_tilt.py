"""The tilt: what must hold for any values, and golden numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ewok.worst.tilt import effective_sample_size, kappa_of_radius, kl_from_uniform, omega, spread, tilt

ANY_VALUES = arrays(np.float64, st.integers(1, 30), elements=st.floats(allow_nan=False, allow_infinity=False, width=64))
VALUES = arrays(np.float64, st.integers(2, 30), elements=st.floats(-1e6, 1e6).map(lambda v: round(v, 6)))
KAPPAS = st.floats(1e-6, 1e6)


@given(ANY_VALUES, st.floats(1e-300, 1e300))
def test_weights_are_a_distribution_at_any_scale(values: np.ndarray, kappa: float) -> None:
    tilted = tilt(values, kappa)
    assert np.all(tilted.weights >= 0.0)
    assert tilted.weights.sum() == pytest.approx(1.0)
    assert 0.0 <= tilted.kl <= math.log(len(values)) + 1e-9
    assert 1.0 - 1e-9 <= tilted.ess <= len(values) + 1e-9


@given(VALUES, KAPPAS)
def test_worse_values_weigh_more(values: np.ndarray, kappa: float) -> None:
    weights = tilt(values, kappa).weights
    order = np.argsort(values)
    assert np.all(np.diff(weights[order]) <= 0.0)


@given(VALUES, KAPPAS, st.floats(-100, 100))
def test_shifting_all_values_changes_nothing(values: np.ndarray, kappa: float, shift: float) -> None:
    """The paper subtracts the mean of v, which cancels when the weights are normalised."""
    tolerance = 1e-9 * (1 + (abs(values).max() + 100) / kappa)
    np.testing.assert_allclose(tilt(values + shift, kappa).weights, tilt(values, kappa).weights, atol=tolerance)


@given(VALUES, KAPPAS)
def test_proposition_3_3(values: np.ndarray, kappa: float) -> None:
    """omega = <P, v> + beta kappa, where beta is the KL of P from the nominal kernel."""
    tilted = tilt(values, kappa)
    scale = abs(values).max() + kappa + 1.0
    assert omega(values, kappa) == pytest.approx(
        tilted.weights @ values + kl_from_uniform(tilted.weights) * kappa, abs=1e-9 * scale
    )


@given(VALUES, KAPPAS)
def test_proposition_3_4(values: np.ndarray, kappa: float) -> None:
    """<P, v> <= omega <= <P-bar, v>."""
    threshold, slack = omega(values, kappa), 1e-9 * (abs(values).max() + kappa + 1.0)
    assert tilt(values, kappa).weights @ values <= threshold + slack
    assert threshold <= values.mean() + slack


@given(VALUES, KAPPAS)
def test_the_reported_kl_is_the_weights_kl(values: np.ndarray, kappa: float) -> None:
    tilted = tilt(values, kappa)
    assert tilted.kl == pytest.approx(kl_from_uniform(tilted.weights), rel=1e-6, abs=1e-9)


LARGE_VALUES = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e300, 1e300))


@given(LARGE_VALUES, st.floats(0.0, 10.0).map(lambda radius: round(radius, 6)))
def test_radius_is_met(values: np.ndarray, radius: float) -> None:
    """The weights' KL from uniform is the radius, or as large as it can be, or zero where values are equal."""
    kl = tilt(values, kappa_of_radius(values, radius)).kl
    quarter = values / 4  # whose span is a number
    worst = np.count_nonzero(quarter - quarter.min() <= 1e-13 * np.ptp(quarter))
    largest = 0.0 if np.ptp(quarter) == 0.0 else math.log(len(values) / worst)
    assert kl == pytest.approx(min(radius, largest), rel=1e-6, abs=1e-9)


@given(VALUES, st.floats(1e-12, 1e-3))
def test_small_radii_are_met_too(values: np.ndarray, radius: float) -> None:
    if np.ptp(values) > 0.0:
        weights = tilt(values, kappa_of_radius(values, radius)).weights
        assert kl_from_uniform(weights) == pytest.approx(radius, rel=1e-3)


@given(VALUES, st.floats(0.01, 2.0))
def test_kappa_of_radius_scales_with_the_values(values: np.ndarray, radius: float) -> None:
    kappa = kappa_of_radius(values, radius)
    if 0.0 < kappa < math.inf:
        assert kappa_of_radius(8.0 * values, radius) == pytest.approx(8.0 * kappa, rel=1e-6)


@given(VALUES, st.floats(0.01, 1.0), st.floats(0.01, 1.0))
def test_a_larger_radius_is_colder_and_worse(values: np.ndarray, one: float, other: float) -> None:
    small, large = sorted((one, other))
    warm, cold = kappa_of_radius(values, small), kappa_of_radius(values, large)
    assert cold <= warm * (1 + 1e-9)
    slack = 1e-7 * (abs(values).max() + 1.0)
    assert tilt(values, cold).weights @ values <= tilt(values, warm).weights @ values + slack


def test_edges() -> None:
    values = np.array([1.0, 0.0, 0.0, 3.0])
    assert kappa_of_radius(values, 0.0) == math.inf
    np.testing.assert_array_equal(tilt(values, math.inf).weights, [0.25] * 4)
    assert kappa_of_radius(values, math.log(2)) == 0.0  # all weight on the two worst is at KL log 4/2
    assert kappa_of_radius(values, 5.0) == 0.0
    np.testing.assert_array_equal(tilt(values, 0.0).weights, [0.0, 0.5, 0.5, 0.0])
    assert kappa_of_radius(np.full(4, 7.0), 0.3) == math.inf
    assert kappa_of_radius(np.array([2.0]), 0.3) == math.inf
    np.testing.assert_array_equal(tilt(np.array([2.0]), 0.1).weights, [1.0])
    assert omega(values, math.inf) == 1.0
    assert omega(values, 0.0) == 0.0


# Two equally likely outcomes 0 and 1: the smallest expectation within KL beta, solved to twelve digits.
@pytest.mark.parametrize(("beta", "expected"), [(0.01, 0.429407429727), (0.1, 0.280205373839), (0.4, 0.085984308301)])
def test_two_outcomes_worked_out(beta: float, expected: float) -> None:
    values = np.array([0.0, 1.0])
    assert tilt(values, kappa_of_radius(values, beta)).weights @ values == pytest.approx(expected, abs=1e-11)


def test_the_threshold_is_the_robust_value_dual() -> None:
    """max over kappa of omega - beta kappa is the smallest <P, v> within the radius (duality)."""
    values, beta = np.array([0.3, -1.0, 0.8, 2.0, 0.1]), 0.25
    kappas = np.geomspace(1e-3, 1e3, 20_001)
    dual = max(omega(values, kappa) - beta * kappa for kappa in kappas)
    primal = tilt(values, kappa_of_radius(values, beta)).weights @ values
    assert dual == pytest.approx(primal, abs=1e-6)


def test_index_follows_the_weights() -> None:
    tilted = tilt(np.array([0.0, 1.0, 50.0]), 1.0)
    chances = (np.arange(100_000) + 0.5) / 100_000
    counts = np.bincount([tilted.draw(chance) for chance in chances], minlength=3) / len(chances)
    np.testing.assert_allclose(counts, tilted.weights, atol=2e-5)
    assert tilted.draw(0.0) == 0
    assert tilt(np.array([5.0, 0.0]), 1e-9).draw(0.0) == 1  # never one without weight


def test_golden_numbers() -> None:
    values = np.array([1.0, 2.0, 4.0])
    weights = np.exp(-values / 2) / np.exp(-values / 2).sum()
    tilted = tilt(values, 2.0)
    np.testing.assert_allclose(tilted.weights, weights, rtol=1e-15)
    assert tilted.ess == pytest.approx(1 / (weights**2).sum())
    assert effective_sample_size(weights) == pytest.approx(tilted.ess)
    assert spread(values) == pytest.approx(values.std())

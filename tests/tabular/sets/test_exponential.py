"""exp as the sweeps take it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ewok.tabular.compiled import borrowing
from ewok.tabular.sets import kl
from ewok.tabular.sets.exponential import exponential


@borrowing
def each(x, y):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        y[i] = exponential(x[i])


def test_it_is_exp_to_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    x = -np.concatenate([rng.uniform(0.0, 708.0, 20_000), rng.exponential(size=20_000), [0.0, 1e-300, 1e-17, 708.0]])
    y = np.empty_like(x)
    each(x, y)
    assert np.max(np.abs(y - np.exp(x)) / np.spacing(np.exp(x))) <= 2.0


def test_it_never_gets_to_0() -> None:
    y = np.empty(2)
    each(np.array([-709.0, -1e300]), y)
    assert y == pytest.approx(math.exp(-708.0), rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 20])
def test_room_for_whole_vectors_changes_nothing(size: int) -> None:
    """What is beyond the row, whatever it is, does not count."""
    rng = np.random.default_rng(size)
    z, p = rng.normal(size=size), rng.dirichlet(np.ones(size))
    low, high = float(z.min()), float(z.max())
    row = np.empty(size)
    plain = kl.tilt(z, p, low, float(p @ z), high - low, 1.3, row)
    for beyond in (math.nan, -1e300, 1e300):
        roomy, weights = np.full(24, beyond), np.full(24, beyond)
        roomy[:size] = z
        assert kl.tilt(roomy, p, low, float(p @ z), high - low, 1.3, weights) == pytest.approx(plain, rel=1e-12)
        np.testing.assert_allclose(weights[:size], row, rtol=1e-14)

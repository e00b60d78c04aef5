"""One sweep from anywhere proves bounds, and sweeps together only narrow them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ewok.tabular import KL, L1, TabularMDP, robust_value_iteration
from ewok.tabular.bounds import MacQueen, Rounding
from ewok.tabular.operator import Operator

from .worlds import gambler, garnet

WORLDS = {"no end": garnet(6, 3, 3), "ends": gambler(discount=0.9, goal=8)}
EXACT = {name: robust_value_iteration(mdp, KL(0.1), tolerance=1e-11) for name, mdp in WORLDS.items()}


def open_bounds(mdp: TabularMDP) -> tuple[np.ndarray, np.ndarray]:
    return np.full(mdp.num_states, -np.inf), np.full(mdp.num_states, np.inf)


@pytest.mark.parametrize("name", WORLDS)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 1.0, 1e4]), slack=st.floats(0.0, 0.5))
@settings(max_examples=60, deadline=None)
def test_one_sweep_from_anywhere_proves_bounds(name: str, seed: int, scale: float, slack: float) -> None:
    mdp = WORLDS[name]
    value = np.where(mdp.terminal, 0.0, scale * np.random.default_rng(seed).normal(size=mdp.num_states))
    new = Operator(mdp, KL(0.1))(value, slack)
    lower, upper = open_bounds(mdp)
    did = MacQueen(mdp, Rounding(mdp, KL(0.1), mixed=False))(value, new, slack, lower, upper)
    assert np.all(lower <= EXACT[name].upper)
    assert np.all(EXACT[name].lower <= upper)
    assert (upper - lower).max() == pytest.approx(did.left, rel=1e-9, abs=1e-9 * scale) == did.gap
    assert np.all(lower[mdp.terminal] == 0.0)
    assert np.all(upper[mdp.terminal] == 0.0)


def test_bounds_are_only_narrowed() -> None:
    """A later sweep from further off takes nothing back."""
    mdp: Any = WORLDS["no end"]
    operator, bounds = Operator(mdp, KL(0.1)), MacQueen(mdp, Rounding(mdp, KL(0.1), mixed=False))
    lower, upper = open_bounds(mdp)
    near = EXACT["no end"].value
    bounds(near, operator(near), 0.0, lower, upper)
    before = lower.copy(), upper.copy()
    far = near + np.arange(6.0)
    bounds(far, operator(far), 0.0, lower, upper)
    np.testing.assert_array_equal(lower, before[0])
    np.testing.assert_array_equal(upper, before[1])
    assert (upper - lower).max() < 1e-8


@pytest.mark.parametrize(("size", "chance"), [(700, 1.0 / 700.0), (1_000, 0.001), (100, 0.01 + 1e-11)])
@pytest.mark.parametrize("uncertainty", [None, KL(0.1), L1(0.2)])
def test_rounding_over_long_rows_is_counted(size: int, chance: float, uncertainty: Any) -> None:
    """Every state leads everywhere and pays 1: the value is 1 / (1 - gamma) exactly, however the rows are summed."""
    mdp = TabularMDP.from_arrays(np.full((size, 1, size), chance), np.ones(size), discount=0.999)
    exact = 1 / (1 - Fraction(0.999))
    value, bounds = np.full(size, float(exact)), MacQueen(mdp, Rounding(mdp, uncertainty, mixed=False))
    lower, upper = open_bounds(mdp)
    for _ in range(30):
        new = Operator(mdp, uncertainty)(value)
        bounds(value, new, 0.0, lower, upper)
        value = new
    assert Fraction(lower.max()) <= exact <= Fraction(upper.min())

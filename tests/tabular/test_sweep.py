"""Compiled sweeps, beside a few lines of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ewok.tabular import (
    KL,
    L1,
    TabularMDP,
)
from ewok.tabular.operator import Operator

from .worlds import gambler, garnet, machine

WORLDS = {"paid on arrival": garnet(6, 3, 3), "ends": gambler(discount=0.9, goal=8), "paid at once": machine(0.9)}


def dense(mdp: TabularMDP, value: np.ndarray) -> np.ndarray:
    """(K,) <p, r + gamma v>."""
    outcomes = mdp.probabilities * (mdp.entry_rewards + mdp.discount * value[mdp.next_states])
    return np.add.reduceat(outcomes, mdp.row_ptr[:-1])


@pytest.mark.parametrize("name", WORLDS)
def test_a_nominal_sweep_is_a_product_and_a_maximum(name: str) -> None:
    mdp = WORLDS[name]
    value = np.where(mdp.terminal, 0.0, np.random.default_rng(0).normal(size=mdp.num_states))
    expected = np.full(mdp.num_states, -np.inf)
    np.maximum.at(expected, mdp.states, dense(mdp, value))
    np.testing.assert_allclose(Operator(mdp)(value), np.where(mdp.terminal, 0.0, expected), rtol=1e-12)


@pytest.mark.parametrize("name", WORLDS)
def test_a_policys_sweep_is_the_mean_over_its_pairs(name: str) -> None:
    mdp = WORLDS[name]
    value = np.where(mdp.terminal, 0.0, np.random.default_rng(0).normal(size=mdp.num_states))
    shares = 1.0 / np.diff(mdp.state_ptr)[mdp.states]
    expected = np.bincount(mdp.states, weights=shares * dense(mdp, value), minlength=mdp.num_states)
    np.testing.assert_allclose(Operator(mdp, shares=shares)(value), expected, rtol=1e-12)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("uncertainty", [None, KL(0.1), L1(0.2)], ids=repr)
def test_a_frozen_policy_is_worth_what_the_sweep_found(name: str, uncertainty: Any) -> None:
    """Its rows are distributions on the same next states, and paid + gamma <q, v> is T v."""
    mdp = WORLDS[name]
    value = np.where(mdp.terminal, 0.0, np.random.default_rng(0).normal(size=mdp.num_states))
    operator = Operator(mdp, uncertainty)
    for _ in range(30):
        new = operator(value)  # the last temperatures are those of v once nothing moves
    starts, next_states, rows, paid = operator.frozen(value)
    for s in range(mdp.num_states):
        mine = slice(starts[s], starts[s + 1])
        if mdp.terminal[s]:
            assert starts[s] == starts[s + 1]
            assert paid[s] == 0.0
        else:
            np.testing.assert_array_equal(next_states[mine], mdp.next_states[mdp.entries(operator.taken[s])])
            assert rows[mine].sum() == pytest.approx(1.0)
        assert paid[s] + 0.9 * float(rows[mine] @ value[next_states[mine]]) == pytest.approx(new[s], abs=1e-7)

"""Discount 1: solved where values are finite, refused with the reason where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    TabularMDP,
    robust_policy_evaluation,
    robust_value_iteration,
    value_iteration,
)

from .worlds import gambler


def test_the_gambler_needs_no_discount() -> None:
    """Sutton and Barto, Figure 4.3: with a coin of 0.4, bold play reaches the goal from half way with 0.4."""
    solution = value_iteration(gambler(), tolerance=1e-8)
    assert solution.value[[25, 50, 75]] == pytest.approx([0.16, 0.4, 0.64], abs=1e-8)
    robust = robust_value_iteration(gambler(), KL(0.01), tolerance=1e-8)
    q = robust.kernel().probabilities[gambler().row_ptr[gambler().state_ptr[50] + 49]]
    bold = robust_value_iteration(gambler(discount=0.9999), KL(0.01), tolerance=1e-6)
    assert robust.value[50] == pytest.approx(bold.value[50], rel=1e-3)
    assert 0.3 < robust.value[50] < 0.4
    assert 0.0 < q < 1.0


def test_a_shortest_path_needs_no_discount_where_each_step_costs() -> None:
    cliff = TabularMDP.from_gymnasium("CliffWalking-v1", discount=1.0)
    solution = robust_value_iteration(cliff, KL(0.5), tolerance=1e-8)
    assert solution.value[36] == pytest.approx(-13.0, abs=1e-7), "a deterministic kernel has no worse one"
    assert np.all(solution.lower <= solution.value)
    policy = robust_policy_evaluation(cliff, solution.policy, tolerance=1e-8)
    assert policy.value[36] == pytest.approx(-13.0, abs=1e-7)


@given(seed=st.integers(0, 1_000), tolerance=st.sampled_from([1.0, 1e-3]), stop=st.floats(0.15, 0.5))
@settings(max_examples=30, deadline=None)
def test_bounds_without_discount_are_bounds(seed: int, tolerance: float, stop: float) -> None:
    """Random walks that end with some probability at each step; with and without a cost for each."""
    rng = np.random.default_rng(seed)
    kernel = np.zeros((6, 2, 6))
    kernel[:5] = (1.0 - stop) * np.pad(rng.dirichlet(np.ones(5), (5, 2)), ((0, 0), (0, 0), (0, 1)))
    kernel[:5, :, 5] = stop
    for low in (-1.0, 0.05):
        rewards = -np.where(kernel.sum(axis=2) > 0, rng.uniform(low, 1.0, (6, 2)), 0.0)
        mdp = TabularMDP.from_arrays(kernel, rewards, discount=1.0)
        loose = robust_value_iteration(mdp, KL(0.05), tolerance=tolerance)
        tight = robust_value_iteration(mdp, KL(0.05), tolerance=1e-9)
        assert np.all(loose.lower <= tight.upper + 1e-12)
        assert np.all(tight.lower <= loose.upper + 1e-12)


@pytest.mark.parametrize("solve", [value_iteration, lambda mdp: robust_value_iteration(mdp, KL(0.1))])
def test_without_discount_values_must_be_finite(solve: Any) -> None:
    lake = TabularMDP.from_gymnasium("FrozenLake-v1", discount=1.0)
    with pytest.raises(ArgumentError, match="some steps cost nothing"):
        solve(lake)
    with pytest.raises(ArgumentError, match="no policy is sure to reach a terminal state"):
        solve(TabularMDP.from_entries([0, 1], [0, 0], [1, 0], [1, 1], [-1, -1], discount=1.0))


def test_without_discount_the_set_must_not_block_the_way_out() -> None:
    walk = TabularMDP.from_entries([0, 0], [0, 0], [0, 1], [0.5, 0.5], [-1.0, -1.0], discount=1.0)
    assert robust_value_iteration(walk, KL(0.1), tolerance=1e-9).value[0] == pytest.approx(-1.0 / 0.280205373839)
    with pytest.raises(ArgumentError, match="no policy is sure"):
        robust_value_iteration(walk, KL(1.0))
    helped = robust_value_iteration(walk, KL(1.0, optimistic=True), tolerance=1e-9)
    assert helped.value[0] == pytest.approx(-1.0)

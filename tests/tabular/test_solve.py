"""Value iteration: proved bounds, known instances, every set, costs, discount 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    L1,
    L2,
    TV,
    Burg,
    ChiSquare,
    Contamination,
    LInf,
    TabularMDP,
    policy_value,
    robust_policy_evaluation,
    robust_value_iteration,
    value_iteration,
)
from ewok.tabular.sets.worst_row import worst_row

from .worlds import gambler, garnet, machine, river_swim

SETS: list[Any] = [KL, L1, TV, L2, LInf, ChiSquare, Burg, Contamination]


def naive(mdp: TabularMDP, kind: Any, radius: float, sign: float = 1.0, sweeps: int = 3_000) -> np.ndarray:
    """Robust value iteration as the definition says it, with nothing remembered."""
    value, reward = np.zeros(mdp.num_states), mdp.entry_rewards
    for _ in range(sweeps):
        new = np.zeros(mdp.num_states)
        for s in np.flatnonzero(~mdp.terminal):
            best = -np.inf
            for k in range(mdp.state_ptr[s], mdp.state_ptr[s + 1]):
                e = mdp.entries(k)
                z = sign * (reward[e] + mdp.discount * value[mdp.next_states[e]])
                p, scratch = mdp.probabilities[e], np.empty((2, len(z)))
                worst = worst_row(kind.kind, z, p, np.zeros(0), radius, scratch[0], scratch[1])
                best = max(best, sign * worst)
            new[s] = best
        if abs(new - value).max() < 1e-12:
            return new
        value = new
    raise AssertionError("the reference did not converge")


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("optimistic", [False, True])
def test_bounds_hold_the_value_that_the_definition_gives(kind: Any, optimistic: bool) -> None:
    mdp = garnet(12, 3, 4, seed=3)
    exact = naive(mdp, kind, 0.15, -1.0 if optimistic else 1.0)
    solution = robust_value_iteration(mdp, kind(0.15, optimistic=optimistic), tolerance=1e-7)
    assert solution.gap <= 1e-7
    assert np.all(solution.lower <= exact + 1e-11)
    assert np.all(exact <= solution.upper + 1e-11)


@given(
    seed=st.integers(0, 10_000),
    radius=st.floats(1e-4, 2.0),
    discount=st.sampled_from([0.0, 0.5, 0.9, 0.99]),
    tolerance=st.sampled_from([1.0, 1e-2, 1e-5]),
    kind=st.sampled_from(SETS),
)
@settings(max_examples=120, deadline=None)
def test_bounds_are_bounds_however_loose(
    seed: int, radius: float, discount: float, tolerance: float, kind: Any
) -> None:
    mdp = garnet(6, 3, 3, seed=seed, discount=discount)
    loose = robust_value_iteration(mdp, kind(radius), tolerance=tolerance)
    tight = robust_value_iteration(mdp, kind(radius), tolerance=1e-9)
    assert loose.gap <= tolerance
    assert np.all(loose.lower <= tight.upper)
    assert np.all(tight.lower <= loose.upper)
    # The policy is worth at least the lower bound: that is what makes it certified.
    worth = robust_policy_evaluation(mdp, loose.policy, kind(radius), tolerance=1e-9)
    assert np.all(worth.upper >= loose.lower)
    assert np.all(worth.lower <= tight.upper)


def test_three_states_by_hand() -> None:
    """State 0 leads to 1 (worth 10) or 2 (worth 0) with 1/2 each; q(2) at KL 0.1 is 1 - 0.280205373839."""
    mdp = TabularMDP.from_entries(
        [0, 0, 1, 2], [0] * 4, [1, 2, 3, 3], [0.5, 0.5, 1, 1], [0, 0, 10, 0], discount=0.9, initial=[1, 0, 0, 0]
    )
    solution = robust_value_iteration(mdp, KL(0.1), tolerance=1e-10)
    assert solution.value[0] == pytest.approx(9.0 * 0.280205373839, abs=1e-9)
    assert solution.robust_return == pytest.approx(solution.value[0])
    assert solution.kernel().probabilities[:2] == pytest.approx([0.280205373839, 1.0 - 0.280205373839], abs=1e-9)
    with_l1 = robust_value_iteration(mdp, L1(0.2), tolerance=1e-10)
    assert with_l1.value[0] == pytest.approx(9.0 * 0.4)


def test_one_action_with_a_loop_by_hand() -> None:
    """Stay and earn 1 with probability p, or end: v = q (1 + g v), q the worst p within contamination 0.1."""
    mdp = TabularMDP.from_entries([0, 0], [0, 0], [0, 1], [0.8, 0.2], [1.0, 0.0], discount=0.9)
    q = 0.9 * 0.8
    solution = robust_value_iteration(mdp, Contamination(0.1), tolerance=1e-10)
    assert solution.value[0] == pytest.approx(q / (1.0 - 0.9 * q), abs=1e-9)


@pytest.mark.parametrize("discount", [0.9, 0.99])
@pytest.mark.parametrize("make", [river_swim, machine, lambda discount: gambler(discount=discount, goal=20)])
@pytest.mark.parametrize("uncertainty", [None, KL(0.05), L1(0.2)])
def test_known_chains(make: Any, discount: float, uncertainty: Any) -> None:
    """The worst kernel of the solution, solved as an ordinary MDP, has the same value; and the policy earns it."""
    mdp = make(discount)
    scale = float(abs(mdp.rewards).max())
    tolerance = 1e-8 * scale
    if uncertainty is None:
        solution = value_iteration(mdp, tolerance=tolerance)
    else:
        solution = robust_value_iteration(mdp, uncertainty, tolerance=tolerance)
    again = value_iteration(solution.kernel(), tolerance=tolerance)
    np.testing.assert_allclose(again.value, solution.value, atol=10.0 * tolerance / (1.0 - discount))
    exact = policy_value(solution.kernel(), solution.policy)
    np.testing.assert_allclose(exact, solution.value, atol=10.0 * tolerance / (1.0 - discount))


def test_river_swim_is_swum_when_it_pays_and_not_when_the_current_may_be_worse() -> None:
    assert value_iteration(river_swim(0.99), tolerance=1e-3).policy.tolist() == [1] * 6
    cautious = robust_value_iteration(river_swim(0.9), Contamination(0.9), tolerance=1e-3)
    assert cautious.policy[0] == 0


def test_machines_are_repaired_at_the_worst_ages_only() -> None:
    policy = value_iteration(machine(0.9), tolerance=1e-8).policy
    assert policy[0] == 0
    costs = value_iteration(machine(0.9), tolerance=1e-8)
    robust = robust_value_iteration(machine(0.9), KL(0.2), tolerance=1e-8)
    assert np.all(robust.value >= costs.value - 1e-8), "an adversary makes costs larger"
    assert np.all(robust.lower <= robust.upper)
    optimistic = robust_value_iteration(machine(0.9), KL(0.2, optimistic=True), tolerance=1e-8)
    assert np.all(optimistic.value <= costs.value + 1e-8)


def test_costs_are_rewards_negated() -> None:
    mdp = garnet(8, 3, 3, seed=1)
    negated = TabularMDP(**{**vars(mdp), "rewards": -mdp.rewards, "sense": "minimise"})
    one, two = robust_value_iteration(mdp, KL(0.2)), robust_value_iteration(negated, KL(0.2))
    np.testing.assert_allclose(two.value, -one.value)
    np.testing.assert_array_equal(two.policy, one.policy)
    np.testing.assert_allclose(two.lower, -one.upper)


def test_one_radius_each_is_one_radius_each() -> None:
    mdp = garnet(5, 2, 3)
    radii = np.linspace(0.0, 0.5, mdp.num_pairs)
    solution = robust_value_iteration(mdp, KL(radii), tolerance=1e-9)
    kernel = solution.kernel()
    ratio = np.where(kernel.probabilities > 0, kernel.probabilities, 1.0) / mdp.probabilities
    used = np.add.reduceat(kernel.probabilities * np.log(ratio), mdp.row_ptr[:-1])
    np.testing.assert_allclose(used, radii, atol=1e-8)


def test_weights_make_some_states_dearer_to_reach() -> None:
    mdp = garnet(6, 2, 4, seed=2)
    free = robust_value_iteration(mdp, L1(0.3)).robust_return
    dear = robust_value_iteration(mdp, L1(0.3, weights=np.full(6, 3.0))).robust_return
    third = robust_value_iteration(mdp, L1(0.1)).robust_return
    assert free < dear
    assert dear == pytest.approx(third, abs=1e-5)


def test_a_randomised_policy_is_worth_the_mixture_at_each_step() -> None:
    mdp = garnet(5, 2, 3)
    shares = np.full(mdp.num_pairs, 0.5)
    solution = robust_policy_evaluation(mdp, shares, tolerance=1e-9)
    np.testing.assert_allclose(solution.value, policy_value(mdp, shares), atol=1e-8)
    robust = robust_policy_evaluation(mdp, shares, KL(0.1), tolerance=1e-9)
    np.testing.assert_allclose(robust.value, policy_value(robust.kernel(), shares), atol=1e-7)
    assert np.all(robust.value < solution.value)


def test_policies_that_do_not_fit() -> None:
    mdp = garnet(5, 2, 2)
    for policy, message in (
        (np.zeros(4, dtype=int), "whole numbers of shape"),
        (np.full(5, 7), r"one of the actions \[0, 1\] in state 0"),
        (np.full(10, 0.4), "sum to one in state 0"),
        (np.zeros(3), "of shape"),
    ):
        with pytest.raises(ArgumentError, match=message):
            robust_policy_evaluation(mdp, policy)

"""What a solution says of itself; printed, it and other results are one line, however large their arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ewok.tabular import (
    KL,
    L1,
    NotConvergedError,
    TabularMDP,
    estimated_kernel,
    ewok_q_learning,
    finite_horizon,
    policy_value,
    robust_policy_evaluation,
    robust_value_iteration,
    worst_kernel,
)
from ewok.tabular.rivals import projected_gradient_kernel

from .worlds import gambler, garnet, machine

LAKE = "TabularMDP(17 states, 64 pairs, 152 transitions, discount 0.95)"


@pytest.mark.parametrize("mdp", [garnet(6, 3, 3), machine(0.9), gambler(discount=0.9, goal=8)])
@pytest.mark.parametrize("uncertainty", [KL(0.1), KL(0.1, optimistic=True), L1(0.2, per_state=True)], ids=repr)
def test_its_numbers_belong_together(mdp: TabularMDP, uncertainty: Any) -> None:
    """Value halfway between the bounds, return from the initial distribution, and a policy that earns it."""
    solution = robust_value_iteration(mdp, uncertainty, tolerance=1e-8)
    np.testing.assert_allclose(solution.value, 0.5 * (solution.lower + solution.upper))
    assert solution.gap == (solution.upper - solution.lower).max() <= 1e-8
    assert solution.robust_return == pytest.approx(float(mdp.initial @ solution.value))
    np.testing.assert_allclose(policy_value(solution.kernel(), solution.policy), solution.value, atol=1e-6)


def test_the_kernel_of_an_evaluation_is_the_worst_for_that_policy() -> None:
    """With one radius for all actions of a state, it depends on how often each is taken."""
    mdp = garnet(5, 2, 3)
    rare = np.where(np.arange(mdp.num_pairs) % 2 == 0, 0.01, 0.99)
    kernel = robust_policy_evaluation(mdp, rare, L1(0.01, per_state=True)).kernel()
    moved = np.add.reduceat(abs(kernel.probabilities - mdp.probabilities), mdp.row_ptr[:-1])
    np.testing.assert_allclose(moved[0::2], 0.0, atol=1e-12)
    np.testing.assert_allclose(moved[1::2], 0.01, atol=1e-12)


def test_the_error_of_a_search_cut_short_has_costs_as_costs() -> None:
    mdp = machine(0.99)
    with pytest.raises(NotConvergedError) as caught:
        robust_value_iteration(mdp, KL(0.1), max_iterations=5)
    exact = robust_value_iteration(mdp, KL(0.1), tolerance=1e-4)
    assert np.all(caught.value.lower <= exact.upper)
    assert np.all(exact.lower <= caught.value.upper)


@pytest.fixture(scope="module")
def lake() -> TabularMDP:
    return TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95)


def test_an_mdp_tells_its_size_and_discount(lake: TabularMDP) -> None:
    assert repr(lake) == str(lake) == LAKE
    assert repr(lake.with_discount(0.5)).endswith("discount 0.5)")
    assert repr(machine(0.9)).endswith("discount 0.9, costs)")


def test_a_solution_tells_its_return_how_sure_it_is_and_what_it_took(lake: TabularMDP) -> None:
    solution = robust_value_iteration(lake, KL(0.1))
    numbers = f"robust_return={solution.robust_return:.6g}, gap={solution.gap:.1e}"
    assert repr(solution) == f"Solution({numbers}, {solution.iterations} iterations)"
    assert repr(solution.kernel()) == LAKE


def test_steps_and_episodes_are_counted(lake: TabularMDP) -> None:
    one, five = finite_horizon(lake, 1), finite_horizon(lake, 5)
    assert repr(one).endswith(", 1 step)")
    assert repr(five) == f"FiniteHorizonSolution(robust_return={five.robust_return:.6g}, 5 steps)"
    learned = ewok_q_learning(lake, num_episodes=3, num_samples=2, kappa=0.1)
    assert repr(learned) == "EWoKLearning(table=QTable(17 states, 4 actions, discount 0.95, 3 episodes))"


def test_no_result_prints_its_arrays() -> None:
    mdp = garnet(6, 2, 3)
    value = np.arange(6.0)
    policy = np.zeros(6, dtype=np.int64)
    results: list[Any] = [
        worst_kernel(mdp, value, KL(0.1)),
        estimated_kernel(mdp, value, 2, kappa=1.0),
        projected_gradient_kernel(mdp, policy, KL(0.1), tolerance=1.0),
    ]
    for result in results:
        assert "array" not in repr(result)
        assert "\n" not in repr(result)
        assert len(repr(result)) < 120

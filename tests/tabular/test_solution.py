"""What a solution says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ewok.tabular import (
    KL,
    L1,
    NotConvergedError,
    TabularMDP,
    policy_value,
    robust_policy_evaluation,
    robust_value_iteration,
)

from .worlds import gambler, garnet, machine


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

"""Value iteration, nominal and robust, with bounds that are proved, not hoped for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ewok.tabular.mdp import TabularMDP
from ewok.tabular.per_state import operator_of
from ewok.tabular.policy import shares_of
from ewok.tabular.search import Search
from ewok.tabular.sets import UncertaintySet
from ewok.tabular.solution import Solution


def value_iteration(
    mdp: TabularMDP, *, tolerance: float = 1e-6, max_iterations: int = 100_000, num_threads: int = 1
) -> Solution:
    """The optimal value under the nominal kernel."""
    return _solved(mdp, None, None, tolerance, max_iterations, num_threads)


def robust_value_iteration(
    mdp: TabularMDP,
    uncertainty: UncertaintySet,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 100_000,
    num_threads: int = 1,
) -> Solution:
    """The optimal value when every row of the kernel may be the worst in its set.

    Rectangular in states and actions; in states only, with randomised policies, for a set made with
    `per_state=True`.

    Args:
        mdp: the nominal MDP.
        uncertainty: the set.
        tolerance: the largest gap left between the proved bounds.
        max_iterations: sweeps after which `NotConvergedError` is raised.
        num_threads: how many threads share a sweep; the result is the same.

    Example:
        >>> from ewok import tabular
        >>> lake = tabular.TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95)
        >>> solution = tabular.robust_value_iteration(lake, tabular.KL(0.1))
        >>> bool((solution.upper - solution.lower).max() <= 1e-6)
        True
    """
    return _solved(mdp, uncertainty, None, tolerance, max_iterations, num_threads)


def robust_policy_evaluation(
    mdp: TabularMDP,
    policy: ArrayLike,
    uncertainty: UncertaintySet | None = None,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 100_000,
    num_threads: int = 1,
) -> Solution:
    """The value of a policy under the worst kernel for it; under the nominal one without a set.

    Args:
        mdp: the nominal MDP.
        policy: (S,) one action per state, anything where the episode has ended; or (K,) the
            probability of each state-action pair.
        uncertainty: the set.
        tolerance: the largest gap left between the proved bounds.
        max_iterations: sweeps after which `NotConvergedError` is raised.
        num_threads: how many threads share a sweep; the result is the same.
    """
    return _solved(mdp, uncertainty, policy, tolerance, max_iterations, num_threads)


def _solved(
    mdp: TabularMDP,
    uncertainty: UncertaintySet | None,
    policy: ArrayLike | None,
    tolerance: float,
    max_iterations: int,
    num_threads: int,
) -> Solution:
    shares = None if policy is None else shares_of(mdp, policy)
    search = Search(mdp, uncertainty, shares, tolerance, max_iterations)
    operator = operator_of(mdp, uncertainty, shares, num_threads)
    value, slack = np.zeros(mdp.num_states), 0.0
    while not search.done:
        new = operator(value, slack)
        search.swept(value, new, slack)
        value, slack = new, search.slack
    return search.solution(operator.policy() if policy is None else np.asarray(policy))

"""Modified policy iteration: cheap sweeps of a fixed policy and kernel between the full ones."""

from __future__ import annotations

import numpy as np

from ewok.errors import ArgumentError, require
from ewok.tabular.compiled import owning
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.operator import Operator
from ewok.tabular.search import LAXITY, Search
from ewok.tabular.sets import UncertaintySet
from ewok.tabular.solution import Solution

_PROGRESS = 0.999  # of what value iteration would have left: with a discount of 1, that is all
_PATIENCE = 10  # full sweeps after which cheap ones must have got ahead of value iteration


def modified_policy_iteration(
    mdp: TabularMDP,
    uncertainty: UncertaintySet | None = None,
    *,
    evaluations: int = 100,
    tolerance: float = 1e-6,
    max_iterations: int = 100_000,
    num_threads: int = 1,
) -> Solution:
    """Value iteration with up to `evaluations` cheap sweeps between the full ones: the fastest, mostly.

    The cheap sweeps hold the policy and its worst rows fixed, so they pay once the policy has settled: after a
    full sweep that changed an action there are half as many as before, after one that changed none all again.

    Holding the policy alone converges from anywhere where there is a discount (Puterman and Shin 1978); holding
    the worst rows too can cycle. So with a set, or without discount, the cheap sweeps are kept only if
    within ten full ones there is no more left to do than value iteration would have left in as many;
    otherwise it goes on from before them, with half as many at the most, in the end none.

    Args:
        mdp: the nominal MDP.
        uncertainty: the set, not per state; None for the nominal kernel.
        evaluations: how many cheap sweeps at the most; they end when they change little.
        tolerance: the largest gap left between the proved bounds.
        max_iterations: full sweeps after which `NotConvergedError` is raised.
        num_threads: how many threads share a full sweep; the result is the same.
    """
    require(evaluations >= 1, "evaluations", "at least 1", evaluations, "Try 100.")
    if uncertainty is not None and uncertainty.per_state:
        raise ArgumentError(
            "`uncertainty` must be rectangular in states and actions here, but it has per_state=True. Use "
            "robust_value_iteration."
        )
    search = Search(mdp, uncertainty, None, tolerance, max_iterations)
    operator = Operator(mdp, uncertainty, num_threads=num_threads)
    may_cycle = uncertainty is not None or mdp.discount == 1.0
    safe = value = np.zeros(mdp.num_states)
    allowed, tries, slack, slack_of_safe, cheap = np.inf, 0, 0.0, 0.0, evaluations
    while True:
        before = operator.taken.copy()
        new = operator(value, slack)
        left = search.swept(value, new, slack)
        if search.done:
            return search.solution(operator.policy())
        slack, tries = search.slack, tries + 1
        if value is safe or left <= allowed:
            safe, slack_of_safe, allowed, tries = new, slack, left, 0
        elif tries == _PATIENCE and may_cycle:  # the cheap sweeps led astray
            value, slack, tries, evaluations = safe, slack_of_safe, 0, evaluations // 2
            continue
        allowed *= _PROGRESS * mdp.discount
        settled = np.array_equal(before, operator.taken)
        cheap = evaluations if settled else min(cheap, evaluations) // 2
        value = _evaluated(operator, value, new, cheap) if cheap > 0 else new


def _evaluated(operator: Operator, value: Floats, new: Floats, evaluations: int) -> Floats:
    """From new = T v towards the value of the policy taken there, under its rows that are worst for v."""
    starts, next_states, rows, paid = operator.frozen(value)
    evaluated: Floats = _sweeps(starts, next_states, rows, paid, operator.mdp.discount, new, evaluations, LAXITY)
    return evaluated


@owning
def _sweeps(starts, next_states, rows, paid, discount, value, most, enough):  # type: ignore[no-untyped-def]
    """Sweeps of one row per state until a sweep's changes differ by less than `enough` of the first one's."""
    old, first = value.copy(), -1.0
    new = np.empty_like(old)
    for _ in range(most):
        least, largest = np.inf, -np.inf
        for s in range(len(new)):
            total = 0.0
            for e in range(starts[s], starts[s + 1]):
                total += rows[e] * old[next_states[e]]
            new[s] = paid[s] + discount * total
            least, largest = min(least, new[s] - old[s]), max(largest, new[s] - old[s])
        old, new = new, old
        first = largest - least if first < 0.0 else first
        if largest - least <= enough * first:
            break
    return old

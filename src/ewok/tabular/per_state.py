"""The Bellman operator where all actions of a state share one radius (s-rectangular), with randomised policies."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ewok.errors import ArgumentError
from ewok.tabular.compiled import owning
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.operator import Operator, radii_of
from ewok.tabular.sets import KL, UncertaintySet, kl_state, l1_state
from ewok.tabular.soundness import require_set


@final
class PerStateOperator:
    """T: v -> max over randomised actions of the worst sum_a pi_a <q_a, r + gamma v>, within one radius per state.

    Args:
        mdp: the nominal MDP.
        uncertainty: a set made with `per_state=True`; for an optimistic one, a policy must be given.
        shares: (K,) how often a policy takes each pair, or None for the best one.
    """

    def __init__(self, mdp: TabularMDP, uncertainty: UncertaintySet, shares: Floats | None = None) -> None:
        if uncertainty.weights is not None:
            raise ArgumentError(
                "`weights` must be None for a set with per_state=True, but they are given. Leave them out, or use a "
                "set per state and action."
            )
        self.mdp = mdp
        self._tables = (mdp.state_ptr, mdp.row_ptr, mdp.next_states, mdp.probabilities, mdp.entry_rewards)
        sign = -1.0 if uncertainty.optimistic else 1.0
        self._question = (isinstance(uncertainty, KL), shares is not None, sign, mdp.discount)
        self._radii = radii_of(uncertainty, mdp.num_states, "state")
        self.shares = np.zeros(mdp.num_pairs) if shares is None else shares

    def __call__(self, value: Floats, slack: float = 0.0) -> Floats:
        """T v, exact but for rounding, and never above it; `shares` has the policy."""
        return self._pass(value)[0]

    def rows(self, value: Floats) -> Floats:
        """(E,) the rows that are worst for v: against the policy given, or else the best one."""
        return self._pass(value)[1]

    def policy(self) -> Floats:
        return self.shares.copy()

    def _pass(self, value: Floats) -> tuple[Floats, Floats]:
        new, rows = np.zeros(self.mdp.num_states), np.empty(self.mdp.num_entries)
        _sweep(self._tables, value, self._question, self._radii, self.shares, new, rows)
        return new, rows


def operator_of(
    mdp: TabularMDP, uncertainty: UncertaintySet | None, shares: Floats | None = None, num_threads: int = 1
) -> Operator | PerStateOperator:
    """The operator of whichever kind of set this is."""
    if uncertainty is not None:
        require_set(uncertainty)
    if uncertainty is None or not uncertainty.per_state:
        return Operator(mdp, uncertainty, shares=shares, num_threads=num_threads)
    if uncertainty.optimistic and shares is None:  # the best action may have the whole radius
        radii = radii_of(uncertainty, mdp.num_states, "state")[mdp.states]
        kind: Any = type(uncertainty)
        return Operator(mdp, kind(radii, optimistic=True), num_threads=num_threads)
    return PerStateOperator(mdp, uncertainty, shares)


@owning
def _sweep(tables, value, question, radii, shares, new, rows):  # type: ignore[no-untyped-def]
    state_ptr, row_ptr, next_states, probabilities, rewards = tables
    is_kl, is_fixed, sign, discount = question
    for s in range(len(new)):
        first, last = state_ptr[s], state_ptr[s + 1]
        if first == last:
            continue
        entries = slice(row_ptr[first], row_ptr[last])
        starts = row_ptr[first : last + 1] - row_ptr[first]
        p, q = probabilities[entries], rows[entries]
        z = np.empty(len(p))
        for i in range(len(p)):
            e = row_ptr[first] + i
            z[i] = sign * (rewards[e] + discount * value[next_states[e]])
        if is_kl and is_fixed:
            new[s] = kl_state.worst_rows(z, p, starts, shares[first:last], radii[s], q)
        elif is_kl:
            new[s] = kl_state.best_policy(z, p, starts, radii[s], shares[first:last], q)
        elif is_fixed:
            new[s] = l1_state.worst_rows(z, p, starts, shares[first:last], radii[s], q)
        else:
            new[s] = l1_state.best_policy(z, p, starts, radii[s], shares[first:last], q)
        new[s] *= sign

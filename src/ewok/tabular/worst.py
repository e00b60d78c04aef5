"""What the theory says of the worst kernel: its form, and how iterating finds it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import linalg

from ewok.errors import ArgumentError, require
from ewok.tabular.compiled import owning
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.operator import radii_of
from ewok.tabular.per_state import operator_of
from ewok.tabular.policy import shares_of
from ewok.tabular.sets import KL, UncertaintySet
from ewok.tabular.sets.kl import tilted_row


@final
@dataclass(frozen=True, eq=False)
class KLWorstKernel:
    """The worst kernel of a KL set, P = P-bar exp(-delta) (Theorem 3.2), with z = r + gamma v in place of v.

    Attributes:
        kernel: it, as an MDP.
        rows: (E,) its probabilities.
        kappa: (K,) temperatures: infinite where the row is nominal, 0 where only the worst outcomes are left.
        omega: (K,) thresholds: outcomes with z below are more likely than nominal, those above less (for an
            optimistic set the other way round).
        delta: (E,) -log(P / P-bar) = (z - omega) / kappa (for an optimistic set its negative); infinite where
            an outcome is ruled out.
        scores: (E,) z, to be maximised: of costs, negative.
        beta: (K,) radii.
    """

    kernel: TabularMDP
    rows: Floats = field(repr=False)
    kappa: Floats = field(repr=False)
    omega: Floats = field(repr=False)
    delta: Floats = field(repr=False)
    scores: Floats = field(repr=False)
    beta: Floats = field(repr=False)


def worst_kernel(mdp: TabularMDP, value: ArrayLike, uncertainty: KL) -> KLWorstKernel:
    """The kernel within the set that is worst for the value (S,), which is in the MDP's own sense.

    Edges are defined: with radius 0, or where all outcomes are alike, kappa is infinite and omega the
    nominal mean; where the radius leaves only the worst outcomes, kappa is 0 and omega their score.

    Example:
        >>> from ewok import tabular
        >>> lake = tabular.TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95)
        >>> solution = tabular.robust_value_iteration(lake, tabular.KL(0.1))
        >>> worst = tabular.worst_kernel(lake, solution.value, tabular.KL(0.1))
        >>> bool((worst.kappa > 0).all())
        True
    """
    given: Any = uncertainty
    if not isinstance(given, KL) or given.per_state:
        raise ArgumentError(
            f"`uncertainty` must be a KL set per state and action, but it is {given!r}. For others, "
            "`Solution.kernel()` has the rows."
        )
    scores = scores_of(mdp, value)
    sign = -1.0 if uncertainty.optimistic else 1.0
    radii = radii_of(uncertainty, mdp.num_pairs, "pair")
    rows, tau = np.empty(mdp.num_entries), np.empty(mdp.num_pairs)
    _tilted_rows(mdp.row_ptr, mdp.probabilities, sign * scores, radii, rows, tau)
    means = np.add.reduceat(rows * scores, mdp.row_ptr[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = 1.0 / tau
        delta = -np.log(rows / mdp.probabilities)
        # Proposition 3.3; at the edges beta kappa has no weight: omega is the mean itself.
        omega = means + sign * np.where((tau > 0.0) & (kappa > 0.0), radii * kappa, 0.0)
    return KLWorstKernel(mdp.with_kernel(rows), rows, kappa, omega, delta, scores, radii)


def scores_of(mdp: TabularMDP, value: ArrayLike) -> Floats:
    """(E,) z = r + gamma v(s'), to be maximised, of a value in the MDP's own sense."""
    sign = 1.0 if mdp.sense == "maximise" else -1.0
    known = np.asarray(value, dtype=np.float64)
    got = f"of shape {known.shape}"
    require(known.shape == (mdp.num_states,), "value", f"of shape ({mdp.num_states},)", got, "Give one per state.")
    unknown = np.flatnonzero(~np.isfinite(known))
    require(len(unknown) == 0, "value", "finite", [float(v) for v in known[unknown[:1]]], "Solve the MDP for one.")
    scores: Floats = mdp.entry_rewards + mdp.discount * sign * known[mdp.next_states]
    return scores


def policy_value(mdp: TabularMDP, policy: ArrayLike) -> Floats:
    """(S,) the exact value of a policy under the MDP's own kernel, by one sparse solve.

    The policy is one action per state, or the probability of each state-action pair. Without discount
    it must be sure to reach a terminal state.
    """
    shares = np.repeat(shares_of(mdp, policy), np.diff(mdp.row_ptr)) * mdp.probabilities
    states = np.repeat(mdp.states, np.diff(mdp.row_ptr))
    shape = (mdp.num_states, mdp.num_states)
    transitions = sparse.coo_array((shares, (states, mdp.next_states.astype(np.int64))), shape=shape)
    rewards = np.bincount(states, weights=shares * mdp.entry_rewards, minlength=mdp.num_states)
    system = sparse.eye_array(mdp.num_states, format="csc") - mdp.discount * transitions.tocsc()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", linalg.MatrixRankWarning)
        value: Floats = linalg.spsolve(system, rewards)
    if not np.all(np.isfinite(value)):
        raise ArgumentError(
            f"`discount` must be below 1 where a policy need not reach a terminal state, but it is {mdp.discount:g}. "
            "Discount the MDP."
        )
    return value if mdp.sense == "maximise" else -value


def kernel_iterates(mdp: TabularMDP, policy: ArrayLike, uncertainty: UncertaintySet, num: int) -> list[Floats]:
    """Values v_{P_0}, ..., v_{P_num} of a policy, P_0 nominal and P_{n+1} the worst kernel for v_{P_n}.

    They fall towards the robust value at least as fast as gamma^n (Theorem 3.5).
    """
    require(num >= 0, "num", "at least 0", num, "It is how often the kernel is updated.")
    values = [policy_value(mdp, policy)]
    operator = operator_of(mdp, uncertainty, shares_of(mdp, policy))
    sign = 1.0 if mdp.sense == "maximise" else -1.0
    for _ in range(num):
        values.append(policy_value(mdp.with_kernel(operator.rows(sign * values[-1])), policy))
    return values


@owning
def _tilted_rows(row_ptr, probabilities, scores, radii, rows, tau):  # type: ignore[no-untyped-def]
    longest = 0
    for k in range(len(tau)):
        longest = max(longest, row_ptr[k + 1] - row_ptr[k])
    scratch = np.empty(longest)
    for k in range(len(tau)):
        first, last = row_ptr[k], row_ptr[k + 1]
        u = scratch[: last - first]
        tau[k] = tilted_row(scores[first:last], probabilities[first:last], radii[k], u, rows[first:last])

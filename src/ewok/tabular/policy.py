"""Policies of a tabular MDP: one action per state, or a probability for each state-action pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ewok.errors import ArgumentError, require
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP


def pairs_of(mdp: TabularMDP, policy: ArrayLike) -> NDArray[np.int64]:
    """(S,) the pair that each state's action is; -1 where the episode has ended."""
    actions = np.asarray(policy)
    shaped = actions.shape == (mdp.num_states,) and actions.dtype.kind in "iu"
    got = f"{actions.dtype} of shape {actions.shape}"
    require(shaped, "policy", f"whole numbers of shape ({mdp.num_states},)", got, "Give one action per state.")
    matches = mdp.actions == actions[mdp.states]
    found = np.full(mdp.num_states, -1)
    found[mdp.states[matches]] = np.flatnonzero(matches)
    missing = np.flatnonzero((found < 0) & ~mdp.terminal)
    if len(missing):
        s = int(missing[0])
        first, last = mdp.state_ptr[s], mdp.state_ptr[s + 1]
        raise ArgumentError(
            f"`policy` must be one of the actions {mdp.actions[first:last].tolist()} in {mdp.state_name(s)}, but it is "
            f"{actions[s]}. Choose one of these."
        )
    return found


def shares_of(mdp: TabularMDP, policy: ArrayLike) -> Floats:
    """(K,) the probability of each pair."""
    given = np.asarray(policy)
    if given.dtype.kind != "f":
        shares = np.zeros(mdp.num_pairs)
        pairs = pairs_of(mdp, policy)
        shares[pairs[pairs >= 0]] = 1.0
        return shares
    got = f"of shape {given.shape}"
    remedy = "Give a probability for each pair, or one whole number per state."
    require(given.shape == (mdp.num_pairs,), "policy", f"of shape ({mdp.num_pairs},)", got, remedy)
    sums = np.bincount(mdp.states, weights=given, minlength=mdp.num_states)
    wrong = np.flatnonzero(~mdp.terminal & ~(np.abs(sums - 1.0) <= 1e-8))
    if len(wrong) or not np.all(given >= 0.0):
        s = int(wrong[0]) if len(wrong) else int(mdp.states[np.flatnonzero(~(given >= 0.0))[0]])
        shown = given[mdp.state_ptr[s] : mdp.state_ptr[s + 1]].tolist()
        remedy = "Give a distribution over the actions of each state."
        require(False, "policy", f"probabilities that sum to one in {mdp.state_name(s)}", shown, remedy)
    shares = given.astype(np.float64)
    return shares / sums[mdp.states]  # to rounding, as bounds count on

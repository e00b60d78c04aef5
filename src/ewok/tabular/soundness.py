"""What makes an MDP one, distributions in every row, finite rewards, no state forgotten; and a set a set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ewok.errors import ArgumentError, require
from ewok.tabular.entries import Entries, farthest

_SUM_TOLERANCE = 1e-8
_SHOWN = 5  # of states that are missing
_EPS = np.finfo(np.float64).eps


def require_actions(entries: Entries, terminal: ArrayLike | None) -> None:
    """A state without actions ends the episode: that must be meant, not a hole in the table."""
    leaves = np.bincount(entries.states, minlength=entries.num_states) > 0
    if terminal is None:
        lost = ~leaves & (np.bincount(entries.next_states, minlength=entries.num_states) == 0)
        _require_no_gap(entries, np.flatnonzero(lost))
        reason, remedy = "has no actions and nothing leads to it", "list it in `terminal`"
    else:
        ends = np.zeros(entries.num_states, dtype=bool)
        named = np.asarray(terminal, dtype=np.int64)
        outside = named[(named < 0) | (named >= entries.num_states)]
        if len(outside):
            requirement = f"states from 0 to {entries.num_states - 1}"
            require(False, "terminal", requirement, int(outside[0]), "Give a larger `num_states`.")
        ends[named] = True
        lost, reason, remedy = leaves == ends, "must have actions or be in `terminal`, not both", "correct `terminal`"
    if lost.any():
        raise ArgumentError(f"state {np.flatnonzero(lost)[0]} {reason}. Number states without gaps, or {remedy}.")


def _require_no_gap(entries: Entries, lost: NDArray[np.int64]) -> None:
    """Where transitions alone say how many states there are, the largest number is likelier wrong than the others."""
    if entries.where is None or len(lost) == 0:
        return
    largest, line = farthest(entries.states, entries.next_states)
    verb = "leads" if entries.next_states[line] == largest else "starts"
    missing = ", ".join(map(str, lost[:_SHOWN])) + (f" and {len(lost) - _SHOWN} more" * (len(lost) > _SHOWN))
    raise ArgumentError(
        f"states must be numbered without gaps, but they run to {largest}, where {entries.where(line)} {verb}, and "
        f"{missing} {'appears' if len(lost) == 1 else 'appear'} nowhere. Correct that line, or number them anew."
    )


def require_numbers(mdp: Any) -> None:
    """Of a `TabularMDP`: shapes that fit each other, and numbers that are some."""
    _require_shapes(mdp)
    valid = 0.0 <= mdp.discount <= 1.0
    require(valid, "discount", "between 0 and 1", mdp.discount, "It is the gamma of r + gamma v.")
    require(
        mdp.sense in ("maximise", "minimise"), "sense", '"maximise" or "minimise"', mdp.sense, "Costs are minimised."
    )
    if not np.all(np.isfinite(mdp.rewards)):
        entry = int(np.flatnonzero(~np.isfinite(mdp.rewards))[0])
        require(False, "rewards", "finite", mdp.rewards[entry], f"Look at entry {entry}.")
    wrong = ~(mdp.probabilities > 0.0) | ~np.isfinite(mdp.probabilities)
    if wrong.any():
        entry = int(np.flatnonzero(wrong)[0])
        remedy = f"Look at entry {entry}; leave out next states of probability 0."
        require(False, "probabilities", "greater than 0", float(mdp.probabilities[entry]), remedy)
    initial_sum = float(mdp.initial.sum())
    valid = bool(np.all(mdp.initial >= 0.0)) and abs(initial_sum - 1.0) <= _SUM_TOLERANCE
    require(valid, "initial", f"a distribution over {mdp.num_states} states", mdp.initial, "Leave it out for uniform.")


def _require_shapes(mdp: Any) -> None:
    states, pairs, entries = len(mdp.state_ptr) - 1, len(mdp.row_ptr) - 1, len(mdp.next_states)
    actions = int(mdp.actions.max(initial=-1)) + 1
    shapes = {
        "state_ptr": (int(mdp.state_ptr[-1]), [pairs], "end with the number of pairs"),
        "row_ptr": (int(mdp.row_ptr[-1]), [entries], "end with the number of entries"),
        "probabilities": (len(mdp.probabilities), [entries], "have one number per entry"),
        "rewards": (len(mdp.rewards), [entries, pairs], "have one number per entry, or per pair"),
        "actions": (len(mdp.actions), [pairs], "have one number per pair"),
        "initial": (len(mdp.initial), [states], "have one number per state"),
        "action_names": (min(len(mdp.action_names), actions), [actions, 0], "have one name per action"),
        "state_names": (len(mdp.state_names), [states, 0], "have one name per state"),
    }
    for name, (got, allowed, rule) in shapes.items():
        if got not in allowed:
            raise ArgumentError(f"`{name}` must {rule}, {allowed[0]}, but it has {got}. See TabularMDP.")


def require_rows(mdp: Any) -> None:
    """Of a `TabularMDP`: every row a distribution over its states, to rounding.

    What is a digit short of one, as in tables printed with ten, is made good.
    """
    sizes = np.diff(mdp.row_ptr)
    if np.any(sizes == 0):
        pair = int(np.flatnonzero(sizes == 0)[0])
        raise ArgumentError(f"`next_states` must be given for every pair, but {mdp.pair_name(pair)} has none.")
    outside = mdp.next_states >= mdp.num_states
    if outside.any():
        entry = int(np.flatnonzero(outside)[0])
        require(
            False, "next_states", f"from 0 to {mdp.num_states - 1}", mdp.next_states[entry], f"Look at entry {entry}."
        )
    if len(mdp.row_ptr) == 1:
        raise ArgumentError("`actions` must be possible in some state, but no state has any. Add transitions.")
    sums = np.add.reduceat(mdp.probabilities, mdp.row_ptr[:-1])
    missed = np.abs(sums - 1.0)
    if np.any(missed > _SUM_TOLERANCE):
        pair = int(np.flatnonzero(missed > _SUM_TOLERANCE)[0])
        raise ArgumentError(
            f"`probabilities` must sum to one for every state and action, but for {mdp.pair_name(pair)} they sum to "
            f"{sums[pair]:.12g}. Normalise them, or add the missing next states."
        )
    if np.any(missed > (4.0 + 0.5 * sizes) * _EPS):  # bounds count on no more
        object.__setattr__(mdp, "probabilities", mdp.probabilities / np.repeat(sums, sizes))


def require_set(uncertainty: Any) -> None:
    """A set, not its name, nor what makes one of a radius."""
    made = not isinstance(uncertainty, type) and hasattr(uncertainty, "kind") and hasattr(uncertainty, "radius")
    require(made, "uncertainty", "a set of ewok.tabular with its radius", uncertainty, "Try KL(0.1).")

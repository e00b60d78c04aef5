"""The Bellman operator of one MDP and one set, over compiled sweeps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import require
from ewok.tabular.compiled import borrowing
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import UncertaintySet
from ewok.tabular.sets.radius import require_radius
from ewok.tabular.sweep import NOMINAL, freeze, nominal_sweep, policy_sweep, robust_sweep, worst_rows

_ROUNDING = 1e-12  # relative: what rounding can add to the difference between two actions
_VECTOR = 8  # numbers that one instruction may work on
_PARTS = 4  # pieces per thread, for rows take unequal time
Ints = NDArray[np.int64]


@final
class Operator:
    """T: v -> max over actions of the worst <q, r + gamma v>, for rewards to be maximised.

    Remembers between calls what saves work in the next; see `robust_sweep`.

    Args:
        mdp: the nominal MDP.
        uncertainty: its (s,a)-rectangular set, or None for the nominal operator.
        shares: (K,) how often a policy takes each pair, or None for the best action.
        considered: (K,) which pairs may be taken at all, or None for all.
        num_threads: sweeps are shared out among so many; the result is the same.
    """

    def __init__(
        self,
        mdp: TabularMDP,
        uncertainty: UncertaintySet | None = None,
        *,
        shares: Floats | None = None,
        considered: NDArray[np.bool_] | None = None,
        num_threads: int = 1,
    ) -> None:
        require(num_threads >= 1, "num_threads", "at least 1", num_threads, "Try 2.")
        self.mdp, self._shares, self._considered = mdp, shares, considered
        self._tables = tables_of(mdp)
        kind = NOMINAL if uncertainty is None else uncertainty.kind
        sign = -1.0 if uncertainty is not None and uncertainty.optimistic else 1.0
        radii = np.zeros(0) if uncertainty is None else radii_of(uncertainty, mdp.num_pairs, "pair")
        self._question = (kind, sign, radii, weights_of(mdp, uncertainty), mdp.discount)
        longest = _VECTOR * -(-int(np.diff(mdp.row_ptr).max(initial=0)) // _VECTOR)
        parts = _parts(mdp, 1 if num_threads == 1 else _PARTS * num_threads)
        self._parts = [(first, last, np.empty((4, longest))) for first, last in parts]
        self._pool = ThreadPoolExecutor(num_threads) if num_threads > 1 else None
        self._last, self._rise = np.zeros(mdp.num_states), 0.0
        self.taken = np.full(mdp.num_states, -1)
        self.forget()

    def forget(self) -> None:
        """Make the next call look at every action again, as the first one did."""
        self._ceilings = np.full(self.mdp.num_pairs, np.inf)
        if self._considered is not None:
            self._ceilings[~self._considered] = -np.inf
        self._floors = np.full(self.mdp.num_states, np.finfo(np.float64).min)  # above what is not considered
        self._temperatures = np.zeros(self.mdp.num_pairs)

    def __call__(self, value: Floats, slack: float = 0.0) -> Floats:
        """T v, proved to at most `slack` below (for an optimistic set, above); `taken` has each state's pair."""
        # Since the last call no action got better by more than this, and no state worse by more than its floor falls.
        self._rise += _moved(value, self._last, self.mdp.discount, self._floors)
        self._last = value
        new = np.empty(self.mdp.num_states)
        self._each_part(self._sweep_of(value, slack, new))
        _floor(new, slack if self._question[1] < 0.0 else 0.0, self._floors)
        return new

    def policy(self) -> Ints:
        """(S,) the action each state took in the last call; -1 where the episode has ended."""
        actions: Ints = np.where(self.taken >= 0, self.mdp.actions[np.maximum(self.taken, 0)], -1)
        return actions

    def frozen(self, value: Floats) -> tuple[Ints, NDArray[np.uint32], Floats, Floats]:
        """The policy taken at v in the last call, under its worst rows there: starts, next states, rows, rewards.

        One row per state, empty where the episode has ended.
        """
        sizes = np.where(self.taken >= 0, self.mdp.row_ptr[self.taken + 1] - self.mdp.row_ptr[self.taken], 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        next_states, rows = np.empty(starts[-1], dtype=np.uint32), np.empty(starts[-1])
        paid = np.zeros(self.mdp.num_states)
        work, question = self._parts[0][2], (*self._question, 0.0, 0.0)
        freeze(self.taken, work, self._tables, value, question, self._temperatures, starts, next_states, rows, paid)
        return starts, next_states, rows, paid

    def _sweep_of(self, value: Floats, slack: float, new: Floats) -> Callable[[int, int, Floats], Any]:
        """The compiled sweep that fits the question, over a range of states."""
        tables, rise = self._tables, self._rise
        question = (*self._question, rise, slack)
        memory = (self._floors, self._ceilings, self._temperatures, self.taken)
        if self._shares is not None:
            shares, temperatures = self._shares, self._temperatures
            return lambda s, t, work: policy_sweep(s, t, work, tables, value, question, temperatures, shares, new)
        if self._question[0] == NOMINAL:
            discount = self.mdp.discount
            return lambda s, t, work: nominal_sweep(s, t, work, tables, value, discount, rise, memory, new)
        return lambda s, t, work: robust_sweep(s, t, work, tables, value, question, memory, new)

    def _each_part(self, run: Callable[[int, int, Floats], Any]) -> None:
        if self._pool is None:
            for part in self._parts:
                run(*part)
        else:
            list(self._pool.map(lambda part: run(*part), self._parts))

    def rows(self, value: Floats, pairs: Ints | None = None) -> Floats:
        """The rows q that are worst for v, exactly, one after the other; of all pairs by default."""
        chosen = np.arange(self.mdp.num_pairs) if pairs is None else pairs
        sizes = np.diff(self.mdp.row_ptr)[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.empty(int(starts[-1]))
        worst_rows(chosen, self._parts[0][2], self._tables, value, (*self._question, 0.0, 0.0), starts, rows)
        return rows


@borrowing
def _moved(value, last, discount, floors):  # type: ignore[no-untyped-def]
    """Let the floors fall as far as v may have; returns how far an action's value may have risen."""
    least, most = np.inf, -np.inf
    for s in range(len(value)):
        least, most = min(least, value[s] - last[s]), max(most, value[s] - last[s])
    for s in range(len(value)):
        floors[s] += discount * least
    return discount * most


@borrowing
def _floor(new, loose, floors):  # type: ignore[no-untyped-def]
    for s in range(len(new)):
        floors[s] = new[s] - (_ROUNDING * abs(new[s]) + loose)


def tables_of(mdp: TabularMDP) -> tuple[Any, ...]:
    """The arrays that compiled sweeps run over; entry rewards only where they differ within a pair."""
    per_entry = mdp.entry_rewards if len(mdp.rewards) == mdp.num_entries else np.zeros(0)
    return (mdp.state_ptr, mdp.row_ptr, mdp.next_states, mdp.probabilities, mdp.pair_rewards, per_entry)


def radii_of(uncertainty: UncertaintySet, num: int, each: str) -> Floats:
    """(num,) one radius for each pair, or state."""
    name = "beta" if type(uncertainty).__name__ == "KL" else "radius"
    given = require_radius(uncertainty.radius, name)  # again: a set of one's own may not have asked
    fits = given.ndim == 0 or given.shape == (num,)
    require(fits, name, f"one number or {num}, one per {each}", f"of shape {given.shape}", "Count them in the MDP.")
    return np.ascontiguousarray(np.broadcast_to(given, num))


def weights_of(mdp: TabularMDP, uncertainty: UncertaintySet | None) -> Floats:
    """(S,) weights of next states in the set's distance; none where all are 1."""
    if uncertainty is None or uncertainty.weights is None:
        return np.zeros(0)
    given = np.asarray(uncertainty.weights, dtype=np.float64)
    fits = given.shape == (mdp.num_states,)
    require(fits, "weights", f"of shape ({mdp.num_states},)", f"of shape {given.shape}", "Give one per next state.")
    valid = bool(np.all((given > 0.0) & np.isfinite(given)))
    require(valid, "weights", "finite and greater than 0", float(given.min()), "Leave them out for all alike.")
    return np.ascontiguousarray(given)


def _parts(mdp: TabularMDP, num: int) -> list[tuple[int, int]]:
    """Ranges of states with about as many entries each."""
    before = mdp.row_ptr[mdp.state_ptr]
    cuts = np.searchsorted(before, np.linspace(0, mdp.num_entries, num + 1)[1:-1])
    ends = [0, *(int(cut) for cut in np.unique(cuts)), mdp.num_states]
    return [(first, last) for first, last in itertools.pairwise(ends) if last > first]

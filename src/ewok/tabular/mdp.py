"""Finite MDPs as sparse rows: one row of next states per state-action pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ewok.tabular.entries import Entries, Floats, checked, of_arrays, of_csv, of_gymnasium, of_samples
from ewok.tabular.soundness import require_actions, require_numbers, require_rows

Sense = Literal["maximise", "minimise"]


@final
@dataclass(frozen=True, eq=False)
class TabularMDP:
    """A finite MDP. Build one with `from_arrays`, `from_entries`, `from_gymnasium`, `from_csv` or `from_samples`.

    The pairs of state s are numbers `state_ptr[s]` to `state_ptr[s + 1]`; the entries of pair k, one
    per next state, are `row_ptr[k]` to `row_ptr[k + 1]`. A state without pairs is terminal: its value
    is 0.

    Attributes:
        state_ptr: (S + 1,) where each state's pairs begin.
        row_ptr: (K + 1,) where each pair's entries begin.
        next_states: (E,) the next state of each entry.
        probabilities: (E,) its nominal probability, greater than 0; each pair's sum to one.
        rewards: (E,) where they depend on the next state, (K,) where on state and action only.
        discount: gamma.
        initial: (S,) initial distribution.
        actions: (K,) which action of its state each pair is.
        sense: whether rewards are to be maximised, or costs minimised.
        counts: (K,) how many samples each pair's probabilities come from, where they do.
        state_names: one per state, or none.
        action_names: one per action, or none.
    """

    state_ptr: NDArray[np.int64]
    row_ptr: NDArray[np.int64]
    next_states: NDArray[np.uint32]
    probabilities: Floats
    rewards: Floats
    discount: float
    initial: Floats
    actions: NDArray[np.int64]
    sense: Sense = "maximise"
    counts: NDArray[np.int64] | None = None
    state_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_numbers(self)
        require_rows(self)

    def __repr__(self) -> str:
        sizes = f"{self.num_states:,} states, {self.num_pairs:,} pairs, {self.num_entries:,} transitions"
        costs = ", costs" if self.sense == "minimise" else ""
        return f"TabularMDP({sizes}, discount {self.discount:g}{costs})"

    @property
    def num_states(self) -> int:
        return len(self.state_ptr) - 1

    @property
    def num_pairs(self) -> int:
        return len(self.row_ptr) - 1

    @property
    def num_entries(self) -> int:
        return len(self.next_states)

    @property
    def terminal(self) -> NDArray[np.bool_]:
        """(S,) which states end an episode."""
        ended: NDArray[np.bool_] = np.diff(self.state_ptr) == 0
        return ended

    @property
    def states(self) -> NDArray[np.int64]:
        """(K,) the state each pair belongs to."""
        return np.repeat(np.arange(self.num_states), np.diff(self.state_ptr))

    @property
    def entry_rewards(self) -> Floats:
        """(E,) the reward of each entry, to be maximised."""
        sizes = np.diff(self.row_ptr)
        rewards = self.rewards if len(self.rewards) == self.num_entries else np.repeat(self.rewards, sizes)
        return rewards if self.sense == "maximise" else -rewards

    @property
    def pair_rewards(self) -> Floats:
        """(K,) the expected reward of each pair under this kernel, to be maximised."""
        if len(self.rewards) == self.num_entries and self.num_entries != self.num_pairs:
            expected = np.add.reduceat(self.probabilities * self.rewards, self.row_ptr[:-1])
        else:
            expected = self.rewards
        return expected if self.sense == "maximise" else -expected

    @property
    def num_bytes(self) -> int:
        """Memory its arrays take."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    @classmethod
    def from_entries(
        cls,
        states: ArrayLike,
        actions: ArrayLike,
        next_states: ArrayLike,
        probabilities: ArrayLike,
        rewards: ArrayLike,
        *,
        discount: float,
        num_states: int | None = None,
        **options: Any,
    ) -> TabularMDP:
        """From one line per transition, in any order.

        Two transitions to one next state with different rewards stay apart. Next states of probability
        0 are left out: no kernel in a set can reach them. A state without transitions is terminal;
        list them in `terminal` to have that checked. `options` are `terminal`, `initial` (uniform by
        default), `sense`, `state_names` and `action_names`.
        """
        entries = checked(states, actions, next_states, probabilities, rewards, num_states)
        return cls._of(entries, discount, **options)

    @classmethod
    def from_arrays(cls, kernel: Any, rewards: ArrayLike, *, discount: float, **options: Any) -> TabularMDP:
        """From a kernel (S, A, S), or a list of one (S, S) matrix per action, each an array or scipy sparse.

        Rewards are (S,), (S, A) or (S, A, S). A row of zeros is an action that its state does not have.
        """
        return cls._of(of_arrays(kernel, rewards), discount, **options)

    @classmethod
    def from_gymnasium(cls, env: gym.Env[Any, Any] | str, *, discount: float, **options: Any) -> TabularMDP:
        """From the table `P` of an environment such as FrozenLake, CliffWalking or Taxi.

        A transition that ends the episode leads to one extra state, the last, which is terminal.

        Example:
            >>> from ewok.tabular import TabularMDP
            >>> TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95).num_states
            17
        """
        entries = of_gymnasium(env)
        return cls._of(entries, discount, terminal=[entries.num_states - 1], **options)

    @classmethod
    def from_csv(cls, path: str | Path, *, discount: float, **options: Any) -> TabularMDP:
        """From a file with the columns idstatefrom, idaction, idstateto, probability, reward (craam's format)."""
        return cls._of(of_csv(path), discount, **options)

    @classmethod
    def from_samples(
        cls,
        states: ArrayLike,
        actions: ArrayLike,
        next_states: ArrayLike,
        rewards: ArrayLike,
        *,
        discount: float,
        **options: Any,
    ) -> TabularMDP:
        """From transitions seen, one line each: probabilities are shares, and `counts` says of how many.

        `confidence_set` makes a set of the counts that holds the true kernel. A state from which
        nothing was seen is terminal.

        Example:
            >>> from ewok import tabular
            >>> mdp = tabular.TabularMDP.from_samples([0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0], discount=0.9)
            >>> mdp.probabilities.round(3).tolist(), mdp.counts.tolist()
            ([0.333, 0.667], [3])
        """
        mdp = cls._of(of_samples(states, actions, next_states, rewards), discount, **options)
        pairs = np.stack([np.asarray(states), np.asarray(actions)], axis=1)
        return replace(mdp, counts=np.unique(pairs, axis=0, return_counts=True)[1])

    @staticmethod
    def bytes_needed(num_states: int, num_actions: int, num_successors: int, *, per_entry_rewards: bool = False) -> int:
        """Memory an MDP of this size takes, stated beforehand; a solver adds 32 bytes a pair and 64 a state.

        Given as arrays to the constructor; the other ways in sort the transitions first, which takes
        five times as much for a while.

        Example:
            >>> from ewok.tabular import TabularMDP
            >>> round(TabularMDP.bytes_needed(1_000_000, 10, 20) / 2**30, 2)
            2.47
        """
        pairs = num_states * num_actions
        entries = pairs * num_successors
        paid = entries if per_entry_rewards else pairs
        return 12 * entries + 8 * paid + 16 * pairs + 8 + 16 * num_states + 8

    @classmethod
    def _of(
        cls,
        entries: Entries,
        discount: float,
        initial: ArrayLike | None = None,
        terminal: ArrayLike | None = None,
        **options: Any,
    ) -> TabularMDP:
        require_actions(entries, terminal)
        some = entries.probabilities > 0.0
        order = np.lexsort((entries.next_states[some], entries.actions[some], entries.states[some]))
        s, a, n = (column[some][order] for column in entries[:3])
        p, r = entries.probabilities[some][order], entries.rewards[some][order]
        starts = np.flatnonzero((np.diff(s, prepend=-1) != 0) | (np.diff(a, prepend=-1) != 0))
        ends = np.append(starts, len(s))
        paid = r[starts]  # where it is the same whatever the next state, once is enough
        begin = entries.initial if initial is None else np.asarray(initial, dtype=np.float64)
        return cls(
            state_ptr=np.concatenate([[0], np.cumsum(np.bincount(s[starts], minlength=entries.num_states))]),
            row_ptr=ends,
            next_states=n.astype(np.uint32),
            probabilities=p,
            rewards=paid if np.array_equal(np.repeat(paid, np.diff(ends)), r) else r,
            discount=float(discount),
            initial=np.full(entries.num_states, 1.0 / entries.num_states) if begin is None else begin,
            actions=a[starts],
            **options,
        )

    def state_name(self, state: int) -> str:
        return f"state {self.state_names[state] if self.state_names else state}"

    def pair_name(self, pair: int) -> str:
        action = int(self.actions[pair])
        name = self.action_names[action] if self.action_names else action
        return f"{self.state_name(int(self.states[pair]))}, action {name}"

    def entries(self, pair: int) -> slice:
        """Where the next states of a pair are."""
        return slice(int(self.row_ptr[pair]), int(self.row_ptr[pair + 1]))

    def with_kernel(self, probabilities: ArrayLike) -> TabularMDP:
        """The same MDP under another kernel: (E,) probabilities. Next states of probability 0 are left out."""
        given = np.asarray(probabilities, dtype=np.float64)
        some = given != 0.0
        if given.shape != self.probabilities.shape or some.all():
            return replace(self, probabilities=given)
        per_entry = len(self.rewards) == self.num_entries
        return replace(
            self,
            row_ptr=np.append(0, np.cumsum(some))[self.row_ptr],
            next_states=self.next_states[some],
            probabilities=given[some],
            rewards=self.rewards[some] if per_entry else self.rewards,
        )

    def with_discount(self, discount: float) -> TabularMDP:
        return replace(self, discount=float(discount))

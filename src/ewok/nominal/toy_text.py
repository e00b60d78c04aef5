"""Gymnasium's toy text: next states straight from the transition table `P`, where it tells the whole truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import NotResetError, WrapperError
from ewok.nominal.disturbed import require_num
from ewok.nominal.generators import rewind, state_of
from ewok.nominal.kernel import Candidates, NominalKernel, Pending
from ewok.nominal.restore import RestoreKernel


@final
class TableKernel:
    """Draws from `P[s][a]`, a list of (probability, next state, reward, terminated)."""

    state_size = None
    deterministic = False

    def __init__(self, env: Any) -> None:
        self._env = env
        self._has_mask = hasattr(env, "action_mask")
        self._next: Sequence[int] = ()
        self._before: Any = None
        self._actions: Sequence[Any] = ()
        self._pending = Pending()

    def draw(self, action: Any, num: int) -> Candidates:
        require_num(num)
        return self.draw_each([action] * num, None)

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        if shift is not None:
            raise WrapperError(f"{type(self._env).__name__} has no state that `StateNoise` can move.")
        if "s" not in vars(self._env):
            raise NotResetError("There is no state to draw from. Call `reset()` first.")
        self._pending.drop()
        self._before = state_of(self._env.np_random)
        rows = {int(a): self._env.P[self._env.s][a] for a in actions}
        ends = {a: np.cumsum([outcome[0] for outcome in row]) for a, row in rows.items()}
        chances = self._env.np_random.random(len(actions))
        outcomes = []
        for action, chance in zip(actions, chances, strict=True):
            # The first outcome whose cumulative probability exceeds the chance, as the simulator does it.
            outcomes.append(rows[int(action)][int(np.argmax(ends[int(action)] > chance))])
        probabilities, states, rewards, terminated = zip(*outcomes, strict=True)
        self._next, self._actions = states, actions
        self._pending.open(len(actions))
        return Candidates(
            np.array(states, dtype=np.int64),
            np.array(rewards, dtype=np.float64),
            np.array(terminated, dtype=bool),
            np.zeros(len(actions), dtype=bool),
            [self._info(p, s) for p, s in zip(probabilities, states, strict=True)],
        )

    def abandon(self) -> None:
        self._pending.drop()
        if self._before is not None:
            rewind(self._env.np_random, self._before)

    def commit(self, index: int) -> None:
        index = self._pending.close(index)
        self._env.s = int(self._next[index])
        self._env.lastaction = self._actions[index]
        self._before = None
        if self._env.render_mode == "human":
            self._env.render()

    def _info(self, probability: float, state: int) -> dict[str, Any]:
        info: dict[str, Any] = {"prob": probability}
        if self._has_mask:
            info["action_mask"] = self._env.action_mask(state)
        return info


def table_kernel(env: Any) -> NominalKernel:
    """The table's kernel, unless the simulator does more than its table says: a `step` of its own may."""
    plain = env.step.__module__.startswith("gymnasium.envs.toy_text.")
    if not plain or getattr(env, "fickle_passenger", False):
        return RestoreKernel(env)
    return TableKernel(env)

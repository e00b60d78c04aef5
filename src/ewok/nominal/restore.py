"""The kernel that works for every simulator that can be saved: restore, step, restore, step."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from ewok.errors import EwokWarning, NotResetError, WrapperError
from ewok.nominal.batch import copied, leaves, stack, take_rows
from ewok.nominal.copying import CopySaver
from ewok.nominal.disturbed import require_num
from ewok.nominal.generators import Generator, generators_in, own_generator, rewind, state_of
from ewok.nominal.kernel import Candidates, Pending, Transition
from ewok.nominal.snapshot import AttributeSaver, Saver, saver_of


@final
class RestoreKernel:
    """Steps the simulator itself, N times from the same state, and saves where each step led.

    Its random generators are not put back between candidates: each has its own draw.
    """

    state_size = None
    deterministic = False

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        self._env = env
        self._saver: Saver = saver_of(env)
        self._ends: list[Any] = []
        self._before: list[tuple[Generator, Any]] = []
        self._warned = False
        self._pending = Pending()

    def draw(self, action: Any, num: int) -> Candidates:
        require_num(num)
        return self.draw_each([action] * num, None)

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        if shift is not None:
            raise WrapperError(f"{type(self._env).__name__} has no state that `StateNoise` can move.")
        if isinstance(self._saver, AttributeSaver) and not self._saver.holds(self._env):
            raise NotResetError("There is no state to draw from. Call `reset()` first.")
        self._pending.drop()
        running = self._generators()
        self._before = [(generator, state_of(generator)) for generator in running]
        mode = self._env.render_mode
        if mode == "human":
            self._env.render_mode = None  # candidates are not shown, only the one that is kept
        try:
            outcomes, ends, error = self._step_each(actions, running)
        finally:
            if mode == "human":
                self._env.render_mode = mode
        if error is not None and not outcomes:
            self.abandon()
            raise error
        if error is not None:
            self._warn_once(error)
        candidates, kept = finite(gathered(outcomes), list(range(len(outcomes))), len(actions))
        self._ends = [ends[index] for index in kept]
        self._pending.open(len(kept))
        return candidates

    def _step_each(
        self, actions: Sequence[Any], running: list[Generator]
    ) -> tuple[list[Transition], list[Any], Exception | None]:
        """Where each action leads that leads anywhere, and what the simulator last raised."""
        outcomes: list[Transition] = []
        ends: list[Any] = []
        error: Exception | None = None
        start = self._save(running)
        for action in actions:
            try:
                outcome = self._env.step(action)
            except Exception as raised:
                error = raised
            else:
                ends.append(self._save(running))
                outcomes.append(_own(outcome))
            finally:
                self._load(start, running)
        return outcomes, ends, error

    def abandon(self) -> None:
        self._pending.drop()
        for generator, state in self._before:
            rewind(generator, state)
        self._before = []

    def _warn_once(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                "candidates were left out, because the simulator raised "
                f'{type(error).__name__}: {error}. `info["ewok"]["diverged"]` counts them.',
                EwokWarning,
                stacklevel=4,
            )

    def commit(self, index: int) -> None:
        self._load(self._ends[self._pending.close(index)], self._generators())
        self._ends, self._before = [], []
        if self._env.render_mode == "human":
            self._env.render()

    def _generators(self) -> list[Generator]:
        own = own_generator(self._env)
        if isinstance(self._saver, CopySaver):
            return generators_in(
                vars(self._env), skip=frozenset({id(self._env.action_space), id(self._env.observation_space)})
            )
        return [own]

    def _save(self, running: list[Generator]) -> Any:
        if isinstance(self._saver, CopySaver):
            return self._saver.save(self._env, share=running)
        return self._saver.save(self._env)

    def _load(self, saved: Any, running: list[Generator]) -> None:
        if isinstance(self._saver, CopySaver):
            self._saver.load(self._env, saved, share=running)
        else:
            self._saver.load(self._env, saved)


def gathered(outcomes: list[Transition]) -> Candidates:
    """Candidates from single transitions."""
    if not outcomes:
        none = np.zeros(0, dtype=bool)
        return Candidates((), np.zeros(0), none, none, ())
    observations, rewards, terminated, truncated, infos = zip(*outcomes, strict=True)
    return Candidates(
        stack(observations),
        np.array(rewards, dtype=np.float64),
        np.array(terminated, dtype=bool),
        np.array(truncated, dtype=bool),
        infos,
    )


def repeated(one: Candidates, num: int) -> Candidates:
    """The same outcome `num` times over, for a deterministic simulator."""
    if len(one) == 0:
        return replace(one, num_diverged=num)
    return _chosen(one, np.zeros(num, dtype=np.intp), 0)


def _chosen(candidates: Candidates, rows: NDArray[np.intp], num_diverged: int) -> Candidates:
    observations = take_rows(candidates.observations, rows) if len(candidates) else candidates.observations
    return Candidates(
        observations,
        candidates.rewards[rows],
        candidates.terminated[rows],
        candidates.truncated[rows],
        [dict(candidates.infos[row]) for row in rows],
        num_diverged,
    )


def _own(outcome: Any) -> Transition:
    """The transition, with an observation that the next step cannot write into."""
    observation, reward, terminated, truncated, info = outcome
    return copied(observation), float(reward), bool(terminated), bool(truncated), dict(info)


def finite(candidates: Candidates, sources: list[int], asked: int) -> tuple[Candidates, list[int]]:
    """The candidates that are numbers, with where each came from, and how many of those asked for are missing.

    A reward that is not finite, or a NaN in an observation, is the mark of a simulation that diverged.
    """
    num = len(candidates)
    good = np.isfinite(candidates.rewards)
    for leaf in leaves(candidates.observations) if num else ():
        if leaf.dtype.kind == "f":
            good &= ~np.isnan(leaf.reshape(num, -1)).any(axis=1)
    if np.count_nonzero(good) == num == asked:
        return candidates, sources
    rows = np.flatnonzero(good)
    return _chosen(candidates, rows, asked - len(rows)), [sources[row] for row in rows]

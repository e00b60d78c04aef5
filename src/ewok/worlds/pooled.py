"""Many episodes of a MuJoCo world on pooled data: each has a state of its own, and a few environments step them all.

A step is the environment's own, so it is exact by construction. Gymnasium's MuJoCo environments and the tasks of
dm_control's suite can be shared like this, because their steps change nothing but the physics.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from gymnasium import ObservationWrapper
from gymnasium import wrappers as gw

from ewok.nominal import dm_control, mujoco
from ewok.nominal.batch import copied, same, stack
from ewok.nominal.kernel import Transition
from ewok.nominal.layers import layers_of
from ewok.nominal.noise import ActionNoise
from ewok.nominal.physics import Physics, Threads, available_threads, numbers_of, set_numbers
from ewok.worlds.parts import step_limit
from ewok.worlds.streams import Streams
from ewok.worlds.vector import Indices, Outcome, is_divergence, is_finite
from ewok.worlds.world import Environment, Settle, Values

# What may stand between an agent and a simulator that is shared.
_KNOWN = (ActionNoise, gw.TimeLimit, gw.OrderEnforcing, gw.PassiveEnvChecker, gw.FlattenObservation)


def can_be_shared(env: Environment) -> bool:
    """Whether a step of this environment changes nothing but the physics, and nothing stands in between."""
    layers = layers_of(env)
    simulator: Any = layers.simulator
    shared = mujoco.is_shipped(simulator) or dm_control.is_suite_task(simulator)
    noises = sum(isinstance(wrapper, ActionNoise) for wrapper in layers.wrappers)
    return shared and noises == 1 and all(isinstance(wrapper, _KNOWN) for wrapper in layers.wrappers)


@final
@dataclass(slots=True, eq=False)
class Episode:
    """Where one episode stands.

    Attributes:
        data: its physics.
        numbers: of its model, those that are not nominal.
        memory: what the environment, or the task, remembers of its reset.
        num_steps: how far it has come.
    """

    data: Any = None
    numbers: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    num_steps: int = 0


@final
class Room:
    """One environment, in which any of the episodes can make its next step."""

    def __init__(self, env: Environment) -> None:
        layers = layers_of(env)
        simulator: Any = layers.simulator
        self.env, self._simulator = env, simulator
        self._control: Any = None if mujoco.is_shipped(simulator) else simulator._env
        self._lenses = [w for w in reversed(layers.wrappers) if isinstance(w, ObservationWrapper)]
        self._limit = step_limit(env)
        model, _ = self._handles()
        self._nominal = numbers_of(model)
        self._there: dict[str, Any] = {}

    def keep(self, episode: Episode, alike: Episode | None) -> None:
        """Let an episode stand where the environment was just reset to.

        Args:
            episode: it is changed.
            alike: another one that may have the same model.
        """
        model, data = self._handles()
        episode.data = copy.copy(data)
        numbers = numbers_of(model)
        numbers = {name: number for name, number in numbers.items() if not same(number, self._nominal[name])}
        episode.numbers = alike.numbers if alike is not None and same(numbers, alike.numbers) else numbers
        self._there = episode.numbers
        control = self._control
        episode.memory = mujoco.memory_of(self._simulator) if control is None else dm_control.memory_of(control.task)
        episode.num_steps = 0

    def step(self, episode: Episode, action: Any) -> Transition | None:
        """An episode's next step; None where its physics came apart."""
        self._place(episode)
        model, data = self._handles()
        physics = Physics(model)
        stable = physics.warnings(data)
        try:
            observation, reward, terminated, truncated, info = self._simulator.step(action)
        except Exception as error:
            if not is_divergence(error):
                raise
            return None
        for lens in self._lenses:
            observation = lens.observation(observation)
        finite = np.isfinite(float(reward)) and is_finite(observation)
        if not finite or physics.warnings(data) != stable:
            return None
        physics.copy(episode.data, data)
        episode.num_steps += 1
        truncated = bool(truncated) or episode.num_steps >= self._limit
        return copied(observation), float(reward), bool(terminated), truncated, info

    def _place(self, episode: Episode) -> None:
        """Put the environment where an episode stands."""
        model, data = self._handles()
        if self._there is not episode.numbers:
            back = {name: self._nominal[name] for name in self._there if name not in episode.numbers}
            set_numbers(model, {**back, **episode.numbers})
            self._there = episode.numbers
        Physics(model).copy(data, episode.data)
        if self._control is None:
            vars(self._simulator).update(episode.memory)
        else:
            vars(self._control.task).update(episode.memory)
            self._control._step_count, self._control._reset_next_step = episode.num_steps, False

    def _handles(self) -> tuple[Any, Any]:
        """The model, and its data."""
        if self._control is None:
            return self._simulator.model, self._simulator.data
        return self._control.physics.model.ptr, self._control.physics.data.ptr


@final
class PooledBatch:
    """Episodes of one MuJoCo world.

    Args:
        build: makes nominal environments of that world; one for each thread.
        settle: moves one to the values of a point.
        points: the values of all parameters at every point.
        num_episodes: how many episodes of each point.
        num_threads: how many threads simulate; by default as many as there are for this process.
    """

    def __init__(
        self,
        build: Callable[[], Environment],
        settle: Settle,
        points: Sequence[Values],
        num_episodes: int,
        num_threads: int | None = None,
    ) -> None:
        self._threads = Threads(available_threads() if num_threads is None else num_threads)
        self._rooms = [Room(build()) for _ in range(self._threads.num)]
        env = self._rooms[0].env
        each = [point for point in points for _ in range(num_episodes)]
        self._episodes = [Episode() for _ in each]
        self._streams = Streams(env, settle, each)
        self._first: Any = None
        self.num_envs = len(each)
        self.single_observation_space, self.single_action_space = env.observation_space, env.action_space

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Any:
        observations, before = [], None
        for index, (episode, seed) in enumerate(zip(self._episodes, seeds, strict=True)):
            observations.append(copied(self._streams.reset(index, seed, options)))
            self._rooms[0].keep(episode, before)
            before = episode
        self._first = observations[0]
        return stack(observations)

    def step(self, living: Indices, actions: Any) -> Outcome:
        noisy = self._streams.disturbed(living.tolist(), actions)

        def step(row: int) -> Transition | None:
            return self._rooms[row % self._threads.num].step(self._episodes[living[row]], noisy[row])

        steps = self._threads.each(step, len(living))
        lost: Transition = (self._first, 0.0, False, True, {})  # a row that nobody reads
        kept = [lost if each is None else each for each in steps]
        observations, rewards, terminated, truncated, _ = zip(*kept, strict=True)
        return Outcome(
            stack(observations),
            np.array(rewards),
            np.array(terminated),
            np.array(truncated),
            np.array([each is None for each in steps]),
        )

    def close(self) -> None:
        for room in self._rooms:
            room.env.close()

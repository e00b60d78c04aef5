"""Many episodes of classic control at once, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from ewok.nominal.layers import layers_of
from ewok.nominal.noise import ActionNoise, RandomAction, StateNoise
from ewok.worlds.dynamics_classic import Dynamics, Values
from ewok.worlds.generic import GENERIC
from ewok.worlds.parts import step_limit
from ewok.worlds.vector import Batch, Indices, Outcome

Array = NDArray[Any]
_AHEAD = 64  # how many steps' random numbers are drawn at a time


def classic_batch(
    build: Callable[[], gym.Env[Any, Any]],
    dynamics: Dynamics,
    points: Sequence[Mapping[str, float]],
    num_episodes: int,
) -> Batch | None:
    """What steps many episodes of a classic control world together; None where points name what it does not know."""
    if any(name in GENERIC for point in points for name in point):
        return None
    return ClassicBatch([build() for _ in range(num_episodes)], dynamics, points)


@final
class ClassicBatch:
    """The sub-environments of one classic control world.

    Args:
        envs: nominal environments of that world, one per episode: every point has the same first states
            and the same random numbers, which are theirs.
        dynamics: their step.
        points: the values of all parameters, for each point.
    """

    def __init__(
        self, envs: Sequence[gym.Env[Any, Any]], dynamics: Dynamics, points: Sequence[Mapping[str, float]]
    ) -> None:
        self._envs, self._dynamics = envs, dynamics
        self.num_envs = len(points) * len(envs)
        self.single_observation_space, self.single_action_space = envs[0].observation_space, envs[0].action_space
        self._values = {name: np.repeat([float(point[name]) for point in points], len(envs)) for name in points[0]}
        self._episodes = np.tile(np.arange(len(envs)), len(points))
        self._limit = step_limit(envs[0])
        self._states: Array = np.zeros(0)
        self._num_steps = 0
        self._drawn = np.zeros((len(envs), 0))
        self._used = np.zeros(self.num_envs, dtype=np.intp)  # of the random numbers of its episode
        self._cut: tuple[Indices, Values] = (np.zeros(0, dtype=np.intp), {})

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Array:
        observations, states = [], []
        for env, seed in zip(self._envs, seeds, strict=False):  # the seeds of the first point, which all points have
            observations.append(env.reset(seed=seed, options=options)[0])
            states.append(np.asarray(layers_of(env).simulator.state))  # type: ignore[attr-defined]
        if seeds[0] is not None:
            self._drawn, self._used = self._drawn[:, :0], np.zeros_like(self._used)
        oldest = int(self._used.min())
        self._drawn, self._used = self._drawn[:, oldest:], self._used - oldest
        self._states = np.array(states)[self._episodes]
        self._num_steps = 0
        return np.array(observations)[self._episodes]

    def step(self, living: Indices, actions: Any) -> Outcome:
        values = self._values_of(living)
        drawn = self._draw(living)
        simulator = layers_of(self._envs[0]).simulator
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            states, observations, rewards, terminated = self._dynamics.step(
                simulator, self._states[living], np.asarray(actions), drawn, values
            )
        if states.dtype != self._states.dtype:  # one simulator starts in double precision, and goes on in single
            self._states = self._states.astype(states.dtype)
        self._states[living] = states
        self._num_steps += 1
        diverged = ~(np.isfinite(observations).all(axis=1) & np.isfinite(rewards))
        truncated = np.full(len(living), self._num_steps >= self._limit)
        return Outcome(observations, rewards, terminated, truncated, diverged)

    def close(self) -> None:
        for env in self._envs:
            env.close()

    def _draw(self, living: Indices) -> Array:
        """The next random number of each."""
        used = self._used[living]
        if used.max() >= self._drawn.shape[1]:
            more = [self._dynamics.draw(_generator(env), _AHEAD) for env in self._envs]
            self._drawn = np.concatenate([self._drawn, np.array(more)], axis=1)
        self._used[living] += 1
        drawn: Array = self._drawn[self._episodes[living], used]
        return drawn

    def _values_of(self, living: Indices) -> Values:
        if len(self._cut[0]) != len(living) or not np.array_equal(self._cut[0], living):
            self._cut = living, {name: values[living] for name, values in self._values.items()}
        return self._cut[1]


def _generator(env: gym.Env[Any, Any]) -> np.random.Generator:
    noises = [w for w in layers_of(env).wrappers if isinstance(w, StateNoise | ActionNoise | RandomAction)]
    return noises[0].generator

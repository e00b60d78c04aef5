"""Many episodes of walkers that differ from each other, simulated side by side in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.nominal.noise import ActionNoise
from ewok.nominal.physics import Physics, Threads, available_threads
from ewok.worlds.vector import Indices, Outcome
from ewok.worlds.walker_kernel import Walkers
from ewok.worlds.walker_model import model_of, values_in
from ewok.worlds.world import Environment, Settle, Values, innermost


@final
class WalkerBatch:
    """Episodes of walkers, each with data of its own; walkers built alike share a model.

    Args:
        env: one environment of the world, which resets every episode; it is closed with the batch.
        settle: moves it to the values of a point.
        points: the values of all parameters at every point.
        num_episodes: how many episodes of each point.
        num_threads: how many threads simulate; by default as many as there are for this process.
    """

    def __init__(
        self,
        env: Environment,
        settle: Settle,
        points: Sequence[Values],
        num_episodes: int,
        num_threads: int | None = None,
    ) -> None:
        self._env, self._settle = env, settle
        simulator: Any = env.unwrapped
        self._simulator, self._control = simulator, simulator._env
        self._noise = innermost(env, ActionNoise)
        self._points = [point for point in points for _ in range(num_episodes)]
        models = [model_of(values_in(point)) for point in self._points]
        self._walkers = Walkers(models, self._control._n_sub_steps)
        self._threads = Threads(available_threads() if num_threads is None else num_threads)
        self._means = np.array([point["noise_mean"] for point in self._points])
        self._own: list[tuple[Any, np.random.Generator]] = [
            (np.random.RandomState(), np.random.default_rng()) for _ in self._points
        ]
        self._num_steps = 0
        self.num_envs = len(self._points)
        self.single_observation_space = env.observation_space
        self.single_action_space = env.action_space

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Any:
        """Each by the one environment, moved to its point and lent its generators."""
        env, simulator, noise, observations = self._env, self._simulator, self._noise, []
        for index, (point, seed) in enumerate(zip(self._points, seeds, strict=True)):
            self._settle(env, point)
            simulator.np_random, noise.generator = self._own[index]
            observations.append(env.reset(seed=seed, options=options)[0])
            self._own[index] = simulator.np_random, noise.generator
            physics = self._control.physics
            Physics(physics.model.ptr).copy(self._walkers.data[index], physics.data.ptr)
        self._num_steps = 0
        return np.array(observations)

    def step(self, living: Indices, actions: Any) -> Outcome:
        indices = living.tolist()
        noisy = self._disturbed(indices, actions)
        walkers = self._walkers
        stable = self._threads.each(lambda row: walkers.advance(indices[row], noisy[row]), len(indices))
        self._num_steps += 1
        observations, rewards = walkers.read(indices, self._simulator.speed)
        num = len(indices)
        over = self._num_steps >= self._control._step_limit
        return Outcome(observations, rewards, np.zeros(num, dtype=bool), np.full(num, over), ~np.array(stable))

    def close(self) -> None:
        self._env.close()

    def _disturbed(self, indices: list[int], actions: Any) -> NDArray[Any]:
        """What `ActionNoise` makes of each action, by the generator of its own."""
        space: Any = self.single_action_space
        shape, std = (1, *space.shape), np.asarray(self._noise.std)
        drawn = [self._own[index][1].normal(self._means[index], std, shape) for index in indices]
        clipped: NDArray[Any] = np.clip(np.asarray(actions) + np.concatenate(drawn), space.low, space.high)
        return clipped.astype(space.dtype)

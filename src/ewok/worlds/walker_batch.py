"""Many episodes of walkers that differ from each other, simulated side by side in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.nominal.noise import ActionNoise
from ewok.nominal.physics import Threads, available_threads
from ewok.worlds.vector import Indices, Outcome
from ewok.worlds.walker_kernel import NUM_SEEN, Walkers, judged
from ewok.worlds.walker_model import model_of, values_in
from ewok.worlds.world import Environment, Settle, Values, innermost


@final
class WalkerBatch:
    """Episodes of walkers, each with a state of its own; those built alike are simulated in the same memory.

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
        self._means = np.array([point["noise_mean"] for point in self._points])
        self._threads = Threads(available_threads() if num_threads is None else num_threads)
        values = [values_in(point) for point in self._points]
        alike = list(dict.fromkeys(values))
        rooms = [model_of(different) for different in alike for _ in range(self._threads.num)]
        self._walkers = Walkers(rooms, self._control._n_sub_steps)
        self._rooms = [alike.index(each) * self._threads.num for each in values]
        self._states = np.zeros((len(values), self._walkers.state_size))
        self._generators: list[tuple[Any, np.random.Generator]] = [
            (np.random.RandomState(), np.random.default_rng()) for _ in values
        ]
        self._num_steps = 0
        self.num_envs = len(values)
        self.single_observation_space = env.observation_space
        self.single_action_space = env.action_space

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Any:
        """Each by the one environment, moved to its point and lent its generators."""
        env, simulator, noise, observations = self._env, self._simulator, self._noise, []
        for index, (point, seed) in enumerate(zip(self._points, seeds, strict=True)):
            self._settle(env, point)
            simulator.np_random, noise.generator = self._generators[index]
            observations.append(env.reset(seed=seed, options=options)[0])
            self._generators[index] = simulator.np_random, noise.generator
            self._walkers.save_other(self._control.physics.data.ptr, self._states[index])
        self._num_steps = 0
        return np.array(observations)

    def step(self, living: Indices, actions: Any) -> Outcome:
        indices, num = living.tolist(), len(living)
        noisy = self._disturbed(indices, actions)
        table = np.empty((num, NUM_SEEN))
        stable = self._threads.each(lambda row: self._step(row, indices[row], noisy[row], table[row]), num)
        observations, rewards = judged(table, self._simulator.speed)
        self._num_steps += 1
        over = self._num_steps >= self._control._step_limit
        return Outcome(observations, rewards, np.zeros(num, dtype=bool), np.full(num, over), ~np.array(stable))

    def close(self) -> None:
        self._env.close()

    def _step(self, row: int, index: int, action: NDArray[Any], seen: NDArray[np.float64]) -> bool:
        """One walker's step, in the room that its row's thread has for walkers like it."""
        walkers, room = self._walkers, self._rooms[index] + row % self._threads.num
        walkers.place(room, self._states[index])
        stable = walkers.advance(room, action)
        walkers.save(room, self._states[index])
        np.concatenate(walkers.seen[room], out=seen)
        return stable

    def _disturbed(self, indices: list[int], actions: Any) -> NDArray[Any]:
        """What `ActionNoise` makes of each action, by the generator of its own."""
        space: Any = self.single_action_space
        shape, std = (1, *space.shape), np.asarray(self._noise.std)
        drawn = [self._generators[index][1].normal(self._means[index], std, shape) for index in indices]
        clipped: NDArray[Any] = np.clip(np.asarray(actions) + np.concatenate(drawn), space.low, space.high)
        return clipped.astype(space.dtype)

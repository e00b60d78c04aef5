"""Many episodes of walkers that differ from each other, simulated side by side in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.nominal.physics import Threads, available_threads
from ewok.worlds.streams import Streams
from ewok.worlds.vector import Indices, Outcome
from ewok.worlds.walker_kernel import NUM_SEEN, Walkers, judged
from ewok.worlds.walker_model import model_of, values_in
from ewok.worlds.world import Environment, Settle, Values


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
        self._env = env
        simulator: Any = env.unwrapped
        self._simulator, self._control = simulator, simulator._env
        each = [point for point in points for _ in range(num_episodes)]
        self._streams = Streams(env, settle, each)
        self._threads = Threads(available_threads() if num_threads is None else num_threads)
        values = [values_in(point) for point in each]
        alike = list(dict.fromkeys(values))
        rooms = [model_of(different) for different in alike for _ in range(self._threads.num)]
        self._walkers = Walkers(rooms, self._control._n_sub_steps)
        self._rooms = [alike.index(value) * self._threads.num for value in values]
        self._states = np.zeros((len(values), self._walkers.state_size))
        self._num_steps = 0
        self.num_envs = len(values)
        self.single_observation_space = env.observation_space
        self.single_action_space = env.action_space

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Any:
        observations = []
        for index, seed in enumerate(seeds):
            observations.append(self._streams.reset(index, seed, options))
            self._walkers.save_other(self._control.physics.data.ptr, self._states[index])
        self._num_steps = 0
        return np.array(observations)

    def step(self, living: Indices, actions: Any) -> Outcome:
        indices, num = living.tolist(), len(living)
        noisy = self._streams.disturbed(indices, actions)
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

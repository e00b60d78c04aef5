"""The random numbers of many episodes that one environment resets in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.nominal.generators import generator_of
from ewok.nominal.noise import ActionNoise
from ewok.worlds.parts import innermost
from ewok.worlds.world import Environment, Settle, Values


@final
class Streams:
    """Each episode's generators: of the simulator, and of the noise on its actions.

    Args:
        env: the environment that resets every episode; it has an `ActionNoise`.
        settle: moves it to the values of a point.
        points: where every episode takes place.
    """

    def __init__(self, env: Environment, settle: Settle, points: Sequence[Values]) -> None:
        self.env, self._settle, self._points = env, settle, points
        self._simulator: Any = env.unwrapped
        self._noise = innermost(env, ActionNoise)
        legacy = isinstance(generator_of(self._simulator), np.random.RandomState)
        make: Any = np.random.RandomState if legacy else np.random.default_rng
        self._generators: list[tuple[Any, np.random.Generator]] = [(make(), np.random.default_rng()) for _ in points]
        self._amounts: list[tuple[Any, Any]] = []  # mean and standard deviation
        for index, point in enumerate(points):
            if index == 0 or point is not points[index - 1]:
                settle(env, point)
            self._amounts.append((np.asarray(self._noise.mean), np.asarray(self._noise.std)))

    def reset(self, index: int, seed: int | None, options: dict[str, Any] | None) -> Any:
        """Reset the environment as this episode, and return its first observation."""
        self._settle(self.env, self._points[index])
        self._simulator.np_random, self._noise.generator = self._generators[index]
        observation, _ = self.env.reset(seed=seed, options=options)
        self._generators[index] = self._simulator.np_random, self._noise.generator
        return observation

    def disturbed(self, indices: Sequence[int], actions: Any) -> NDArray[Any]:
        """What `ActionNoise` makes of each action, by the generator of its own."""
        space: Any = self.env.action_space
        drawn = [self._generators[i][1].normal(*self._amounts[i], (1, *space.shape)) for i in indices]
        clipped: NDArray[Any] = np.clip(np.asarray(actions) + np.concatenate(drawn), space.low, space.high)
        return clipped.astype(space.dtype)

"""A saved model that acts in many episodes at once, and says what it thinks of where each may go next.

What lies between a world and the model is done here as it was in training: a `VecNormalize`, stacked frames,
and the memory of a recurrent policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray

from ewok.lab.frames import ONE
from ewok.lab.recurrent import Memory
from ewok.lab.saved import SavedModel, frames_for
from ewok.nominal.batch import take_rows
from ewok.value import value_of
from ewok.worlds.vector import Episodes, WorldVector
from ewok.worlds.world import World

Array = NDArray[Any]


@final
class Pilot:
    """A model in the episodes of one world.

    Args:
        model: the model.
        world: the world, whose spaces must be the model's.
        deterministic: whether it acts as it thinks best, or draws its actions as in training.

    Attributes:
        remembers: whether it has to see every episode at every step, in the same order.
    """

    def __init__(self, model: SavedModel, world: World, *, deterministic: bool = True) -> None:
        self.model, self._world, self._deterministic = model, world, deterministic
        env = world.make()
        self._frames = frames_for(model, env.observation_space, env.action_space, world.name)
        self._early = _normalises_early(model, env.observation_space)
        env.close()
        self._lstm = Memory(model.agent) if hasattr(getattr(model.agent, "policy", None), "lstm_actor") else None
        self.remembers = self._frames != ONE or self._lstm is not None
        self._value: Any = None
        self._stack: Any = None
        self._rows: NDArray[np.intp] = np.zeros(0, dtype=np.intp)

    def run(self, points: Sequence[dict[str, float]], episodes: int, *, seed: int) -> Episodes:
        """What its episodes come to at every point."""
        vector = self._world.make_vector(points, episodes)
        try:
            return self.fly(vector, seed=seed)
        finally:
            vector.close()

    def fly(self, vector: WorldVector, *, seed: int) -> Episodes:
        """What its episodes come to in these environments. Same seed, same episodes."""
        self.forget()
        with _drawing_from(seed):
            return vector.run(self, seed=seed, narrowing=not self.remembers)

    def forget(self) -> None:
        """Begin new episodes."""
        self._stack = None
        if self._lstm is not None:
            self._lstm.forget()

    def __call__(self, observations: Any) -> Any:
        """Actions for a step of all episodes."""
        seen = self._seen(observations)
        if self._lstm is not None:
            return self._lstm.act(seen, self._deterministic)
        actions, _ = self.model.agent.predict(seen, deterministic=self._deterministic)
        return actions

    @property
    def discount(self) -> float:
        return float(self.model.agent.gamma)

    def scale(self, rewards: Array) -> Array:
        """Rewards as the model's critic counts them."""
        normaliser = self.model.normaliser
        return rewards if normaliser is None or not normaliser.norm_reward else normaliser.normalize_reward(rewards)

    def require_critic(self) -> None:
        """Raise unless the model has a value function."""
        if self._lstm is None:
            self._value = value_of(self.model.agent)

    def look_from(self, rows: NDArray[np.intp]) -> None:
        """Which episode each observation of the next call of `values` would go on with."""
        self._rows = rows

    def values(self, observations: Any) -> Array:
        """What its critic says of next observations, each of the episode that `look_from` named."""
        if self._early:
            observations = self._normalised(observations)
        if self._frames != ONE:
            observations = self._frames.next(take_rows(self._stack, self._rows), observations)
        if not self._early:
            observations = self._normalised(observations)
        if self._lstm is not None:
            return self._lstm.values(observations, self._rows)
        if self._value is None:
            self.require_critic()
        return np.asarray(self._value(observations))

    def _seen(self, observations: Any) -> Any:
        """The world's observations as the model is used to them."""
        if self._early:
            observations = self._normalised(observations)
        if self._frames != ONE:
            begins = self._stack is None
            new = self._frames.first(observations) if begins else self._frames.next(self._stack, observations)
            self._stack = observations = new
        return observations if self._early else self._normalised(observations)

    def _normalised(self, observations: Any) -> Any:
        normaliser = self.model.normaliser
        return observations if normaliser is None else normaliser.normalize_obs(observations)


@contextmanager
def _drawing_from(seed: int) -> Iterator[None]:
    """Policies that draw their actions do so from the global generators of their libraries: these are seeded, and put
    back afterwards."""
    numpy_state = np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(numpy_state)  # noqa: NPY002


def _normalises_early(model: SavedModel, space: gym.Space[Any]) -> bool:
    """Whether the normaliser stood beneath the stacked frames, as rl_zoo3 puts it, and not above them."""
    statistics = getattr(model.normaliser, "obs_rms", None)
    if isinstance(statistics, dict) and isinstance(space, gym.spaces.Dict) and statistics:
        key, statistics = next(iter(statistics.items()))
        space = space[key]
    mean = getattr(statistics, "mean", None)
    return mean is not None and np.shape(mean) == space.shape

"""What can go wrong between the agent's decision and the world. The reward function stays what it is."""

from __future__ import annotations

from collections import deque
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import RecordConstructorArgs

from ewok.errors import WrapperError
from ewok.nominal.batch import copied
from ewok.nominal.generators import seeded
from ewok.nominal.layers import place_of, plain
from ewok.worlds.perturbation import Perturbation

NOISE = Perturbation(
    name="action_noise", nominal=0.0, low=0.0, high=1.0, least=0.0, unit="std", values=[0.05, 0.1, 0.2, 0.5]
)
MEAN = Perturbation(name="action_noise_mean", nominal=0.0, low=-0.5, high=0.5, unit="action")
DELAY = Perturbation(
    name="action_delay", nominal=0, low=0, high=8, least=0, unit="steps", whole=True, live=False, values=[1, 2, 4]
)
REPEAT = Perturbation(
    name="action_repeat", nominal=1, low=1, high=8, least=1, unit="steps", whole=True, values=[2, 3, 4]
)


@final
class ActuatorNoise(gym.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Gaussian noise on a continuous action, clipped to the action space: a perturbation, not the nominal kernel.

    A `WorstKernel` above it has the same noise for all its candidates; `ewok.ActionNoise` is what
    gives each its own.

    Args:
        env: an environment with a Box action space.
        std: standard deviation, of every component.
        mean: mean, of every component.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds.controls import ActuatorNoise
        >>> env = ActuatorNoise(gym.make("Pendulum-v1"), mean=0.3)
    """

    snapshot_names = ("generator", "_std", "_mean", "_drawn")

    def __init__(self, env: gym.Env[Any, Any], std: float = 0.0, mean: float = 0.0) -> None:
        RecordConstructorArgs.__init__(self, std=plain(std), mean=plain(mean))
        space = env.action_space
        if not isinstance(space, Box) or not np.issubdtype(space.dtype, np.floating):
            raise WrapperError(
                f"`action_noise` needs a continuous (Box) action space, but this one is {space}. "
                "For discrete actions use `ewok.RandomAction(env, probability)`."
            )
        super().__init__(env)
        self._space = space
        self.std, self.mean = std, mean  # checked by their setters
        self.generator = np.random.default_rng()
        self._drawn: Any = np.zeros(space.shape)

    @property
    def std(self) -> float:
        return self._std

    @std.setter
    def std(self, std: float) -> None:
        self._std = NOISE.checked(std, "std")

    @property
    def mean(self) -> float:
        return self._mean

    @mean.setter
    def mean(self, mean: float) -> None:
        self._mean = MEAN.checked(mean, "mean")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = seeded(seed, place_of(self.env))
        result = super().reset(seed=seed, options=options)
        self._drawn = self.generator.standard_normal(self._space.shape)
        return result

    def action(self, action: Any) -> Any:
        if self._std == 0.0 and self._mean == 0.0:
            return action
        moved = np.asarray(action) + (self._mean + self._std * self._drawn)
        return np.clip(moved, self._space.low, self._space.high).astype(self._space.dtype)

    def step(self, action: Any) -> Any:
        transition = super().step(action)
        self._drawn = self.generator.standard_normal(self._space.shape)  # afterwards, so that a failed step drew none
        return transition


@final
class ActionDelay(gym.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Actions reach the world some steps late.

    Until the first one arrives, the world meets none: zeros, or random actions where they are
    discrete. A new delay holds from the next `reset`.

    Args:
        env: an environment with a Box or Discrete action space.
        delay: in steps.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds.controls import ActionDelay
        >>> env = ActionDelay(gym.make("Pendulum-v1"), delay=2)
    """

    snapshot_names = ("generator", "_delay", "_waiting")
    remembers_actions = True

    def __init__(self, env: gym.Env[Any, Any], delay: int = 0) -> None:
        RecordConstructorArgs.__init__(self, delay=plain(delay))
        if not isinstance(env.action_space, Box | Discrete):
            raise WrapperError(
                f"`ActionDelay` needs a Box or Discrete action space, but this one is {env.action_space}. "
                "Put a gymnasium.ActionWrapper beneath it that turns one into it."
            )
        super().__init__(env)
        self.delay = delay  # checked by its setter
        self.generator = np.random.default_rng()
        self._waiting: deque[Any] = deque()

    @property
    def delay(self) -> int:
        return self._delay

    @delay.setter
    def delay(self, delay: int) -> None:
        self._delay = int(DELAY.checked(delay, "delay"))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = seeded(seed, place_of(self.env))
        result = super().reset(seed=seed, options=options)
        self._waiting = deque(self._nothing() for _ in range(self._delay))
        return result

    def action(self, action: Any) -> Any:
        return self._waiting[0] if self._waiting else action

    def step(self, action: Any) -> Any:
        transition = super().step(action)
        if self._waiting:
            self._waiting.popleft()
            self._waiting.append(copied(action))
        return transition

    def _nothing(self) -> Any:
        space = self.action_space
        if isinstance(space, Box):
            return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high)
        assert isinstance(space, Discrete)
        return int(space.start + self.generator.integers(space.n))


@final
class ActionRepeat(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """The agent decides only every few steps; what it earned in between is added up.

    Args:
        env: any environment.
        num_repeats: for how many steps an action holds.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds.controls import ActionRepeat
        >>> env = ActionRepeat(gym.make("CartPole-v1"), num_repeats=2)
    """

    snapshot_names = ("_num_repeats",)
    repeats_actions = True

    def __init__(self, env: gym.Env[Any, Any], num_repeats: int = 1) -> None:
        RecordConstructorArgs.__init__(self, num_repeats=plain(num_repeats))
        super().__init__(env)
        self.num_repeats = num_repeats  # checked by its setter

    @property
    def num_repeats(self) -> int:
        return self._num_repeats

    @num_repeats.setter
    def num_repeats(self, num_repeats: int) -> None:
        self._num_repeats = int(REPEAT.checked(num_repeats, "num_repeats"))

    def step(self, action: Any) -> Any:
        observation, earned, terminated, truncated, info = super().step(action)
        for _ in range(self._num_repeats - 1):
            if terminated or truncated:
                break
            observation, reward, terminated, truncated, info = super().step(action)
            earned = float(earned) + float(reward)
        return observation, earned, terminated, truncated, info

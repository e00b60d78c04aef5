"""What can go wrong between the world and the agent's eyes. Rewards, and the world itself, stay what they are.

A worst kernel judges candidates as they are, before any of this happens to them.
"""

from __future__ import annotations

from collections import deque
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from ewok.errors import WrapperError
from ewok.nominal.batch import copied
from ewok.nominal.generators import seeded
from ewok.nominal.layers import place_of, plain
from ewok.worlds.perturbation import Perturbation

NOISE = Perturbation(
    name="observation_noise", nominal=0.0, low=0.0, high=0.3, least=0.0, unit="std", values=[0.01, 0.03, 0.1]
)
DELAY = Perturbation(
    name="observation_delay", nominal=0, low=0, high=8, least=0, unit="steps", whole=True, live=False, values=[1, 2, 4]
)
DROPPED = Perturbation(
    name="dropped_sensors", nominal=0.0, low=0.0, high=0.5, least=0.0, most=1.0, values=[0.01, 0.05, 0.1, 0.2]
)
STUCK = Perturbation(
    name="stuck_sensors", nominal=0.0, low=0.0, high=0.5, least=0.0, most=1.0, values=[0.01, 0.05, 0.1, 0.2]
)
_LASTING = Perturbation(name="num_steps", nominal=1, low=1, high=10, least=1, whole=True)


class _Sensors(gym.Wrapper[Any, Any, Any, Any]):
    """One number per sensor, and a generator of its own, seeded by `reset`."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        space = env.observation_space
        if not isinstance(space, Box) or not np.issubdtype(space.dtype, np.floating):
            remedy = "DtypeObservation(env, np.float32)" if isinstance(space, Box) else "FlattenObservation"
            raise WrapperError(
                f"`{type(self).__name__}` needs observations that are one array of floating-point numbers, but they "
                f"are {space}. Put gymnasium.wrappers.{remedy} beneath it."
            )
        super().__init__(env)
        self._space = space
        self.generator = np.random.default_rng()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = seeded(seed, place_of(self.env))
        observation, info = super().reset(seed=seed, options=options)
        return self._first(observation), info

    def step(self, action: Any) -> Any:
        observation, *rest = super().step(action)
        return self._shown(observation), *rest

    def _first(self, observation: Any) -> Any:
        """What is seen of the first observation of an episode."""
        return self._shown(observation)

    def _shown(self, observation: Any) -> Any:
        raise NotImplementedError


@final
class ObservationNoise(_Sensors, RecordConstructorArgs):
    """Gaussian noise on what is observed, and on nothing else; clipped to the observation space.

    Args:
        env: an environment whose observations are one array.
        std: standard deviation, of every component.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds.sensors import ObservationNoise
        >>> env = ObservationNoise(gym.make("CartPole-v1"), std=0.1)
    """

    snapshot_names = ("generator", "_std")

    def __init__(self, env: gym.Env[Any, Any], std: float = 0.0) -> None:
        RecordConstructorArgs.__init__(self, std=plain(std))
        super().__init__(env)
        self.std = std  # checked by its setter

    @property
    def std(self) -> float:
        return self._std

    @std.setter
    def std(self, std: float) -> None:
        self._std = NOISE.checked(std, "std")

    def _shown(self, observation: Any) -> Any:
        noise = self.generator.standard_normal(self._space.shape)  # drawn at 0 too, so that streams do not shift
        if self._std == 0.0:
            return observation
        noisy = np.clip(observation + self._std * noise, self._space.low, self._space.high)
        return noisy.astype(self._space.dtype)


class _Faulty(_Sensors):
    """Each sensor fails with some probability at each step, and then for some steps."""

    snapshot_names = ("generator", "_probability", "_left", "_last")

    def __init__(self, env: gym.Env[Any, Any], probability: float, num_steps: int) -> None:
        super().__init__(env)
        self.probability = probability  # checked by its setter
        self.num_steps = int(_LASTING.checked(num_steps, "num_steps"))
        self._left: NDArray[np.int64] = np.zeros(self._space.shape, dtype=np.int64)
        self._last: Any = None

    @property
    def probability(self) -> float:
        return self._probability

    @probability.setter
    def probability(self, probability: float) -> None:
        self._probability = STUCK.checked(probability, "probability")

    def _first(self, observation: Any) -> Any:
        self._left = np.zeros(self._space.shape, dtype=np.int64)
        self._last = copied(observation)
        return observation

    def _shown(self, observation: Any) -> Any:
        fails = self.generator.random(self._space.shape) < self._probability
        self._left[fails & (self._left == 0)] = self.num_steps
        shown = np.where(self._left > 0, self._instead(), observation) if self._left.any() else observation
        self._left = np.maximum(self._left - 1, 0)
        self._last = copied(shown)
        return shown

    def _instead(self) -> Any:
        """What failed sensors show."""
        raise NotImplementedError


@final
class DroppedSensors(_Faulty, RecordConstructorArgs):
    """Sensors that now and then show zero.

    Args:
        env: an environment whose observations are one array.
        probability: that a sensor fails, for each sensor at each step.
        num_steps: for how long it then shows zero.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds.sensors import DroppedSensors
        >>> env = DroppedSensors(gym.make("CartPole-v1"), probability=0.1)
    """

    def __init__(self, env: gym.Env[Any, Any], probability: float = 0.0, num_steps: int = 1) -> None:
        RecordConstructorArgs.__init__(self, probability=plain(probability), num_steps=plain(num_steps))
        super().__init__(env, probability, num_steps)
        self._zero = np.clip(np.zeros(self._space.shape, self._space.dtype), self._space.low, self._space.high)

    def _instead(self) -> Any:
        return self._zero


@final
class StuckSensors(_Faulty, RecordConstructorArgs):
    """Sensors that now and then go on showing what they last showed.

    Args:
        env: an environment whose observations are one array.
        probability: that a sensor fails, for each sensor at each step.
        num_steps: for how long it then is stuck.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds.sensors import StuckSensors
        >>> env = StuckSensors(gym.make("CartPole-v1"), probability=0.1)
    """

    def __init__(self, env: gym.Env[Any, Any], probability: float = 0.0, num_steps: int = 5) -> None:
        RecordConstructorArgs.__init__(self, probability=plain(probability), num_steps=plain(num_steps))
        super().__init__(env, probability, num_steps)

    def _instead(self) -> Any:
        return self._last


@final
class ObservationDelay(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Shows what could be seen some steps ago; rewards and the end of the episode come in time.

    Until that long has passed, it shows the first observation. A new delay holds from the next `reset`.
    A `WorstKernel` judges candidates as they are, before they are delayed: it is the world that is bad, whenever it is
    seen. Gymnasium's `DelayObservation` is part of what the agent sees; there the value sees candidates late too.

    Args:
        env: any environment.
        delay: in steps.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds.sensors import ObservationDelay
        >>> env = ObservationDelay(gym.make("CartPole-v1"), delay=2)
    """

    snapshot_names = ("_delay", "_waiting")

    def __init__(self, env: gym.Env[Any, Any], delay: int = 0) -> None:
        RecordConstructorArgs.__init__(self, delay=plain(delay))
        super().__init__(env)
        self.delay = delay  # checked by its setter
        self._waiting: deque[Any] = deque()

    @property
    def delay(self) -> int:
        return self._delay

    @delay.setter
    def delay(self, delay: int) -> None:
        self._delay = int(DELAY.checked(delay, "delay"))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observation, info = super().reset(seed=seed, options=options)
        self._waiting = deque(copied(observation) for _ in range(self._delay))
        return observation, info

    def step(self, action: Any) -> Any:
        observation, *rest = super().step(action)
        self._waiting.append(copied(observation))
        return self._waiting.popleft(), *rest

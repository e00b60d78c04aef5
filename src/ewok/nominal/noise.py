"""What makes a deterministic world stochastic. These wrappers are part of the nominal kernel.

Beneath a `WorstKernel` every candidate has its own draw of the noise; alone they are plain
wrappers. They may stand at any height of a wrapper stack, and have generators of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import ArrayLike, NDArray

from ewok.errors import WrapperError, require
from ewok.nominal.generators import seeded
from ewok.nominal.kernel import SteerableKernel
from ewok.nominal.layers import layers_of, place_of, plain, wrappers_of
from ewok.nominal.passage import simulator_kernel
from ewok.nominal.seam import Seam


class _Noise(gym.Wrapper[Any, Any, Any, Any]):
    """A generator of its own, seeded by `reset`, and whether a step is only passing through."""

    snapshot_names = ("generator",)

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self._refuse_above_resampling(env)
        self.generator = np.random.default_rng()
        self.passing = False

    def _refuse_above_resampling(self, env: gym.Env[Any, Any]) -> None:
        """Noise is part of the nominal kernel, so it must be drawn before one of the candidates is chosen."""
        name = type(self).__name__
        for layer in wrappers_of(env):
            if getattr(type(layer), "resamples", False):
                kernel = type(layer).__name__
                raise WrapperError(
                    f"`{name}` must stand beneath `{kernel}`, where every candidate has its own draw of it, but it "
                    f"is put above. Wrap the other way round: {kernel}({name}(env, ...), ...)."
                )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = seeded(seed, place_of(self.env))
        return super().reset(seed=seed, options=options)


class _Gaussian(_Noise):
    """`std` and `mean`, one for all components or one each; both can be changed at any time."""

    def __init__(self, env: gym.Env[Any, Any], std: ArrayLike, mean: ArrayLike, shape: tuple[int, ...]) -> None:
        super().__init__(env)
        self._shape = shape
        self.std, self.mean = std, mean  # checked by their setters

    @property
    def std(self) -> ArrayLike:
        return self._std

    @std.setter
    def std(self, std: ArrayLike) -> None:
        self._std = _amount(std, "std", self._shape, at_least=0.0)

    @property
    def mean(self) -> ArrayLike:
        return self._mean

    @mean.setter
    def mean(self, mean: ArrayLike) -> None:
        self._mean = _amount(mean, "mean", self._shape)

    def _drawn(self, num: int) -> NDArray[np.float64]:
        return self.generator.normal(self._mean, self._std, (num, *self._shape))


@final
class StateNoise(_Gaussian, RecordConstructorArgs):
    """Gaussian noise on the simulator's state, after each transition.

    The state itself moves, not only what is observed of it: termination, reward and the next
    transition follow from where it moved to.

    Args:
        env: an environment whose simulator's state can be addressed: classic control, MuJoCo
            (`qpos`, then `qvel`).
        std: standard deviation, one for all components or one each.
        mean: mean, likewise.
        indices: which components of the state; all of them by default.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.StateNoise(gym.make("CartPole-v1"), std=0.01, indices=[0])  # cart position
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        std: ArrayLike,
        mean: ArrayLike = 0.0,
        indices: Sequence[int] | None = None,
    ) -> None:
        RecordConstructorArgs.__init__(self, std=plain(std), mean=plain(mean), indices=plain(indices))
        size = self._state_size = _state_size(env)
        chosen = np.arange(size) if indices is None else np.asarray(indices)
        require(
            chosen.ndim == 1
            and np.issubdtype(chosen.dtype, np.integer)
            and bool(np.all((-size <= chosen) & (chosen < size)))
            and len(set(chosen % size)) == len(chosen) > 0,
            "indices",
            f"different components of the state, from 0 to {size - 1}",
            indices,
            "Leave it out to move all of them.",
        )
        super().__init__(env, std, mean, (len(chosen),))
        self._columns = _slice(chosen % size)
        self._seam = Seam(self, type(self).__name__)

    def displace(self, num: int) -> NDArray[np.float64]:
        """Displacements of the state, (num, state_size)."""
        shift = np.zeros((num, self._state_size))
        shift[:, self._columns] = self._drawn(num)
        return shift

    def step(self, action: Any) -> Any:
        return self.env.step(action) if self.passing else self._seam.step(action)


@final
class ActionNoise(_Gaussian, RecordConstructorArgs):
    """Gaussian noise on a continuous action, clipped to the action space.

    Args:
        env: an environment with a Box action space.
        std: standard deviation, one for all components or one each.
        mean: mean, likewise.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2)
    """

    def __init__(self, env: gym.Env[Any, Any], std: ArrayLike, mean: ArrayLike = 0.0) -> None:
        RecordConstructorArgs.__init__(self, std=plain(std), mean=plain(mean))
        space = env.action_space
        if not isinstance(space, Box) or not np.issubdtype(space.dtype, np.floating):
            raise WrapperError(
                f"`ActionNoise` needs a continuous (Box) action space, but this one is {space}. "
                "For discrete actions use `RandomAction(env, probability)`."
            )
        super().__init__(env, std, mean, space.shape)
        self._space = space
        self.received: Any = None

    def disturb(self, actions: Sequence[Any]) -> NDArray[Any]:
        """One action per candidate, each with its own noise."""
        disturbed = np.asarray(actions) + self._drawn(len(actions))
        clipped: NDArray[Any] = np.clip(disturbed, self._space.low, self._space.high)
        return clipped.astype(self._space.dtype)

    def step(self, action: Any) -> Any:
        self.received = action
        return self.env.step(action if self.passing else self.disturb([action])[0])


@final
class RandomAction(_Noise, RecordConstructorArgs):
    """With some probability another action than the one chosen, each other one equally likely.

    Args:
        env: an environment with a Discrete action space of two or more actions.
        probability: of another action.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.RandomAction(gym.make("Acrobot-v1"), probability=0.1)
    """

    def __init__(self, env: gym.Env[Any, Any], probability: float) -> None:
        RecordConstructorArgs.__init__(self, probability=plain(probability))
        super().__init__(env)
        space = env.action_space
        if not isinstance(space, Discrete) or space.n < 2:
            raise WrapperError(
                f"`RandomAction` needs a Discrete action space of two or more actions, but this one is "
                f"{space}. For continuous actions use `ActionNoise(env, std)`."
            )
        self._start, self._num_actions = int(space.start), int(space.n)
        self.probability = probability  # checked by its setter
        self.received: Any = None

    @property
    def probability(self) -> float:
        return self._probability

    @probability.setter
    def probability(self, probability: float) -> None:
        number = isinstance(probability, int | float | np.integer | np.floating)
        valid = number and 0.0 <= float(probability) <= 1.0
        require(valid, "probability", "between 0 and 1", probability, "Use 0 for no noise.")
        self._probability = float(probability)

    def disturb(self, actions: Sequence[Any]) -> NDArray[np.int64]:
        """One action per candidate, each with its own chance of another."""
        chosen = np.asarray(actions, dtype=np.int64) - self._start
        chances = self.generator.random(len(chosen))
        return other_actions(chosen, chances, self._probability, self._num_actions) + self._start

    def step(self, action: Any) -> Any:
        self.received = action
        return self.env.step(action if self.passing else self.disturb([action])[0])


def other_actions(
    chosen: NDArray[np.int64], chances: NDArray[np.float64], probability: Any, num_actions: int
) -> NDArray[np.int64]:
    """Another action where the chance is below the probability, of all (B,) or of each.

    One uniform number decides both whether and which, so a single draw is a draw of many's first.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        which = np.floor(chances / probability * (num_actions - 1))
    other = (chosen + 1 + np.nan_to_num(which, posinf=0.0).astype(np.int64)) % num_actions
    return np.where(chances < probability, other, chosen)


def _state_size(env: gym.Env[Any, Any]) -> int:
    simulator = layers_of(env).simulator
    kernel = simulator_kernel(simulator)
    size = kernel.state_size if isinstance(kernel, SteerableKernel) else None
    if size is None:
        raise WrapperError(
            f"`StateNoise` needs a simulator whose state is a vector that can be moved, and "
            f"{type(simulator).__name__} has none that is known. Classic control and MuJoCo have one; "
            "elsewhere use `ActionNoise` or `RandomAction`, or register a kernel with a `state_size`."
        )
    return size


def _slice(indices: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Neighbouring components as a slice, which is faster to assign to."""
    first = int(indices[0])
    neighbours = np.array_equal(indices, np.arange(first, first + len(indices)))
    return slice(first, first + len(indices)) if neighbours else indices


def _amount(
    value: ArrayLike, name: str, shape: tuple[int, ...], at_least: float = -np.inf
) -> float | NDArray[np.float64]:
    """A finite number, or one per component."""
    try:
        amount = np.asarray(value, dtype=np.float64)
        np.broadcast_to(amount, shape)
        valid = bool(np.all(np.isfinite(amount)) and np.all(amount >= at_least))
    except (TypeError, ValueError):
        valid = False
    bound = "" if at_least == -np.inf else f" of at least {at_least:g}"
    require(valid, name, f"a finite number{bound}, or an array of shape {shape}", value, "Give one number.")
    return float(amount) if amount.ndim == 0 else amount

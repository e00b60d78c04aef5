"""Drawing next states from the nominal kernel: the protocol, and the table of who implements it.

`draw` asks the simulator what could happen next, without moving it; `commit` makes one of the
drawn candidates the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from ewok.errors import KernelError, require
from ewok.nominal.batch import leaves, take

Transition = tuple[Any, float, bool, bool, dict[str, Any]]


@final
@dataclass(slots=True, eq=False)  # not frozen: one is made at every step, and freezing doubles its cost
class Candidates:
    """N outcomes of one action, each judged on its own next state.

    Attributes:
        observations: batch first; a dict or tuple of such arrays where the space is one.
        rewards: (N,) float.
        terminated: (N,) bool.
        truncated: (N,) bool.
        infos: one dictionary per candidate.
        num_diverged: how many more were asked for but left out, because the simulator diverged.
    """

    observations: Any
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    infos: Sequence[dict[str, Any]]
    num_diverged: int = 0

    def __len__(self) -> int:
        return len(self.rewards)

    def transition(self, index: int) -> Transition:
        """The candidate as `Env.step` would return it."""
        return (
            take(self.observations, index),
            float(self.rewards[index]),
            bool(self.terminated[index]),
            bool(self.truncated[index]),
            dict(self.infos[index]),
        )


@runtime_checkable
class NominalKernel(Protocol):
    """The nominal kernel of one simulator. Write one to bring your own simulator.

    `draw` leaves the simulator where it was, but for its random generator, which stands past all
    draws. `commit` moves it to a candidate of the latest draw. A draw that is not committed is
    dropped by the next one. Candidates for which the simulator diverges are left out.
    """

    def draw(self, action: Any, num: int) -> Candidates:
        """Draw `num` candidates for the next state under `action`."""
        ...

    def commit(self, index: int) -> None:
        """Move the simulator to candidate `index` of the latest draw."""
        ...


@runtime_checkable
class SteerableKernel(NominalKernel, Protocol):
    """A nominal kernel whose candidates can each have an action and a displacement of their own.

    The noise wrappers need one; a kernel without them does not.

    Attributes:
        state_size: number of components of the simulator's state that `StateNoise` may move,
            or None where it has none that can be addressed.
        deterministic: whether outcomes depend on nothing but action and displacement; the
            simulator's own generator is then left alone.
    """

    @property
    def state_size(self) -> int | None: ...

    @property
    def deterministic(self) -> bool: ...

    def abandon(self) -> None:
        """Take the latest draw back: no candidate of it can be committed, generators are where they were."""
        ...

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        """Draw one candidate per action, each moved by its row of `shift` (N, state_size)."""
        ...


KernelFactory = Callable[[gym.Env[Any, Any]], NominalKernel]

# By the class itself, for users; by "module:Class", for simulators that may not be installed.
_FACTORIES: dict[type | str, KernelFactory] = {}


def register_kernel(env_cls: type | str, factory: KernelFactory) -> None:
    """Draw from environments of this class, and of its subclasses, with `factory(env)`.

    Example:
        >>> import ewok
        >>> class MyEnv(gym.Env): ...
        >>> class MyKernel:
        ...     def __init__(self, env): self.env = env
        ...     def draw(self, action, num): ...
        ...     def commit(self, index): ...
        >>> ewok.register_kernel(MyEnv, MyKernel)
    """
    named = isinstance(env_cls, str) and ":" in env_cls
    remedy = "Call ewok.register_kernel(MyEnv, MyKernel)."
    require(isinstance(env_cls, type) or named, "env_cls", 'a class, or text "module:Class"', env_cls, remedy)
    require(callable(factory), "factory", "a callable that takes an environment", factory, remedy)
    _FACTORIES[env_cls] = factory


def registered_factory(env: gym.Env[Any, Any]) -> KernelFactory | None:
    """The factory of the nearest class of `env`'s, if any was registered."""
    for cls in type(env).__mro__:
        factory = _FACTORIES.get(cls) or _FACTORIES.get(f"{cls.__module__}:{cls.__qualname__}")
        if factory is not None:
            return factory
    return None


def require_sound(candidates: Any, kernel: NominalKernel, num: int) -> None:
    """Say what is wrong with a draw of a kernel written elsewhere."""
    name = type(kernel).__name__
    if not isinstance(candidates, Candidates):
        raise KernelError(
            f"`{name}.draw` must return `ewok.Candidates`, but it returned a {type(candidates).__name__}."
        )
    for part in ("rewards", "terminated", "truncated"):
        if not isinstance(getattr(candidates, part), np.ndarray):
            setattr(candidates, part, np.asarray(getattr(candidates, part)))
    parts = (candidates.rewards, candidates.terminated, candidates.truncated, candidates.infos)
    sizes = [np.shape(part)[0] if np.ndim(part) else 0 for part in parts[:3]] + [len(parts[3])]
    sizes += [len(leaf) for leaf in leaves(candidates.observations)] if sizes[0] else []
    if len(set(sizes)) != 1 or sizes[0] > num:
        raise KernelError(
            f"`{name}.draw` must return {num} candidates, or fewer where some diverged, each with an observation, "
            f"reward, terminated, truncated and info, but the parts have sizes {sizes}."
        )


@final
class Pending:
    """How many candidates of the latest draw still wait for `commit`."""

    def __init__(self) -> None:
        self._num: int | None = None

    def open(self, num: int) -> None:
        self._num = num

    def drop(self) -> None:
        """There is no draw any more: a new one begins, or the latest is taken back."""
        self._num = None

    def close(self, index: Any) -> int:
        """Check `index` against the latest draw, and end that draw."""
        if self._num is None:
            raise KernelError(
                f"`commit({index})` has no draw to choose from: each draw can be committed once. "
                "Call `draw` again before it."
            )
        if not isinstance(index, (int, np.integer)) or not 0 <= index < self._num:
            raise KernelError(
                f"`index` must be one of the {self._num} candidates drawn, from 0 to "
                f"{self._num - 1}, but it is {index!r}. The draw still stands: commit another."
            )
        self._num = None
        return int(index)

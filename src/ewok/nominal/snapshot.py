"""Exact save and restore: the simulator, the wrappers above it, and every random generator."""

from __future__ import annotations

import copy
import io
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import gymnasium as gym

from ewok.errors import SnapshotError, require
from ewok.nominal.copying import CopySaver
from ewok.nominal.generators import generator_of, rewind, state_of
from ewok.nominal.layers import layers_of


class Saver(Protocol):
    """How one family of simulators is saved: all that moves, but for `np_random`."""

    def save(self, env: Any) -> Any: ...

    def load(self, env: Any, saved: Any) -> None: ...


@runtime_checkable
class SavesItself(Protocol):
    """A simulator whose author wrote down how it is saved."""

    def snapshot(self) -> Any: ...

    def restore(self, snapshot: Any) -> None: ...


@runtime_checkable
class ActsOnRestore(Protocol):
    """A wrapper with something to do once everything is back, as to move the simulator to where it was."""

    def restored(self) -> None: ...


@final
class OwnSaver:
    """Uses the simulator's own `snapshot` and `restore`."""

    def save(self, env: Any) -> Any:
        return env.snapshot()

    def load(self, env: Any, saved: Any) -> None:
        env.restore(saved)


@final
@dataclass(frozen=True)
class AttributeSaver:
    """Saves the few attributes that move in a simulator known by heart."""

    names: tuple[str, ...]

    def holds(self, env: Any) -> bool:
        """Whether the simulator has a state yet."""
        return vars(env).get(self.names[0]) is not None

    def save(self, env: Any) -> dict[str, Any]:
        held = vars(env)
        return {name: copy.deepcopy(held[name]) for name in self.names if name in held}

    def load(self, env: Any, saved: dict[str, Any]) -> None:
        vars(env).update(copy.deepcopy(saved))


# By "module:Class". `exactly` marks savers that hold for this very class: a subclass may add state.
_SAVERS: dict[str, tuple[Callable[[Any], Saver | None], bool]] = {}


# Each simulator has to show once that copying it works. By identity: dataclasses have no hash, and may be equal.
_COPY_SAVERS: dict[int, CopySaver] = {}


def register_saver(env_cls: str, make: Callable[[Any], Saver | None], exactly: bool = True) -> None:
    _SAVERS[env_cls] = (make, exactly)


def saver_of(simulator: gym.Env[Any, Any]) -> Saver:
    """The saver for this simulator; the one that copies, where none is known."""
    if isinstance(simulator, SavesItself):
        return OwnSaver()
    for cls in type(simulator).__mro__:
        make, exactly = _SAVERS.get(f"{cls.__module__}:{cls.__qualname__}", (None, True))
        saver = make(simulator) if make is not None and (cls is type(simulator) or not exactly) else None
        if saver is not None:
            return saver
    place = id(simulator)
    if place not in _COPY_SAVERS:
        _COPY_SAVERS[place] = CopySaver()
        weakref.finalize(simulator, _COPY_SAVERS.pop, place)
    return _COPY_SAVERS[place]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What `snapshot` saved. Holds for any environment built the same way."""

    kind: type
    simulator: Any
    generator: Any
    wrappers: tuple[tuple[type, dict[str, Any]], ...]


def snapshot(env: gym.Env[Any, Any]) -> Snapshot:
    """Save where `env` is: simulator, wrappers above it, random generators.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = gym.make("CartPole-v1")
        >>> observation, info = env.reset(seed=0)
        >>> saved = ewok.snapshot(env)
        >>> first = env.step(1)
        >>> ewok.restore(env, saved)
        >>> bool((env.step(1)[0] == first[0]).all())
        True
    """
    layers = layers_of(env)
    simulator = layers.simulator
    own = generator_of(simulator)
    return Snapshot(
        kind=type(simulator),
        simulator=saver_of(simulator).save(simulator),
        generator=None if own is None else copy.deepcopy(state_of(own)),
        wrappers=tuple((type(w), _memory_of(w)) for w in layers.wrappers),
    )


def restore(env: gym.Env[Any, Any], snapshot: Snapshot) -> None:
    """Put `env` back where it was when `snapshot` was taken; a snapshot can be used many times."""
    taken = isinstance(snapshot, Snapshot)
    require(taken, "snapshot", "what `ewok.snapshot` returned", snapshot, "Call ewok.snapshot(env) first.")
    layers = layers_of(env)
    stack, saved_stack = [type(w) for w in layers.wrappers], [cls for cls, _ in snapshot.wrappers]
    if stack != saved_stack:
        raise SnapshotError(
            f"`snapshot` was taken of an environment with the wrappers {_names(saved_stack)}, but this "
            f"one has {_names(stack)}. Restore it into an environment built the same way."
        )
    if type(layers.simulator) is not snapshot.kind:
        raise SnapshotError(
            f"`snapshot` was taken of a {snapshot.kind.__name__}, but this is a {type(layers.simulator).__name__}. "
            "Restore it into an environment built the same way."
        )
    saver_of(layers.simulator).load(layers.simulator, snapshot.simulator)
    if snapshot.generator is not None:
        rewind(layers.simulator.np_random, copy.deepcopy(snapshot.generator))
    for wrapper, (_, memory) in zip(layers.wrappers, snapshot.wrappers, strict=True):
        vars(wrapper).update(_copy_memory(wrapper, memory))
    for wrapper in layers.wrappers:
        if isinstance(wrapper, ActsOnRestore):
            wrapper.restored()


# Structure, not memory: these never move while an environment is used.
_STRUCTURE = frozenset({"env", "_action_space", "_observation_space", "_metadata", "_cached_spec", "_saved_kwargs"})


def _memory_of(wrapper: gym.Wrapper[Any, Any, Any, Any]) -> dict[str, Any]:
    """What a wrapper remembers. Ours name it in `snapshot_names`; of others, all they hold."""
    held = vars(wrapper)
    names = getattr(type(wrapper), "snapshot_names", None)
    kept = {k: held[k] for k in names} if names is not None else {k: v for k, v in held.items() if k not in _STRUCTURE}
    return _copy_memory(wrapper, kept)


def _copy_memory(wrapper: gym.Wrapper[Any, Any, Any, Any], memory: dict[str, Any]) -> dict[str, Any]:
    """Copy it, leaving alone the environments it points to, and files: those cannot go back."""
    shared: dict[int, Any] = {}
    layer: Any = wrapper
    while isinstance(layer, gym.Wrapper):
        shared[id(layer)] = layer
        layer = layer.env
    shared[id(layer)] = layer
    copied = {}
    for name, value in memory.items():
        try:
            copied[name] = value if isinstance(value, io.IOBase) else copy.deepcopy(value, dict(shared))
        except Exception:  # a window, a file behind a writer: nothing that a step depends on
            copied[name] = value
    return copied


def _names(classes: list[type]) -> str:
    return "[" + ", ".join(cls.__name__ for cls in classes) + "]"

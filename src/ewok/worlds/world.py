"""A world: a nominal environment, and the parameters by which it can be moved on purpose."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar, cast, final, runtime_checkable

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from ewok.errors import require, require_known, require_package
from ewok.nominal.layers import layers_of
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.vector import Batch, LoopBatch, WorldVector

Environment = gym.Env[Any, Any]
Values = Mapping[str, float]
Layer = TypeVar("Layer")

Settle = Callable[[Environment, Values], None]
BatchMaker = Callable[[Sequence[Values], int], Batch | None]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A family of environments: one nominal, the others moved away from it.

    Attributes:
        name: what people type.
        build: makes the nominal environment, with its nominal noise.
        parameters: what can be moved.
        settle: moves a live environment, wrappers and all, so that its parameters have the values it is
            given, one for every parameter; what the simulator derives from them must follow. It holds for
            the episode that goes on, whose state stays as it is, and for those to come.
        batch: makes what simulates many episodes of many points together, from the values of every
            point (one for every parameter) and the number of episodes of each; it returns None where
            it cannot, and single environments are then stepped one after another.
        summary: one line for a list of worlds.
        package: what must be installed.
        extra: which extra of ours installs it.

    Example:
        >>> import gymnasium as gym, ewok
        >>> def settle(env, values):
        ...     env.unwrapped.g = values["gravity"]
        >>> gravity = ewok.worlds.Perturbation(name="gravity", nominal=10.0, low=2.0, high=20.0, above=0.0)
        >>> world = ewok.worlds.World(
        ...     name="swing", build=lambda: gym.make("Pendulum-v1"), parameters=[gravity], settle=settle)
        >>> world.make(gravity=12.0).unwrapped.g
        12.0
    """

    name: str
    build: Callable[[], Environment]
    parameters: Sequence[Perturbation]
    settle: Settle
    batch: BatchMaker | None = None
    summary: str = ""
    package: str = ""
    extra: str = ""

    @cached_property
    def perturbations(self) -> dict[str, Perturbation]:
        """The parameters by name."""
        return {parameter.name: parameter for parameter in self.parameters}

    @cached_property
    def nominal(self) -> dict[str, float]:
        """The nominal value of every parameter."""
        return {name: parameter.nominal for name, parameter in self.perturbations.items()}

    def make(self, **values: float) -> Environment:
        """The environment where these parameters have these values, and all others are nominal."""
        checked = self.checked(values)
        if self.package:
            require_package(self.package, self.extra)
        env = self.build()
        return Shifted(env, world=self, values=checked) if checked else env

    def make_vector(self, points: Sequence[Values], episodes: int = 1) -> WorldVector:
        """Many episodes of every point, stepped together; see `WorldVector`.

        Args:
            points: one mapping from parameters to values for each; an empty one is the nominal world.
            episodes: how many episodes of each.
        """
        require(len(points) > 0, "points", "one or more mappings from parameters to values", points, "Try [{}].")
        given: Any = episodes
        whole = isinstance(given, int | np.integer) and not isinstance(given, bool) and bool(given >= 1)
        require(whole, "episodes", "a whole number, at least 1", episodes, "The paper uses 30.")
        checked = [self.checked(point) for point in points]
        if self.package:
            require_package(self.package, self.extra)
        complete = [{**self.nominal, **point} for point in checked]
        batch = None if self.batch is None else self.batch(complete, int(episodes))
        if batch is None:
            batch = LoopBatch([self.make(**point) for point in checked for _ in range(episodes)])
        return WorldVector(batch, int(episodes))

    def move(self, env: Environment, **values: float) -> None:
        """Move a live environment of this world: these parameters to these values, all others to nominal."""
        self.settle(env, {**self.nominal, **self.checked(values)})

    def checked(self, values: Values) -> dict[str, float]:
        """The values as numbers, if all of them name parameters and are physical."""
        for name in values:
            require_known(name, self.perturbations, "values", f"a parameter of the world {self.name!r}")
        return {name: self.perturbations[name].checked(value) for name, value in values.items()}


@runtime_checkable
class Holds(Protocol):
    """A wrapper that moved a world's parameters, and knows where to."""

    world: World
    values: dict[str, float]


@final
class Shifted(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A world's environment, moved. Spec and pickle move what they rebuild.

    Args:
        env: the world's nominal environment.
        world: the world, or its name.
        values: where its parameters are; those left out are nominal.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.worlds.get("cartpole").make(pole_length=1.0)
        >>> gym.make(env.spec).unwrapped.length
        1.0
    """

    snapshot_names = ()

    def __init__(self, env: Environment, *, world: World | str, values: Values) -> None:
        self.world = get(world) if isinstance(world, str) else world
        self.values = self.world.checked(values)
        known = _WORLDS.get(self.world.name) is self.world
        RecordConstructorArgs.__init__(self, world=self.world.name if known else self.world, values=dict(self.values))
        super().__init__(env)
        self.world.move(env, **self.values)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Some simulators are pickled as how they were made, so they have to be moved again."""
        vars(self).update(state)
        self.world.move(self.env, **self.values)


_WORLDS: dict[str, World] = {}


def register(world: World) -> World:
    """Let `get`, the command line and study files find this world by its name."""
    require(isinstance(world, World), "world", "an `ewok.worlds.World`", world, "Make one first.")
    _WORLDS[world.name] = world
    return world


def names() -> list[str]:
    """The names of all registered worlds, in the order they were registered."""
    return list(_WORLDS)


def get(name: str) -> World:
    """The world of this name; or, as "module:object", one that a module of yours holds.

    Example:
        >>> import ewok
        >>> sorted(ewok.worlds.get("cartpole").perturbations)
        ['cart_mass', 'gravity', 'noise', 'pole_length', 'pole_mass']
    """
    if ":" in str(name):
        module, _, attribute = name.partition(":")
        found = getattr(importlib.import_module(module), attribute, None)
        require(isinstance(found, World), "name", 'text "module:object" of an `ewok.worlds.World`', name, "Make one.")
        return cast(World, found)
    require_known(name, _WORLDS, "name", "a world")
    return _WORLDS[name]


def values_of(env: Environment) -> dict[str, float]:
    """The values that wrappers of ours say they moved this environment to; the others are nominal."""
    layer = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, Holds):
            return dict(layer.values)
        layer = layer.env
    return {}


def innermost(env: Environment, kind: type[Layer]) -> Layer:
    """The wrapper of this class that lies closest to the simulator: a world's own noise."""
    found = [wrapper for wrapper in layers_of(env).wrappers if isinstance(wrapper, kind)]
    require(len(found) > 0, "env", f"an environment with a `{kind.__name__}` in it", env, "Make it by `world.make()`.")
    return found[-1]

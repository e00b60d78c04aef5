"""A world: a nominal environment, and the parameters by which it can be moved on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, final

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from ewok.errors import require, require_known, require_package, require_several, require_whole
from ewok.named import named
from ewok.worlds.generic import GENERIC, fit, place, values_in
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.vector import Batch, LoopBatch, WorldVector

Environment = gym.Env[Any, Any]
Values = Mapping[str, float]

Settle = Callable[[Environment, Values], None]
Read = Callable[[Environment], Values]
BatchMaker = Callable[[Sequence[Values], int], Batch | None]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A family of environments: one nominal, the others moved away from it.

    Attributes:
        name: what people type.
        build: makes the nominal environment, with its nominal noise.
        parameters: what can be moved; or a function that says so, where the simulator has to be asked.
        settle: moves a live environment, wrappers and all, so that its parameters have the values it is
            given, one for every parameter; what the simulator derives from them must follow. It holds for
            the episode that goes on, whose state stays as it is, and for those to come.
        read: says where all parameters of an environment are that `make` did not make; without it, such a one
            is taken to be nominal.
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
    parameters: Sequence[Perturbation] | Callable[[], Sequence[Perturbation]]
    settle: Settle
    read: Read | None = None
    batch: BatchMaker | None = None
    summary: str = ""
    package: str = ""
    extra: str = ""

    @cached_property
    def perturbations(self) -> dict[str, Perturbation]:
        """The parameters by name."""
        if callable(self.parameters):
            self.require_installed()
        parameters = self.parameters() if callable(self.parameters) else self.parameters
        by_name = {parameter.name: parameter for parameter in parameters}
        named = [parameter.name for parameter in parameters]
        require(len(by_name) == len(named), "parameters", "of different names", named, "Rename one.")
        return by_name

    @cached_property
    def nominal(self) -> dict[str, float]:
        """The nominal value of every parameter."""
        return {name: parameter.nominal for name, parameter in self.perturbations.items()}

    def require_installed(self) -> None:
        """Raise `MissingExtraError` with the line that installs it unless the simulator is there."""
        if self.package:
            require_package(self.package, self.extra)

    @property
    def recorded(self) -> World | str:
        """As a wrapper's spec writes it down: by name where that finds it again."""
        return self.name if self in (_WORLDS.get(self.name), _MADE.get(self.name)) else self

    def __reduce__(self) -> Any:
        """By name where that finds it again; else as it is, which takes functions that have names."""
        return (get, (self.name,)) if isinstance(self.recorded, str) else super().__reduce__()

    def make(self, **values: float) -> Environment:
        """The environment where these parameters have these values, and all others are nominal.

        Beside the world's own parameters, those that fit any environment can be named: `ewok.worlds.GENERIC`.
        """
        own, others = self._sorted(values)
        self.require_installed()
        env = self.build()
        if own:
            env = Shifted(env, world=self, values=own)
        return fit(env, others)

    def make_vector(self, points: Sequence[Values], episodes: int = 1) -> WorldVector:
        """Many episodes of every point, stepped together; see `WorldVector`.

        Args:
            points: one mapping from parameters to values for each; an empty one is the nominal world.
            episodes: how many episodes of each.
        """
        requirement = "one or more mappings from parameters to values"
        remedy = f"Try [{dict(points) if isinstance(points, Mapping) else {}}]."
        require_several(points, "points", requirement, remedy)
        mapped = all(isinstance(point, Mapping) for point in points)
        require(mapped, "points", requirement, points, remedy)
        episodes = require_whole(episodes, "episodes", "The paper uses 30.")
        checked = [self.checked(point) for point in points]
        self.require_installed()
        complete = [{**self.nominal, **point} for point in checked]
        batch = None if self.batch is None else self.batch(complete, episodes)
        if batch is None:
            batch = LoopBatch([self.make(**point) for point in checked for _ in range(episodes)])
        return WorldVector(batch, episodes)

    def move(self, env: Environment, **values: float) -> None:
        """Move a live environment of this world: these parameters to these values, all others to nominal."""
        own, others = self._sorted(values)
        place(env, others)
        shifted = _shifted(env)
        if shifted is None:
            self.settle(env, {**self.nominal, **own})
        else:
            shifted.move(own)

    def prepared(self, env: Environment, parameters: Iterable[str]) -> Environment:
        """`env`, an environment of this world, with all that it takes to move these parameters.

        None is moved yet: one that `make` did not make stays where `read` finds it.
        """
        names = [self.perturbation(name).name for name in parameters]
        shifted = _shifted(env)
        if shifted is None and self.perturbations:
            own = self.values_of(env)
            moved = {name: own[name] for name, nominal in self.nominal.items() if own[name] != nominal}
            env = Shifted(env, world=self, values=moved)
        elif shifted is not None:
            ours = shifted.world.name == self.name
            require(ours, "env", f"of the world {self.name!r}", env, f"It is of the world {shifted.world.name!r}.")
        return fit(env, {name: GENERIC[name].perturbation.nominal for name in names if name not in self.perturbations})

    def values_of(self, env: Environment) -> dict[str, float]:
        """Where the parameters of `env` are: the world's own, and those of others that it has wrappers for."""
        shifted = _shifted(env)
        if shifted is not None:
            own: Values = shifted.values
        else:
            own = {} if self.read is None else self.read(env)
        return {**self.nominal, **own, **values_in(env)}

    def perturbation(self, name: str) -> Perturbation:
        """The parameter of this name: one of the world's own, or one that fits any environment."""
        if name in self.perturbations:
            return self.perturbations[name]
        require_known(name, [*self.perturbations, *GENERIC], "parameter", f"a parameter of the world {self.name!r}")
        return GENERIC[name].perturbation

    def checked(self, values: Values) -> dict[str, float]:
        """The values as numbers, if all of them name parameters and are physical."""
        return {name: self.perturbation(name).checked(value) for name, value in values.items()}

    def _sorted(self, values: Values) -> tuple[dict[str, float], dict[str, float]]:
        """Checked values of the world's own parameters, and of those that fit any environment."""
        checked = self.checked(values)
        own = {name: value for name, value in checked.items() if name in self.perturbations}
        return own, {name: value for name, value in checked.items() if name not in own}


@final
class Shifted(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A world's environment, moved. What spec, pickle and snapshot bring back is moved likewise.

    Args:
        env: the world's nominal environment.
        world: the world, or its name.
        values: where its own parameters are; those left out are nominal.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.worlds.get("cartpole").make(pole_length=1.0)
        >>> gym.make(env.spec).unwrapped.length
        1.0
    """

    snapshot_names = ("values",)

    def __init__(self, env: Environment, *, world: World | str, values: Values) -> None:
        self.world = get(world)
        RecordConstructorArgs.__init__(self, world=self.world.recorded, values=dict(values))
        super().__init__(env)
        self.values: dict[str, float] = {}
        self._settled: dict[str, float] | None = None
        self.move(self.world.checked(values))

    def move(self, values: dict[str, float]) -> None:
        """To these values of the world's own parameters, all others nominal."""
        self.world.settle(self.env, {**self.world.nominal, **values})
        self.values, self._settled = values, values

    def restored(self) -> None:
        """To where the snapshot was, at once: draws do not pass through `step`."""
        if self.values != self._settled:
            self.move(self.values)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Some simulators are pickled as how they were made, so they have to be moved again."""
        vars(self).update(state)
        self.move(self.values)


_OWN = 'One of your own is named "module:object": see docs/worlds.md.'
_WORLDS: dict[str, World] = {}
_FAMILIES: dict[str, tuple[Callable[[str], World], str]] = {}  # by what stands before the slash in a name
_MADE: dict[str, World] = {}  # by families


def register(world: World, *, replace: bool = False) -> World:
    """Let `get`, the command line and study files find this world by its name.

    Args:
        world: which.
        replace: whether it may take the place of another one of this name.
    """
    require(isinstance(world, World), "world", "an `ewok.worlds.World`", world, "Make one first.")
    free = replace or _WORLDS.get(world.name, world) is world
    require(free, "world", "of a name that no other has", world.name, "Give it another one, or say replace=True.")
    _WORLDS[world.name] = world
    return world


def register_family(prefix: str, make: Callable[[str], World], summary: str = "") -> None:
    """Let `get` make worlds named "prefix/rest", by `make("rest")`: a simulator with many tasks."""
    _FAMILIES[prefix] = make, summary


def families() -> dict[str, str]:
    """What the names of worlds that are made when asked for begin with, and what they are."""
    return {prefix: summary for prefix, (_, summary) in _FAMILIES.items()}


def names() -> list[str]:
    """The names of all registered worlds, in the order they were registered."""
    return list(_WORLDS)


def get(name: str | World) -> World:
    """The world of this name; or, as "module:object", one that a module of yours holds. A world is itself.

    Example:
        >>> import ewok
        >>> sorted(ewok.worlds.get("cartpole").perturbations)
        ['cart_mass', 'gravity', 'noise', 'pole_length', 'pole_mass']
    """
    if isinstance(name, World):
        return name
    require(isinstance(name, str), "name", "the name of a world, or a world", name, "`ewok worlds` lists them.")
    if ":" in name:
        found = named(name, "name")
        require(isinstance(found, World), "name", 'text "module:object" of an `ewok.worlds.World`', name, "Make one.")
        return cast(World, found)
    prefix, slash, rest = name.partition("/")
    if slash and name not in _WORLDS:
        require_known(prefix, _FAMILIES, "name", "a family of worlds, before the slash", _OWN)
        if name not in _MADE:
            _MADE[name] = _FAMILIES[prefix][0](rest)
        return _MADE[name]
    require_known(name, _WORLDS, "name", "a world", _OWN)
    return _WORLDS[name]


def _shifted(env: Environment) -> Shifted | None:
    while isinstance(env, gym.Wrapper):
        if isinstance(env, Shifted):
            return env
        env = env.env
    return None

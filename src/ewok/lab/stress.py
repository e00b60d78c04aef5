"""A saved model under stress: every parameter moved, several moved at once, and the world turned against it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, final

import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ewok.errors import EwokError, require
from ewok.lab.opposed import against
from ewok.lab.pilot import Pilot
from ewok.lab.store import Curve, Returns
from ewok.worlds.adversary import RADII
from ewok.worlds.generic import GENERIC
from ewok.worlds.points import Point, cloud
from ewok.worlds.vector import Episodes
from ewok.worlds.world import World

Array = NDArray[np.float64]
Say = Callable[[str], None]


@final
@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to try.

    Attributes:
        parameters: which to move; all of the world's own by default.
        episodes: at every value.
        num_mixtures: how many random points of all parameters at once.
        seed: of the first episode everywhere, those that follow count on, and of the mixtures.
    """

    parameters: Sequence[str] = ()
    episodes: int = 30
    num_mixtures: int = 100
    seed: int = 1_000_000

    def __post_init__(self) -> None:
        remedy = "One tells nothing from chance; the paper uses 30."
        require(self.episodes >= 2, "episodes", "at least 2", self.episodes, remedy)
        require(self.num_mixtures >= 0, "mixtures", "at least 0", self.num_mixtures, "Try 100.")
        require(self.seed >= 0, "seed", "at least 0", self.seed, "Leave it out.")

    def moved(self, world: World) -> list[str]:
        """The parameters to move, each of which the world must have."""
        named = dict.fromkeys(world.perturbation(name).name for name in self.parameters)
        names = list(named) or list(world.perturbations)
        remedy = f"These fit any world: {', '.join(GENERIC)}."
        require(
            len(names) > 0, "parameters", f"given for the world {world.name}, which has none of its own", [], remedy
        )
        return names


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """Several parameters moved at once, and what the episodes there came to.

    Attributes:
        point: the parameters that were moved.
        returns: (E,)
    """

    point: Point
    returns: Array


@final
@dataclass(frozen=True, eq=False)
class Stress:
    """What a model's episodes came to.

    Attributes:
        model: its name.
        algorithm: what trained it.
        world: where.
        nominal: (E,) returns in the nominal world.
        random: (E,) returns of random actions there.
        curves: over each parameter's grid.
        radius: against the worst kernel that its own critic picks, over the KL radius; None where that cannot be.
        no_radius: why not.
        pairs: two parameters at ends of their ranges.
        cloud: random points of all parameters at once.
    """

    model: str
    algorithm: str
    world: World = field(repr=False)
    nominal: Array = field(repr=False)
    random: Array = field(repr=False)
    curves: Returns = field(repr=False)
    radius: Curve | None = field(repr=False)
    no_radius: str
    pairs: tuple[Mixture, ...] = field(repr=False)
    cloud: tuple[Mixture, ...] = field(repr=False)


def examine(pilot: Pilot, world: World, plan: Plan, say: Say = lambda told: None) -> Stress:
    """Fly a model through everything in the plan.

    Args:
        pilot: the model.
        world: where.
        plan: what to try.
        say: is told what is being done.
    """
    names, fewer = plan.moved(world), max(1, plan.episodes // 3)
    say(f"{pilot.model.name}: {', '.join(names)}, one at a time, {plan.episodes} episodes at every value")
    nominal, random = pilot.run([{}], plan.episodes, seed=plan.seed), _at_random(world, plan)
    if not is_better(nominal.returns[0], random):
        say(f"{pilot.model.name}: no better than random actions in the nominal world; is it the right one?")
    returns = _curves(pilot, world, names, nominal, plan)
    pairs = _corners(world, names)
    mixed = cloud(world, plan.num_mixtures, names, seed=plan.seed) if plan.num_mixtures else []
    say(f"{pilot.model.name}: {len(pairs)} pairs and {len(mixed)} mixtures of parameters, {fewer} episodes each")
    together = _mixtures(pilot, [*pairs, *mixed], fewer, plan)
    say(f"{pilot.model.name}: against its own critic, {fewer} episodes at each of {len(RADII)} radii")
    radius, why = _opposed(pilot, world, fewer, plan)
    return Stress(
        model=pilot.model.name,
        algorithm=pilot.model.algorithm,
        world=world,
        nominal=nominal.returns[0],
        random=random,
        curves=returns,
        radius=radius,
        no_radius=why,
        pairs=tuple(together[: len(pairs)]),
        cloud=tuple(together[len(pairs) :]),
    )


def is_better(returns: Array, others: Array) -> bool:
    """Whether the mean of these returns is above that of the others, beyond what chance explains."""
    error = np.sqrt(returns.var(ddof=1) / len(returns) + others.var(ddof=1) / len(others))
    return bool(returns.mean() - others.mean() > 2.0 * error)


def _curves(pilot: Pilot, world: World, names: Sequence[str], nominal: Episodes, plan: Plan) -> Returns:
    """Each parameter over its grid. The nominal world is in every grid, and is flown once."""
    parameters = {name: world.perturbation(name) for name in names}
    moved = {name: [value for value in p.grid if value != p.nominal] for name, p in parameters.items()}
    own = [(name, value) for name in names if name in world.perturbations for value in moved[name]]
    # Those that fit any world are simulated in another way than its own, so they are not to slow these down.
    groups = [own, *([(name, value) for value in moved[name]] for name in names if name in GENERIC)]
    came: dict[tuple[str, float], Any] = {}
    for group in filter(None, groups):
        episodes = pilot.run([{name: value} for name, value in group], plan.episodes, seed=plan.seed)
        came |= dict(zip(group, zip(*_arrays(episodes), strict=True), strict=True))
    curves = {}
    middle = tuple(array[0] for array in _arrays(nominal))
    for name, parameter in parameters.items():
        rows = [came.get((name, value), middle) for value in parameter.grid]
        curves[name] = Curve(np.array(parameter.grid), *map(np.array, zip(*rows, strict=True)))
    return Returns(curves)


def _arrays(episodes: Episodes) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return episodes.returns, episodes.lengths, episodes.diverged


def _corners(world: World, names: Sequence[str]) -> list[Point]:
    """Every two parameters at every two ends of their ranges, where neither is nominal."""
    ends = {}
    for name in names:
        parameter = world.perturbation(name)
        ends[name] = [end for end in (parameter.low, parameter.high) if end != parameter.nominal]
    return [
        {one: first, other: second}
        for one, other in combinations(names, 2)
        for first, second in product(ends[one], ends[other])
    ]


def _mixtures(pilot: Pilot, points: Sequence[Point], episodes: int, plan: Plan) -> list[Mixture]:
    if not points:
        return []
    came = pilot.run(points, episodes, seed=plan.seed).returns
    return [Mixture(point, returns) for point, returns in zip(points, came, strict=True)]


def _opposed(pilot: Pilot, world: World, episodes: int, plan: Plan) -> tuple[Curve | None, str]:
    """Over the KL radius; None, and why, where the model has no critic or the world cannot be drawn from."""
    try:
        came = against(pilot, world, episodes, seed=plan.seed)
    except EwokError as error:
        return None, str(error)
    return Curve(np.array(RADII), *_arrays(came)), ""


def _at_random(world: World, plan: Plan) -> Array:
    """Returns of random actions in the nominal world: what is gained over them is what there is to lose."""
    vector = world.make_vector([{}], plan.episodes)
    space = batch_space(vector.single_action_space, plan.episodes)
    space.seed(plan.seed)
    try:
        returns: Array = vector.run(lambda observations: space.sample(), seed=plan.seed, narrowing=False).returns[0]
        return returns
    finally:
        vector.close()

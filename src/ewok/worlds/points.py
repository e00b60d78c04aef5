"""Which worlds to test in: points, each a mapping from parameters to values, the rest being nominal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ewok.errors import require
from ewok.worlds.world import World, get

Point = dict[str, float]


def along(world: World | str, parameter: str, values: Sequence[float] | None = None) -> list[Point]:
    """One parameter at a time: at its grid, or at `values`.

    Example:
        >>> from ewok.worlds import along
        >>> along("cartpole", "gravity", [5.0, 9.8])
        [{'gravity': 5.0}, {'gravity': 9.8}]
    """
    return [{parameter: value} for value in _values(_found(world), parameter, values)]


def across(
    world: World | str,
    one: str,
    other: str,
    values: tuple[Sequence[float] | None, Sequence[float] | None] = (None, None),
) -> list[Point]:
    """Two parameters at once: every pair of a value of `one` with a value of `other`, the latter changing faster.

    Example:
        >>> from ewok.worlds import across
        >>> len(across("cartpole", "gravity", "pole_length"))
        100
    """
    world = _found(world)
    require(one != other, "other", f"another parameter than {one!r}", other, "For one alone use `along`.")
    firsts, seconds = _values(world, one, values[0]), _values(world, other, values[1])
    return [{one: first, other: second} for first, second in product(firsts, seconds)]


def cloud(world: World | str, num: int, parameters: Sequence[str] | None = None, *, seed: int = 0) -> list[Point]:
    """Many parameters at once: `num` random points of their tested ranges. The worst of them estimates the worst case.

    Args:
        world: the world, or its name.
        num: how many points.
        parameters: which to move; all of the world's own by default.
        seed: of the draw.

    Example:
        >>> from ewok.worlds import cloud
        >>> sorted(cloud("cartpole", num=100)[0])
        ['cart_mass', 'gravity', 'noise', 'pole_length', 'pole_mass']
    """
    world = _found(world)
    given: Any = num
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool) and bool(given >= 1)
    require(whole, "num", "a whole number of points, at least 1", num, "Try 100.")
    names = list(world.perturbations) if parameters is None else list(parameters)
    require(len(names) > 0, "parameters", "one or more parameters", parameters, "Leave it out for all.")
    fractions = np.random.default_rng(seed).random((num, len(names)))
    drawn = [world.perturbation(name) for name in names]
    return [{p.name: p.place(float(f)) for p, f in zip(drawn, row, strict=True)} for row in fractions]


def _found(world: World | str) -> World:
    return get(world) if isinstance(world, str) else world


def _values(world: World, name: str, values: Sequence[float] | None) -> list[float]:
    parameter = world.perturbation(name)
    if values is None:
        return list(parameter.grid)
    require(len(values) > 0, "values", f"one or more values of {name!r}", values, "Leave it out for its grid.")
    return [parameter.checked(value) for value in values]

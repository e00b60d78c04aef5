"""Which worlds to test in: points, each a mapping from parameters to values, the rest being nominal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ewok.errors import require, require_several, require_whole
from ewok.worlds.world import World, get

Point = dict[str, float]


def along(world: World | str, parameter: str, values: Sequence[float] | None = None) -> list[Point]:
    """One parameter at a time: at its grid, or at `values`.

    Example:
        >>> from ewok.worlds import along
        >>> along("cartpole", "gravity", [5.0, 9.8])
        [{'gravity': 5.0}, {'gravity': 9.8}]
    """
    return [{parameter: value} for value in _values(get(world), parameter, values)]


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
    world = get(world)
    require(one != other, "other", f"another parameter than {one!r}", other, "For one alone use `along`.")
    firsts, seconds = _values(world, one, values[0]), _values(world, other, values[1])
    return [{one: first, other: second} for first, second in product(firsts, seconds)]


def cloud(world: World | str, num: int, parameters: str | Sequence[str] | None = None, *, seed: int = 0) -> list[Point]:
    """Many parameters at once: `num` random points of their tested ranges. The worst of them estimates the worst case.

    Args:
        world: the world, or its name.
        num: how many points.
        parameters: which to move: one name, or several; all of the world's own by default.
        seed: of the draw.

    Example:
        >>> from ewok.worlds import cloud
        >>> sorted(cloud("cartpole", num=100)[0])
        ['cart_mass', 'gravity', 'noise', 'pole_length', 'pole_mass']
    """
    world = get(world)
    num = require_whole(num, "num", "Try 100.", of="points")
    names = list(world.perturbations) if parameters is None else parameters
    names = [names] if isinstance(names, str) else names
    require_several(names, "parameters", "one or more parameters", "Leave it out for all.")
    fractions = np.random.default_rng(seed).random((num, len(names)))
    drawn = [world.perturbation(name) for name in names]
    return [{p.name: p.place(float(f)) for p, f in zip(drawn, row, strict=True)} for row in fractions]


def _values(world: World, name: str, values: Sequence[float] | None) -> list[float]:
    parameter = world.perturbation(name)
    if values is None:
        return list(parameter.grid)
    require_several(values, "values", f"one or more values of {name!r}", "Leave it out for its grid.")
    return [parameter.checked(value) for value in values]

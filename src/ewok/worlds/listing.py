"""The worlds as text, for the command line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from ewok.errors import MissingExtraError
from ewok.worlds.generic import GENERIC
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.world import World, families, get, names

_WIDTH, _INDENT = 82, " " * 26


def all_worlds() -> str:
    """Every registered world with the names of its parameters, and those that fit any of them."""
    lines: list[str] = []
    for name in names():
        world = get(name)
        lines.append(f"{name:<26}{world.summary}" + (f" [{world.extra}]" if world.extra else ""))
        lines += _parameters(world)
    lines += [f"{f'{prefix}/NAME':<26}{summary}" for prefix, summary in families().items()]
    lines += ["any world", *_wrapped(GENERIC), "", "`ewok worlds NAME` shows units, nominal values and ranges."]
    return "\n".join(lines)


def one_world(name: str) -> str:
    """A world's parameters, and those that fit any world, each with its unit, nominal value and tested range."""
    world = get(name)
    lines = [f"{world.name}: {world.summary}" + (f" (pip install 'ewok[{world.extra}]')" if world.extra else "")]
    lines.append(f"  {'parameter':<20}{'unit':<16}{'nominal':>9}  tested range")
    lines += [_row(parameter) for parameter in world.perturbations.values()]
    lines += ["in any world:", *(_row(generic.perturbation) for generic in GENERIC.values())]
    return "\n".join(line.rstrip() for line in lines)


def _row(parameter: Perturbation) -> str:
    tested = f"[{parameter.low:g}, {parameter.high:g}]"
    row = f"  {parameter.name:<20}{parameter.unit:<16}{parameter.nominal:>9g}  {tested}"
    return f"{row}\n    ({parameter.note})" if parameter.note else row


def _parameters(world: World) -> list[str]:
    """Lines with their names; of a simulator that is not installed, what installs it."""
    try:
        return _wrapped(world.perturbations)
    except MissingExtraError as error:
        return [f"{_INDENT}{error}"]


def _wrapped(parameters: Iterable[str]) -> list[str]:
    return textwrap.wrap(", ".join(parameters), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)

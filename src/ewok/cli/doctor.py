"""`ewok doctor`: what is installed, what is missing, and what is known not to work."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import textwrap
from collections.abc import Iterator
from typing import Annotated, NamedTuple, final

import typer

from ewok.cli.probes import can_draw_cartpole, can_draw_mujoco, can_film
from ewok.cli.root import FAILED, app

_WIDTH = 100


@final
class BadPair(NamedTuple):
    """Two packages that do not work together, by their first version numbers.

    Attributes:
        one: a package, from version `since` on.
        other: the other, from version `start` on and below version `end`.
        why: and what to do.
    """

    one: str
    since: int
    other: str
    start: int
    end: int
    why: str


BAD_PAIRS = (
    BadPair("mujoco", 4, "dm-control", 0, 2, "mujoco 4 breaks dm_control 1: pip install 'mujoco<4'"),
    BadPair("pandas", 3, "rliable", 0, 2, "rliable 1 cannot be imported with pandas 3: pip install 'pandas<3'"),
    BadPair("arch", 8, "rliable", 0, 2, "rliable 1 does not work with arch 8: pip install 'arch<8'"),
    BadPair(
        "pillow",
        12,
        "moviepy",
        0,
        3,
        "moviepy 2 needs an older pillow, and ewok needs no moviepy: pip uninstall moviepy",
    ),
)


@app.command()
def doctor(
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if versions do not work together.")] = False,
    render: Annotated[bool, typer.Option(help="Try what can be drawn.")] = True,
) -> None:
    """What is installed, what is missing, what is known not to work.

    Says with which line to install what is missing, and tries whether worlds can be drawn here.

    Example: ewok doctor
    """
    problems = [pair.why for pair in BAD_PAIRS if _clash(pair)]
    for line in _report(problems, render):
        typer.echo(
            textwrap.fill(line, _WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
        )
    if problems and strict:
        raise typer.Exit(FAILED)


def _report(problems: list[str], render: bool) -> Iterator[str]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield f"ewok {_version('ewok')}, python {platform.python_version()} on {platform.system().lower()}"
    yield _threads(usable or 1)
    for extra, names in sorted(_packages_of_extras().items()):
        missing = [name for name in names if _version(name) is None]
        found = ", ".join(f"{name} {_version(name)}" for name in names if _version(name) is not None)
        state = f"pip install 'ewok[{extra}]' adds {', '.join(missing)}" if missing else "complete"
        yield f"[{extra}] {state}" + (f" (there: {found})" if found else "")
    if render:
        yield f"drawing classic control: {can_draw_cartpole()}"
        yield f"drawing MuJoCo: {can_draw_mujoco()}"
        yield f"films: {can_film()}"
    yield from (f"PROBLEM: {problem}" for problem in problems)
    if not problems:
        yield "no versions known to break each other"


def _threads(usable: int) -> str:
    given = os.environ.get("OMP_NUM_THREADS")
    start = f"threads: {usable} of {os.cpu_count()} cores may be used"
    if given is None:
        return f"{start}; OMP_NUM_THREADS is not set: libraries take all of them, studies give each worker one"
    return f"{start}; OMP_NUM_THREADS={given}"


def _clash(pair: BadPair) -> bool:
    return _major(pair.one) >= pair.since and pair.start <= _major(pair.other) < pair.end


def _packages_of_extras() -> dict[str, list[str]]:
    """Package names by extra, as this installation declares them."""
    extras: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("ewok") or []:
        requirement, _, marker = line.partition(";")
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"](\w+)['\"]", marker)
        if name is not None and name[0] != "ewok":
            known = extras.setdefault(extra[1] if extra else "base", [])
            known += [name[0]] if name[0] not in known else []
    return extras


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _major(name: str) -> int:
    version = _version(name)
    return -1 if version is None else int(version.split(".")[0])

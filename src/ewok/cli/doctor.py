"""`ewok doctor`: what is installed, what is missing, and what is known not to work."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from typing import Annotated

import typer

from ewok.cli.root import FAILED, app

# Versions that are known not to work together, and why.
_BAD_PAIRS = [
    ("mujoco", 4, "dm-control", 2, "mujoco 4 breaks dm_control 1: pip install 'mujoco<4'"),
]


@app.command()
def doctor(
    strict: Annotated[bool, typer.Option(help="Exit with 1 if versions do not work together.")] = False,
) -> None:
    """What is installed, what is missing, what is known not to work.

    Example: ewok doctor
    """
    typer.echo(f"python {platform.python_version()} on {platform.system().lower()}, {os.cpu_count()} cores")
    typer.echo(f"threads: OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'not set')}")
    typer.echo(f"rendering: MUJOCO_GL={os.environ.get('MUJOCO_GL', 'not set (egl needs no screen)')}")
    for extra, names in sorted(_packages_of_extras().items()):
        missing = [name for name in names if _version(name) is None]
        found = ", ".join(f"{name} {_version(name)}" for name in names if _version(name) is not None)
        state = f"pip install 'ewok[{extra}]' adds {', '.join(missing)}" if missing else "complete"
        typer.echo(f"[{extra}] {state}" + (f" (there: {found})" if found else ""))
    problems = [why for a, at, b, below, why in _BAD_PAIRS if _major(a) >= at and 0 <= _major(b) < below]
    typer.echo("\n".join(problems) if problems else "no versions known to break each other")
    if problems and strict:
        raise typer.Exit(FAILED)


def _packages_of_extras() -> dict[str, list[str]]:
    """Package names by extra, as this installation declares them; '' is the base install."""
    extras: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("ewok") or []:
        requirement, _, marker = line.partition(";")
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"](\w+)['\"]", marker)
        if name is not None and name[0] != "ewok":
            extras.setdefault(extra[1] if extra else "base", []).append(name[0])
    return extras


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _major(name: str) -> int:
    version = _version(name)
    return -1 if version is None else int(version.split(".")[0])

"""The command line: thin over the library."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from ewok.errors import EwokError

app = typer.Typer(
    name="ewok",
    help="Robust policies from any reinforcement-learning algorithm.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# Versions that are known not to work together, and why.
_BAD_PAIRS = [
    ("mujoco", 4, "dm-control", 2, "mujoco 4 breaks dm_control 1: pip install 'mujoco<4'"),
]


@app.callback()
def _root() -> None:
    """Robust policies from any reinforcement-learning algorithm."""


@app.command()
def doctor(
    strict: Annotated[bool, typer.Option(help="Exit with 1 if versions do not work together.")] = False,
) -> None:
    """What is installed, what is missing and how to install it, and what is known not to work.

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
        raise typer.Exit(1)


@app.command()
def solve(
    path: Annotated[Path, typer.Argument(help="A table: idstatefrom, idaction, idstateto, probability, reward.")],
    gamma: Annotated[float, typer.Option(help="Discount.")],
    kind: Annotated[str, typer.Option("--set", help="kl, l1, tv, l2, linf, chi-square, burg, contamination.")] = "kl",
    radius: Annotated[float, typer.Option(help="Of the set; 0 is the nominal kernel.")] = 0.0,
    costs: Annotated[bool, typer.Option("--costs", help="The last column has costs, to be minimised.")] = False,
    per_state: Annotated[bool, typer.Option("--per-state", help="One radius for all actions (kl, l1).")] = False,
    tolerance: Annotated[float, typer.Option(help="How far the proved bounds may be apart.")] = 1e-6,
    threads: Annotated[int, typer.Option(help="That share the work.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Where to write value and policy, as CSV.")] = None,
) -> None:
    """Solve a robust MDP given as a table, with proved bounds.

    Example: ewok solve mdp.csv --set kl --radius 0.1 --gamma 0.95 --out policy.csv
    """
    try:
        table = importlib.import_module("ewok.tabular.table")
        options = {"kind": kind, "radius": radius, "costs": costs, "per_state": per_state}
        typer.echo(table.solve_file(path, gamma=gamma, tolerance=tolerance, num_threads=threads, out=out, **options))
    except (EwokError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


@app.command()
def worlds(
    name: Annotated[str | None, typer.Argument(help='A world, or "module:object" of yours; all by default.')] = None,
) -> None:
    """The worlds there are, and by which parameters each can be moved.

    Example: ewok worlds cartpole
    """
    try:
        sys.path.append(os.getcwd())  # where a module of yours most likely is
        listing = importlib.import_module("ewok.worlds.listing")
        typer.echo(listing.all_worlds() if name is None else listing.one_world(name))
    except (EwokError, ImportError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


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

"""`ewok solve`: exact robust MDPs from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ewok.cli.root import app, find_own_modules, load


@app.command()
def solve(
    path: Annotated[Path, typer.Argument(help="A table: idstatefrom, idaction, idstateto, probability, reward.")],
    gamma: Annotated[float, typer.Option(help="Discount.")],
    kind: Annotated[
        str | None, typer.Option("--set", help="kl (the default), l1, tv, l2, linf, chi-square, burg, contamination.")
    ] = None,
    radius: Annotated[float | None, typer.Option(help="Of the set; without set and radius, the nominal MDP.")] = None,
    costs: Annotated[bool, typer.Option("--costs", help="The last column has costs, to be minimised.")] = False,
    per_state: Annotated[bool, typer.Option("--per-state", help="One radius for all actions (kl, l1).")] = False,
    tolerance: Annotated[float, typer.Option(help="How far the proved bounds may be apart.")] = 1e-6,
    max_iterations: Annotated[int, typer.Option(help="Sweeps after which it gives up.")] = 100_000,
    threads: Annotated[int, typer.Option(help="That share the work.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Where to write value and policy, as CSV.")] = None,
) -> None:
    """Solve a robust MDP given as a table, with proved bounds.

    Example: ewok solve mdp.csv --set kl --radius 0.1 --gamma 0.95
    """
    table = load("ewok.tabular.table", extra="tabular")
    if kind is not None and ":" in kind:
        find_own_modules()
    asked = {"gamma": gamma, "kind": kind, "radius": radius, "costs": costs, "per_state": per_state}
    limits = {"tolerance": tolerance, "max_iterations": max_iterations, "num_threads": threads}
    typer.echo(table.solve_file(path, out=out, **asked, **limits))

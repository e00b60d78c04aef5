"""`ewok report`: what a study found, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ewok.cli.root import app, load


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="What `ewok run` wrote to.")],
    out: Annotated[Path | None, typer.Option(help="Where to write; DIR, or `report` for several.")] = None,
    against: Annotated[str | None, typer.Option(help="The method to compare others with [the baseline].")] = None,
) -> None:
    """Curves, scores and intervals of a study, as one page and as figures.

    Example: ewok report runs/demo
    """
    typer.echo(load("ewok.lab.report", extra="lab").write_report(folders, out, against))

"""`ewok run` and `ewok status`: studies, from a file to a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ewok.cli.root import FAILED, STOPPED, app, find_own_modules, load
from ewok.errors import require


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A study's TOML file.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the results [runs/NAME].")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Only the first so many.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes [as many as processors].")] = None,
    ray: Annotated[str | None, typer.Option(help="On a Ray cluster: its address, auto, or local.")] = None,
    gpus: Annotated[float, typer.Option(min=0.0, help="Of each trial, on Ray.")] = 0.0,
    changes: Annotated[list[str] | None, typer.Option("--set", help="path=value, as in the file.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would run, and how long.")] = False,
) -> None:
    """Run what is missing of a study, and write its report.

    Example: ewok run studies/demo.toml --set agent.num_steps=20000
    """
    require(gpus == 0.0 or ray is not None, "--gpus", "0 without --ray", gpus, "Say --ray local, or leave it out.")
    reading, launch = load("ewok.lab.reading", extra="lab"), load("ewok.lab.launch", extra="lab")
    find_own_modules()
    read, text = reading.read_file(study, changes or (), seeds)
    folder = Path("runs") / read.name if out is None else out
    if dry_run:
        forecast = load("ewok.lab.forecast", extra="lab").forecast(read, folder, workers or launch.default_workers())
        for line in forecast:
            typer.echo(line)
        return
    options: dict[str, Any] = {"text": text, "num_workers": workers, "say": lambda line: typer.echo(line, err=True)}
    cluster = None if ray is None else load("ewok.lab.cluster", extra="ray").Cluster(ray, workers, gpus)
    try:
        outcome = launch.run_study(read, folder, runner=cluster, **options)
    except KeyboardInterrupt:
        typer.echo("stopped. What is finished is there; the same command goes on from it.", err=True)
        raise typer.Exit(STOPPED) from None
    finally:
        if cluster is not None:
            cluster.close()
    for line in load("ewok.lab.conclusion", extra="lab").conclude(folder):
        typer.echo(line)
    if outcome.num_failed:
        raise typer.Exit(FAILED)


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(help="What `ewok run` wrote to.")],
) -> None:
    """How far a study is, and what it has come to so far.

    Example: ewok status runs/demo
    """
    for line in load("ewok.lab.summary", extra="lab").so_far(folder):
        typer.echo(line)

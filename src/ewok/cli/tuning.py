"""`ewok tune`: which kappa or radius, and which N."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ewok.cli.root import FAILED, STOPPED, app, find_own_modules, load


@app.command()
def tune(
    study: Annotated[Path, typer.Argument(help="A study's TOML file.")],
    score: Annotated[str, typer.Option(help="nominal, worst, or both: a front.")] = "worst",
    setting: Annotated[str | None, typer.Option("--tune", help="kappa or radius [the method's own].")] = None,
    ends: Annotated[tuple[float, float], typer.Option("--range", help="Of it, both ends.")] = (0.02, 2.0),
    samples: Annotated[tuple[int, int], typer.Option(help="Range of N.")] = (2, 30),
    candidates: Annotated[int, typer.Option(help="In all, earlier runs among them.")] = 20,
    seeds: Annotated[int, typer.Option(help="Agents of each.")] = 3,
    method: Annotated[str | None, typer.Option(help="Of the study [its first ewok method].")] = None,
    changes: Annotated[list[str] | None, typer.Option("--set", help="path=value, as in the file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder [runs/NAME-tune].")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes [as many as processors].")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the suggestions.")] = 0,
) -> None:
    """Choose kappa or the radius, and N, by training with candidates.

    Judged on seeds and perturbations that the study does not report.
    The same command goes on where it stopped.

    Example: ewok tune studies/demo.toml --score both --candidates 10
    """
    reading, lab = load("ewok.lab.reading", extra="lab"), load("ewok.lab.tune", extra="lab")
    find_own_modules()
    read, _ = reading.read_file(study, changes or ())
    search = lab.Search(
        method=method,
        temper=setting,
        tempers=ends,
        samples=samples,
        score=score,
        num_candidates=candidates,
        num_seeds=seeds,
        seed=seed,
    )
    folder = Path("runs") / f"{read.name}-tune" if out is None else out
    try:
        tuned = lab.tune(read, search, folder, num_workers=workers, say=lambda told: typer.echo(told, err=True))
    except KeyboardInterrupt:
        typer.echo("stopped. The same command goes on from what is finished.", err=True)
        raise typer.Exit(STOPPED) from None
    typer.echo("\n".join(lab.told(tuned, score)))
    typer.echo(f"candidates: {folder / 'candidates.csv'}")
    if tuned.num_failed:
        raise typer.Exit(FAILED)

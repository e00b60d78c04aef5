"""`ewok stress`: what becomes of a trained model when its world shifts."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from ewok.cli.root import app, load

Model = Annotated[Path, typer.Argument(help="Saved by SB3, sb3-contrib or SBX.", metavar="MODEL.zip")]
World = Annotated[str, typer.Option(help="One of `ewok worlds`, or module:object.")]
Algo = Annotated[str | None, typer.Option(help="PPO, SAC, sbx.SAC ...; needed where the file does not tell.")]
Normaliser = Annotated[Path | None, typer.Option(help="The VecNormalize it was trained behind.")]


@app.command()
def stress(
    model: Model,
    world: World,
    algo: Algo = None,
    vecnormalize: Normaliser = None,
    compare: Annotated[Path | None, typer.Option(help="Another model, through the same.")] = None,
    compare_algo: Annotated[str | None, typer.Option(help="Its --algo.")] = None,
    compare_vecnormalize: Annotated[Path | None, typer.Option(help="Its --vecnormalize.")] = None,
    parameters: Annotated[str | None, typer.Option(help="To move: a,b,c; by default all of the world's.")] = None,
    episodes: Annotated[int, typer.Option(help="At every value.")] = 30,
    mixtures: Annotated[int, typer.Option(help="Random points of all parameters at once.")] = 100,
    stochastic: Annotated[bool, typer.Option("--stochastic", help="Draw actions as in training.")] = False,
    seed: Annotated[int, typer.Option(help="Of the first episode everywhere.")] = 1_000_000,
    out: Annotated[Path | None, typer.Option(help="Folder; by default stress-MODEL.")] = None,
) -> None:
    """What becomes of a trained model when its world shifts.

    Curves over every parameter and the KL radius, the worst case, a verdict.
    Loading a model can run code in it: load only those of people you trust.

    Example: ewok stress model.zip --world cartpole --compare other.zip
    """
    lab = load("ewok.lab.practice", extra="lab,sb3")
    models = [(model, algo, vecnormalize)]
    models += [] if compare is None else [(compare, compare_algo, compare_vecnormalize)]
    plan = lab.Plan(
        parameters=[name.strip() for name in parameters.split(",")] if parameters else (),
        episodes=episodes,
        num_mixtures=mixtures,
        seed=seed,
    )
    said, page = lab.stress(models, world, plan, out=out, deterministic=not stochastic, say=_progress)
    for line in said:
        typer.echo(textwrap.fill(line, 100, subsequent_indent="  "))
    typer.echo(f"page: {page}")


def _progress(told: str) -> None:
    typer.echo(told, err=True)

"""`ewok stress` and `ewok video`: what becomes of trained models when their world shifts."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from ewok.cli.root import app, find_own_modules, load

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
    find_own_modules()
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


@app.command()
def video(
    models: Annotated[list[Path], typer.Argument(help="Saved models, or one study's folder.", metavar="MODEL.zip ...")],
    world: Annotated[str | None, typer.Option(help="As in `ewok worlds`; a study has its own.")] = None,
    at: Annotated[list[str] | None, typer.Option(help="parameter=value; may be repeated.")] = None,
    out: Annotated[Path, typer.Option(help="Ending in .mp4, .gif or .webp.")] = Path("video.mp4"),
    algo: Annotated[list[str] | None, typer.Option(help="In the models' order; - where the file tells.")] = None,
    vecnormalize: Annotated[list[Path] | None, typer.Option(help="In the models' order; - for none.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the episode.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="To film at most.")] = 500,
    height: Annotated[int, typer.Option(min=32, help="Of each picture, in pixels.")] = 240,
) -> None:
    """Film models side by side: same world, same shift, same seed.

    Of a study's folder it films one agent of each method.
    Loading a model can run code in it: load only those of people you trust.

    Example: ewok video plain.zip ewok.zip --world cartpole --at pole_length=1
    """
    lab = load("ewok.lab.practice", extra="lab,sb3")
    find_own_modules()
    options = {"world": world, "at": at or (), "algos": algo or (), "vecnormalize": vecnormalize or ()}
    came = lab.video(models, **options, out=out, seed=seed, height=height, num_steps=steps, say=_progress)
    typer.echo("\n".join([*came, f"film: {out}"]))


def _progress(told: str) -> None:
    typer.echo(told, err=True)

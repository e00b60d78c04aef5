"""What a practitioner asks of saved models, from files to files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from ewok.errors import ArgumentError, require
from ewok.lab.archive import CLASSES
from ewok.lab.kinds import kind_of
from ewok.lab.pilot import Pilot
from ewok.lab.saved import NOTICE, SavedModel, load, recognised
from ewok.lab.screen import without_a_screen
from ewok.lab.sheet import writable, write_sheet
from ewok.lab.store import Finished, read
from ewok.lab.stress import Plan, examine
from ewok.lab.verdict import comparison, verdict
from ewok.lab.video import film
from ewok.named import named
from ewok.worlds.world import get

__all__ = ["Plan", "stress", "video"]

Source = tuple[Path, str | None, Path | None]  # a model's file, its algorithm, its normaliser's file
Say = Callable[[str], None]


def stress(
    sources: Sequence[Source],
    world: str,
    plan: Plan,
    *,
    out: Path | None = None,
    deterministic: bool = True,
    say: Say = lambda told: None,
) -> tuple[list[str], Path]:
    """Put models under stress in a world, and write the page. Returns what is to be said of them, and the page.

    Args:
        sources: the model; then others that it is compared with.
        world: its name, or "module:object".
        plan: what to try.
        out: folder; named after the model by default.
        deterministic: whether models act as they think best, or draw their actions as in training.
        say: is told what is being done.
    """
    place = get(world)
    plan.moved(place)  # mistakes that can be known need not wait for the models
    folder = None if out is None else writable(out)
    models = _loaded(sources, say)
    pilots = [Pilot(model, place, deterministic=deterministic) for model in models]
    folder = folder or writable(Path(f"stress-{models[0].name}"))
    stresses = [examine(pilot, place, plan, say) for pilot in pilots]
    said = [sentence for one in stresses for sentence in verdict(one)]
    said += [sentence for other in stresses[1:] for sentence in comparison(stresses[0], other)]
    return said, write_sheet(stresses, plan, folder)


def video(
    paths: Sequence[Path],
    *,
    world: str | None = None,
    at: Sequence[str] = (),
    algos: Sequence[str] = (),
    vecnormalize: Sequence[Path] = (),
    out: Path = Path("video.mp4"),
    seed: int = 0,
    height: int = 240,
    num_steps: int = 500,
    say: Say = lambda told: None,
) -> list[str]:
    """Film models side by side. Returns what each came to, a line for each.

    Args:
        paths: of models; or of one study's folder, for an agent of each of its methods.
        world: its name, or "module:object"; a study has its own.
        at: "parameter=value" each: what is moved.
        algos: the models' algorithms in their order, as far as files do not tell; "-" for one that does.
        vecnormalize: the files of their normalisers in their order; "-" for none.
        out: the film.
        seed: of the episode.
        height: of each picture.
        num_steps: to film at most.
        say: is told what is being done.
    """
    os.environ.update(without_a_screen())
    if len(paths) == 1 and paths[0].is_dir():
        told: dict[str, Sequence[object]] = {"algo": algos, "vecnormalize": vecnormalize}
        for option, values in told.items():
            require(not values, option, "left out for a study, which knows its agents", list(values), "Leave it out.")
        world, models = _of_study(paths[0], world, say)
    else:
        given = [None if algo == "-" else algo for algo in algos]
        files = [None if str(path) == "-" else path for path in vecnormalize]
        for name, several in (("algo", given), ("vecnormalize", files)):
            require(
                len(several) <= len(paths), name, "given at most once for each model", len(several), "Leave it out."
            )
        models = _loaded(list(zip_longest(paths, given, files)), say)
    if world is None:
        raise ArgumentError("`world` must be given for models, which do not tell it. Try --world cartpole.")
    place = get(world)
    point = place.checked(dict(_assignment(text) for text in at))
    writable(out.parent)
    pilots = [Pilot(model, place) for model in models]
    say(f"{', '.join(model.name for model in models)} in {place.name}, {' '.join(at) or 'nominal'}, seed {seed}")
    totals = film(pilots, place, point, out, seed=seed, height=height, num_steps=num_steps)
    return [f"{model.name}: {total:.4g}" for model, total in zip(models, totals, strict=True)]


def _of_study(folder: Path, world: str | None, say: Say) -> tuple[str, list[SavedModel]]:
    """The world of a study, and a model of each of its methods, all of the first seed that they share."""
    results = read(folder)
    kind, remedy = kind_of(results.study), "Others are of tables, or of several worlds: name models, and a --world."
    require(kind == "agents", "models", 'models, or the folder of a study of kind "agents"', kind, remedy)
    own = str(results.world["name"])
    require(world in (None, own), "world", f"the study's own, {own!r}", world, "Leave it out.")
    trials = {name: {trial.seed: trial for trial in results.of(name)} for name in results.methods}
    trials = {name: by_seed for name, by_seed in trials.items() if by_seed}
    shared = sorted(set.intersection(*(set(by_seed) for by_seed in trials.values()))) if trials else []
    if not shared:
        raise ArgumentError(
            f"{folder} must have a seed that is finished for all methods, but has none. Run it further."
        )
    say(f"agents of seed {shared[0]}")
    say(NOTICE)
    models = [_of_trial(by_seed[shared[0]]) for by_seed in trials.values()]
    return own, [replace(model, name=name) for name, model in zip(trials, models, strict=True)]


def _of_trial(trial: Finished) -> SavedModel:
    """A finished trial's model, behind the normaliser it learnt behind, if there was one."""
    normaliser, agent = trial.path / "vecnormalize.pkl", trial.meaning["agent"]["agent"]
    is_own = agent not in CLASSES.values() and inspect.isclass(named(agent, "agent"))
    return load(
        trial.path / "model.zip",
        algo=agent if is_own else None,
        vecnormalize=normaliser if normaliser.is_file() else None,
    )


def _loaded(sources: Sequence[Source], say: Say) -> list[SavedModel]:
    """The models, under names that differ."""
    for source in sources:
        recognised(*source)
    say(NOTICE)
    models: list[SavedModel] = []
    for path, algo, vecnormalize in sources:
        model = load(path, algo=algo, vecnormalize=vecnormalize)
        beside = path.parent / "vecnormalize.pkl"
        if vecnormalize is None and beside.is_file():
            say(f"{beside} lies beside the model: if it was trained behind it, add --vecnormalize {beside}")
        taken = [other.name for other in models]
        name = model.name if model.name not in taken else f"{model.name} ({len(models) + 1})"
        models.append(replace(model, name=name))
    return models


def _assignment(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError as error:
        remedy = "Try --at gravity=20; `ewok worlds NAME` shows what can be moved."
        raise ArgumentError(f"`at` must be parameter=value, but it is {text!r}. {remedy}") from error

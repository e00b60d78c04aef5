"""What a practitioner asks of a saved model, from files to files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ewok.lab.pilot import Pilot
from ewok.lab.saved import NOTICE, SavedModel, load
from ewok.lab.sheet import writable, write_sheet
from ewok.lab.stress import Plan, examine
from ewok.lab.verdict import comparison, verdict
from ewok.worlds.world import get

__all__ = ["Plan", "load_all", "stress"]

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
    plan.moved(place)  # a mistake in a parameter's name need not wait for the models
    models = load_all(sources, say)
    pilots = [Pilot(model, place, deterministic=deterministic) for model in models]
    folder = writable(Path(f"stress-{models[0].name}") if out is None else out)
    stresses = [examine(pilot, place, plan, say) for pilot in pilots]
    said = [sentence for one in stresses for sentence in verdict(one)]
    said += [sentence for other in stresses[1:] for sentence in comparison(stresses[0], other)]
    return said, write_sheet(stresses, plan, folder)


def load_all(sources: Sequence[Source], say: Say) -> list[SavedModel]:
    """The models, under names that differ."""
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

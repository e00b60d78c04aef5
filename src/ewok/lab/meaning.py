"""What a study's tables come to: the methods there are, the agent's numbers, the values that are tested.

All of it is plain data, since it decides what a trial is, and is written down with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

from ewok import worlds
from ewok.agents import recipes
from ewok.lab.study import KINDS, NAME, Agent, Method, Study, Sweep, seeds_of
from ewok.worlds import Perturbation

Plain = dict[str, Any]


@final
@dataclass(frozen=True)
class Settled:
    """One method, with all its settings.

    Attributes:
        name: in the report.
        kind: "baseline", "ewok", "randomized" or "module:object".
        settings: all that its kind looks at.
        seeds: of its trials.
    """

    name: str
    kind: str
    settings: Plain
    seeds: tuple[int, ...]

    @property
    def plain(self) -> Plain:
        """As a trial's meaning has it."""
        return {"kind": self.kind, **self.settings}


def settled(study: Study) -> dict[str, Settled]:
    """All methods by name: those of the file, one for each parameter where it says so, and those of sweeps."""
    return {method.name: method for _, method in placed(study)}


def placed(study: Study) -> Iterator[tuple[str, Settled]]:
    """Each method, after the place in the file that makes it."""
    found: dict[str, Settled] = {}
    for name, method in study.methods.items():
        seeds = tuple(seeds_of(study.seeds if method.seeds is None else method.seeds))
        if method.parameters == "each":
            each = {f"{name}-{p}": method.model_copy(update={"parameters": [p]}) for p in tested(study)}
        else:
            each = {name: method}
        for own, one in each.items():
            kind = method.kind or name
            found[own] = Settled(own, kind, settings_of(kind, one, study), seeds)
            yield f"methods.{name}", found[own]
    for name, sweep in study.sweeps.items():
        yield from ((f"sweeps.{name}", one) for one in swept(study, sweep, found[sweep.base]))


def misnamed(study: Study) -> dict[str, str]:
    """Places that make methods whose names cannot be, or are those of others; and what is wrong."""
    places: dict[str, tuple[str, Settled]] = {}
    mistakes = {}
    for place, method in placed(study):
        other, same = places.setdefault(method.name, (place, method))
        if not re.fullmatch(NAME, method.name):
            told = "a name has letters, digits, '.', '_' and '-' only"
            mistakes[place] = f"makes a method {method.name!r}, but {told}"
        elif same != method:
            mistakes[place] = f"makes a method {method.name!r} as {other} does, but with other settings or seeds"
    return mistakes


def swept(study: Study, sweep: Sweep, base: Settled) -> list[Settled]:
    """The methods of a sweep, but for the value that is the base's own."""
    methods = []
    ((name, values),) = sweep.moved.items()
    seeds = base.seeds if sweep.seeds is None else tuple(seeds_of(sweep.seeds))
    for value in values:
        settings = {**base.settings, name: _plain_value(name, value)}
        for rival in {"kappa": ("radius",), "radius": ("kappa",)}.get(name, ()):
            settings.pop(rival, None)
        if settings != base.settings:
            methods.append(Settled(f"{base.name}-{name}-{_spelt(value)}", base.kind, settings, seeds))
    return methods


def settings_of(kind: str, method: Method, study: Study) -> Plain:
    """What this kind of method looks at, and nothing else.

    Of a range that is drawn from nothing need be said where it is the world's and the world's grid is tested: its ends
    are among the values of the evaluation.
    """
    if kind == "ewok":
        temper = {"radius": method.radius} if method.kappa is None else {"kappa": method.kappa}
        scoring = {name: _plain_value(name, getattr(method, name)) for name in ("discount", "terminal_value")}
        return {"num_samples": method.num_samples, **temper, **scoring, "soft": method.soft, "target": method.target}
    if kind == "randomized":
        known = tested(study)
        names = list(known) if method.parameters is None else list(method.parameters)
        drawn = {name: known.get(name) or worlds.get(study.world).perturbation(name) for name in names}
        ranges = {
            name: {"low": one.low, "high": one.high, "grid": list(one.grid)}
            for name, one in drawn.items()
            if name not in known or not _as_in_the_world(study, name)
        }
        plain = {"parameters": names, "distribution": method.distribution}
        return {**plain, "ranges": ranges} if ranges else plain
    return {} if kind in KINDS else {"options": method.options}


def agent_meaning(agent: Agent) -> Plain:
    """The agent's class and all its numbers, and for how many steps it learns."""
    if agent.recipe is None:
        plain: Plain = {"agent": agent.agent, "settings": agent.settings, "networks": agent.networks}
        return {**plain, "policy": agent.policy, "exploration_std": None, "num_steps": agent.num_steps}
    recipe = recipes.get(agent.recipe)
    exploration = None if recipe.exploration_std is None else recipe.exploration_std.value
    return {
        "agent": agent.agent or recipe.agent,
        "settings": {name: number.value for name, number in recipe.settings.items()} | agent.settings,
        "networks": {name: number.value for name, number in recipe.networks.items()} | agent.networks,
        "policy": agent.policy,
        "exploration_std": exploration,
        "num_steps": agent.num_steps or recipe.num_steps.value,
    }


def tested(study: Study) -> dict[str, Perturbation]:
    """What the study moves: as its world does, or over the values that the study gives."""
    world = worlds.get(study.world)
    found = {}
    for name in study.perturbations or world.perturbations:
        parameter, values = world.perturbation(name), study.perturbations.get(name, "grid")
        if not isinstance(values, str):
            grid = sorted({parameter.checked(value) for value in (*values, parameter.nominal)})
            parameter = replace(parameter, low=grid[0], high=grid[-1], values=grid)
        found[name] = parameter
    return found


def grids(study: Study) -> dict[str, list[float]]:
    """The values that every parameter is tested at, rising; the nominal one is always among them."""
    return {name: [parameter.checked(value) for value in parameter.grid] for name, parameter in tested(study).items()}


def world_as_plain(study: Study) -> Plain:
    """The world as `study.json` tells it."""
    parameters = {
        name: {
            "unit": parameter.unit,
            "nominal": parameter.nominal,
            "grid": list(parameter.grid),
            "scale": "log" if parameter.log else "linear",
            "label": name.replace("_", " "),
            "low": parameter.low,
            "high": parameter.high,
        }
        for name, parameter in tested(study).items()
    }
    return {"name": study.world, "summary": worlds.get(study.world).summary, "parameters": parameters}


def _as_in_the_world(study: Study, name: str) -> bool:
    return study.perturbations.get(name, "grid") == "grid"


def _spelt(value: Any) -> str:
    """As part of a name: a number in as few digits as tell it from all others, and no sign that files do not have."""
    short = f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
    return short.replace("e+", "e")


def _plain_value(name: str, value: Any) -> Any:
    """As `WorstKernel` has it."""
    return None if name == "terminal_value" and value == "critic" else value

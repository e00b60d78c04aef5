"""What a study says that cannot be meant: names nobody knows, values no physics has, settings nothing looks at.

Works on the file's plain data, and leaves alone what is not even of the right shape: so that all mistakes of a
file are told at once, whatever else is wrong with it.
"""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ewok import worlds
from ewok.agents import recipes
from ewok.errors import ArgumentError, EwokError
from ewok.lab.study import KINDS, SWEPT
from ewok.named import named
from ewok.worlds import GENERIC, World

Mistake = tuple[str, str]  # place in the file, and what is wrong

_OF_KIND = {
    "ewok": ("num_samples", "kappa", "radius", "discount", "terminal_value", "soft", "target"),
    "randomized": ("parameters", "distribution"),
    "baseline": (),
}
_OURS = {
    "env": "it is made of `world` and the method",
    "policy": "say it beside `settings`: policy = ...",
    "seed": "the study's `seeds` decide",
    "policy_kwargs": "put its entries under [agent.networks]",
    "tensorboard_log": "every trial has its own",
}


def mistakes_of(raw: Mapping[str, Any]) -> dict[str, str]:
    """Place and mistake."""
    world, found = _world(raw.get("world"))
    found += _of_agent(_table(raw.get("agent")))
    names, tested = {name for name, _ in _tables(raw.get("methods"))}, _table(raw.get("perturbations"))
    for name, method in _tables(raw.get("methods")):
        found += [(f"methods.{name}{place}", told) for place, told in _of_method(name, method, world, tested)]
    for name, sweep in _tables(raw.get("sweeps")):
        found += [(f"sweeps.{name}{place}", told) for place, told in _of_sweep(sweep, names, raw)]
    if world is not None:
        for name, values in tested.items():
            found += [(f"perturbations.{name}", told) for told in _of_values(world, name, values)]
        if not tested and not world.perturbations:
            told = "are needed, for the world has no parameters of its own; these fit any world"
            found.append(("perturbations", f"{told}: {', '.join(GENERIC)}"))
    found += _endless(raw, "")
    return dict(reversed(found))  # of two at one place the first counts


def _endless(value: Any, place: str) -> Iterator[Mistake]:
    """Numbers that are none, wherever they stand: the study is written down as JSON, which does not have them."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place, f"must be a finite number, but it is {value}"
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _endless(part, f"{place}.{key}".lstrip("."))


def _world(name: Any) -> tuple[World | None, list[Mistake]]:
    if not isinstance(name, str):
        return None, []
    try:
        return worlds.get(name), []
    except EwokError as error:
        told = _unknown(name, worlds.names(), "world") if ":" not in name else _text(error)
        return None, [("world", told)]


def _of_agent(agent: Mapping[str, Any]) -> list[Mistake]:
    recipe, path = agent.get("recipe"), agent.get("agent")
    if isinstance(recipe, str) and recipe not in recipes.RECIPES:
        return [("agent.recipe", _unknown(recipe, recipes.RECIPES, "recipe"))]
    if path is None and isinstance(recipe, str):
        path = recipes.get(recipe).agent
    if not isinstance(path, str):
        return []
    if ":" not in path:
        return [("agent.agent", f'must be "module:object", but it is {path!r}')]
    try:
        cls = named(path, "agent")
    except ArgumentError as error:
        return [("agent.agent" if agent.get("agent") else "agent.recipe", _text(error))]
    if not isinstance(cls, type):
        settings = [f"agent.{name}" for name in ("settings", "networks") if agent.get(name)]
        return [(place, "is for a class; a function of (env, seed) has its own") for place in settings]
    policies = getattr(cls, "policy_aliases", {})
    policy = agent.get("policy", "MlpPolicy")
    mistakes = list(_of_keywords(cls, _table(agent.get("settings")), "agent.settings", set(_OURS)))
    if policies and policy not in policies:
        return [*mistakes, ("agent.policy", _unknown(policy, policies, f"policy of {cls.__name__}"))]
    if policies:
        mistakes += _of_keywords(policies[policy], _table(agent.get("networks")), "agent.networks", set())
    return mistakes


def _of_keywords(cls: Any, given: Mapping[str, Any], place: str, ours: set[str]) -> Iterator[Mistake]:
    known = _keywords(cls) - ours
    for name in given:
        if name in ours:
            yield f"{place}.{name}", f"is not for a study to set: {_OURS[name]}"
        elif name not in known:
            yield f"{place}.{name}", _unknown(name, known, f"setting of {cls.__name__}")


def _keywords(cls: Any) -> set[str]:
    """Of its constructor, and where that passes on what it does not know, of the next one's."""
    known: set[str] = set()
    for one in cls.__mro__:
        if "__init__" in vars(one):
            parameters = inspect.signature(one.__init__).parameters.values()
            known |= {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
            if all(p.kind is not p.VAR_KEYWORD for p in parameters):
                break
    return known - {"self"}


def _of_method(
    name: str, method: Mapping[str, Any], world: World | None, tested: Mapping[str, Any]
) -> Iterator[Mistake]:
    kind = method.get("kind", name)
    if not isinstance(kind, str):
        return
    if ":" in kind:
        try:
            if not callable(named(kind, "kind")):
                yield ".kind", f"must be a function (env, world, generator) -> env, but {kind} is none"
        except ArgumentError as error:
            yield ".kind", _text(error)
    elif kind not in KINDS:
        unknown = _unknown(kind, KINDS, "kind of method")
        near = difflib.get_close_matches(kind, sorted(KINDS), n=1) or ["ewok"]
        missing = f'is missing, and the table\'s own name is no kind: {unknown}; write kind = "{near[0]}"'
        yield ".kind", unknown if "kind" in method else missing
        return
    looked_at = _OF_KIND.get(kind, ("options",))
    for setting in method:
        if setting not in (*looked_at, "kind", "seeds") and any(
            setting in names for names in (*_OF_KIND.values(), ("options",))
        ):
            yield f".{setting}", f'nothing looks at it where kind = "{kind}"'
    if kind == "ewok" and ("kappa" in method) == ("radius" in method):
        given = "neither is" if "kappa" not in method else "both are"
        yield "", f"one of kappa and radius must be given, and {given}; try kappa = 0.2 or radius = 0.3"
    if world is not None and isinstance(method.get("parameters"), list):
        yield from ((".parameters", _text(error)) for error in _errors(world.perturbation, method["parameters"]))
    if world is not None and kind == "randomized" and method.get("distribution") == "log-uniform":
        for parameter, low in _least(world, method.get("parameters"), tested):
            if low <= 0.0:
                yield ".distribution", f"{parameter} is tested from {low:g}, which has no logarithm"


def _of_sweep(sweep: Mapping[str, Any], names: Iterable[str], raw: Mapping[str, Any]) -> Iterator[Mistake]:
    base = sweep.get("base")
    if not isinstance(base, str):
        return
    if base not in names:
        yield ".base", _unknown(base, names, "method")
        return
    method = _table(_table(raw["methods"])[base])
    if method.get("kind", base) != "ewok":
        yield ".base", f"must be a method of the kind ewok, which has {', '.join(SWEPT)}, but {base!r} is not"


def _of_values(world: World, name: str, values: Any) -> Iterator[str]:
    try:
        parameter = world.perturbation(name)
    except ArgumentError as error:
        yield _text(error)
        return
    if isinstance(values, list):
        yield from (_text(error) for error in _errors(parameter.checked, values))
        if parameter.log and any(isinstance(value, int | float) and value <= 0.0 for value in values):
            yield "must be above 0, for its axis is logarithmic"


def _least(world: World, names: Any, tested: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """What is randomized, and where each range begins."""
    for name in names if isinstance(names, list) else tested or world.perturbations:
        try:
            parameter = world.perturbation(name)
        except ArgumentError:
            continue
        values = tested.get(name)
        numbers = [value for value in values if isinstance(value, int | float)] if isinstance(values, list) else []
        yield name, min([*numbers, parameter.nominal] if numbers else [parameter.low])


def _errors(check: Callable[[Any], Any], values: Iterable[Any]) -> Iterator[ArgumentError]:
    for value in values:
        try:
            check(value)
        except ArgumentError as error:
            yield error


def _unknown(name: Any, known: Iterable[str], what: str) -> str:
    near = difflib.get_close_matches(str(name), sorted(known), n=1)
    return f"there is no {what} {name!r}; " + (
        f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(sorted(known))}"
    )


def _text(error: EwokError) -> str:
    return str(error).rstrip(".")


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _tables(value: Any) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, table) for name, table in _table(value).items() if isinstance(table, dict)]

"""Who is who among the methods of a study: the baseline, those compared with it, and those of a sweep."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, final

from ewok.errors import require_known
from ewok.lab.store import Results


@final
@dataclass(frozen=True)
class Ablation:
    """One setting of a method, moved.

    Attributes:
        setting: which.
        base: the method it is a setting of.
        members: methods in the order of their values, the base among them where its own value is known.
        values: theirs.
    """

    setting: str
    base: str
    members: tuple[str, ...]
    values: tuple[Any, ...]


@final
@dataclass(frozen=True)
class Roles:
    """The methods of a study that have trials to show.

    Attributes:
        baseline: what the others are compared with; None where there is none.
        main: the methods of the study's own table, the baseline among them, in the order of the file.
        ablations: one for each sweep.
        specialists: methods that were randomized over some parameters alone: which. As in the paper they are shown
            for these parameters only.
        names: by which each method is shown. Specialists for one parameter each, `randomized-gravity` and so on,
            have one name and one colour between them.
        exact: shown names of what a tabular study solves and does not learn: there is no chance in it.
    """

    baseline: str | None
    main: tuple[str, ...]
    ablations: tuple[Ablation, ...]
    specialists: Mapping[str, frozenset[str]]
    names: Mapping[str, str]
    exact: frozenset[str]

    def shown(self, parameter: str) -> tuple[str, ...]:
        """Those of the main methods that belong into this parameter's panel."""
        return tuple(name for name in self.main if parameter in self.specialists.get(name, {parameter}))

    @property
    def compared(self) -> tuple[str, ...]:
        """The main methods but the baseline."""
        return tuple(name for name in self.main if name != self.baseline)


def roles_of(results: Results, having: Collection[str], against: str | None = None) -> Roles:
    """From what the study says of its methods, of those that have trials to show; another may be the baseline."""
    present = [name for name in results.methods if name in having]
    settings = {name: settings_of(results, name) for name in present}
    ablations = _ablations(results, settings)
    swept = {name for one in ablations for name in one.members if name != one.base}
    main = tuple(name for name in present if name not in swept)
    kinds = {name: settings[name].get("kind") or name for name in main}
    baseline = next((name for name in main if kinds[name] == "baseline" or _is_plain(settings[name])), None)
    parameters = {name: settings[name].get("parameters") for name in main if kinds[name] == "randomized"}
    specialists = {name: frozenset(moved) for name, moved in parameters.items() if isinstance(moved, list | tuple)}
    names = {name: _shown_name(name, specialists.get(name, frozenset()), results.methods) for name in present}
    if against is not None:
        one_each = [name for name in main if names[name] == name]
        require_known(against, one_each, "against", "a method of the study's own with finished trials")
        baseline = against
    exact = frozenset(names[name] for name in present if _is_exact(settings[name]))
    return Roles(baseline, main, ablations, specialists, names, exact)


def settings_of(results: Results, method: str) -> Mapping[str, Any]:
    """A method's settings: as its trials were run with them, or else as the file has them."""
    for trial in results.of(method):
        told = trial.meaning.get("method")
        if isinstance(told, Mapping):
            return told
    given = results.study.get("methods", {})
    told = given.get(method) if isinstance(given, Mapping) else None
    return told if isinstance(told, Mapping) else {}


def _ablations(results: Results, settings: Mapping[str, Mapping[str, Any]]) -> tuple[Ablation, ...]:
    """A sweep's methods are named after base, setting and value: ewok-kappa-0.05."""
    sweeps = results.study.get("sweeps", {})
    found = []
    for sweep in sweeps.values() if isinstance(sweeps, Mapping) else ():
        base = sweep.get("base") if isinstance(sweep, Mapping) else None
        if not isinstance(base, str) or base not in settings:
            continue
        for setting in (name for name, values in sweep.items() if name != "seeds" and isinstance(values, list)):
            made = [name for name in settings if name.startswith(f"{base}-{setting}-")]
            values = {name: _value(settings[name], setting) for name in (base, *made)}
            members = sorted(
                (name for name in values if values[name] is not None), key=lambda name: _order(values[name])
            )
            if made and members:
                found.append(Ablation(setting, base, tuple(members), tuple(values[name] for name in members)))
    return tuple(found)


def _value(settings: Mapping[str, Any], setting: str) -> Any:
    """Of a method, as its file says it; None where it has none."""
    value = settings.get(setting)
    return "critic" if setting == "terminal_value" and setting in settings and value is None else value


def _is_plain(settings: Mapping[str, Any]) -> bool:
    """Whether a tabular learner takes what the nominal kernel gives: of one sample there is no choice."""
    return settings.get("kind") == "q-learning" and settings.get("num_samples") == 1


def _is_exact(settings: Mapping[str, Any]) -> bool:
    return settings.get("kind") in ("nominal", "paper", "robust")


def _shown_name(method: str, parameters: frozenset[str], taken: Collection[str]) -> str:
    """Without its one parameter, unless another method has that name: two lines of one name would be one."""
    ends = [parameter for parameter in parameters if len(parameters) == 1 and method.endswith(f"-{parameter}")]
    short = method.removesuffix(f"-{ends[0]}") if ends else method
    return method if short in taken else short


def _order(value: Any) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return not number, float(value) if number else 0.0, str(value)

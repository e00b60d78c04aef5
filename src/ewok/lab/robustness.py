"""From a study's folder to its panels: the return of each method against each parameter that was moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap
from ewok.lab.columns import StoreError
from ewok.lab.panel import Line, Panel
from ewok.lab.roles import Roles
from ewok.lab.stats import seed_means
from ewok.lab.store import Finished, Results


@final
@dataclass(frozen=True)
class LeftOut:
    """A trial that finished, but whose returns are not all numbers."""

    trial: Finished
    reason: str


def sound(results: Results) -> tuple[dict[str, tuple[Finished, ...]], tuple[LeftOut, ...]]:
    """Trials by method whose returns are numbers, and those left out, with the reason."""
    kept: dict[str, tuple[Finished, ...]] = {}
    left_out = []
    for method in results.methods:
        trials = []
        for trial in results.of(method):
            reason = _unsound(trial)
            if reason:
                left_out.append(LeftOut(trial, reason))
            else:
                trials.append(trial)
        kept[method] = tuple(trials)
    return kept, tuple(left_out)


def _unsound(trial: Finished) -> str:
    for parameter, curve in trial.returns.curves.items():
        wrong = ~np.isfinite(curve.returns)
        if wrong.any():
            return f"{int(wrong.sum())} of {wrong.size} returns over {parameter} are not finite"
    return ""


def robustness_panels(
    trials: Mapping[str, Sequence[Finished]], world: Mapping[str, Any], roles: Roles, bootstrap: Bootstrap
) -> tuple[Panel, ...]:
    """A panel for each parameter, with the lines of all methods that are shown there, those of sweeps among them."""
    swept = [name for ablation in roles.ablations for name in ablation.members]
    panels = []
    for parameter, told in world["parameters"].items():
        methods = dict.fromkeys([*roles.shown(parameter), *swept])
        tested = {name: [one for one in trials.get(name, ()) if parameter in one.returns.curves] for name in methods}
        lines = tuple(_line(roles.names[name], own, parameter, bootstrap) for name, own in tested.items() if own)
        if lines:
            values = _grid([trial for own in tested.values() for trial in own], parameter)
            label, unit = str(told.get("label") or parameter.replace("_", " ")), str(told.get("unit") or "")
            scale, nominal = told.get("scale", "linear"), told.get("nominal")
            panels.append(Panel(parameter, label, unit, "return", values, scale, nominal, lines))
    return tuple(panels)


def _grid(trials: Sequence[Finished], parameter: str) -> NDArray[np.float64]:
    """The values that all of these trials were tested at."""
    first = trials[0].returns.of(parameter)
    for trial in trials:
        curve = trial.returns.of(parameter)
        if not np.array_equal(curve.values, first.values):
            raise StoreError(
                f"{trial.path} was tested at other values of {parameter} than {trials[0].path}. Delete the one that is "
                "wrong and run the study again."
            )
    return first.values


def _line(method: str, trials: Sequence[Finished], parameter: str, bootstrap: Bootstrap) -> Line:
    _grid(trials, parameter)
    scores = np.concatenate([seed_means(trial.returns.of(parameter).returns[None]) for trial in trials])
    seeds, ids = tuple(trial.seed for trial in trials), tuple(trial.id for trial in trials)
    return Line(method, seeds, scores, bootstrap.estimate(scores), ids)

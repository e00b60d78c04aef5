"""From a study's folder to its panels: the return of each method against each parameter that was moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap
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
        methods = list(dict.fromkeys([*roles.shown(parameter), *swept]))
        found = [_line(name, roles, trials.get(name, ()), parameter, bootstrap) for name in methods]
        lines = [(values, line) for values, line in found if line is not None and values is not None]
        if lines:
            values = lines[0][0]
            same = tuple(line for own, line in lines if np.array_equal(own, values))
            label = str(told.get("label") or parameter.replace("_", " "))
            nominal = told.get("nominal")
            unit, scale = str(told.get("unit") or ""), told.get("scale", "linear")
            panels.append(Panel(parameter, label, unit, "return", values, scale, nominal, same))
    return tuple(panels)


def _line(
    method: str, roles: Roles, trials: Sequence[Finished], parameter: str, bootstrap: Bootstrap
) -> tuple[NDArray[np.float64] | None, Line | None]:
    tested = [trial for trial in trials if parameter in trial.returns.curves]
    if not tested:
        return None, None
    curves = [trial.returns.of(parameter) for trial in tested]
    scores = seed_means(np.stack([curve.returns for curve in curves]))
    seeds = tuple(trial.seed for trial in tested)
    ids = tuple(trial.id for trial in tested)
    return curves[0].values, Line(roles.names[method], seeds, scores, bootstrap.estimate(scores), ids)

"""A study in a few sentences, and what a reader should know before believing it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ewok.lab.bootstrap import LEAST_SEEDS
from ewok.lab.findings import Findings
from ewok.lab.scores import ALL, AREA, NOMINAL, WORST, Comparison
from ewok.lab.store import Curve
from ewok.lab.tables import number


def sentences(found: Findings) -> list[str]:
    """How each method fares against the baseline."""
    return [_sentence(found, method) for method in found.compared if _of(found, method, AREA)]


def warnings_of(found: Findings) -> list[str]:
    """What is missing, failed or left out, and where there are too few seeds."""
    results = found.results
    told = []
    if results.failed:
        told.append(f"Failed: {_trials(len(results.failed))}, see below.")
    if results.missing:
        told.append(f"Not run yet: {_trials(len(results.missing))}. The numbers are of what is there.")
    if found.left_out:
        told.append(f"Left out: {_trials(len(found.left_out))} whose returns are not all numbers, see below.")
    if found.few:
        names = ", ".join(found.few)
        told.append(f"Fewer than {LEAST_SEEDS} seeds: {names}. Each seed is drawn, and no interval is claimed.")
    diverged = [trial for own in found.trials.values() for trial in own if _diverged(trial.returns.curves.values())]
    if diverged:
        told.append(f"In {_trials(len(diverged))} the physics came apart in some episodes; these count as they ended.")
    return told


def _sentence(found: Findings, method: str) -> str:
    """Over the range, at the worst, and in the nominal world."""
    baseline = str(found.baseline)
    areas = [one.difference for one in _of(found, method, AREA)]
    shared = [one for one in areas if one is not None]
    better, worse = sum(one.value > 0.0 for one in shared), sum(one.value < 0.0 for one in shared)
    text = f"{method} does better than {baseline} over the range of {better} of {len(areas)} parameters"
    claimed = any(one.low is not None for one in shared)
    if claimed and better:
        sure = sum(one.low is not None and one.low > 0.0 for one in shared)
        text += f" ({sure} with an interval above zero)"
    text += f", and worse over that of {worse or 'none'}"
    if claimed and worse:
        sure = sum(one.high is not None and one.high < 0.0 for one in shared)
        text += f" ({sure} with an interval below zero)"
    if not claimed:
        text += " (exact)" if method in found.roles.exact else " (too few seeds for intervals)"
    worst = [one for one in _of(found, method, WORST) if one.score.label == ALL]
    nominal = [one for one in _of(found, method, NOMINAL) if not one.score.label]
    parts = [("at the worst point of all", worst), ("in the nominal world", nominal)]
    for where, comparisons in parts:
        for one in comparisons:
            text += f"; {where} it returns {_value(one, method)}, {baseline} {_value(one, baseline)}"
    return f"{text}."


def _of(found: Findings, method: str, kind: str) -> Sequence[Comparison]:
    return [one for one in found.comparisons if one.method == method and one.score.kind == kind]


def _value(comparison: Comparison, method: str) -> str:
    line = comparison.score.line(method)
    return "nothing" if line is None else number(float(line.estimate.value))


def _diverged(curves: Iterable[Curve]) -> bool:
    return any(bool(curve.diverged.any()) for curve in curves)


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"

"""How training went: returns of its episodes, and what the worst kernel did, over steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap
from ewok.lab.panel import Line, Panel
from ewok.lab.roles import Roles
from ewok.lab.store import Finished

_WINDOWS = 50
# What a worst kernel tells: its column, and how people read it.
_TOLD = {"kl": "KL radius used (nats)", "ess": "effective sample size", "spread": "spread of scores", "kappa": "kappa"}

Trials = Mapping[str, Sequence[Finished]]


def learning_panel(trials: Trials, roles: Roles, bootstrap: Bootstrap) -> Panel | None:
    """Returns of the training's episodes, as means over windows of steps; None before any episode has ended.

    Without specialists: they have one name between them, and train apart.
    """
    last = max((trial.steps for own in trials.values() for trial in own), default=0)
    edges = np.linspace(0.0, max(last, 1), _WINDOWS + 1)
    lines = []
    for method in (name for name in roles.main if roles.names[name] == name):
        rows = [(trial, windows(trial.training["step"], trial.training["return"], edges)) for trial in trials[method]]
        line = _line(roles.names[method], rows, bootstrap)
        lines += [line] if line is not None else []
    return _over_steps("learning", "return while training", edges[1:], lines) if lines else None


def diagnostic_panels(trials: Trials, roles: Roles, bootstrap: Bootstrap) -> tuple[Panel, ...]:
    """What the worst kernels told over training: a panel for each number, where it is more than one value."""
    panels = []
    for column, label in _TOLD.items():
        told = {
            method: [one for one in trials[method] if one.diagnostics is not None and column in one.diagnostics]
            for method in [*roles.main, *(name for one in roles.ablations for name in one.members)]
        }
        last = max((one.steps for own in told.values() for one in own), default=0)
        steps = np.linspace(last / _WINDOWS, max(last, 1), _WINDOWS)
        lines = []
        for method, own in told.items():
            rows = [(trial, _at(trial, column, steps)) for trial in own]
            line = _line(roles.names[method], rows, bootstrap)
            lines += [line] if line is not None else []
        moves = any((np.ptp(line.scores, axis=1) > 1e-6 * np.abs(line.scores).max()).any() for line in lines)
        if lines and (moves or column != "kappa"):
            panels.append(_over_steps(column, label, steps, lines))
    return tuple(panels)


def mean_used(trial: Finished, column: str, share: float = 1.0) -> float:
    """The mean of a diagnostic over the last share of the training; NaN where there is none of it."""
    told = trial.diagnostics or {}
    if column not in told:
        return np.nan
    values, steps = np.asarray(told[column], dtype=np.float64), np.asarray(told["step"], dtype=np.float64)
    late = np.isfinite(values) & (steps > (1.0 - share) * trial.steps)
    return float(values[late].mean()) if late.any() else np.nan


def windows(
    steps: NDArray[np.float64], returns: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean return of the episodes that ended in each window, shape (windows,).

    A window in which none ended has the value of the one before, and those before the first that of the first.
    """
    at, returns = np.asarray(steps, dtype=np.float64), np.asarray(returns, dtype=np.float64)
    which = np.clip(np.searchsorted(edges, at, side="left") - 1, 0, len(edges) - 2)
    counts = np.bincount(which, minlength=len(edges) - 1)
    sums = np.bincount(which, weights=returns, minlength=len(edges) - 1)
    means: NDArray[np.float64] = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    some = np.flatnonzero(counts)
    if len(some) == 0:
        return means
    latest = np.maximum.accumulate(np.where(counts > 0, np.arange(len(counts)), some[0]))
    return np.asarray(means[latest])


def _at(trial: Finished, column: str, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """A diagnostic at these steps, between those it was written down at."""
    told = trial.diagnostics or {}
    known = np.asarray(told["step"], dtype=np.float64), np.asarray(told[column], dtype=np.float64)
    fine = np.isfinite(known[0]) & np.isfinite(known[1])
    if not fine.any():
        return np.full(len(steps), np.nan)
    return np.asarray(np.interp(steps, known[0][fine], known[1][fine]))


def _line(method: str, rows: Sequence[tuple[Finished, NDArray[np.float64]]], bootstrap: Bootstrap) -> Line | None:
    """A method's line, of the trials that have something to tell."""
    told = [(trial, row) for trial, row in rows if np.isfinite(row).all()]
    if not told:
        return None
    scores = np.stack([row for _, row in told])
    seeds, ids = tuple(trial.seed for trial, _ in told), tuple(trial.id for trial, _ in told)
    return Line(method, seeds, scores, bootstrap.estimate(scores), ids)


def _over_steps(name: str, height: str, steps: NDArray[np.float64], lines: Sequence[Line]) -> Panel:
    return Panel(name, "training steps", "", height, steps, "linear", None, tuple(lines))

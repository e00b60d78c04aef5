"""How far the estimated worst kernel is from the exact one, against the number of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap
from ewok.lab.columns import StoreError
from ewok.lab.panel import Line, Panel
from ewok.lab.roles import Roles
from ewok.lab.store import Finished

_HEIGHTS = {"tv": "total variation from exact", "kl": "KL from nominal (dotted: exact)"}


def distance_panels(trials: Mapping[str, Sequence[Finished]], roles: Roles, bootstrap: Bootstrap) -> tuple[Panel, ...]:
    """A panel for each measure, the exact kernel's KL a level; none in studies that do not measure them.

    Each agent's number is the median over the states that it was measured at.
    """
    measured = {name: own for name in roles.main if (own := [t for t in trials[name] if t.distances is not None])}
    if not measured:
        return ()
    nums = _nums([trial for own in measured.values() for trial in own])
    panels = []
    for measure, height in _HEIGHTS.items():
        lines, levels = [], []
        for method, own in measured.items():
            scores = np.stack([np.asarray((trial.distances or {})[f"{measure}_median"]) for trial in own])
            lines.append(_line(roles.names[method], own, scores[:, :-1], bootstrap))
            levels += [_line(roles.names[method], own, scores[:, -1], bootstrap)] if measure == "kl" else []
        label = "number of samples N"
        panels.append(Panel(measure, label, "", height, nums[:-1], "log", None, tuple(lines), tuple(levels)))
    return tuple(panels)


def _nums(trials: Sequence[Finished]) -> NDArray[np.float64]:
    """The N that all of these trials measured, and infinity, the exact kernel's."""
    first, *others = [np.asarray((trial.distances or {})["num_samples"], dtype=np.float64) for trial in trials]
    fine = len(first) > 1 and (np.diff(first) > 0.0).all() and first[0] >= 1.0 and np.isinf(first[-1])
    if not fine or not all(np.array_equal(first, other) for other in others):
        told = "must have a row for each N, rising, the same in all of the study, and a last one with inf"
        raise StoreError(f"{trials[0].path} and the trials beside it {told}. Run the study again, into another folder.")
    return first


def _line(method: str, trials: Sequence[Finished], scores: NDArray[np.float64], bootstrap: Bootstrap) -> Line:
    seeds, ids = tuple(trial.seed for trial in trials), tuple(trial.id for trial in trials)
    return Line(method, seeds, scores, bootstrap.estimate(scores), ids)

"""What a method's curves come to in one number for each seed: in the nominal world, over a range, at the worst."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap, Estimate
from ewok.lab.panel import Line, Panel
from ewok.lab.stats import area, worst

NOMINAL, AREA, WORST = "nominal world", "area under the curve", "worst over the grid"
ALL = "all parameters"


@final
@dataclass(frozen=True, eq=False)
class Score:
    """One number for each seed of each method.

    Attributes:
        kind: NOMINAL, AREA or WORST.
        label: of the parameter.
        lines: of the methods that have it; their scores have shape (seeds,).
    """

    kind: str
    label: str
    lines: tuple[Line, ...]

    def line(self, method: str) -> Line | None:
        """This method's, if it has this score."""
        return next((line for line in self.lines if line.method == method), None)


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """One method against the baseline by one score.

    Attributes:
        score: by which.
        method: which.
        difference: the method's less the baseline's, seed by seed; None where they share no seed.
        improvement: probability that a seed of the method does better than one of the baseline.
    """

    score: Score
    method: str
    difference: Estimate | None
    improvement: Estimate


def comparisons(
    scores: Sequence[Score], methods: Sequence[str], baseline: str, bootstrap: Bootstrap
) -> tuple[Comparison, ...]:
    """Each of these methods against the baseline by each score that both have."""
    found = []
    for score in scores:
        theirs = score.line(baseline)
        for method in methods:
            ours = score.line(method)
            if ours is not None and theirs is not None:
                less = ours.less(theirs, bootstrap)
                improvement = bootstrap.improvement(ours.scores, theirs.scores, paired=ours.seeds == theirs.seeds)
                found.append(Comparison(score, method, None if less is None else less.estimate, improvement))
    return tuple(found)


def robust_scores(panels: Sequence[Panel], bootstrap: Bootstrap) -> tuple[Score, ...]:
    """The nominal return; then area and worst return of each parameter, and the worst of all."""
    found = [_nominal(panels, bootstrap)]
    for kind, height in ((AREA, _area), (WORST, _worst)):
        found += [_score(kind, panel, height, bootstrap) for panel in panels]
    if len(panels) > 1:
        found.append(_worst_of_all(panels, bootstrap))
    return tuple(score for score in found if score.lines)


def _area(panel: Panel, line: Line) -> NDArray[np.float64]:
    return area(line.scores, panel.values, panel.scale)


def _worst(panel: Panel, line: Line) -> NDArray[np.float64]:
    return worst(line.scores)


def _score(
    kind: str, panel: Panel, height: Callable[[Panel, Line], NDArray[np.float64]], bootstrap: Bootstrap
) -> Score:
    heights = [(line, height(panel, line)) for line in panel.lines]
    return Score(kind, panel.label, tuple(_flat(line, scores, bootstrap) for line, scores in heights))


def _nominal(panels: Sequence[Panel], bootstrap: Bootstrap) -> Score:
    """Of each method where it first appears: the nominal point is in every grid."""
    lines: dict[str, Line] = {}
    for panel in panels:
        here = np.isclose(panel.values, np.nan if panel.nominal is None else panel.nominal, atol=0.0)
        for line in panel.lines if here.any() else ():
            if _is_one(line, panels):
                lines.setdefault(line.method, _flat(line, line.scores[:, int(np.argmax(here))], bootstrap))
    return Score(NOMINAL, "", tuple(lines.values()))


def _worst_of_all(panels: Sequence[Panel], bootstrap: Bootstrap) -> Score:
    """Of the methods that are in every panel."""
    lines = []
    for first in panels[0].lines:
        there = [line for panel in panels if (line := panel.line(first.method)) is not None]
        if len(there) == len(panels) and _is_one(first, panels):
            scores = np.min([worst(line.scores) for line in there], axis=0)
            lines.append(_flat(first, scores, bootstrap))
    return Score(WORST, ALL, tuple(lines))


def _is_one(line: Line, panels: Sequence[Panel]) -> bool:
    """Whether a method is the same agents in every panel; specialists are others in each."""
    there = (panel.line(line.method) for panel in panels)
    return all(other is None or other.trials == line.trials for other in there)


def _flat(line: Line, scores: NDArray[np.float64], bootstrap: Bootstrap) -> Line:
    return Line(line.method, line.seeds, scores, bootstrap.estimate(scores), line.trials)

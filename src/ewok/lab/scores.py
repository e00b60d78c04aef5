"""What a method's curves come to in one number for each seed: nominal, at both ends, over a range, at the worst."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap, Estimate
from ewok.lab.panel import Line, Panel
from ewok.lab.stats import area, worst

NOMINAL, LOWEST, HIGHEST = "nominal world", "at the lowest value", "at the highest value"
AREA, WORST = "area under the curve", "worst over the grid"
ALL = "all parameters"


@final
@dataclass(frozen=True, eq=False)
class Score:
    """One number for each seed of each method.

    Attributes:
        kind: NOMINAL, LOWEST, HIGHEST, AREA or WORST.
        label: of the parameter; none where it is a score of all of them.
        lines: of the methods that have it; their scores have shape (seeds,).
        at: the parameter's value, where it is a score at one.
    """

    kind: str
    label: str
    lines: tuple[Line, ...]
    at: float | None = None

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
    """The nominal return; then returns at both ends of each parameter, area and worst, and the worst of all."""
    found = [_nominal(panels, bootstrap), *_nominal_of_specialists(panels, bootstrap)]
    for kind, index in ((LOWEST, 0), (HIGHEST, -1)):
        found += [_at(kind, panel, index, bootstrap) for panel in panels]
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


def _at(kind: str, panel: Panel, index: int, bootstrap: Bootstrap) -> Score:
    lines = tuple(_flat(line, line.scores[:, index], bootstrap) for line in panel.lines)
    return Score(kind, panel.label, lines, float(panel.values[index]))


def _nominal(panels: Sequence[Panel], bootstrap: Bootstrap) -> Score:
    """Of each method where it first appears: the nominal point is in every grid."""
    lines: dict[str, Line] = {}
    for panel in panels:
        index = _nominal_index(panel)
        for line in () if index is None else panel.lines:
            if _is_one(line, panels):
                lines.setdefault(line.method, _flat(line, line.scores[:, index], bootstrap))
    return Score(NOMINAL, "", tuple(lines.values()))


def _nominal_of_specialists(panels: Sequence[Panel], bootstrap: Bootstrap) -> Iterator[Score]:
    """Of those who are other agents in each panel, beside the others; for each parameter that has some."""
    for panel in panels:
        index = _nominal_index(panel)
        if index is not None and not all(_is_one(line, panels) for line in panel.lines):
            yield _at(NOMINAL, panel, index, bootstrap)


def _nominal_index(panel: Panel) -> int | None:
    here = np.isclose(panel.values, np.nan if panel.nominal is None else panel.nominal, atol=0.0)
    return int(np.argmax(here)) if here.any() else None


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

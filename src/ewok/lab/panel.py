"""What one panel of a figure shows: a line for each method over one axis, each point an estimate over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap, Estimate
from ewok.lab.stats import Scale, Scores


@final
@dataclass(frozen=True, eq=False)
class Line:
    """A method over the points of an axis.

    Attributes:
        method: its name.
        seeds: which, in order.
        scores: (seeds, points), each the mean over episodes; (seeds,) for a score of the whole grid.
        estimate: over seeds, at each point.
        trials: ids of the agents that these are the scores of.
    """

    method: str
    seeds: tuple[int, ...]
    scores: Scores
    estimate: Estimate
    trials: tuple[str, ...] = ()

    def less(self, base: Line, bootstrap: Bootstrap) -> Line | None:
        """The difference to another line, on the seeds that both have; None if there are none."""
        ours, theirs, seeds = self.common(base)
        return Line(self.method, seeds, ours - theirs, bootstrap.difference(ours, theirs)) if seeds else None

    def common(self, other: Line) -> tuple[Scores, Scores, tuple[int, ...]]:
        """The rows of both for the seeds that both have, and these seeds."""
        seeds = tuple(seed for seed in self.seeds if seed in other.seeds)
        ours = self.scores[[self.seeds.index(seed) for seed in seeds]]
        return ours, other.scores[[other.seeds.index(seed) for seed in seeds]], seeds


@final
@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over one axis.

    Attributes:
        name: of what the axis is, as in files.
        label: as people read it.
        unit: of its values.
        height: what the lines are.
        values: (points,) rising.
        scale: of the axis.
        nominal: where the agents were trained; None where the axis is no parameter.
        lines: of the methods.
        levels: what does not move along the axis: lines of one score for each seed, (seeds,).
    """

    name: str
    label: str
    unit: str
    height: str
    values: NDArray[np.float64]
    scale: Scale
    nominal: float | None
    lines: tuple[Line, ...]
    levels: tuple[Line, ...] = ()

    @property
    def axis(self) -> str:
        """What stands along the axis."""
        unit = self.unit.replace("^2", "\N{SUPERSCRIPT TWO}")
        return f"{self.label} ({unit})" if unit else self.label

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.method for line in (*self.lines, *self.levels)))

    def line(self, method: str) -> Line | None:
        """This method's line, if it has one here."""
        return next((line for line in self.lines if line.method == method), None)

    def only(self, methods: Sequence[str]) -> Panel:
        """With the lines of these methods, in their order."""
        found = (self.line(method) for method in methods)
        return replace(self, lines=tuple(line for line in found if line is not None))

    def less(self, baseline: str, bootstrap: Bootstrap) -> Panel:
        """Every other line's difference to this one, on the seeds that both have; none where they share no seed."""
        base = self.line(baseline)
        found = [line.less(base, bootstrap) for line in self.lines if line is not base] if base is not None else []
        return replace(self, height=f"difference to {baseline}", lines=tuple(one for one in found if one is not None))

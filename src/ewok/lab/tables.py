"""The tables of a report: robust scores, comparisons with the baseline, what training cost, every point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ewok.lab.bootstrap import Estimate
from ewok.lab.findings import Findings
from ewok.lab.learning import mean_used
from ewok.lab.scores import Score
from ewok.lab.stats import mean, median
from ewok.lab.store import Finished
from ewok.lab.summary import spoken

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_TIMES = "\N{MULTIPLICATION SIGN}"
LATE = 0.1  # of a training, its end


@final
@dataclass(frozen=True)
class Cell:
    """A number as people read it.

    Attributes:
        text: the number.
        note: beside it and smaller: its interval.
        strong: it stands out.
    """

    text: str
    note: str = ""
    strong: bool = False


@final
@dataclass(frozen=True)
class Row:
    """A line of a table; the label may be a method's name, which has a colour."""

    label: str
    cells: tuple[Cell, ...]
    group: str = ""


@final
@dataclass(frozen=True)
class Table:
    """Rows under a head; rows of one group stand together under its name.

    Attributes:
        head: of each column.
        rows: of the table.
        over: above the head, each over so many columns.
    """

    head: tuple[str, ...]
    rows: tuple[Row, ...]
    over: tuple[tuple[str, int], ...] = ()


def score_table(found: Findings) -> Table:
    """IQM of each score, a column for each method; the best of a row stands out."""
    rows = [Row(_label(score), _cells(score, found.main), score.kind) for score in found.scores]
    return Table(("", *found.main), tuple(rows))


def comparison_table(found: Findings) -> Table:
    """Differences to the baseline, and probabilities of improvement; what is beyond doubt stands out."""
    over = (("", 1), *((name, 2) for name in found.compared))
    rows = []
    for score in found.scores:
        cells: list[Cell] = []
        for method in found.compared:
            own = [one for one in found.comparisons if one.score is score and one.method == method]
            cells += (
                [_cell(own[0].difference, sign=True), _probability(own[0].improvement)] if own else [Cell(NOTHING)] * 2
            )
        rows.append(Row(_label(score), tuple(cells), score.kind))
    return Table(("", *("difference", "P(improvement)") * len(found.compared)), tuple(rows), over)


def cost_table(found: Findings) -> Table:
    """Wall time of a run: the median over trials, and how many times the baseline's."""
    medians, relative = train_seconds(found), relative_times(found)
    rows = []
    for method in medians:
        own = trials_of(found, method)
        ratio = f"{_TIMES}{relative[method]:.2f}" if method in relative else NOTHING
        speed = np.median([trial.steps / max(trial.seconds.get("train", np.nan), 1e-9) for trial in own])
        evaluation = float(np.median([trial.seconds.get("evaluate", np.nan) for trial in own]))
        texts = (str(len(own)), _time(medians[method]), ratio, number(float(speed)), _time(evaluation))
        rows.append(Row(method, tuple(Cell(text) for text in texts)))
    head = ("", "runs", "training", f"relative to {found.baseline or 'baseline'}", "steps per second", "evaluation")
    return Table(head, tuple(rows))


def radius_table(found: Findings) -> Table:
    """The KL radius that each worst kernel used, and its kappa: over all of the training, and over its last tenth."""
    rows = []
    for method in dict.fromkeys(found.roles.names.values()):
        own = [trial for trial in trials_of(found, method) if trial.diagnostics is not None]
        if own:
            parts = [[mean_used(one, name, share) for one in own] for name in ("kl", "kappa") for share in (1.0, LATE)]
            rows.append(Row(method, (Cell(str(len(own))), *map(_over_seeds, parts))))
    columns = ("all of training", "last tenth")
    return Table(("", "runs", *columns, *columns), tuple(rows), (("", 2), ("KL radius used", 2), ("kappa", 2)))


def distance_table(found: Findings) -> Table:
    """Of the estimated kernel of each N from the exact one, and both from the nominal one."""
    rows = []
    for method in found.main:
        told = [trial.distances for trial in trials_of(found, method) if trial.distances is not None]
        for row, num in enumerate(told[0]["num_samples"] if told else ()):
            label = "exact" if np.isinf(num) else f"N = {num:g}"
            cells = []
            for name in ("tv", "kl"):
                parts = (f"{name}_{part}" for part in ("median", "lower", "upper"))
                middle, lower, upper = (number(float(np.mean([one[part][row] for one in told]))) for part in parts)
                cells.append(Cell(middle, f"[{lower}, {upper}]"))
            rows.append(Row(label, tuple(cells), method))
    return Table(("", "total variation from the exact kernel", "KL from the nominal kernel"), tuple(rows))


def times_table(studies: Sequence[Findings]) -> Table:
    """The paper's table of training times: a row for each study, a column for each method."""
    methods = list(dict.fromkeys(name for found in studies for name in train_seconds(found)))
    rows = []
    for found in studies:
        medians = train_seconds(found)
        rows.append(Row(found.title, tuple(Cell(_time(medians[m]) if m in medians else NOTHING) for m in methods)))
    return Table(("training time of a run", *methods), tuple(rows))


def point_table(found: Findings) -> Table:
    """Every point of every curve, sweeps too."""
    rows = []
    panels = {panel.name: panel for panel in found.panels}
    for name, panel in panels.items():
        swept = [
            line for ablated in found.ablated for other in ablated.panels if other.name == name for line in other.lines
        ]
        lines = {line.method: line for line in (*panel.lines, *swept)}
        for line in lines.values():
            means, medians = mean(line.scores), median(line.scores)
            for index, value in enumerate(panel.values):
                estimate = _point(line.estimate, index)
                middle = (Cell(number(float(means[index]))), Cell(number(float(medians[index]))))
                cells = (Cell(f"{value:g}"), Cell(str(len(line.seeds))), _cell(estimate), *middle)
                rows.append(Row(line.method, cells, panel.axis))
    return Table(("", "value", "seeds", "IQM", "mean", "median"), tuple(rows))


def train_seconds(found: Findings) -> dict[str, float]:
    """Median seconds that a training took, by the names methods are shown by."""
    runs = {name: trials_of(found, name) for name in dict.fromkeys(found.roles.names.values())}
    return {name: float(np.median([one.seconds.get("train", np.nan) for one in own])) for name, own in runs.items()}


def relative_times(found: Findings) -> dict[str, float]:
    """Median over runs of how many times as long a training took as the baseline's of the same seed.

    These run next to each other, when the machine is as busy with the one as with the other.
    """
    base = {trial.seed: trial.seconds.get("train", np.nan) for trial in trials_of(found, found.baseline or "")}
    ratios = {
        name: [t.seconds.get("train", np.nan) / base[t.seed] for t in trials_of(found, name) if base.get(t.seed)]
        for name in dict.fromkeys(found.roles.names.values())
    }
    return {name: float(np.median(own)) for name, own in ratios.items() if own}


def number(value: float, *, sign: bool = False) -> str:
    """Three digits, and no more than people need."""
    if not np.isfinite(value):
        return NOTHING
    digits = f"{abs(value):,.0f}" if abs(value) >= 100.0 else f"{abs(value):#.3g}".rstrip(".")
    negative = value < 0.0 and float(digits.replace(",", "")) != 0.0
    return (_MINUS if negative else "+" if sign else "") + digits


def _time(seconds: float) -> str:
    return spoken(seconds) if np.isfinite(seconds) else NOTHING


def trials_of(found: Findings, shown: str) -> list[Finished]:
    """Of the methods that are shown by this name."""
    return [trial for name, own in found.trials.items() if found.roles.names.get(name) == shown for trial in own]


def _label(score: Score) -> str:
    return f"{score.label or 'return'}{'' if score.at is None else f' = {score.at:g}'}"


def _over_seeds(values: Sequence[float]) -> Cell:
    """The median of what is known, and its range."""
    known = [value for value in values if np.isfinite(value)]
    if not known:
        return Cell(NOTHING)
    return Cell(number(float(np.median(known))), f"[{number(min(known))}, {number(max(known))}]")


def _cells(score: Score, methods: Sequence[str]) -> tuple[Cell, ...]:
    lines = [score.line(method) for method in methods]
    values = [float(line.estimate.value) for line in lines if line is not None]
    best = max(values) if len(values) > 1 else np.inf
    return tuple(
        Cell(NOTHING) if line is None else _cell(line.estimate, strong=float(line.estimate.value) >= best)
        for line in lines
    )


def _cell(estimate: Estimate | None, *, sign: bool = False, strong: bool = False) -> Cell:
    if estimate is None:
        return Cell(NOTHING)
    text = number(float(estimate.value), sign=sign)
    if estimate.low is None or estimate.high is None:
        return Cell(text, "", strong)
    low, high = float(estimate.low), float(estimate.high)
    beyond = sign and (low > 0.0 or high < 0.0)
    return Cell(text, f"[{number(low, sign=sign)}, {number(high, sign=sign)}]", strong or beyond)


def _probability(estimate: Estimate) -> Cell:
    if estimate.low is None or estimate.high is None:
        return Cell(f"{float(estimate.value):.2f}")
    low, high = float(estimate.low), float(estimate.high)
    return Cell(f"{float(estimate.value):.2f}", f"[{low:.2f}, {high:.2f}]", low > 0.5 or high < 0.5)


def _point(estimate: Estimate, index: int) -> Estimate:
    low = None if estimate.low is None else estimate.low[index]
    high = None if estimate.high is None else estimate.high[index]
    return Estimate(estimate.value[index], low, high, estimate.num_seeds)

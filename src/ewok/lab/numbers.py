"""The numbers of a report as CSV, for documents and other programs: `scores.csv` and `training.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np

from ewok.lab.bootstrap import Estimate
from ewok.lab.findings import Findings
from ewok.lab.learning import mean_used
from ewok.lab.scores import Comparison, Score, comparisons
from ewok.lab.tables import LATE, relative_times, trials_of

_ENDS = ("", "_low", "_high")
_SCORES = (
    *("study", "method", "score", "parameter", "value", "seeds", "iqm", "iqm_low", "iqm_high", "against"),
    *(f"{name}{end}" for name in ("difference", "improvement") for end in _ENDS),
)
_TRAINING = (
    *(
        "study",
        "method",
        "runs",
        "train_seconds",
        "against",
        "relative_seconds",
        "evaluate_seconds",
        "steps_per_second",
    ),
    *(f"{name}{end}" for name in ("kl", "kl_late", "kappa", "kappa_late") for end in ("", "_least", "_most")),
)


def numbers_of(found: Findings) -> dict[str, str]:
    """Each file's name and text.

    `scores.csv` has a row for each method and score, those of sweeps too: IQM over seeds; difference to the baseline,
    or whoever stands `against`, and probability of improvement over it, each with its interval. `training.csv` has a
    row for each method: medians over runs; the KL radius that its worst kernel used and its kappa, with the least and
    the most, over all of the training and over its last tenth. What is not known, or not claimed, is empty.
    """
    return {
        "scores.csv": _text(_SCORES, _score_rows(found)),
        "training.csv": _text(_TRAINING, _training_rows(found)),
    }


def _score_rows(found: Findings) -> Iterator[list[str]]:
    told = [(found.scores, found.comparisons)]
    for ablated in found.ablated:
        methods = [name for name in ablated.labels if name not in found.main]
        compared = comparisons(ablated.scores, methods, found.baseline, found.bootstrap) if found.baseline else ()
        own = [Score(s.kind, s.label, tuple(x for x in s.lines if x.method in methods), s.at) for s in ablated.scores]
        told.append((tuple(own), compared))
    for scores, compared in told:
        for score in scores:
            for line in score.lines:
                comparison = next((c for c in compared if c.method == line.method and _same(c.score, score)), None)
                value = "" if score.at is None else f"{score.at:g}"
                start = [found.name, line.method, score.kind, score.label, value, str(len(line.seeds))]
                against = [""] * 7 if comparison is None else [str(found.baseline), *_compared(comparison)]
                yield [*start, *_numbers(line.estimate), *against]


def _training_rows(found: Findings) -> Iterator[list[str]]:
    relative = relative_times(found)
    for method in dict.fromkeys(found.roles.names.values()):
        own = trials_of(found, method)
        train = [trial.seconds.get("train", np.nan) for trial in own]
        speed = [trial.steps / max(seconds, 1e-9) for trial, seconds in zip(own, train, strict=True)]
        evaluate = [trial.seconds.get("evaluate", np.nan) for trial in own]
        times = [_text_of(part) for part in (relative.get(method), np.median(evaluate), np.median(speed))]
        against = str(found.baseline) if method in relative else ""
        used = [[mean_used(t, name, share) for t in own] for name in ("kl", "kappa") for share in (1.0, LATE)]
        ranges = (text for one in used for text in _range(one))
        yield [found.name, method, str(len(own)), _text_of(np.median(train)), against, *times, *ranges]


def _same(one: Score, other: Score) -> bool:
    return (one.kind, one.label) == (other.kind, other.label)


def _compared(comparison: Comparison) -> list[str]:
    return [*_numbers(comparison.difference), *_numbers(comparison.improvement)]


def _numbers(estimate: Estimate | None) -> list[str]:
    return [""] * 3 if estimate is None else list(map(_text_of, (estimate.value, estimate.low, estimate.high)))


def _range(values: Sequence[float]) -> list[str]:
    known = [value for value in values if np.isfinite(value)]
    return [_text_of(part(known)) for part in (np.median, min, max)] if known else [""] * 3


def _text_of(value: object) -> str:
    """Six digits: enough for anyone, and the same on every machine."""
    number = np.nan if value is None else float(np.asarray(value))
    return f"{number:.6g}" if np.isfinite(number) else ""


def _text(head: Sequence[str], rows: Iterator[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()

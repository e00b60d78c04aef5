"""Scores of a whole grid: one number for each seed, from its whole row."""

from __future__ import annotations

import numpy as np

from ewok.lab import stats
from ewok.lab.findings import Findings
from ewok.lab.scores import ALL, AREA, HIGHEST, LOWEST, NOMINAL, WORST, Score, comparisons
from tests.lab.finished import PARAMETERS
from tests.lab.test_robustness import panel_of


def score_of(found: Findings, kind: str, label: str) -> Score:
    return next(score for score in found.scores if (score.kind, score.label) == (kind, label))


def test_scores_are_of_whole_rows(found: Findings) -> None:
    for name, told in PARAMETERS.items():
        panel, scale = panel_of(found, name), told.get("scale", "linear")
        for line in panel.lines:
            area = score_of(found, AREA, panel.label).line(line.method)
            worst = score_of(found, WORST, panel.label).line(line.method)
            assert area is not None
            assert worst is not None
            np.testing.assert_array_equal(area.scores, stats.area(line.scores, panel.values, scale))
            np.testing.assert_array_equal(worst.scores, line.scores.min(axis=1))


def test_the_worst_of_all_is_each_seeds_own(found: Findings) -> None:
    worst = score_of(found, WORST, ALL).line("ewok")
    assert worst is not None
    rows = [panel.line("ewok").scores.min(axis=1) for panel in found.panels]  # type: ignore[union-attr]
    np.testing.assert_array_equal(worst.scores, np.min(rows, axis=0))


def test_specialists_have_no_score_of_all_parameters(found: Findings) -> None:
    """They are other agents for each parameter: nothing can be said of them together."""
    assert score_of(found, WORST, ALL).line("randomized") is None
    assert score_of(found, NOMINAL, "").line("randomized") is None
    assert score_of(found, AREA, "noise").line("randomized") is not None
    assert found.learning is not None
    assert found.learning.methods == ("baseline", "ewok")


def test_a_nominal_score_is_that_of_the_nominal_point(found: Findings) -> None:
    line, panel = score_of(found, NOMINAL, "").line("ewok"), panel_of(found, "noise")
    assert line is not None
    np.testing.assert_array_equal(line.scores, panel.line("ewok").scores[:, 1])  # type: ignore[union-attr]


def test_ends_are_those_of_the_grid(found: Findings) -> None:
    for panel in found.panels:
        for kind, index in ((LOWEST, 0), (HIGHEST, -1)):
            score = score_of(found, kind, panel.label)
            assert score.at == panel.values[index]
            for line in panel.lines:
                np.testing.assert_array_equal(score.line(line.method).scores, line.scores[:, index])  # type: ignore[union-attr]


def test_specialists_have_a_nominal_score_in_their_own_panel(found: Findings) -> None:
    panel, score = panel_of(found, "noise"), score_of(found, NOMINAL, "noise")
    assert score.at == panel.nominal
    for line in panel.lines:
        np.testing.assert_array_equal(score.line(line.method).scores, line.scores[:, 1])  # type: ignore[union-attr]


def test_what_is_resampled_alike_are_the_same_seeds_and_not_as_many(found: Findings) -> None:
    """One of the baseline's seeds is spoiled here, and another one of ewok's is missing: five are left of each."""
    comparison = next(one for one in found.comparisons if (one.method, one.score.kind) == ("ewok", NOMINAL))
    ours, theirs = (comparison.score.line(name) for name in ("ewok", "baseline"))
    assert ours is not None
    assert theirs is not None
    assert len(ours.seeds) == len(theirs.seeds)
    assert ours.seeds != theirs.seeds
    apart, alike = (found.bootstrap.improvement(ours.scores, theirs.scores, paired=p) for p in (False, True))
    assert (comparison.improvement.low, comparison.improvement.high) == (apart.low, apart.high)
    (itself,) = comparisons([comparison.score], ["baseline"], "baseline", found.bootstrap)
    assert itself.improvement.low == found.bootstrap.improvement(theirs.scores, theirs.scores, paired=True).low
    assert alike.value == apart.value

"""Panels: lines over one axis, and their differences on the seeds that two lines share."""

from __future__ import annotations

import numpy as np

from ewok.lab import stats
from ewok.lab.findings import Findings
from tests.lab.test_robustness import panel_of


def test_differences_are_of_the_seeds_that_both_have(found: Findings) -> None:
    panel = panel_of(found, "gravity")
    [less, *_] = found.differences((panel,))[0].lines
    ewok, baseline = panel.line("ewok"), panel.line("baseline")
    assert ewok is not None
    assert baseline is not None
    assert (ewok.seeds, baseline.seeds, less.seeds) == ((0, 1, 3, 4, 5), (1, 2, 3, 4, 5), (1, 3, 4, 5))
    np.testing.assert_array_equal(less.scores, ewok.scores[1:] - baseline.scores[[0, 2, 3, 4]])
    np.testing.assert_allclose(
        less.estimate.value, stats.iqm(ewok.scores[1:]) - stats.iqm(baseline.scores[[0, 2, 3, 4]])
    )
    assert less.estimate.low is None  # four seeds


def test_an_axis_has_its_unit(found: Findings) -> None:
    assert panel_of(found, "gravity").axis == "gravity (m/s\N{SUPERSCRIPT TWO})"
    assert panel_of(found, "damping").axis == "damping"


def test_lines_are_chosen_by_name_and_in_order(found: Findings) -> None:
    panel = panel_of(found, "noise")
    assert panel.only(["ewok", "nobody", "baseline"]).methods == ("ewok", "baseline")
    assert panel.less("nobody", found.bootstrap).lines == ()

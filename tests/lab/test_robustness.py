"""Robustness curves: every number comes from the rows on disk, and seeds stay with their rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ewok.lab import stats
from ewok.lab.columns import StoreError
from ewok.lab.findings import Findings, findings_of
from ewok.lab.panel import Panel
from ewok.lab.store import Results, Returns, read
from tests.lab.finished import PARAMETERS, write_study


def panel_of(found: Findings, name: str) -> Panel:
    return next(panel for panel in found.panels if panel.name == name)


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_line_is_the_iqm_over_seeds_of_means_over_episodes(found: Findings, results: Results, parameter: str) -> None:
    panel = panel_of(found, parameter)
    assert panel.methods == ("baseline", "ewok", "randomized")
    np.testing.assert_array_equal(panel.values, PARAMETERS[parameter]["grid"])
    for line, name in zip(panel.lines, ("baseline", "ewok", f"randomized-{parameter}"), strict=True):
        trials = [trial for trial in results.of(name) if (name, trial.seed) != ("baseline", 0)]
        rows = np.array([trial.returns.of(parameter).returns.mean(axis=1) for trial in trials])
        np.testing.assert_array_equal(line.scores, rows)
        np.testing.assert_array_equal(line.estimate.value, stats.iqm(rows))
        assert line.seeds == tuple(trial.seed for trial in trials)


def test_trials_with_returns_that_are_no_numbers_are_left_out_and_named(found: Findings) -> None:
    assert [(one.trial.method, one.trial.seed) for one in found.left_out] == [("baseline", 0)]
    assert found.left_out[0].reason == "1 of 30 returns over noise are not finite"


def test_trials_that_were_tested_elsewhere_are_an_error(tmp_path: Path) -> None:
    study = write_study(tmp_path / "s", seeds=2, parameters=("noise",))
    [path] = (study / "trials").glob("ewok-s001-*")
    curve = Returns.read(path / "returns.csv.gz").of("noise")
    Returns({"noise": curve._replace(values=curve.values + 0.5)}).write(path / "returns.csv.gz")
    with pytest.raises(StoreError, match=r"ewok-s001-00000000 was tested at other values of noise than .*ewok-s000"):
        findings_of(read(study))

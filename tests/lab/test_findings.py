"""From a folder to panels and scores: every number comes from the rows on disk, and seeds stay with their rows."""

from __future__ import annotations

import numpy as np
import pytest

from ewok.lab import stats
from ewok.lab.findings import Findings, findings_of
from ewok.lab.learning import windows
from ewok.lab.panel import Panel
from ewok.lab.scores import ALL, AREA, NOMINAL, WORST, Score
from ewok.lab.store import Results, read
from ewok.lab.tables import NOTHING, comparison_table, cost_table, number, point_table, score_table, times_table
from tests.lab.finished import FULL, METHODS, PARAMETERS, SPECIALISTS, write_study

NUM_SEEDS = {name: 6 if name in METHODS else 5 for name in FULL}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("full") / "f"
    return read(write_study(folder, FULL, NUM_SEEDS, failed=[("ewok", 2)], spoiled=[("baseline", 0)]))


@pytest.fixture(scope="module")
def found(results: Results) -> Findings:
    return findings_of(results)


def panel_of(found: Findings, name: str) -> Panel:
    return next(panel for panel in found.panels if panel.name == name)


def score_of(found: Findings, kind: str, label: str) -> Score:
    return next(score for score in found.scores if (score.kind, score.label) == (kind, label))


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


def test_tables_say_what_the_scores_are(found: Findings) -> None:
    table = score_table(found)
    assert table.head == ("", "baseline", "ewok", "randomized")
    [first, *_] = table.rows
    ewok = score_of(found, NOMINAL, "").line("ewok")
    assert ewok is not None
    assert (first.label, first.group) == ("return", NOMINAL)
    assert first.cells[1].text == number(float(ewok.estimate.value))
    assert first.cells[1].strong
    assert first.cells[2].text == NOTHING
    compared = comparison_table(found)
    assert compared.over == (("", 1), ("ewok", 2), ("randomized", 2))
    assert all(len(row.cells) == 4 for row in compared.rows)
    points = point_table(found)
    assert len(points.rows) == sum(len(told["grid"]) for told in PARAMETERS.values()) * (3 + 3)


def test_times_are_medians_over_runs_and_relative_to_the_baseline(found: Findings, results: Results) -> None:
    rows = {row.label: [cell.text for cell in row.cells] for row in cost_table(found).rows}
    assert rows["ewok"][0] == "5"
    assert rows["randomized"][0] == str(5 * len(SPECIALISTS))
    train = {name: np.median([t.seconds["train"] for t in found.trials[name]]) for name in METHODS}
    assert rows["ewok"][2] == f"\N{MULTIPLICATION SIGN}{train['ewok'] / train['baseline']:.2f}"
    [row] = times_table([found]).rows
    assert row.label == "CartPole, Double DQN"


def test_diagnostics_are_of_worst_kernels_and_of_what_moves(found: Findings) -> None:
    assert [panel.name for panel in found.diagnostics] == ["kl", "ess", "spread"]  # kappa is constant in each
    assert found.diagnostics[0].methods == ("ewok", "ewok-kappa-0.05", "ewok-kappa-0.2", "ewok-kappa-1")


def test_windows_of_training_by_hand() -> None:
    steps, returns = np.array([5.0, 10.0, 12.0, 40.0]), np.array([1.0, 3.0, 8.0, 9.0])
    edges = np.array([0.0, 10.0, 20.0, 30.0, 40.0])
    np.testing.assert_array_equal(windows(steps, returns, edges), [2.0, 8.0, 8.0, 9.0])
    np.testing.assert_array_equal(windows(steps[2:], returns[2:], edges), [8.0, 8.0, 8.0, 9.0])
    assert np.isnan(windows(np.array([]), np.array([]), np.array([0.0, 1.0]))).all()


@pytest.mark.parametrize(
    ("value", "text"),
    [(312.4, "312"), (1234.5, "1,234"), (35.06, "35.1"), (0.5, "0.500"), (0.0, "0.00"), (-17.94, "\N{MINUS SIGN}17.9")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text
    assert number(np.nan) == NOTHING
    assert number(3.0, sign=True) == "+3.00"

"""Tables of a report, and how numbers are written."""

from __future__ import annotations

import numpy as np
import pytest

from ewok.lab.findings import Findings
from ewok.lab.scores import NOMINAL
from ewok.lab.tables import (
    NOTHING,
    comparison_table,
    cost_table,
    number,
    point_table,
    radius_table,
    score_table,
    times_table,
)
from tests.lab.finished import PARAMETERS, SPECIALISTS, SWEPT
from tests.lab.test_scores import score_of


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


def test_times_are_medians_over_runs_and_relative_to_the_baseline(found: Findings) -> None:
    rows = {row.label: [cell.text for cell in row.cells] for row in cost_table(found).rows}
    assert rows["ewok"][0] == "5"
    assert rows["randomized"][0] == str(5 * len(SPECIALISTS))
    ours, theirs = ({t.seed: t.seconds["train"] for t in found.trials[name]} for name in ("ewok", "baseline"))
    ratios = [ours[seed] / theirs[seed] for seed in ours.keys() & theirs.keys()]
    assert len(ratios) == 4  # one seed of each is not there
    assert rows["ewok"][2] == f"\N{MULTIPLICATION SIGN}{np.median(ratios):.2f}"
    [row] = times_table([found]).rows
    assert row.label == "CartPole, Double DQN"


def test_radii_are_medians_and_ranges_over_seeds(found: Findings) -> None:
    rows = {row.label: row.cells for row in radius_table(found).rows}
    assert list(rows) == ["ewok", *SWEPT]
    means = [trial.diagnostics["kl"].mean() for trial in found.trials["ewok"]]  # type: ignore[index]
    runs, used, _, kappa, _ = rows["ewok"]
    assert (runs.text, kappa.text) == ("5", "0.100")
    assert used.text == number(float(np.median(means)))
    assert used.note == f"[{number(min(means))}, {number(max(means))}]"


@pytest.mark.parametrize(
    ("value", "text"),
    [(312.4, "312"), (1234.5, "1,234"), (35.06, "35.1"), (0.5, "0.500"), (0.0, "0.00"), (-17.94, "\N{MINUS SIGN}17.9")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text
    assert number(np.nan) == NOTHING
    assert number(3.0, sign=True) == "+3.00"

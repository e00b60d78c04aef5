"""The numbers of a report as CSV: they are those of its tables, and all of them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from ewok.lab import report
from ewok.lab.findings import Findings, findings_of
from ewok.lab.numbers import numbers_of
from ewok.lab.scores import ALL, AREA, HIGHEST, LOWEST, NOMINAL, WORST
from ewok.lab.store import Results, read
from tests.lab.finished import METHODS, PARAMETERS, SWEPT, write_study
from tests.lab.test_scores import score_of


@pytest.fixture(scope="module")
def tables(found: Findings) -> dict[str, list[dict[str, str]]]:
    return {name: list(csv.DictReader(text.splitlines())) for name, text in numbers_of(found).items()}


def row_of(rows: list[dict[str, str]], **wanted: str) -> dict[str, str]:
    [row] = [one for one in rows if all(one[name] == value for name, value in wanted.items())]
    return row


def test_every_method_has_every_score_of_every_parameter(tables: dict[str, list[dict[str, str]]]) -> None:
    rows = tables["scores.csv"]
    for method in ("baseline", "ewok", *SWEPT):
        own = {(row["score"], row["parameter"]) for row in rows if row["method"] == method}
        each = {(kind, name.replace("_", " ")) for kind in (LOWEST, HIGHEST, AREA, WORST) for name in PARAMETERS}
        assert own >= {*each, (NOMINAL, ""), (WORST, ALL)}, method
    assert len({tuple(row[name] for name in ("method", "score", "parameter")) for row in rows}) == len(rows)


def test_rows_are_what_scores_and_comparisons_are(found: Findings, tables: dict[str, list[dict[str, str]]]) -> None:
    score = score_of(found, HIGHEST, "gravity")
    comparison = next(one for one in found.comparisons if one.score is score and one.method == "ewok")
    row = row_of(tables["scores.csv"], method="ewok", score=HIGHEST, parameter="gravity")
    assert (row["study"], row["value"], row["seeds"]) == ("f", "30", "5")
    estimates = {"iqm": score.line("ewok").estimate, "difference": comparison.difference}  # type: ignore[union-attr]
    estimates["improvement"] = comparison.improvement
    for name, estimate in estimates.items():
        assert estimate is not None
        for end, part in (("", estimate.value), ("_low", estimate.low), ("_high", estimate.high)):
            assert float(row[f"{name}{end}"] or "nan") == pytest.approx(
                np.nan if part is None else float(part), rel=1e-5, nan_ok=True
            )


def test_methods_of_a_sweep_are_compared_too(tables: dict[str, list[dict[str, str]]]) -> None:
    row = row_of(tables["scores.csv"], method="ewok-kappa-0.2", score=AREA, parameter="noise")
    assert float(row["improvement_low"]) <= float(row["improvement"]) <= float(row["improvement_high"])
    assert row_of(tables["scores.csv"], method="baseline", score=AREA, parameter="noise")["difference"] == ""


def test_training_tells_times_and_what_the_worst_kernel_used(
    found: Findings, tables: dict[str, list[dict[str, str]]]
) -> None:
    row = row_of(tables["training.csv"], method="ewok")
    trials = found.trials["ewok"]
    assert row["runs"] == "5"
    assert float(row["train_seconds"]) == pytest.approx(np.median([t.seconds["train"] for t in trials]), rel=1e-5)
    means = [t.diagnostics["kl"].mean() for t in trials]  # type: ignore[index]
    late = [t.diagnostics["kl"][t.diagnostics["step"] > 45_000].mean() for t in trials]  # type: ignore[index]
    for name, values in (("kl", means), ("kl_late", late)):
        told = [float(row[f"{name}{end}"]) for end in ("", "_least", "_most")]
        np.testing.assert_allclose(told, [np.median(values), min(values), max(values)], rtol=1e-5)
    assert row["kappa_late"] == "0.1"
    assert row_of(tables["training.csv"], method="baseline")["kl"] == ""
    assert row_of(tables["training.csv"], method="baseline")["relative_seconds"] == "1"


def test_one_method_can_be_held_against_another(results: Results) -> None:
    found = findings_of(results, against="ewok")
    rows = list(csv.DictReader(numbers_of(found)["scores.csv"].splitlines()))
    wanted = {"score": AREA, "parameter": "noise"}
    for method in ("baseline", "ewok-kappa-1"):
        row = row_of(rows, method=method, **wanted)
        assert row["against"] == "ewok"
        assert float(row["difference"]) < 0.0
    own = row_of(rows, method="ewok", **wanted)
    assert own["against"] == own["difference"] == ""
    assert found.comparisons[0].method == "baseline"


def test_a_report_writes_them_beside_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "save_figures", lambda *_: ())
    folder = write_study(tmp_path / "s", METHODS, 2, parameters=("noise",))
    report.write_report(folder)
    for name, text in numbers_of(findings_of(read(folder))).items():
        assert (folder / name).read_text() == text

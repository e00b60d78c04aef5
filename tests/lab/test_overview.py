"""A study in a few sentences: what they say is what the scores are."""

from __future__ import annotations

from pathlib import Path

import pytest

from ewok.lab.findings import Findings, findings_of
from ewok.lab.overview import sentences, warnings_of
from ewok.lab.scores import ALL, NOMINAL, WORST
from ewok.lab.store import read
from ewok.lab.tables import number
from tests.lab.finished import LEVELS, METHODS, write_study
from tests.lab.test_scores import score_of


def test_each_method_is_compared_with_the_baseline(found: Findings) -> None:
    ewok, randomized = sentences(found)
    values = {
        (kind, method): number(float(score_of(found, kind, label).line(method).estimate.value))  # type: ignore[union-attr]
        for kind, label in ((WORST, ALL), (NOMINAL, ""))
        for method in METHODS
    }
    assert f"at the worst point of all it returns {values[WORST, 'ewok']}, baseline {values[WORST, 'baseline']}" in ewok
    assert f"in the nominal world it returns {values[NOMINAL, 'ewok']}, baseline {values[NOMINAL, 'baseline']}." in ewok
    start = "ewok does better than baseline over the range of 4 of 4 parameters, and worse over that of none"
    assert ewok.startswith(start)
    assert "worst point" not in randomized


def test_losses_are_counted_as_gains_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVELS, "ewok", (90.0, 0.5))
    [told] = sentences(findings_of(read(write_study(tmp_path / "s", METHODS, 6, parameters=("noise", "gravity")))))
    assert told.startswith(
        "ewok does better than baseline over the range of 0 of 2 parameters, and worse over that of 2 "
        "(2 with an interval below zero);"
    )


def test_no_interval_is_spoken_of_below_five_seeds(tmp_path: Path) -> None:
    [ewok] = sentences(findings_of(read(write_study(tmp_path / "s", METHODS, 2, parameters=("noise",)))))
    assert "(too few seeds for intervals)" in ewok


def test_of_an_exact_optimum_no_seeds_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVELS, "q-learning", (1.0, 0.5))
    monkeypatch.setitem(LEVELS, "robust", (2.0, 0.5))
    methods = {"plain": {"kind": "q-learning", "num_samples": 1}, "optimum": {"kind": "robust"}}
    study = write_study(tmp_path / "s", methods, {"plain": 5, "optimum": 1}, parameters=("noise",))
    found = findings_of(read(study))
    [told] = sentences(found)
    assert " (exact); " in told
    assert warnings_of(found) == []


def test_without_a_baseline_nothing_is_compared(tmp_path: Path) -> None:
    study = write_study(tmp_path / "s", {"ewok": METHODS["ewok"]}, 2, parameters=("noise",))
    assert sentences(findings_of(read(study))) == []

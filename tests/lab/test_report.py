"""`ewok report`: the page says what the folder holds, the same each time, and mistakes are answered."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ewok.cli import app
from ewok.errors import ArgumentError
from ewok.lab import report
from ewok.lab.columns import StoreError
from ewok.lab.findings import NothingToReportError, findings_of, tones_of
from ewok.lab.page import page
from ewok.lab.store import read
from tests.lab.finished import FULL, HOSTILE, METHODS, write_study

ONE = ("noise",)


def page_of(*folders: Path) -> str:
    studies = tuple(findings_of(read(folder)) for folder in folders)
    return page(studies, tones_of(studies))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("small") / "s", seeds=5, parameters=ONE)


@pytest.fixture
def unpainted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are tested elsewhere."""
    monkeypatch.setattr(report, "save_figures", lambda *_: ())


def test_the_command_writes_page_and_figures(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", seeds=5, parameters=ONE)
    result = CliRunner().invoke(app, ["report", str(folder)])
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(folder / "report.html")
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    names = {path.name for path in (folder / "figures").iterdir()}
    assert {"robustness.svg", "robustness.png", "robustness.pdf", "learning.svg"} <= names
    assert not [name for name in names if name.startswith(".")]


def test_the_command_holds_methods_against_another(small: Path, tmp_path: Path, unpainted: None) -> None:
    result = CliRunner().invoke(app, ["report", str(small), "--out", str(tmp_path), "--against", "ewok"])
    assert result.exit_code == 0, result.output
    assert "baseline does better than ewok over the range of" in (tmp_path / "report.html").read_text()
    result = CliRunner().invoke(app, ["report", str(small), "--out", str(tmp_path), "--against", "ewak"])
    assert result.exit_code == 2
    assert "ewok" in result.output


def test_the_same_folder_makes_the_same_page(small: Path) -> None:
    assert page_of(small) == page_of(small)


def test_the_page_asks_for_nothing(small: Path) -> None:
    """No address but those of namespaces and of the page's own parts; no script."""
    text = page_of(small)
    assert set(re.findall(r"https?://[^\"'\s<>]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'(?:href|src)="([^"]*)"', text))
    assert "<script" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_everything_a_reader_wants_is_there(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", FULL, 5, parameters=("noise", "damping"), failed=[("ewok", 1)])
    text = page_of(folder)
    for words in (
        "Robustness",
        "Robust scores",
        "Against baseline",
        "ewok: kappa",
        "Learning",
        "The worst kernel",
        "Time",
    ):
        assert f"<h3>{words}</h3>" in text, words
    for words in ("Every point", "Configuration", "Versions and machines", "Failed trials"):
        assert f"<summary>{words}" in text, words
    for words in (
        "nominal world",
        "area under the curve",
        "worst over the grid",
        "P(improvement)",
        "relative to baseline",
    ):
        assert words in text, words
    assert "randomized-noise</span>" not in text  # shown as randomized, in its own panel
    assert "kappa = 0.05" in text
    assert "numpy" in text
    assert "0123abc" in text


@pytest.mark.usefixtures("unpainted")
def test_text_from_files_is_escaped(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", parameters=ONE, title=HOSTILE, failed=[("ewok", 1)])
    told = json.loads((folder / "study.json").read_text())
    told["world"]["parameters"]["noise"] |= {"label": HOSTILE, "unit": HOSTILE}
    told["world"]["name"] = told["study"]["agent"]["recipe"] = HOSTILE
    (folder / "study.json").write_text(json.dumps(told))
    for trial in (folder / "trials").glob("*/trial.json"):
        told = json.loads(trial.read_text())
        trial.write_text(
            json.dumps({**told, "machine": {HOSTILE: HOSTILE}, "versions": {HOSTILE: HOSTILE}, "git": HOSTILE})
        )
    text = report.write_report(folder).read_text()
    assert "<script" not in text
    assert text.count("&lt;script&gt;") > 20


def test_several_studies_make_one_page_with_a_colour_for_each_method(small: Path, tmp_path: Path) -> None:
    other = write_study(tmp_path / "o", {"ewok": METHODS["ewok"]}, 5, parameters=ONE, title="Another study")
    studies = tuple(findings_of(read(folder)) for folder in (small, other))
    text = page(studies, tones_of(studies))
    assert "Training time" in text
    assert text.count("<h2>") == 3
    assert 'href="#study-1">Another study' in text
    assert tones_of(studies)["ewok"] == tones_of(studies[:1])["ewok"]


@pytest.mark.usefixtures("unpainted")
def test_where_it_is_written(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "away").mkdir()
    assert report.write_report(small, "away") == Path("away/report.html")
    other = write_study(tmp_path / "o", parameters=ONE)
    (tmp_path / "report").mkdir()
    assert report.write_report([small, other]) == Path("report/report.html")
    assert report.write_report([other, other, str(other)]) == other / "report.html"  # the same folder, thrice


@pytest.mark.usefixtures("unpainted")
def test_what_is_missing_is_said_first(tmp_path: Path) -> None:
    trouble = {"failed": [("ewok", 1)], "missing": [("baseline", 0), ("baseline", 2)], "spoiled": [("ewok", 0)]}
    folder = write_study(tmp_path / "s", seeds=6, parameters=ONE, **trouble)  # type: ignore[arg-type]
    text = report.write_report(folder).read_text()
    assert "Failed: 1 trial, see below." in text
    assert "Not run yet: 2 trials." in text
    assert "Left out: 1 trial whose returns are not all numbers" in text
    assert "1 of 30 returns over noise are not finite" in text
    assert "Fewer than 5 seeds: baseline, ewok. Each seed is drawn, and no interval is claimed." in text


@pytest.mark.usefixtures("unpainted")
def test_one_method_and_no_baseline_make_a_page_too(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", {"ewok": METHODS["ewok"]}, 1, parameters=ONE)
    text = report.write_report(folder).read_text()
    assert "Robust scores" in text
    assert "Against" not in text


def test_folders_without_results_are_answered(tmp_path: Path) -> None:
    everything = [(method, seed) for method in METHODS for seed in range(2)]
    with pytest.raises(NothingToReportError, match=r"4 are to be run, 0 failed\. Run them: ewok run STUDY\.toml --out"):
        report.write_report(write_study(tmp_path / "none", seeds=2, missing=everything))
    with pytest.raises(NothingToReportError, match="0 are to be run, 4 failed. The first failed with 'ValueError"):
        report.write_report(write_study(tmp_path / "failed", seeds=2, failed=everything))
    with pytest.raises(NothingToReportError, match="4 finished trials, but all have returns that are not numbers"):
        report.write_report(write_study(tmp_path / "spoiled", seeds=2, parameters=ONE, spoiled=everything))
    with pytest.raises(ArgumentError, match="`folders` must be one or more folders"):
        report.write_report([])


@pytest.mark.parametrize(
    ("argument", "told"),
    [("nowhere", "There is nothing there"), ("file.txt", "It is a file"), (".", "has no study.json")],
)
def test_wrong_paths_are_one_line_and_an_exit_code(
    argument: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("")
    result = CliRunner().invoke(app, ["report", argument])
    assert result.exit_code == 2
    assert told in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "spoil",
    [
        lambda told: told.update(world={}),
        lambda told: told["world"].update(parameters=[1]),
        lambda told: told["world"]["parameters"]["noise"].update(scale="decades"),
        lambda told: told["world"]["parameters"]["noise"].update(scale="log"),
        lambda told: told.update(study=[]),
        lambda told: told.update(methods="x"),
        lambda told: told["study"].update(sweeps={"a": 3, "b": {"base": 1, "kappa": [2]}}),
        lambda told: told["study"].update(agent=7, episodes="many", title=5),
    ],
)
@pytest.mark.usefixtures("unpainted")
def test_a_study_file_that_was_meddled_with_is_one_line_too(spoil, small: Path, tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", seeds=2, parameters=ONE)
    told = json.loads((folder / "study.json").read_text())
    spoil(told)
    (folder / "study.json").write_text(json.dumps(told))
    result = CliRunner().invoke(app, ["report", str(folder)])
    assert result.exit_code in (0, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_to_is_answered(
    code: int, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> None:
        raise OSError(code, "closed", "x")

    monkeypatch.setattr(report, "save_figures", closed)
    with pytest.raises(StoreError, match=r"`out` must be a folder to write to, but .* Give another: --out DIR"):
        report.write_report(small, tmp_path)
    (tmp_path / "file").touch()
    monkeypatch.undo()
    with pytest.raises(StoreError, match="`out` must be a folder to write to"):
        report.write_report(small, tmp_path / "file")


def test_a_full_disk_leaves_the_old_page(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "save_figures", lambda *_: ())
    before = report.write_report(small, tmp_path).read_text()

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    result = CliRunner().invoke(app, ["report", str(small), "--out", str(tmp_path)])
    assert result.exit_code == 4
    assert f"{tmp_path}: No space left on device." in result.output
    assert (tmp_path / "report.html").read_text() == before
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "scores.csv", "training.csv"}

"""What is kept of the paper's experiments: the data are what a command wrote, and every figure follows from them."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STUDIES = sorted(path.parent for path in (ROOT / "results").glob("*/study.json"))

pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'ewok[lab]'")
pytest.importorskip("pydantic", reason="needs pydantic: pip install 'ewok[lab]'")
pytest.importorskip("numba", reason="needs numba: pip install 'ewok[tabular]'")

from ewok.lab import cliff, cliff_figure, findings, numbers, report, store


def test_there_are_results() -> None:
    assert STUDIES


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_committed_figures_are_drawn_again_from_committed_data(folder: Path, tmp_path: Path) -> None:
    committed = {path.name: path.read_bytes() for path in (folder / "figures").glob("*.svg")}
    assert committed
    report.write_report(folder, tmp_path)
    results = store.read(folder)
    if results.study.get("kind") == "tabular":
        cliff_figure.draw(cliff.pictured(results), tmp_path / "figures")
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "figures").glob("*.svg")}
    changed = [name for name in drawn.keys() | committed.keys() if drawn.get(name) != committed.get(name)]
    assert changed == [], f"where drawing has changed on purpose: ewok report results/{folder.name}"


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_committed_numbers_are_those_of_committed_data(folder: Path) -> None:
    for name, text in numbers.numbers_of(findings.findings_of(store.read(folder))).items():
        assert (folder / name).read_text() == text, (
            f"where they have changed on purpose: ewok report results/{folder.name}"
        )


def test_results_are_small() -> None:
    """What git does not keep, models and logs, does not count."""
    kept = [path for name in ("results", "studies") for path in (ROOT / name).rglob("*") if path.is_file()]
    data = [path for path in kept if path.suffix not in (".zip", ".pdf", ".txt") and "tensorboard" not in path.parts]
    assert sum(path.stat().st_size for path in data) < 20e6

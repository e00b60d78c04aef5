"""What a study came to: its table, its report, its pictures."""

from __future__ import annotations

from pathlib import Path

from ewok.lab.conclusion import conclude
from ewok.lab.launch import run_study
from tests.lab.test_launch import study_of


def test_it_ends_with_a_table_a_picture_and_a_page(tmp_path: Path) -> None:
    run_study(study_of("raises"), tmp_path, num_workers=1)
    lines = list(conclude(tmp_path))
    assert lines[2].startswith("baseline")
    assert any("failed: ewok-s001" in line for line in lines)
    assert lines[-2] == f"picture: {tmp_path / 'figures' / 'robustness.png'}"
    assert lines[-1] == f"report: {tmp_path / 'report.html'}"
    assert (tmp_path / "figures" / "robustness.png").stat().st_size > 5_000


def test_without_a_finished_trial_there_is_nothing_to_report(tmp_path: Path) -> None:
    run_study(study_of("raises", seeds=[1]), tmp_path, num_workers=1)
    lines = list(conclude(tmp_path))
    assert all(line.startswith("failed: ") for line in lines)
    assert len(lines) == 2
    assert not (tmp_path / "report.html").exists()

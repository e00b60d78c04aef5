"""`ewok doctor`: what is there, what is not, and what breaks what."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ewok.cli import app, doctor


def test_doctor_names_what_is_there_and_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"numpy": "2.4.6", "mujoco": "4.0.1", "dm-control": "1.0.50"}
    monkeypatch.setattr(doctor, "_version", versions.get)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert "pip install 'ewok[sb3]' adds torch" in result.output
    assert "numpy 2.4.6" in result.output
    assert "mujoco 4 breaks dm_control 1: pip install 'mujoco<4'" in result.output
    assert CliRunner().invoke(app, ["doctor", "--strict"]).exit_code == 1


def test_doctor_here() -> None:
    result = CliRunner().invoke(app, ["doctor", "--strict"])
    assert result.exit_code == 0
    assert "no versions known to break each other" in result.output

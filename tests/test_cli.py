"""The command line: what a person types, and what they read."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ewok import cli


def test_help_shows_an_example() -> None:
    result = CliRunner().invoke(cli.app, ["doctor", "--help"])
    assert result.exit_code == 0
    assert "Example: ewok doctor" in result.output


def test_doctor_names_what_is_there_and_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"numpy": "2.4.6", "mujoco": "4.0.1", "dm-control": "1.0.50"}
    monkeypatch.setattr(cli, "_version", versions.get)
    result = CliRunner().invoke(cli.app, ["doctor"])
    assert result.exit_code == 0
    assert "pip install 'ewok[sb3]' adds torch" in result.output
    assert "numpy 2.4.6" in result.output
    assert "mujoco 4 breaks dm_control 1: pip install 'mujoco<4'" in result.output
    assert CliRunner().invoke(cli.app, ["doctor", "--strict"]).exit_code == 1


def test_doctor_here() -> None:
    result = CliRunner().invoke(cli.app, ["doctor", "--strict"])
    assert result.exit_code == 0
    assert "no versions known to break each other" in result.output

"""`ewok doctor`: what is there, what is not, what breaks what, and what can be drawn."""

from __future__ import annotations

import importlib.metadata
import importlib.util

import pytest
from typer.testing import CliRunner

from ewok.cli import app, doctor, probes


def asked(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["doctor", "--no-render", *args])
    return result.exit_code, " ".join(result.output.split())


def test_doctor_names_what_is_there_and_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"numpy": "2.4.6", "mujoco": "4.0.1", "dm-control": "1.0.50"}
    monkeypatch.setattr(doctor, "_version", versions.get)
    code, said = asked()
    assert code == 0
    assert "pip install 'ewok[sb3]' adds torch" in said
    assert "numpy 2.4.6" in said
    assert "PROBLEM: mujoco 4 breaks dm_control 1: pip install 'mujoco<4'" in said
    assert asked("--strict")[0] == 1


@pytest.mark.parametrize("pair", doctor.BAD_PAIRS, ids=lambda pair: f"{pair.one}-{pair.other}")
def test_known_bad_pairs_are_told_and_good_ones_are_not(pair: doctor.BadPair, monkeypatch: pytest.MonkeyPatch) -> None:
    for one, other, bad in (
        (pair.since, pair.end - 1, True),
        (pair.since + 1, pair.start, True),
        (pair.since - 1, pair.end - 1, False),
        (pair.since, pair.end, False),
        (pair.since, None, False),
    ):
        versions = {pair.one: f"{one}.1.0", **({} if other is None else {pair.other: f"{other}.0.2"})}
        monkeypatch.setattr(doctor, "_version", versions.get)
        assert (pair.why in asked()[1]) == bad


def test_doctor_here() -> None:
    code, said = asked("--strict")
    assert code == 0
    assert "no versions known to break each other" in said
    assert f"numpy {importlib.metadata.version('numpy')}" in said


def test_threads_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert "OMP_NUM_THREADS=3" in asked()[1]
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert "OMP_NUM_THREADS is not set" in asked()[1]


@pytest.mark.skipif(importlib.util.find_spec("pygame") is None, reason="needs gymnasium[classic-control]")
def test_drawing_is_tried_and_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert probes.can_draw_cartpole() == "works"
    monkeypatch.setattr(probes, "_CARTPOLE", "raise RuntimeError('no picture today')")
    assert probes.can_draw_cartpole() == "fails: RuntimeError: no picture today"
    monkeypatch.setattr(probes, "_CARTPOLE", "import os; os.abort()")
    assert probes.can_draw_cartpole().startswith("fails: ")
    monkeypatch.setattr(probes, "_CARTPOLE", "import time; time.sleep(60)")
    monkeypatch.setattr(probes, "_TIMEOUT", 0.5)
    assert probes.can_draw_cartpole() == "fails: no picture within 0.5 seconds"


def test_what_is_not_installed_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'ewok[dmc]'" in probes.can_draw_mujoco()
    assert "pip install 'ewok[lab]'" in probes.can_film()
    assert "pip install 'gymnasium[classic-control]'" in probes.can_draw_cartpole()


def test_mujoco_is_tried_by_one_library_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import os; assert os.environ['MUJOCO_GL'] == 'osmesa', 'not by ' + os.environ['MUJOCO_GL']"
    monkeypatch.setattr(probes, "_MUJOCO", program)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    assert probes.can_draw_mujoco() == "works once MUJOCO_GL=osmesa is set: export MUJOCO_GL=osmesa"
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    assert probes.can_draw_mujoco() == "fails with MUJOCO_GL=glfw: AssertionError: not by glfw"


@pytest.mark.slow
def test_mujoco_draws_here_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco", reason="needs the dmc extra")
    monkeypatch.setenv("MUJOCO_GL", "egl")
    assert probes.can_draw_mujoco() == "works, with MUJOCO_GL=egl"

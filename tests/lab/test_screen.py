"""Simulators draw without a screen by what this system has, or by what somebody said."""

from __future__ import annotations

import sys

import pytest

from ewok.lab.local import environment
from ewok.lab.screen import without_a_screen


@pytest.mark.parametrize(
    ("system", "display", "told"), [("linux", "", "egl"), ("linux", ":0", None), ("darwin", "", None)]
)
def test_a_way_to_draw_is_named_only_where_it_is_one(
    system: str, display: str, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MuJoCo cannot even be imported where it is told of a way that the system does not have."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    assert without_a_screen().get("MUJOCO_GL") == told
    assert environment().get("MUJOCO_GL") == told, "in workers too"
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    assert environment()["MUJOCO_GL"] == "osmesa"

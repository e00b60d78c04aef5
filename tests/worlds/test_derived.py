"""Numbers that a simulator works out of others once: found where they are stale, and nowhere else."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

import ewok
from ewok.worlds.derived import first_stale


@pytest.mark.parametrize(
    ("changes", "stale"),
    [
        ({"masspole": 1.0}, "total_mass"),
        ({"length": 2.0}, "polemass_length"),
        ({"masspole": 1.0, "total_mass": 2.0}, "polemass_length"),
        ({"masspole": 1.0, "total_mass": 2.0, "polemass_length": 0.5}, None),
        ({"gravity": 3.0}, None),  # nothing follows from it
        ({}, None),
    ],
)
def test_what_the_constructor_would_work_out_counts(changes: dict[str, float], stale: str | None) -> None:
    nominal, moved = gym.make("CartPole-v1"), gym.make("CartPole-v1")
    for name, value in changes.items():
        setattr(moved.unwrapped, name, value)
    assert first_stale(nominal, moved) == stale


class Opaque(gym.Env[Any, Any]):
    """Cannot be made without being told, and holds things that are no numbers."""

    def __init__(self, weight: float) -> None:
        self.weight, self.parts, self.name = weight, [1.0, "text", [2.0]], "opaque"


def test_what_cannot_be_made_anew_is_not_called_stale() -> None:
    nominal, moved = Opaque(1.0), Opaque(1.0)
    moved.weight = 2.0
    assert first_stale(nominal, moved) is None


@pytest.mark.parametrize("name", ["mass_scale", "size_scale", "friction_scale", "gravity"])
def test_mujoco_worlds_of_ours_are_consistent(name: str) -> None:
    pytest.importorskip("mujoco")
    world = ewok.worlds.get("hopper")
    assert first_stale(world.build(), world.make(**{name: world.perturbations[name].high})) is None


def test_suite_tasks_are_looked_into_as_well() -> None:
    pytest.importorskip("shimmy")
    nominal, moved = gym.make("ewok/walker-walk-v0"), gym.make("ewok/walker-walk-v0")
    assert first_stale(nominal, moved) is None
    moved.unwrapped._env.physics.model.ptr.body_mass[2] *= 2.0  # type: ignore[attr-defined]
    assert first_stale(nominal, moved) == "model.body_subtreemass"

"""Many walkers at once are each what they would be alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("shimmy")

import ewok
from ewok.nominal.physics import available_threads
from ewok.worlds import walker
from ewok.worlds.vector import LoopBatch, WorldVector
from ewok.worlds.walker_batch import WalkerBatch

POINTS: list[dict[str, float]] = [
    {},
    {"thigh_length": 0.5, "noise_mean": 0.3},
    {"torso_length": 0.7, "joint_damping": 10.0},
    {"contact_friction": 0.01, "noise_mean": -0.3},
]


def pair(task: str, points: list[dict[str, float]], episodes: int) -> tuple[WorldVector, WorldVector]:
    """The fast vector, and the plain loop over single environments."""
    world = ewok.worlds.get(f"walker-{task}")
    fast = world.make_vector(points, episodes)
    assert isinstance(fast._batch, WalkerBatch)
    slow = LoopBatch([world.make(**point) for point in points for _ in range(episodes)])
    return fast, WorldVector(slow, episodes)


def assert_same(one: Any, other: Any) -> None:
    for a, b in zip(one[:4], other[:4], strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("task", ["walk", pytest.param("stand", marks=pytest.mark.slow)])
def test_whole_episodes_equal_single_environments_bit_for_bit(task: str) -> None:
    fast, slow = pair(task, POINTS, episodes=1)
    np.testing.assert_array_equal(fast.reset(seed=11)[0], slow.reset(seed=11)[0])
    rng = np.random.default_rng(0)
    for _ in range(1000):
        actions = rng.uniform(-1.2, 1.2, (fast.num_envs, 6)).astype(np.float32)
        step = fast.step(actions)
        assert_same(step, slow.step(actions))
    assert step[3].all()
    assert_same(fast.step(actions), slow.step(actions))  # ended, both stay where they are


def test_episodes_of_all_points_have_the_same_seeds_and_later_resets_go_on() -> None:
    fast, slow = pair("run", POINTS[:2], episodes=3)
    actions = np.random.default_rng(0).uniform(-1, 1, (30, 6, 6))
    for seed in (4, None, 4):
        first = fast.reset(seed=seed)[0]
        np.testing.assert_array_equal(first, slow.reset(seed=seed)[0])
        for each in actions:
            assert_same(fast.step(each), slow.step(each))


def test_threads_change_nothing() -> None:
    world = ewok.worlds.get("walker-walk")
    complete = [{**world.nominal, **point} for point in POINTS]
    one, three = (
        WorldVector(WalkerBatch(world.build(), walker.settle, complete, 2, num_threads=num), 2) for num in (1, 3)
    )
    np.testing.assert_array_equal(one.reset(seed=0)[0], three.reset(seed=0)[0])
    for actions in np.random.default_rng(0).uniform(-1, 1, (100, 8, 6)):
        assert_same(one.step(actions), three.step(actions))


def test_a_walker_that_diverges_ends_there_and_the_others_go_on() -> None:
    fast, slow = pair("walk", POINTS[:3], episodes=1)
    fast.reset(seed=0)
    slow.reset(seed=0)
    for step, actions in enumerate(np.random.default_rng(0).uniform(-1, 1, (20, 3, 6))):
        if step == 10:
            fast._batch._states[1, 1:19] = 1e12  # type: ignore[attr-defined]
            slow._batch._envs[1].unwrapped._env.physics.data.qvel[:] = 1e12  # type: ignore[attr-defined]
            fast._batch._states[1, 1:10] = slow._batch._envs[1].unwrapped._env.physics.data.qpos  # type: ignore[attr-defined]
        result = fast.step(actions)
        assert_same(result, slow.step(actions))
        np.testing.assert_array_equal(fast.diverged, slow.diverged)
    np.testing.assert_array_equal(fast.diverged, [False, True, False])
    np.testing.assert_array_equal(result[3], [False, True, False])


def test_what_fits_any_environment_is_left_to_single_ones() -> None:
    vector = ewok.worlds.get("walker-walk").make_vector([{}, {"action_delay": 2}])
    assert isinstance(vector._batch, LoopBatch)


def test_threads_are_as_many_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert available_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert available_threads() >= 1

"""Many episodes of MuJoCo on pooled data are each what they would be alone."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("mujoco")

import ewok
from ewok.errors import ArgumentError
from ewok.nominal.batch import same
from ewok.worlds import World
from ewok.worlds.pooled import PooledBatch, can_be_shared
from ewok.worlds.vector import LoopBatch, WorldVector

LARGE = ["walker2d", "humanoid", "humanoid-standup", "reacher", "inverted-double-pendulum"]


def points_of(world: World) -> list[dict[str, float]]:
    """Nominal, every parameter at an end, and all at once."""
    ends = [{p.name: p.high} for p in world.perturbations.values()]
    return [{}, *ends, {p.name: p.low for p in world.perturbations.values()}]


def pair(world: World, points: list[dict[str, float]], episodes: int, num_threads: int = 1) -> Any:
    """The pooled vector, and the plain loop over single environments."""
    complete = [{**world.nominal, **point} for point in points]
    pooled = PooledBatch(world.build, world.settle, complete, episodes, num_threads)
    slow = LoopBatch([world.make(**point) for point in points for _ in range(episodes)])
    return WorldVector(pooled, episodes), WorldVector(slow, episodes)


def assert_same_episodes(fast: WorldVector, slow: WorldVector, num_steps: int) -> None:
    assert same(fast.reset(seed=3)[0], slow.reset(seed=3)[0])
    space: Any = fast.single_action_space
    generator = np.random.default_rng(0)
    for step in range(num_steps):
        reach = np.minimum(space.high, 1.0)
        actions = (generator.uniform(-1, 1, (fast.num_envs, *space.shape)) * reach).astype(space.dtype)
        for name, one, other in zip(("seen", "rewards", "ends", "cuts"), fast.step(actions), slow.step(actions)):  # noqa: B905
            assert same(one, other), (step, name)
        np.testing.assert_array_equal(fast.diverged, slow.diverged)


@pytest.mark.parametrize(
    "name", ["hopper", "ant", "swimmer", "pusher", *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)]
)
def test_episodes_equal_single_environments_bit_for_bit(name: str) -> None:
    world = ewok.worlds.get(name)
    assert_same_episodes(*pair(world, points_of(world), episodes=2), num_steps=60)


@pytest.mark.parametrize(
    "task",
    [
        "reacher-easy",
        *(pytest.param(task, marks=pytest.mark.slow) for task in ("cheetah-run", "finger-turn_hard", "quadruped-run")),
    ],
)
def test_episodes_of_suite_tasks_equal_single_environments_bit_for_bit(task: str) -> None:
    """Some of them place targets, or grow terrain, in the model at every reset."""
    pytest.importorskip("shimmy")
    world = ewok.worlds.get(f"dm_control/{task}")
    points = [{}, {"mass_scale": 2.0, "noise_mean": 0.2}]
    assert_same_episodes(*pair(world, points, episodes=2), num_steps=40)


def test_time_runs_out_where_it_does_alone_and_later_resets_go_on() -> None:
    world = ewok.worlds.get("reacher")  # 50 steps
    fast, slow = pair(world, [{}, {"damping_scale": 3.0}], episodes=2)
    assert_same_episodes(fast, slow, num_steps=55)
    assert fast._truncated.all()
    assert same(fast.reset()[0], slow.reset()[0])
    actions = np.zeros((4, 2), dtype=np.float32)
    assert same(fast.step(actions)[:4], slow.step(actions)[:4])


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads: int) -> None:
    world = ewok.worlds.get("hopper")
    assert_same_episodes(*pair(world, points_of(world), episodes=2, num_threads=threads), num_steps=30)


def shaken(env: gym.Env[Any, Any], values: Any) -> None:
    """Noise has its place, and joints are stiffer than the timestep can follow."""
    env.std, env.mean = values["noise"], 0.0  # type: ignore[attr-defined]
    env.unwrapped.model.dof_damping[3:] = values["damping"]  # type: ignore[attr-defined]


def test_physics_that_comes_apart_ends_the_episode_with_the_return_so_far() -> None:
    noise = ewok.worlds.Perturbation(name="noise", nominal=0.0, low=0.0, high=1.0, least=0.0)
    damping = ewok.worlds.Perturbation(name="damping", nominal=0.1, low=0.1, high=1e5, least=0.0)
    world = World(
        name="stiff",
        build=lambda: ewok.ActionNoise(gym.make("Walker2d-v5"), std=0.0),
        settle=shaken,
        parameters=[noise, damping],
    )
    episodes = []
    for vector in pair(world, [{}, {"damping": 1e5}], episodes=3):
        episodes.append(vector.run(lambda seen: np.full((len(seen), 6), 0.5, dtype=np.float32), seed=0))
        assert episodes[-1].diverged.tolist() == [[False] * 3, [True] * 3]
        assert np.isfinite(episodes[-1].returns).all()
    np.testing.assert_array_equal(episodes[0].returns, episodes[1].returns)
    np.testing.assert_array_equal(episodes[0].lengths, episodes[1].lengths)


def test_what_does_more_than_physics_in_a_step_is_not_shared() -> None:
    env = ewok.ActionNoise(gym.make("Hopper-v5"), std=0.1)
    assert can_be_shared(env)
    assert not can_be_shared(gym.make("Hopper-v5"))
    assert not can_be_shared(gym.wrappers.NormalizeObservation(env))
    assert not can_be_shared(ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.1))
    vector = ewok.worlds.get("hopper").make_vector([{"observation_noise": 0.1}])
    assert isinstance(vector._batch, LoopBatch)


def test_values_out_of_the_physical_range_are_refused() -> None:
    for name, value in (("mass_scale", -1.0), ("size_scale", 0.0), ("timestep", 0.0), ("gravity", float("nan"))):
        with pytest.raises(ArgumentError, match=f"`{name}` must be a finite number"):
            ewok.worlds.get("hopper").make_vector([{name: value}])

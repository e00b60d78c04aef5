"""Gymnasium's MuJoCo worlds, and those of dm_control's suite."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("mujoco")

import ewok
from ewok.errors import ArgumentError, MissingExtraError
from ewok.testing import check_kernel, check_perturbation, check_snapshot
from ewok.worlds import mujoco, world

SMALL = ["hopper", "inverted-pendulum"]
LARGE = [
    "half-cheetah",
    "swimmer",
    "walker2d",
    "ant",
    "humanoid",
    "humanoid-standup",
    "reacher",
    "pusher",
    "inverted-double-pendulum",
]
TASKS = ["cheetah-run", "reacher-easy", "ball_in_cup-catch", "manipulator-bring_ball", "quadruped-walk", "fish-swim"]


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_every_parameter_does_what_it_should(name: str) -> None:
    check_perturbation(name, num_steps=60)


@pytest.mark.parametrize("task", [pytest.param(task, marks=pytest.mark.slow) for task in TASKS])
def test_every_parameter_of_a_suite_task_does_what_it_should(task: str) -> None:
    pytest.importorskip("shimmy")
    check_perturbation(f"dm_control/{task}", num_steps=60)


@pytest.mark.parametrize("name", ["hopper", "humanoid"])
def test_noise_is_a_fifth_of_the_half_range_of_an_action(name: str) -> None:
    env = ewok.worlds.get(name).make()
    space: Any = env.action_space
    assert isinstance(env, ewok.ActionNoise)
    assert env.std == pytest.approx(0.2 * space.high[0])
    assert ewok.worlds.get(name).perturbations["noise"].nominal == env.std


def test_the_nominal_world_is_gymnasium_s_with_noise() -> None:
    env, plain = ewok.worlds.get("hopper").make(), gym.make("Hopper-v5")
    env.reset(seed=5)
    plain.reset(seed=5)
    noise = np.random.default_rng(0)
    for _ in range(15):
        env.generator = np.random.default_rng(0)  # type: ignore[attr-defined]
        noise = np.random.default_rng(0)
        moved = np.clip(0.3 + noise.normal(0.0, 0.2, (1, 3))[0], -1, 1).astype(np.float32)
        one, other = env.step(np.full(3, 0.3)), plain.step(moved)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1] == other[1]


def test_larger_bodies_start_as_much_higher() -> None:
    for size in (0.8, 1.25):
        env = ewok.worlds.get("hopper").make(size_scale=size)
        height = env.reset(seed=0)[0][0]
        assert height == pytest.approx(1.25 * size, abs=0.01)
        contacts: Any = env.unwrapped
        assert contacts.data.ncon == gym.make("Hopper-v5").unwrapped.data.ncon  # type: ignore[attr-defined]


def test_less_gravity_is_a_slower_fall_and_rewards_are_in_the_same_units() -> None:
    falls = {}
    for gravity in (4.905, 9.81):
        env = ewok.worlds.get("half-cheetah").make(gravity=gravity, noise=0.0)
        env.reset(seed=0)
        simulator: Any = env.unwrapped
        simulator.set_state(simulator.init_qpos + np.array([0, 5.0, *[0] * 7]), np.zeros(9))
        env.step(np.zeros(6, dtype=np.float32))
        falls[gravity] = 5.0 - simulator.data.qpos[1]
    assert falls[9.81] == pytest.approx(2 * falls[4.905], rel=1e-3)


def test_a_shorter_timestep_is_a_shorter_step_of_the_same_speed() -> None:
    env = ewok.worlds.get("half-cheetah").make(timestep=0.005)
    simulator: Any = env.unwrapped
    assert simulator.dt == pytest.approx(0.025)
    env.reset(seed=0)
    before = simulator.data.qpos[0]
    info = env.step(np.ones(6, dtype=np.float32))[-1]
    assert info["x_velocity"] == pytest.approx((simulator.data.qpos[0] - before) / 0.025)


def test_the_worst_kernel_and_snapshots_are_exact_where_the_world_was_moved() -> None:
    point = {"size_scale": 1.2, "mass_scale": 1.5, "friction_scale": 0.3}
    moved = [ewok.worlds.get("ant").make(**point) for _ in range(4)]
    check_kernel(moved[0], twin=moved[1], num_steps=40)
    check_snapshot(moved[2], twin=moved[3], num_steps=60)


def test_a_snapshot_of_a_moved_world_moves_another_one() -> None:
    one, other = ewok.worlds.get("hopper").make(size_scale=1.2), ewok.worlds.get("hopper").make(size_scale=0.8)
    one.reset(seed=0)
    other.reset(seed=1)
    ewok.restore(other, ewok.snapshot(one))
    for action in np.random.default_rng(0).uniform(-1, 1, (20, 3)).astype(np.float32):
        np.testing.assert_array_equal(one.step(action)[0], other.step(action)[0])


def test_pickles_and_specs_are_moved_likewise() -> None:
    env = ewok.worlds.get("hopper").make(mass_scale=2.0)
    assert env.spec is not None
    for again in (pickle.loads(pickle.dumps(env)), gym.make(env.spec)):
        np.testing.assert_array_equal(again.unwrapped.model.body_mass, env.unwrapped.model.body_mass)  # type: ignore


def test_a_world_of_one_s_own() -> None:
    mine = mujoco.world_of("rewarded", lambda: gym.make("Hopper-v5", healthy_reward=3.0))
    env = mine.make(gravity=8.0)
    env.reset(seed=0)
    assert env.step(np.zeros(3, dtype=np.float32))[-1]["reward_survive"] == 3.0


def test_any_task_of_the_suite_has_a_name() -> None:
    pytest.importorskip("shimmy")
    task = ewok.worlds.get("dm_control/cartpole-swingup")
    assert task is ewok.worlds.get("dm_control/cartpole-swingup")
    assert task.name not in ewok.worlds.names()
    assert pickle.loads(pickle.dumps(task)) is task
    env = task.make(gravity=5.0)
    observation, _ = env.reset(seed=0)
    assert observation.shape == (5,)
    assert env.unwrapped._env.physics.model.ptr.opt.gravity[2] == -5.0  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="Did you mean 'cheetah-run'"):
        ewok.worlds.get("dm_control/cheeta-run")


def test_linear_tasks_have_the_same_springs_whenever_they_are_made_and_unseeded_starts_of_their_own() -> None:
    pytest.importorskip("shimmy")
    one, other = (ewok.worlds.get("dm_control/lqr-lqr_2_1").make() for _ in range(2))
    springs = [env.unwrapped._env.physics.model.ptr.jnt_stiffness for env in (one, other)]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(*springs)
    assert not np.array_equal(one.reset()[0], other.reset()[0])


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = world.require_package

    def gone(package: str, extra: str) -> None:
        found("no_such_package_of_" + package, extra)

    monkeypatch.setattr(world, "require_package", gone)
    fresh = mujoco.world_of("fresh", lambda: gym.make("Hopper-v5"))
    for ask in (fresh.make, lambda: fresh.make_vector([{}]), lambda: fresh.perturbations):
        with pytest.raises(MissingExtraError, match=r"pip install 'ewok\[dmc\]'"):
            ask()


@pytest.mark.parametrize("name", ["ant", "inverted-double-pendulum"])
def test_sizes_are_tested_only_as_far_as_episodes_start(name: str) -> None:
    """The one stands too high to be healthy at 1.25, the tip of the other too low at 0.8."""
    world = ewok.worlds.get(name)
    size = world.perturbations["size_scale"]
    assert 0.8 <= size.low < 1.0 < size.high <= 1.25
    for end in (size.low, size.high):
        env = world.make(size_scale=end)
        still = np.zeros(env.action_space.shape or (), dtype=np.float32)
        for seed in range(100, 105):
            env.reset(seed=seed)
            assert not env.step(still)[2]

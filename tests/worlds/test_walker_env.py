"""The walker that can be moved, against dm_control's own."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("shimmy")

from dm_control import suite
from dm_control.rl import control
from dm_control.suite import walker

from ewok.errors import ArgumentError
from ewok.testing import check_snapshot
from ewok.worlds.walker_env import WalkerEnv, lowest_point
from ewok.worlds.walker_model import NOMINAL, template

FAR = {"thigh_length": 0.5, "torso_length": 0.1, "joint_damping": 10.0, "contact_friction": 0.01}


def flat(observation: Any) -> Any:
    return np.concatenate([np.ravel(part) for part in observation.values()])


def compiled(task: str, values: dict[str, float]) -> Any:
    """The suite's task on a model compiled from the edited file, textures and all."""
    xml, assets = walker.get_model_and_assets()
    text = template(xml).format(**values, knee=2 * values["thigh_length"] + 0.25)
    speed = {"stand": 0, "walk": 1, "run": 8}[task]
    physics = walker.Physics.from_xml_string(text, assets)
    return control.Environment(physics, walker.PlanarWalker(speed), time_limit=25, control_timestep=0.025)


def same_episode(env: Any, other: Any, seed: int) -> None:
    """Follows both through a whole episode of random actions."""
    observation, _ = env.reset(seed=seed)
    other.task._random = np.random.RandomState(seed)
    np.testing.assert_array_equal(observation, flat(other.reset().observation))
    for action in np.random.default_rng(seed).uniform(-1, 1, (1000, 6)):
        observation, reward, terminated, truncated, _ = env.step(action)
        step = other.step(action)
        np.testing.assert_array_equal(observation, flat(step.observation))
        assert (reward, terminated, truncated) == (step.reward, False, step.last())
    assert truncated


@pytest.mark.parametrize("task", ["stand", "walk", "run"])
def test_a_nominal_episode_is_the_suites_own(task: str) -> None:
    same_episode(WalkerEnv(task), suite.load("walker", task), seed=1)


@pytest.mark.parametrize("values", [FAR, {**NOMINAL, "torso_length": 0.7}], ids=["all", "torso"])
def test_a_moved_episode_is_that_of_a_model_compiled_so(values: dict[str, float]) -> None:
    same_episode(WalkerEnv("walk", **values), compiled("walk", values), seed=2)


def test_moved_in_place_is_the_same_as_made_so_and_back_is_nominal() -> None:
    env = WalkerEnv("run")
    env.reset(seed=0)
    env.perturb(**FAR)
    same_episode(env, compiled("run", FAR), seed=3)
    env.perturb(**NOMINAL)
    same_episode(env, suite.load("walker", "run"), seed=4)


def test_in_an_episode_the_state_stays_and_what_follows_from_it_moves() -> None:
    env, twin = WalkerEnv("walk"), WalkerEnv("walk")
    for each in (env, twin):
        each.reset(seed=0)
    env.perturb(torso_length=0.5)
    physics, other = env._env.physics, twin._env.physics
    np.testing.assert_array_equal(physics.data.qpos, other.data.qpos)
    np.testing.assert_array_equal(physics.data.qvel, other.data.qvel)
    assert not np.array_equal(physics.data.xpos, other.data.xpos)
    for _ in range(20):
        env.perturb(joint_damping=float(env.values[2]) + 0.1)
        observation = env.step(np.ones(6))[0]
    assert np.isfinite(observation).all()


def test_worlds_share_nothing() -> None:
    env, twin = WalkerEnv("walk"), WalkerEnv("walk")
    env.reset(seed=0)
    twin.perturb(**FAR)
    twin.reset(seed=0)
    same_episode(env, suite.load("walker", "walk"), seed=5)


def test_grounded_starts_do_not_reach_into_the_floor() -> None:
    lowest = {}
    for grounded in (False, True):
        env = WalkerEnv("walk", grounded=grounded, thigh_length=0.5)
        physics = env._env.physics
        depths = []
        for seed in range(200):
            env.reset(seed=seed)
            depths.append(lowest_point(physics.model.ptr, physics.data.ptr))
        lowest[grounded] = np.array(depths)
    sunk = lowest[False] < 0.0
    assert 0.15 < np.mean(lowest[False] < -0.01) < 0.3  # the suite's own starts, faithfully
    np.testing.assert_allclose(lowest[True][sunk], 0.0, atol=1e-12)
    np.testing.assert_array_equal(lowest[True][~sunk], lowest[False][~sunk])  # those above it are left alone


def test_it_is_saved_with_where_it_was_moved_to() -> None:
    env = gym.make("ewok/walker-walk-v0", thigh_length=0.3)
    check_snapshot(env, num_steps=60)
    simulator: Any = env.unwrapped
    simulator.perturb(joint_damping=2.0)
    again = pickle.loads(pickle.dumps(simulator))
    assert again.values == simulator.values == (0.3, 0.3, 2.0, 0.7)
    simulator.reset(seed=0)
    saved = simulator.snapshot()
    first = simulator.step(np.ones(6))
    simulator.perturb(joint_damping=9.0)
    simulator.restore(saved)
    np.testing.assert_array_equal(simulator.step(np.ones(6))[0], first[0])


def test_bad_input_is_named() -> None:
    with pytest.raises(ArgumentError, match="`task` must be the name of a task of the walker.*'walk'"):
        WalkerEnv("wlk")
    with pytest.raises(ArgumentError, match="Did you mean 'thigh_length'"):
        WalkerEnv("walk", tigh_length=0.3)
    for wrong in (-0.1, 0.0, float("nan"), float("inf")):
        with pytest.raises(ArgumentError, match="`thigh_length` must be a finite number greater than 0"):
            WalkerEnv("walk", thigh_length=wrong)

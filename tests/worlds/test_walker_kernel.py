"""The walker's own kernel against the walker itself, bit for bit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("shimmy")

from dm_control.utils import rewards

import ewok
from ewok.nominal.passage import simulator_kernel
from ewok.testing import check_kernel
from ewok.worlds.walker_kernel import WalkerKernel, rewards_of

TASKS = {"stand": 0.0, "walk": 1.0, "run": 8.0}


@pytest.mark.parametrize(
    "task", ["walk", pytest.param("stand", marks=pytest.mark.slow), pytest.param("run", marks=pytest.mark.slow)]
)
def test_whole_episodes_are_the_environments_own(task: str) -> None:
    env = gym.make(f"ewok/walker-{task}-v0", thigh_length=0.4, contact_friction=0.3)
    assert isinstance(simulator_kernel(env.unwrapped), WalkerKernel)
    check_kernel(env, num_samples=3, num_steps=1005)


def test_it_follows_noise_on_the_state() -> None:
    check_kernel(ewok.StateNoise(gym.make("ewok/walker-run-v0"), std=0.01), num_samples=3)


def test_it_is_the_kernel_of_any_suite_task_only_faster() -> None:
    """Against the general kernel of dm_control's tasks, which asks the task itself."""
    from ewok.nominal.dm_control import DmControlKernel

    env = gym.make("ewok/walker-walk-v0")
    env.reset(seed=2)
    simulator: Any = env.unwrapped
    general, own = DmControlKernel(simulator), WalkerKernel(simulator)
    actions = np.random.default_rng(0).uniform(-1, 1, (200, 8, 6))
    for step, eight in enumerate(actions):
        expected, found = general.draw_each(list(eight), None), own.draw_each(list(eight), None)
        np.testing.assert_array_equal(found.observations, expected.observations["observations"])
        np.testing.assert_array_equal(found.rewards, expected.rewards)
        assert list(found.infos) == list(expected.infos)
        own.commit(step % 8)


def test_threads_change_nothing() -> None:
    env = gym.make("ewok/walker-walk-v0")
    env.reset(seed=0)
    one, two = WalkerKernel(env.unwrapped), WalkerKernel(env.unwrapped, num_threads=2)
    actions = list(np.random.default_rng(0).uniform(-1, 1, (7, 6)))
    for _ in range(20):
        expected, found = one.draw_each(actions, None), two.draw_each(actions, None)
        np.testing.assert_array_equal(found.observations, expected.observations)
        np.testing.assert_array_equal(found.rewards, expected.rewards)
        two.commit(3)


def test_candidates_that_diverge_are_left_out_and_counted() -> None:
    env = gym.make("ewok/walker-walk-v0")
    env.reset(seed=0)
    kernel = WalkerKernel(env.unwrapped)
    shift = np.zeros((4, 18))
    shift[1, 0] = np.nan
    actions = list(np.random.default_rng(0).uniform(-1, 1, (4, 6)))
    candidates = kernel.draw_each(actions, shift)
    assert (len(candidates), candidates.num_diverged) == (3, 1)
    np.testing.assert_array_equal(candidates.observations[1:], kernel.draw_each(actions[2:], shift[2:]).observations)
    with pytest.raises(RuntimeError, match="diverged"):
        kernel.draw_each(actions[1:2], shift[1:2])


def test_it_draws_from_the_values_the_walker_was_moved_to() -> None:
    env = gym.make("ewok/walker-walk-v0")
    env.reset(seed=0)
    kernel = ewok.kernel_of(env)
    kernel.draw(np.ones(6), 3)
    env.unwrapped.perturb(torso_length=0.6)  # type: ignore[attr-defined]
    twin = gym.make("ewok/walker-walk-v0", torso_length=0.6)
    observation, _ = env.reset(seed=1)
    np.testing.assert_array_equal(observation, twin.reset(seed=1)[0])
    candidates = kernel.draw(np.ones(6), 1)
    np.testing.assert_array_equal(candidates.observations[0], twin.step(np.ones(6))[0])


heights = arrays(np.float64, 16, elements=st.floats(-1.0, 2.0))
cosines = arrays(np.float64, 16, elements=st.floats(-1.0, 1.0))
speeds = arrays(np.float64, 16, elements=st.floats(-10.0, 10.0))


@settings(max_examples=200)
@given(heights, cosines, speeds, st.sampled_from(list(TASKS.values())))
def test_rewards_are_the_tasks_own_to_the_bit(height: Any, upright: Any, speed: Any, target: float) -> None:
    expected = []
    for h, u, v in zip(height, upright, speed, strict=True):
        standing = rewards.tolerance(h, bounds=(1.2, float("inf")), margin=0.6)
        reward = (3 * standing + (1 + u) / 2) / 4
        if target:
            options = {"bounds": (target, float("inf")), "margin": target / 2}
            moving = rewards.tolerance(v, value_at_margin=0.5, sigmoid="linear", **options)
            reward = reward * (5 * moving + 1) / 6
        expected.append(reward)
    np.testing.assert_array_equal(rewards_of(height, upright, speed, target), expected)

"""The noise wrappers: how much, on what, and from whose generator."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw
from scipy import stats

import ewok
from ewok.errors import ArgumentError, WrapperError
from ewok.nominal.batch import same

from ..conftest import make


def states_of(env: gym.Env[Any, Any], action: Any, num: int = 2000) -> np.ndarray:
    """States reached from the origin of CartPole."""
    env.reset(seed=0)
    reached = []
    for _ in range(num):
        env.unwrapped.state, env.unwrapped.steps_beyond_terminated = np.zeros(4), None  # type: ignore[attr-defined]
        env.step(action)
        reached.append(env.unwrapped.state)  # type: ignore[attr-defined]
    return np.array(reached)


def test_state_noise_is_gaussian_on_the_named_components_only() -> None:
    env = ewok.StateNoise(gym.make("CartPole-v1", max_episode_steps=10**6), std=0.1, mean=0.05, indices=[0])
    still = states_of(gym.make("CartPole-v1", max_episode_steps=10**6), 1, num=1)[0]
    moved = states_of(env, 1) - still
    assert np.all(moved[:, 1:] == 0.0)
    assert stats.kstest((moved[:, 0] - 0.05) / 0.1, "norm").pvalue > 0.001


def test_state_noise_moves_the_state_not_only_the_observation() -> None:
    env = ewok.StateNoise(gym.make("CartPole-v1"), std=0.3, indices=[0])
    env.reset(seed=0)
    for step in range(5):
        observation, *_ = env.step(step % 2)
        np.testing.assert_array_equal(observation, env.unwrapped.state.astype(np.float32))  # type: ignore[attr-defined]


def test_termination_is_judged_on_the_moved_state() -> None:
    env = ewok.StateNoise(gym.make("CartPole-v1"), std=0.0, mean=3.0, indices=[0])  # over the edge at once
    env.reset(seed=0)
    assert env.step(0)[2] is True
    back = ewok.StateNoise(gym.make("CartPole-v1"), std=0.0, mean=-3.0, indices=[0])
    back.reset(seed=0)
    back.unwrapped.state = np.array([2.39, 5.0, 0.0, 0.0])  # type: ignore[attr-defined]
    assert back.step(0)[2] is False  # the simulator went over the edge; the noise took it back
    assert back.unwrapped.steps_beyond_terminated is None  # type: ignore[attr-defined]
    assert back.step(0)[1] == 1.0


def test_reward_is_judged_on_the_moved_state() -> None:
    env = ewok.StateNoise(gym.make("MountainCarContinuous-v0"), std=0.0, mean=[1.0, 0.05])
    env.reset(seed=0)
    _, reward, terminated, *_ = env.step(np.zeros(1, np.float32))
    assert (reward, terminated) == (100.0, True)
    hopper = make("Hopper-v5")
    pushed = ewok.StateNoise(make("Hopper-v5"), std=0.0, mean=1.0, indices=[0])
    hopper.reset(seed=0), pushed.reset(seed=0)
    action = np.zeros(3, np.float32)
    _, reward, *_, info = hopper.step(action)
    _, more, *_, moved = pushed.step(action)
    assert moved["x_position"] == pytest.approx(info["x_position"] + 1.0)
    assert more == pytest.approx(reward + 1.0 / hopper.unwrapped.dt)  # type: ignore[attr-defined]


def test_states_stay_valid() -> None:
    car = ewok.StateNoise(gym.make("MountainCar-v0"), std=5.0)
    acrobot = ewok.StateNoise(gym.make("Acrobot-v1"), std=50.0)
    for env in (car, acrobot):
        for seed in range(20):
            env.reset(seed=seed)
            observation, *_ = env.step(0)
            assert env.observation_space.contains(observation)
    ant = ewok.StateNoise(make("Ant-v5"), std=0.3)
    ant.reset(seed=0)
    ant.step(ant.action_space.sample())
    assert np.linalg.norm(ant.unwrapped.data.qpos[3:7]) == pytest.approx(1.0)  # type: ignore[attr-defined]


def test_action_noise_is_clipped_to_the_action_space() -> None:
    received: list[np.ndarray] = []
    inner = gw.TransformAction(gym.make("Pendulum-v1"), lambda a: received.append(a) or a, None)  # type: ignore[func-returns-value]
    env = ewok.ActionNoise(inner, std=0.5, mean=0.2)
    env.reset(seed=0)
    for _ in range(1500):
        env.step(np.array([1.5], np.float32))
        if len(received) % 200 == 0:
            env.reset()
    actions = np.array(received)[:, 0]
    assert actions.dtype == np.float32
    assert actions.max() == 2.0
    inside = actions[actions < 2.0]
    bound = stats.truncnorm(-np.inf, (2.0 - 1.7) / 0.5, loc=1.7, scale=0.5)
    assert stats.kstest(inside, bound.cdf).pvalue > 0.001
    assert np.mean(actions == 2.0) == pytest.approx(stats.norm.sf(0.6), abs=0.04)


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_random_action_takes_each_other_action_equally_often(probability: float) -> None:
    env = ewok.RandomAction(gym.make("Acrobot-v1"), probability)
    env.reset(seed=0)
    counts = np.bincount(env.disturb([1] * 30_000), minlength=3) / 30_000
    np.testing.assert_allclose(counts, [probability / 2, 1 - probability, probability / 2], atol=0.01)


def test_random_action_respects_where_the_space_starts() -> None:
    space = gym.spaces.Discrete(3, start=5)
    env = gw.TransformAction(gym.make("Acrobot-v1"), lambda a: a - 5, space)
    noisy = ewok.RandomAction(env, 1.0)
    noisy.reset(seed=0)
    assert set(noisy.disturb([6] * 100)) == {5, 7}
    noisy.step(6)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: ewok.ActionNoise(gw.RescaleAction(env, np.float32(-1), np.float32(1)), 0.1),
        lambda env: ewok.ActionNoise(gw.TimeLimit(gw.ClipAction(env), 50), 0.1),
        lambda env: ewok.ActionNoise(ewok.ActionNoise(env, 0.1), 0.2),
        lambda env: ewok.StateNoise(gw.RescaleAction(ewok.ActionNoise(env, 0.1), np.float32(-1), np.float32(1)), 0.1),
    ],
)
def test_noise_works_at_any_height_beneath_a_worst_kernel(wrap: Any) -> None:
    """With one candidate a bound worst kernel is the noisy environment, whatever lies between."""
    plain = wrap(gym.make("Pendulum-v1"))
    worst = ewok.WorstKernel(wrap(gym.make("Pendulum-v1")), num_samples=1, kappa=1.0, value=lambda o: np.zeros(1))
    plain.reset(seed=3), worst.reset(seed=3)
    plain.action_space.seed(0)
    for _ in range(50):
        action = np.clip(plain.action_space.sample(), -1, 1)
        *one, _ = plain.step(action)
        *two, _ = worst.step(action)
        assert same(one, two)
        if one[3]:
            break


def test_sticky_actions_beneath_an_action_noise_are_refused() -> None:
    env = ewok.RandomAction(gw.StickyAction(gym.make("CartPole-v1"), 0.2), 0.1)
    with pytest.raises(WrapperError, match="`StickyAction` remembers actions.*above the noise wrapper"):
        ewok.WorstKernel(env, kappa=0.2)


def test_generators_are_the_wrappers_own_and_apart() -> None:
    """The simulator's stream is untouched, two wrappers differ, and a seed decides all."""
    bare, noisy = gym.make("CartPole-v1"), ewok.StateNoise(ewok.StateNoise(gym.make("CartPole-v1"), 0.1), 0.1)
    np.testing.assert_array_equal(bare.reset(seed=4)[0], noisy.reset(seed=4)[0])
    noisy.step(0)
    np.testing.assert_array_equal(bare.reset()[0], noisy.reset()[0])
    assert not np.array_equal(noisy.displace(3), noisy.env.displace(3))  # type: ignore[attr-defined]
    noisy.reset(seed=9)
    one = noisy.displace(3)
    noisy.reset(seed=9)
    np.testing.assert_array_equal(one, noisy.displace(3))


@pytest.mark.parametrize(
    ("make_env", "error", "message"),
    [
        (lambda: ewok.StateNoise(gym.make("FrozenLake-v1"), 0.1), WrapperError, "FrozenLakeEnv has none that is known"),
        (lambda: ewok.StateNoise(make("MiniGrid-DoorKey-5x5-v0"), 0.1), WrapperError, "has none that is known"),
        (lambda: ewok.StateNoise(gym.make("CartPole-v1"), -0.1), ArgumentError, "`std` must be .* at least 0.*-0.1"),
        (lambda: ewok.StateNoise(gym.make("CartPole-v1"), float("nan")), ArgumentError, "`std` must be .*nan"),
        (lambda: ewok.StateNoise(gym.make("CartPole-v1"), [1, 2]), ArgumentError, r"`std` must be .*\[1, 2\]"),
        (lambda: ewok.StateNoise(gym.make("CartPole-v1"), "a lot"), ArgumentError, "`std` must be .*'a lot'"),
        (lambda: ewok.StateNoise(gym.make("CartPole-v1"), 1, mean=np.inf), ArgumentError, "`mean` must be .*inf"),
        (
            lambda: ewok.StateNoise(gym.make("CartPole-v1"), 1, indices=[4]),
            ArgumentError,
            r"from 0 to 3, but it is \[4\]",
        ),
        (
            lambda: ewok.StateNoise(gym.make("CartPole-v1"), 1, indices=[1, 1]),
            ArgumentError,
            "`indices` must be different",
        ),
        (lambda: ewok.StateNoise(gym.make("CartPole-v1"), 1, indices=[]), ArgumentError, "`indices` must be"),
        (lambda: ewok.ActionNoise(gym.make("CartPole-v1"), 0.1), WrapperError, "use `RandomAction"),
        (lambda: ewok.RandomAction(gym.make("Pendulum-v1"), 0.1), WrapperError, "use `ActionNoise"),
        (
            lambda: ewok.RandomAction(gym.make("CartPole-v1"), 1.1),
            ArgumentError,
            "`probability` must be between 0 and 1",
        ),
        (lambda: ewok.RandomAction(gym.make("CartPole-v1"), float("nan")), ArgumentError, "`probability`"),
    ],
)
def test_bad_input(make_env: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_env()


def test_spec_rebuilds_them() -> None:
    env = ewok.ActionNoise(ewok.StateNoise(gym.make("Pendulum-v1"), [0.1, 0.2], indices=[1, 0]), 0.3)
    again = gym.make(env.spec)  # type: ignore[arg-type]
    assert str(again) == str(env)
    env.reset(seed=0), again.reset(seed=0)
    assert same(env.step(np.zeros(1, np.float32)), again.step(np.zeros(1, np.float32)))

"""Snapshots: what they hold beside the simulator, and what they refuse."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw

import ewok
from ewok.errors import ArgumentError, SnapshotError
from ewok.nominal.batch import same
from ewok.testing import check_snapshot

from ..conftest import make


def stack(env_id: str = "CartPole-v1") -> gym.Env[Any, Any]:
    """Gymnasium's own stateful wrappers, one on the other."""
    env: gym.Env[Any, Any] = gw.TimeLimit(gym.make(env_id), 40)
    env = gw.StickyAction(env, 0.3)
    env = gw.NormalizeObservation(gw.TimeAwareObservation(env))
    env = gw.FrameStackObservation(gw.DelayObservation(env, 2), 3)
    env = gw.NormalizeReward(gw.RecordEpisodeStatistics(env))
    return gw.RepeatAction(env, 2)


def test_stateful_wrappers_are_part_of_it() -> None:
    check_snapshot(stack(), twin=stack(), num_steps=200)


def test_noise_and_worst_kernel_are_part_of_it() -> None:
    def env() -> gym.Env[Any, Any]:
        noisy = ewok.RandomAction(gym.make("ewok/NoisyCartPole-v1"), 0.2)
        return ewok.WorstKernel(noisy, radius=0.5, value=lambda o: -np.abs(o[:, 2]))

    check_snapshot(env(), twin=env(), num_steps=200)


def test_a_snapshot_can_be_used_many_times_and_elsewhere() -> None:
    env, other = gym.make("Hopper-v5"), gym.make("Hopper-v5")
    env.reset(seed=0), other.reset(seed=7)
    for _ in range(20):
        env.step(env.action_space.sample())
    saved = ewok.snapshot(env)
    action = env.action_space.sample()
    first = env.step(action)
    for target in (env, other, env):
        ewok.restore(target, saved)
        assert same(target.step(action), first)


def test_an_environment_of_another_build_is_refused() -> None:
    one, two = gym.make("CartPole-v1"), gw.TimeLimit(gym.make("CartPole-v1"), 5)
    one.reset(seed=0)
    with pytest.raises(SnapshotError, match=r"wrappers \[TimeLimit, OrderEnforcing.*Restore it into"):
        ewok.restore(two, ewok.snapshot(one))


def test_another_simulator_is_refused() -> None:
    one, two = gym.make("CartPole-v1"), gym.make("Acrobot-v1")
    one.reset(seed=0), two.reset(seed=0)
    with pytest.raises(SnapshotError, match="taken of a CartPoleEnv.* this is a AcrobotEnv"):
        ewok.restore(two, ewok.snapshot(one))


def test_what_is_no_environment_or_no_snapshot_is_named() -> None:
    vector: Any = gym.make_vec("CartPole-v1", 2)
    for take in (ewok.snapshot, ewok.kernel_of):
        with pytest.raises(ArgumentError, match=r"`env` must be a Gymnasium environment, but it is .*envs\[0\]"):
            take(vector)
    anything: Any = 3
    with pytest.raises(ArgumentError, match="`snapshot` must be what `ewok.snapshot` returned, but it is 3"):
        ewok.restore(gym.make("CartPole-v1"), anything)


def test_sticky_actions_of_atari_are_refused() -> None:
    env = make("ALE/Pong-v5")
    env.reset(seed=0)
    with pytest.raises(SnapshotError, match="`repeat_action_probability` must be 0 .* but it is 0.25.*RandomAction"):
        ewok.snapshot(env)


class Counter(gym.Env[int, int]):
    """A simulator with its author's own way of saving."""

    observation_space = gym.spaces.Discrete(1000)
    action_space = gym.spaces.Discrete(2)

    def __init__(self) -> None:
        self.handle = memoryview(bytearray(8)).cast("q")  # cannot be copied

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.handle[0] = 0
        return 0, {}

    def step(self, action: int) -> Any:
        self.handle[0] += 1 + action + int(self.np_random.integers(3))
        return self.handle[0], 0.0, self.handle[0] > 900, False, {}


class SavingCounter(Counter):
    def snapshot(self) -> int:
        return self.handle[0]

    def restore(self, snapshot: int) -> None:
        self.handle[0] = snapshot


def test_a_simulator_that_saves_itself_is_asked_to() -> None:
    check_snapshot(SavingCounter(), twin=SavingCounter())


def test_one_that_cannot_be_copied_says_what_to_write() -> None:
    env = Counter()
    env.reset(seed=0)
    with pytest.raises(
        SnapshotError, match=r"Counter cannot be saved.*`snapshot\(\) -> state`.*register_kernel\(Counter"
    ):
        ewok.snapshot(env)

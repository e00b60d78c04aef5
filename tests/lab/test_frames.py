"""Frames are stacked as the libraries stack them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import gymnasium.wrappers as gw
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict

from ewok.lab.frames import Frames, frames_of


class Counting(gym.Env[Any, Any]):
    """Observations that all differ, in two parts."""

    observation_space = Dict(a=Box(-np.inf, np.inf, (2,)), b=Box(-np.inf, np.inf, (3, 1)))
    action_space = gym.spaces.Discrete(1)

    def reset(self, **options: Any) -> Any:
        self.time = 1.0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.time += 1.0
        return self._seen(), 0.0, False, False, {}

    def _seen(self) -> Any:
        return {"a": np.array([self.time, -self.time], np.float32), "b": np.full((3, 1), self.time / 2, np.float32)}


def batched(observation: Any) -> Any:
    return {key: part[np.newaxis] for key, part in observation.items()}


def check(frames: Frames, bare: Any, stacked: Any, num_steps: int = 5) -> None:
    """A vector's `step_wait` or an environment's `step`, from the first observation to past the oldest frame."""
    ours = None
    for one, theirs in zip(bare(num_steps), stacked(num_steps), strict=True):
        ours = frames.first(batched(one)) if ours is None else frames.next(ours, batched(one))
        assert set(ours) == set(theirs)
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key])


def walk(env: Any, num_steps: int) -> Any:
    yield env.reset()[0]
    for _ in range(num_steps):
        yield env.step(0)[0]


@pytest.mark.parametrize("num", [1, 2, 4])
def test_apart_they_are_gymnasium_s(num: int) -> None:
    env = gw.FrameStackObservation(Counting(), num)
    frames = frames_of(env.observation_space, Counting.observation_space)
    assert frames == Frames(num, apart=True)
    check(frames, lambda steps: walk(Counting(), steps), lambda steps: map(batched, walk(env, steps)))


@pytest.mark.parametrize("num", [1, 2, 4])
def test_side_by_side_they_are_those_of_stable_baselines3(num: int) -> None:
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env", reason="needs the sb3 extra")
    envs = vec_env.VecFrameStack(vec_env.DummyVecEnv([Counting]), num, channels_order="last")

    def stacked(num_steps: int) -> Any:
        yield {key: part.copy() for key, part in envs.reset().items()}
        for _ in range(num_steps):
            yield {key: part.copy() for key, part in envs.step(np.zeros(1, int))[0].items()}

    frames = frames_of(envs.observation_space, Counting.observation_space)
    assert frames == Frames(num)
    check(frames, lambda steps: walk(Counting(), steps), stacked)

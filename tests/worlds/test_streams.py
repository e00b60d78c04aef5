"""Episodes that one environment resets in turn have random numbers of their own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import ewok
from ewok.worlds.streams import Streams


def settle(env: gym.Env[Any, Any], values: Any) -> None:
    env.mean, env.std = values["mean"], 0.2  # type: ignore[attr-defined]
    env.unwrapped.g = values["gravity"]  # type: ignore[attr-defined]


def noisy() -> gym.Env[Any, Any]:
    return ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2)


POINTS = [{"mean": 0.0, "gravity": 10.0}, {"mean": 0.5, "gravity": 3.0}]


def test_each_episode_is_reset_as_if_it_were_alone_and_so_it_goes_on() -> None:
    streams = Streams(noisy(), settle, POINTS)
    alone = [noisy(), noisy()]
    for seeds in ((3, 4), (None, None), (None, None)):
        for index, seed in enumerate(seeds):
            np.testing.assert_array_equal(streams.reset(index, seed, None), alone[index].reset(seed=seed)[0])
            assert streams.env.unwrapped.g == POINTS[index]["gravity"]  # type: ignore[attr-defined]


def test_each_has_the_noise_that_its_wrapper_would_have_given_it() -> None:
    streams = Streams(noisy(), settle, POINTS)
    alone: list[Any] = [noisy(), noisy()]
    for index, env in enumerate(alone):
        settle(env, POINTS[index])
        env.reset(seed=index)
        streams.reset(index, index, None)
    actions = np.array([[0.1], [1.9]], dtype=np.float32)
    for _ in range(10):
        expected = np.concatenate([env.disturb([action]) for env, action in zip(alone, actions, strict=True)])
        found = streams.disturbed([0, 1], actions)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.float32
    np.testing.assert_array_equal(streams.disturbed([1], actions[1:]), alone[1].disturb([actions[1]]))

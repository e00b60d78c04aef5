"""Views: the value sees what the agent sees."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw

import ewok
from ewok.nominal.batch import same, take

from ..conftest import make

WRAPS: dict[str, Any] = {
    "nothing": lambda env: env,
    "transform": lambda env: gw.TransformObservation(env, lambda o: 2 * o, None),
    "rescale": lambda env: gw.RescaleObservation(
        gw.TransformObservation(env, lambda o: np.clip(o, -9, 9), gym.spaces.Box(-9, 9, (4,))),
        np.float32(-1),
        np.float32(1),
    ),
    "dtype": lambda env: gw.DtypeObservation(env, np.float64),
    "reshape": lambda env: gw.ReshapeObservation(env, (2, 2)),
    "flatten": lambda env: gw.FlattenObservation(gw.ReshapeObservation(env, (2, 2))),
    "normalize": gw.NormalizeObservation,
    "frames": lambda env: gw.FrameStackObservation(env, 3),
    "delay": lambda env: gw.DelayObservation(env, 2),
    "no delay": lambda env: gw.DelayObservation(env, 0),
    "time": gw.TimeAwareObservation,
    "all": lambda env: gw.FrameStackObservation(
        gw.NormalizeObservation(gw.TimeAwareObservation(gw.FlattenObservation(env))), 2
    ),
}


@pytest.mark.parametrize("name", WRAPS)
@pytest.mark.parametrize("height", ["below", "above"])
def test_the_value_sees_what_the_agent_sees(name: str, height: str) -> None:
    """The view of the chosen candidate is, bit for bit, the observation that then comes out."""
    seen: list[Any] = []

    def value(observations: Any) -> np.ndarray:
        seen.append(observations)
        return np.zeros(5)

    base = gym.make("ewok/NoisyCartPole-v1")
    if height == "below":
        env: gym.Env[Any, Any] = ewok.WorstKernel(WRAPS[name](base), num_samples=5, kappa=0.2)
    else:
        env = WRAPS[name](ewok.WorstKernel(base, num_samples=5, kappa=0.2))
    ewok.bind(value, env)
    env.reset(seed=0)
    for step in range(15):
        observation, _, terminated, _, info = env.step(step % 2)
        viewed = take(seen[-1], info["ewok"]["index"])
        assert same(viewed, observation)
        assert np.asarray(viewed).dtype == observation.dtype
        if terminated:
            break


def test_looking_moves_no_wrapper() -> None:
    def env(value: Any) -> gym.Env[Any, Any]:
        worst = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), num_samples=1, kappa=0.2)
        return ewok.bind(value, WRAPS["all"](worst)) and WRAPS["all"](worst)

    bound, free = env(lambda o: np.zeros(1)), WRAPS["all"](gym.make("ewok/NoisyCartPole-v1"))
    bound.reset(seed=0), free.reset(seed=0)
    for step in range(10):
        assert same(bound.step(step % 2)[0], free.step(step % 2)[0])


@pytest.mark.parametrize("env_id", ["dm_control/walker-walk-v0", "Blackjack-v1"])
def test_flattening_dicts_and_tuples(env_id: str) -> None:
    seen: list[Any] = []

    def value(observations: Any) -> np.ndarray:
        seen.append(observations)
        return np.zeros(len(observations))

    env = ewok.WorstKernel(gw.FlattenObservation(make(env_id)), num_samples=4, kappa=0.2)
    ewok.bind(value, env)
    env.reset(seed=1)
    observation, *_, info = env.step(env.action_space.sample())
    assert same(seen[0][info["ewok"]["index"]], observation)
    assert seen[0].dtype == observation.dtype

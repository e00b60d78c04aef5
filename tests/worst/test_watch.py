"""Warnings: one each, and only where they are due."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.testing import Lottery


def warnings_of(env: gym.Env[Any, Any], num_steps: int) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env.reset(seed=0)
        for _ in range(num_steps):
            *_, terminated, truncated, _ = env.step(0)
            if terminated or truncated:
                env.reset()
    return [str(w.message) for w in caught if issubclass(w.category, ewok.EwokWarning)]


def worst(env: gym.Env[Any, Any], **options: Any) -> ewok.WorstKernel:
    return ewok.WorstKernel(env, kappa=0.2, value=lambda o: np.zeros(len(o)), **options)


def test_a_deterministic_world() -> None:
    (message,) = warnings_of(worst(gym.make("CartPole-v1"), num_samples=3), 350)
    assert "the world is deterministic" in message
    assert all(name in message for name in ("StateNoise", "ActionNoise", "RandomAction"))
    assert warnings_of(worst(gym.make("CartPole-v1")), 90) == []
    assert warnings_of(worst(gym.make("ewok/NoisyCartPole-v1")), 300) == []


def test_a_world_never_bound() -> None:
    env = ewok.WorstKernel(Lottery([0.5, 0.5]), kappa=0.2)
    assert warnings_of(env, 9_999) == []
    (message,) = warnings_of(env, 10_001)
    assert "10,000 steps of a WorstKernel without a value function" in message
    assert "ewok.bind(agent)" in message


def test_a_rewarding_end() -> None:
    def world() -> Lottery:
        return Lottery([0.5, 0.5], rewards=[0.0, 1.0], ends=[False, True])

    (message,) = warnings_of(worst(world()), 100)
    assert "a rewarding goal can look like the worst state" in message
    assert 'discount="agent"' in message
    assert warnings_of(worst(world(), discount=0.9), 100) == []
    fall = Lottery([0.5, 0.5], rewards=[0.0, -1.0], ends=[False, True])
    assert warnings_of(worst(fall), 100) == []


@pytest.mark.parametrize("num_samples", [1])
def test_one_candidate_says_nothing_about_the_world(num_samples: int) -> None:
    assert warnings_of(worst(gym.make("CartPole-v1"), num_samples=num_samples), 300) == []

"""The paper's CartPole."""

import gymnasium as gym
import numpy as np

import ewok


def test_the_position_is_noisy_and_nothing_else() -> None:
    env, still = gym.make("ewok/NoisyCartPole-v1"), gym.make("CartPole-v1")
    np.testing.assert_array_equal(env.reset(seed=0)[0], still.reset(seed=0)[0])
    moved, expected = env.step(1)[0], still.step(1)[0]
    assert moved[0] != expected[0]
    np.testing.assert_array_equal(moved[1:], expected[1:])
    assert isinstance(env, ewok.StateNoise)
    assert (env.std, env.spec.max_episode_steps) == (0.01, 500)  # type: ignore[union-attr]

"""The paper's CartPole: Gymnasium's, with Gaussian noise on the position of the cart."""

import gymnasium as gym

from ewok.nominal.noise import StateNoise

POSITION = 0
NOISE = 0.01  # standard deviation; the paper's Table "Perturbation configurations for Cartpole environment"


def register() -> None:
    gym.register(
        id="ewok/NoisyCartPole-v1",
        entry_point="gymnasium.envs.classic_control.cartpole:CartPoleEnv",
        max_episode_steps=500,
        reward_threshold=475.0,
        additional_wrappers=(StateNoise.wrapper_spec(std=NOISE, indices=[POSITION]),),
    )

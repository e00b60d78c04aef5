"""Models as somebody else might have saved them: made, not trained, by the plain library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from ewok import worlds

CARTPOLE = worlds.get("cartpole")


class OwnPPO(PPO):
    """An agent of somebody's own."""


def vector(num: int = 1, world: worlds.World = CARTPOLE) -> DummyVecEnv:
    return DummyVecEnv([world.make for _ in range(num)])


def save_ppo(folder: Path, env: Any = "CartPole-v1", seed: int = 0, name: str = "model") -> Path:
    """A small PPO that nobody trained."""
    model = PPO("MlpPolicy", env, seed=seed, device="cpu", n_steps=32, batch_size=32, policy_kwargs={"net_arch": [16]})
    model.save(folder / name)
    return folder / f"{name}.zip"


def save_balancer(folder: Path, name: str = "balancer", lean: float = 2.0) -> Path:
    """A PPO that balances CartPole: its networks are one linear layer each, set by hand."""
    options: Any = {"net_arch": [], "activation_fn": torch.nn.Identity}
    model = PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu", n_steps=32, batch_size=32, policy_kwargs=options)
    with torch.no_grad():
        gains = torch.tensor([0.1, 0.4, lean, 1.0])
        model.policy.action_net.weight[:] = torch.stack([-gains, gains])
        model.policy.action_net.bias[:] = 0.0
        model.policy.value_net.weight[:] = torch.tensor([[-1.0, 0.0, 0.0, 0.0]])
    model.save(folder / name)
    return folder / f"{name}.zip"


def returns_of(agent: Any, envs: VecEnv, seed: int) -> list[float]:
    """One episode of each environment, as SB3's own loop goes about it."""
    envs.seed(seed)
    observations: Any = envs.reset()
    state, starts = None, [True] * envs.num_envs
    living, returns = set(range(envs.num_envs)), [0.0] * envs.num_envs
    while living:
        actions, state = agent.predict(observations, state, starts, deterministic=True)
        observations, rewards, dones, _ = envs.step(actions)
        starts = list(dones)
        for index in list(living):
            returns[index] += float(rewards[index])
            if dones[index]:
                living.remove(index)
    return returns


class Picture(gym.Env[Any, Any]):
    """An image whose brightness is the sum of the actions so far; three steps long."""

    def __init__(self) -> None:
        import numpy as np

        self.observation_space = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
        self.action_space = gym.spaces.Discrete(3)
        self._seen = np.zeros((36, 36, 1), np.uint8)
        self._left = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._seen = self._seen * 0 + self.np_random.integers(0, 200)
        self._left = 3
        return self._seen.copy(), {}

    def step(self, action: Any) -> Any:
        self._left -= 1
        self._seen = self._seen + self._seen.dtype.type(action)
        return self._seen.copy(), float(action), self._left == 0, False, {}

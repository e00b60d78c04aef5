"""A single-file Double DQN in the manner of CleanRL, with its own Q-network as the value function.

    python examples/cleanrl_dqn.py [--steps 50000] [--seed 0]

V(s) = max_a Q(s, a). The network is read at every call, so the worst kernel follows it as it learns.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import ewok
from shifted_worlds import report

GAMMA, BATCH, LEARNING_STARTS = 0.99, 64, 1_000
TRAIN_EVERY, UPDATES, TARGET_EVERY = 256, 128, 512


class QNetwork(nn.Sequential):
    def __init__(self, env: gym.Env[Any, Any]) -> None:
        sizes = (env.observation_space.shape[0], 256, 256)
        super().__init__(
            *(layer for pair in pairwise(sizes) for layer in (nn.Linear(*pair), nn.ReLU())),
            nn.Linear(sizes[-1], env.action_space.n),
        )


class Replay:
    """The last transitions, in arrays that are overwritten in turn."""

    def __init__(self, size: int, num_inputs: int) -> None:
        self.observations = np.zeros((size, num_inputs), dtype=np.float32)
        self.next_observations = np.zeros_like(self.observations)
        self.actions = np.zeros((size, 1), dtype=np.int64)
        self.rewards, self.terminated = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        self.size, self.count = size, 0

    def add(self, observation: Any, action: int, reward: float, terminated: bool, next_observation: Any) -> None:
        i = self.count % self.size
        self.observations[i], self.next_observations[i] = observation, next_observation
        self.actions[i], self.rewards[i], self.terminated[i] = action, reward, terminated
        self.count += 1

    def sample(self, rng: np.random.Generator) -> list[torch.Tensor]:
        rows = rng.integers(min(self.count, self.size), size=BATCH)
        parts = (self.observations, self.actions, self.rewards, self.terminated, self.next_observations)
        return [torch.from_numpy(part[rows]) for part in parts]


def loss(q_network: QNetwork, target_network: QNetwork, batch: list[torch.Tensor]) -> torch.Tensor:
    observations, actions, rewards, terminated, next_observations = batch
    with torch.no_grad():
        best = q_network(next_observations).argmax(dim=1, keepdim=True)
        next_values = target_network(next_observations).gather(1, best).squeeze(1)
        targets = rewards + GAMMA * (1.0 - terminated) * next_values
    return nn.functional.smooth_l1_loss(q_network(observations).gather(1, actions).squeeze(1), targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)

    env = gym.make("ewok/NoisyCartPole-v1")
    env = ewok.WorstKernel(env, num_samples=15, kappa=0.2)
    q_network, target_network = QNetwork(env), QNetwork(env)
    target_network.load_state_dict(q_network.state_dict())

    @torch.no_grad()
    def value(observations):
        return q_network(torch.as_tensor(observations)).max(dim=1).values.numpy()

    ewok.bind(value, env)

    optimizer = torch.optim.Adam(q_network.parameters(), lr=2.3e-3)
    replay = Replay(100_000, env.observation_space.shape[0])
    observation, _ = env.reset(seed=options.seed)
    told = []
    for step in range(options.steps):
        epsilon = max(0.04, 1.0 - 0.96 * step / (0.16 * options.steps))
        if rng.random() < epsilon:
            action = int(rng.integers(env.action_space.n))
        else:
            action = int(q_network(torch.as_tensor(observation)).argmax())
        next_observation, reward, terminated, truncated, info = env.step(action)
        told.append((info["ewok"]["kl"], info["ewok"]["spread"]))
        replay.add(observation, action, float(reward), terminated, next_observation)
        observation = env.reset()[0] if terminated or truncated else next_observation
        if step >= min(LEARNING_STARTS, options.steps // 2) and step % TRAIN_EVERY == 0:
            for _ in range(UPDATES):
                optimizer.zero_grad()
                loss(q_network, target_network, replay.sample(rng)).backward()
                nn.utils.clip_grad_norm_(q_network.parameters(), 10.0)
                optimizer.step()
        if step % TARGET_EVERY == 0:
            target_network.load_state_dict(q_network.state_dict())

    report(lambda observations: q_network(torch.as_tensor(observations)).argmax(dim=1).numpy(), told)


if __name__ == "__main__":
    main()

"""A single-file SAC in the manner of CleanRL, with its own actor and critics as the value function.

    python examples/cleanrl_sac.py [--steps 8000] [--seed 0]

V(s) = min over critics of Q(s, the actor's mean action). A KL radius is given rather than a temperature,
because how much the values of candidates differ depends on the rewards; kappa is solved for at every step.
"""

from __future__ import annotations

import argparse
from itertools import chain
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import ewok
from shifted_worlds import PENDULUM, report

GAMMA, BATCH, LEARNING_STARTS, TAU, RATE = 0.99, 256, 500, 0.005, 1e-3


def mlp(num_inputs: int, num_outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(num_inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, num_outputs))


class Agent(nn.Module):
    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__()
        num_observed, self.num_actions = env.observation_space.shape[0], env.action_space.shape[0]
        self.limit = float(env.action_space.high[0])
        self.actor = mlp(num_observed, 2 * self.num_actions)
        self.critics, self.targets = (
            nn.ModuleList(mlp(num_observed + self.num_actions, 1) for _ in range(2)) for _ in range(2)
        )
        self.targets.load_state_dict(self.critics.state_dict())
        self.log_alpha = nn.Parameter(torch.zeros(()))

    def mean_action(self, observations: torch.Tensor) -> torch.Tensor:
        return self.limit * torch.tanh(self.actor(observations)[:, : self.num_actions])

    def sample(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions of the squashed Gaussian, and their log-probabilities."""
        mean, log_std = self.actor(observations).chunk(2, dim=1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5.0, 2.0).exp())
        raw = normal.rsample()
        squeeze = 2.0 * (np.log(2.0) - raw - nn.functional.softplus(-2.0 * raw)) + np.log(self.limit)
        return self.limit * torch.tanh(raw), (normal.log_prob(raw) - squeeze).sum(dim=1)

    def q(self, critics: nn.ModuleList, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        pairs = torch.cat([observations, actions], dim=1)
        return torch.cat([critic(pairs) for critic in critics], dim=1)

    @torch.no_grad()
    def value(self, observations: np.ndarray) -> np.ndarray:
        batch = torch.as_tensor(observations)
        return self.q(self.critics, batch, self.mean_action(batch)).min(dim=1).values.numpy()


def update(agent: Agent, batch: list[torch.Tensor], critics: torch.optim.Adam, actor: torch.optim.Adam) -> None:
    observations, actions, rewards, terminated, next_observations = batch
    alpha = agent.log_alpha.exp().detach()
    with torch.no_grad():
        next_actions, log_probs = agent.sample(next_observations)
        soft = agent.q(agent.targets, next_observations, next_actions).min(dim=1).values - alpha * log_probs
        targets = rewards + GAMMA * (1.0 - terminated) * soft
    critics.zero_grad()
    (agent.q(agent.critics, observations, actions) - targets[:, None]).square().mean().backward()
    critics.step()
    sampled, log_probs = agent.sample(observations)
    surprise = (log_probs.detach() - agent.num_actions).mean()
    actor.zero_grad()
    actor_loss = (alpha * log_probs - agent.q(agent.critics, observations, sampled).min(dim=1).values).mean()
    (actor_loss - agent.log_alpha * surprise).backward()
    actor.step()
    with torch.no_grad():
        for target, online in zip(agent.targets.parameters(), agent.critics.parameters(), strict=True):
            target.lerp_(online, TAU)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=8_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)

    env = ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2)
    env = ewok.WorstKernel(env, num_samples=10, radius=0.3)
    agent = Agent(env)
    ewok.bind(agent.value, env)

    critics = torch.optim.Adam(agent.critics.parameters(), lr=RATE)
    actor = torch.optim.Adam(chain(agent.actor.parameters(), [agent.log_alpha]), lr=RATE)
    replay: list[tuple[Any, ...]] = []
    observation, _ = env.reset(seed=options.seed)
    told = []
    for step in range(options.steps):
        with torch.no_grad():
            action = agent.sample(torch.as_tensor(observation[None]))[0][0].numpy()
        next_observation, reward, terminated, truncated, info = env.step(action)
        told.append((info["ewok"]["kl"], info["ewok"]["spread"]))
        replay.append((observation, action, np.float32(reward), np.float32(terminated), next_observation))
        observation = env.reset()[0] if terminated or truncated else next_observation
        if step >= min(LEARNING_STARTS, options.steps // 2):
            rows = [replay[i] for i in rng.integers(len(replay), size=BATCH)]
            update(agent, [torch.as_tensor(np.stack(part)) for part in zip(*rows, strict=True)], critics, actor)

    with torch.no_grad():
        report(lambda observations: agent.mean_action(torch.as_tensor(observations)).numpy(), told, PENDULUM)


if __name__ == "__main__":
    main()

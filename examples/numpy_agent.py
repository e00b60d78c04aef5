"""An agent of your own, in NumPy alone: Sarsa(lambda) on a Fourier basis, with its own value function.

    python examples/numpy_agent.py [--steps 40000] [--seed 0]

Whatever takes a batch of observations and returns one value each can be bound. This one reads the weights
that `learn` changes, so the worst kernel follows the agent as it learns.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import ewok
from shifted_worlds import report

Array = NDArray[np.float64]
LOW, HIGH = np.array([-2.4, -3.0, -0.21, -3.0]), np.array([2.4, 3.0, 0.21, 3.0])


class Sarsa:
    """Q(s, a) = weights[a] . features(s), learned along eligibility traces."""

    def __init__(self, num_actions: int, *, order: int = 3, rate: float = 1e-3, discount: float = 0.99) -> None:
        self.frequencies = np.pi * np.array(list(product(range(order + 1), repeat=len(LOW))))
        norms = np.linalg.norm(self.frequencies / np.pi, axis=1)
        self.rates = rate / np.where(norms == 0.0, 1.0, norms)  # slower where the basis is finer
        self.discount, self.decay = discount, 0.9
        self.weights = np.zeros((num_actions, len(self.frequencies)))
        self.traces = np.zeros_like(self.weights)

    def features(self, observations: Array) -> Array:
        unit = np.clip((observations - LOW) / (HIGH - LOW), 0.0, 1.0)
        return np.cos(unit @ self.frequencies.T)

    def q(self, observations: Array) -> Array:
        return self.features(observations) @ self.weights.T

    def value(self, observations: Array) -> Array:
        return self.q(observations).max(axis=1)

    def act(self, observation: Array, epsilon: float, rng: np.random.Generator) -> int:
        if rng.random() < epsilon:
            return int(rng.integers(len(self.weights)))
        return int(self.q(observation[None])[0].argmax())

    def learn(self, observation: Array, action: int, reward: float, next_value: float) -> None:
        """One step towards reward + discount * next_value."""
        features = self.features(observation[None])[0]
        self.traces *= self.discount * self.decay
        self.traces[action] += features
        error = reward + self.discount * next_value - self.weights[action] @ features
        self.weights += self.rates * error * self.traces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)

    env: gym.Env[Any, Any] = gym.make("ewok/NoisyCartPole-v1")
    env = ewok.WorstKernel(env, num_samples=15, kappa=0.2)
    agent = Sarsa(num_actions=2)
    ewok.bind(agent.value, env)

    told = []
    observation, _ = env.reset(seed=options.seed)
    action = agent.act(observation, 1.0, rng)
    for step in range(options.steps):
        next_observation, reward, terminated, truncated, info = env.step(action)
        told.append((info["ewok"]["kl"], info["ewok"]["spread"]))
        next_action = agent.act(next_observation, max(0.02, 0.3 * (1.0 - 2.0 * step / options.steps)), rng)
        next_value = 0.0 if terminated else agent.q(next_observation[None])[0, next_action]
        agent.learn(observation, action, float(reward), next_value)
        observation, action = next_observation, next_action
        if terminated or truncated:
            observation, _ = env.reset()
            action = agent.act(observation, 0.0, rng)
            agent.traces[:] = 0.0

    report(lambda observations: agent.q(observations).argmax(axis=1), told)


if __name__ == "__main__":
    main()

"""Tianshou 2: Double DQN, with its Q-network as the value function.

    python examples/tianshou_dqn.py [--steps 20000] [--seed 0]

V(s) = max_a Q(s, a). `algorithm.policy.model` is looked up at every call, so the worst kernel follows it as it
learns. The replay buffer keeps `info`, so what the worst kernel says of each step is there.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import ewok
from shifted_worlds import report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    np.random.seed(options.seed)  # noqa: NPY002  Tianshou explores by NumPy's global generator
    torch.manual_seed(options.seed)

    env = gym.make("ewok/NoisyCartPole-v1")
    env = ewok.WorstKernel(env, num_samples=15, kappa=0.2)
    network = Net(state_shape=env.observation_space.shape, action_shape=env.action_space.n, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=network, action_space=env.action_space, eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.99, target_update_freq=320)

    @torch.no_grad()
    def value(observations):
        return algorithm.policy.model(observations)[0].max(dim=1).values.numpy()

    ewok.bind(value, env)

    buffer = VectorReplayBuffer(options.steps, buffer_num=1)
    vector = DummyVectorEnv([lambda: env])
    vector.seed(options.seed)
    collector = Collector(algorithm, vector, buffer, exploration_noise=True)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=options.steps,
            collection_step_num_env_steps=10,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=64,
            verbose=False,
            show_progress=False,
        )
    )

    @torch.no_grad()
    def act(observations):
        return algorithm.policy.model(observations)[0].argmax(dim=1).numpy()

    told = buffer.info["ewok"]
    report(act, np.stack([told["kl"], told["spread"]], axis=1))


if __name__ == "__main__":
    main()

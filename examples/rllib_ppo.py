"""RLlib: PPO, with the learner's critic as the value function.

    pip install "ray[rllib]" torch     # in an environment of its own: it needs an older Gymnasium than others
    python examples/rllib_ppo.py [--steps 40000] [--seed 0]

RLlib makes the environment itself, and the module that acts in it has no critic. So the algorithm is built first, and
then the environment is bound to the module that learns. Both are in this process: num_env_runners=0, num_learners=0.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune.registry import register_env

import ewok
from shifted_worlds import report


def robust_cartpole(_):
    env = gym.make("ewok/NoisyCartPole-v1")
    return ewok.WorstKernel(env, num_samples=15, kappa=0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    register_env("robust-cartpole", robust_cartpole)
    told = []

    def listen(*, episode, **_):
        info = episode.get_infos(-1)["ewok"]
        told.append((info["kl"], info["spread"]))

    batch = min(2_000, options.steps // 2)
    config = (
        PPOConfig()
        .environment("robust-cartpole")
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=batch, minibatch_size=min(128, batch), num_epochs=10, lr=3e-4)
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], vf_share_layers=False))
        .callbacks(on_episode_step=listen)
        .debugging(seed=options.seed)
    )
    algorithm = config.build_algo()
    (learner,) = algorithm.learner_group.foreach_learner(lambda learner: learner)

    @torch.no_grad()
    def value(observations):
        module = learner.get().module["default_policy"]
        return module.compute_values({"obs": torch.as_tensor(observations)}).numpy()

    ewok.bind(value, algorithm.env_runner.env)

    while len(told) < options.steps:
        algorithm.train()

    @torch.no_grad()
    def act(observations):
        batch = {"obs": torch.as_tensor(observations)}
        return algorithm.get_module().forward_inference(batch)["action_dist_inputs"].argmax(dim=1).numpy()

    report(act, told)
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()

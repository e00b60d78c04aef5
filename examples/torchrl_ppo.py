"""TorchRL: PPO, with its value network as the value function.

    python examples/torchrl_ppo.py [--steps 40000] [--seed 0]

The network inside the `ValueOperator` is the one that the loss trains. An info reader keeps what the worst kernel
says of each step beside the transition.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Composite, Unbounded
from torchrl.envs import GymWrapper, default_info_dict_reader
from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import ewok
from shifted_worlds import report

FRAMES, EPOCHS, BATCH = 1_000, 10, 100


def network(num_outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, num_outputs))


class Told(default_info_dict_reader):
    """Reads two numbers out of `info["ewok"]`."""

    def __init__(self) -> None:
        super().__init__(["kl", "spread"], spec=Composite(kl=Unbounded(()), spread=Unbounded(())))

    def __call__(self, info, tensordict):
        told = info.get("ewok", {"kl": 0.0, "spread": 0.0})  # a reset has none
        for name in ("kl", "spread"):
            tensordict.set(name, torch.tensor(told[name]))
        return tensordict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    env = gym.make("ewok/NoisyCartPole-v1")
    env = ewok.WorstKernel(env, num_samples=15, kappa=0.2)
    wrapped = GymWrapper(env).set_info_dict_reader(Told())
    wrapped.set_seed(options.seed)
    logits = TensorDictModule(network(2), in_keys=["observation"], out_keys=["logits"])
    actor = ProbabilisticActor(
        logits, in_keys=["logits"], distribution_class=OneHotCategorical, spec=wrapped.action_spec, return_log_prob=True
    )
    critic = ValueOperator(network(1), in_keys=["observation"])

    @torch.no_grad()
    def value(observations):
        return critic.module(torch.as_tensor(observations)).squeeze(-1).numpy()

    ewok.bind(value, env)

    frames = min(FRAMES, options.steps // 2)
    collector = Collector(wrapped, actor, frames_per_batch=frames, total_frames=options.steps)
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.0, critic_coeff=0.5, loss_critic_type="l2")
    optimizer = torch.optim.Adam(loss.parameters(), lr=3e-4, eps=1e-5)
    told = []
    for data in collector:
        told.append(torch.stack([data["next", "kl"], data["next", "spread"]], dim=-1))
        for _ in range(EPOCHS):
            advantage(data)
            for rows in torch.randperm(frames).split(BATCH):
                losses = loss(data[rows])
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()

    @torch.no_grad()
    def act(observations):
        return logits.module(torch.as_tensor(observations)).argmax(dim=1).numpy()

    report(act, torch.cat(told).numpy())


if __name__ == "__main__":
    main()

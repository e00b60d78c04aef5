"""skrl 2: PPO, with its value model as the value function.

    python examples/skrl_ppo.py [--steps 30000] [--seed 0]

The value model sees what the agent's preprocessors make of an observation, and what it returns is scaled back by
the inverse value preprocessor: both are the agent's own, and go on changing as it learns.
"""

from __future__ import annotations

import argparse
import tempfile

import gymnasium as gym
import numpy as np
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.resources.preprocessors.torch import RunningStandardScaler
from skrl.trainers.torch import StepTrainer
from skrl.utils import set_seed
from torch import nn

import ewok
from shifted_worlds import report

ROLLOUT = 1_024


def network(num_outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, num_outputs))


class Policy(CategoricalMixin, Model):
    def __init__(self, **spaces) -> None:
        Model.__init__(self, **spaces)
        CategoricalMixin.__init__(self)
        self.network = network(self.num_actions)

    def compute(self, inputs, role):
        return self.network(inputs["observations"]), {}


class Value(DeterministicMixin, Model):
    def __init__(self, **spaces) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.network = network(1)

    def compute(self, inputs, role):
        return self.network(inputs["observations"]), {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    set_seed(options.seed)

    env = gym.make("ewok/NoisyCartPole-v1")
    env = ewok.WorstKernel(env, num_samples=15, kappa=0.2)
    wrapped = wrap_env(env, verbose=False)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": "cpu"}
    config = PPO_CFG(
        rollouts=min(ROLLOUT, options.steps // 2),
        learning_epochs=10,
        mini_batches=16,
        learning_rate=3e-4,
        time_limit_bootstrap=True,
        observation_preprocessor=RunningStandardScaler,
        observation_preprocessor_kwargs={"size": env.observation_space, "device": "cpu"},
        value_preprocessor=RunningStandardScaler,
        value_preprocessor_kwargs={"size": 1, "device": "cpu"},
    )
    config.experiment.write_interval = config.experiment.checkpoint_interval = 0
    config.experiment.directory = tempfile.gettempdir()
    agent = PPO(
        models={"policy": Policy(**spaces), "value": Value(**spaces)},
        memory=RandomMemory(memory_size=config.rollouts, num_envs=1, device="cpu"),
        cfg=config,
        **spaces,
    )

    @torch.no_grad()
    def value(observations):
        seen = agent._observation_preprocessor(torch.as_tensor(observations))
        values = agent.value.act({"observations": seen}, role="value")[0]
        return agent._value_preprocessor(values, inverse=True).squeeze(1).numpy()

    ewok.bind(value, env)

    quiet = {"headless": True, "disable_progressbar": True}
    trainer = StepTrainer(env=wrapped, agents=agent, cfg={"timesteps": options.steps, **quiet})
    told = []
    for step in range(options.steps):
        *_, info = trainer.train(timestep=step)
        if "ewok" in info:  # where an episode ended, it is that of the reset
            told.append((info["ewok"]["kl"], info["ewok"]["spread"]))

    @torch.no_grad()
    def act(observations):
        seen = agent._observation_preprocessor(torch.as_tensor(np.asarray(observations)))
        return agent.policy.compute({"observations": seen}, role="policy")[0].argmax(dim=1).numpy()

    report(act, told)


if __name__ == "__main__":
    main()

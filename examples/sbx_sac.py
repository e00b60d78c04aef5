"""SBX: the Stable-Baselines3 of JAX. SAC on a pendulum whose motor is noisy.

    python examples/sbx_sac.py [--steps 8000] [--seed 0]

How much the values of candidates differ depends on the rewards, so a KL radius is given rather than
a temperature: kappa is then solved for at every step.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
from sbx import SAC

import ewok
from shifted_worlds import PENDULUM, report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=8_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    env = ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2)
    env = ewok.WorstKernel(env, num_samples=10, radius=0.3)
    model = SAC("MlpPolicy", env, learning_rate=1e-3, policy_kwargs={"net_arch": [64, 64]}, seed=options.seed)
    ewok.bind(model)

    told = []

    def listen(scope: dict[str, Any], _: dict[str, Any]) -> bool:
        told.extend((info["ewok"]["kl"], info["ewok"]["spread"]) for info in scope["infos"])
        return True

    model.learn(options.steps, callback=listen)
    report(lambda observations: model.predict(observations, deterministic=True)[0], told, PENDULUM)


if __name__ == "__main__":
    main()

"""Stable-Baselines3: PPO made robust in three added lines, which are numbered.

python examples/sb3_three_lines.py [--steps 50000] [--seed 0]
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
from stable_baselines3 import PPO

import ewok  # 1
from shifted_worlds import report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    env = gym.make("ewok/NoisyCartPole-v1")
    env = ewok.WorstKernel(env, num_samples=15, kappa=0.2)  # 2
    model = PPO("MlpPolicy", env, seed=options.seed, device="cpu")
    ewok.bind(model)  # 3: PPO's own critic tells which next states are bad

    told = []

    def listen(scope: dict[str, Any], _: dict[str, Any]) -> bool:
        told.extend((info["ewok"]["kl"], info["ewok"]["spread"]) for info in scope["infos"])
        return True

    model.learn(options.steps, callback=listen)
    report(lambda observations: model.predict(observations, deterministic=True)[0], told)


if __name__ == "__main__":
    main()

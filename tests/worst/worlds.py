"""Worlds and walks that several tests share."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np

import ewok
from ewok.nominal.batch import leaves

NOISY_CARTPOLE = "ewok/NoisyCartPole-v1"


def bound(env: gym.Env[Any, Any], value: Any = None, **options: Any) -> ewok.WorstKernel:
    """A worst kernel with a value function: by default all states are alike."""
    value = value or (lambda observations: np.zeros(len(leaves(observations)[0])))
    given = {"kappa": 0.2} if "radius" not in options and "kappa" not in options else {}
    return ewok.WorstKernel(env, value=value, **given, **options)


def rollout(env: gym.Env[Any, Any], num_steps: int, seed: int = 0) -> list[Any]:
    actions = copy.deepcopy(env.action_space)
    actions.seed(seed)
    steps: list[Any] = [env.reset(seed=seed)]
    for _ in range(num_steps):
        *transition, info = env.step(actions.sample())
        steps.append((*transition, {k: v for k, v in info.items() if k != "ewok"}))
        if transition[2] or transition[3]:
            steps.append(env.reset())
    return steps

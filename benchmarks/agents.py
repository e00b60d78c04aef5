"""What training costs on the worst kernel, over plain training by the same library.

Seconds of the processor, for both sides learn on one thread; each round is a whole training from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import ewok
from ewok.agents import recipes
from ewok.agents.sb3 import SubprocWorstKernel
from ratio import Row, in_turn

torch.set_num_threads(1)

WORLD = "ewok/NoisyCartPole-v1"
TRAININGS = 5
Train = Callable[[], object]


def training(name: str, robust: bool, num_steps: int) -> Train:
    """One training by the paper's recipe, its networks and N = 15; a seed of its own for each."""
    recipe, seeds = recipes.get(name), count()

    def train() -> None:
        env: gym.Env[Any, Any] = gym.make(WORLD)
        model = recipe.make(recipe.wrap(env) if robust else env, seed=next(seeds), device="cpu")
        if robust:
            ewok.bind(model)
        model.learn(num_steps)

    return train


def trainings(work: str, name: str, num_steps: int, bar: str) -> Row:
    sides = (training(name, robust, num_steps) for robust in (True, False))
    return Row(work, *in_turn(*sides, rounds=TRAININGS, processor=True), bar)


def made(robust: bool) -> gym.Env[Any, Any]:
    env = gym.make(WORLD)
    return ewok.WorstKernel(env, num_samples=15, kappa=0.2) if robust else env


def eight_at_once(robust: bool) -> Train:
    """PPO with its library's settings in eight environments of one process."""
    seeds = count()

    def train() -> None:
        vector = DummyVecEnv([partial(made, robust)] * 8)
        model = PPO("MlpPolicy", vector, n_steps=256, batch_size=256, seed=next(seeds), device="cpu")
        if robust:
            ewok.bind(model)
        model.learn(8 * 256 * 2)

    return train


def steps_of(vector: Any) -> Train:
    vector.seed(0)
    vector.reset()
    actions = np.random.default_rng(0).integers(2, size=(64, vector.num_envs))

    def go() -> None:
        for action in actions:
            vector.step(action)

    return go


def eight_processes() -> Row:
    """Against the same eight in one process, on the clock: what waiting for one another costs."""
    value = ewok.value_of(PPO("MlpPolicy", made(False), device="cpu"))
    apart = SubprocWorstKernel(SubprocVecEnv([partial(made, True)] * 8))
    plain = SubprocVecEnv([partial(made, False)] * 8)
    ewok.bind(value, apart)
    ours, peer = in_turn(steps_of(apart), steps_of(plain), rounds=15)
    apart.close(), plain.close()
    return Row(
        "8 processes, N=15: steps with SubprocWorstKernel over a SubprocVecEnv without", ours / 64, peer / 64, "stated"
    )


def steps_together() -> Row:
    """One value call for eight environments, against one for each."""
    value = ewok.value_of(PPO("MlpPolicy", made(False), device="cpu"))

    def bound(envs: Any) -> Train:
        ewok.bind(value, envs)
        envs.reset(seed=0)
        actions = np.random.default_rng(0).integers(2, size=(64, 8))

        def go() -> None:
            for action in actions:
                envs.step(action)

        return go

    together = ewok.vector.WorstKernel(gym.vector.SyncVectorEnv([partial(made, False)] * 8), num_samples=15, kappa=0.2)
    alone = gym.vector.SyncVectorEnv([partial(made, True)] * 8)
    ours, peer = in_turn(bound(together), bound(alone), rounds=15)
    return Row(
        "8 in a SyncVectorEnv, N=15: ewok.vector.WorstKernel over a WorstKernel each", ours / 64, peer / 64, "stated"
    )


def rows() -> Iterator[Row]:
    yield trainings("SB3 DoubleDQN, CartPole, N=15, 10,000 steps: with EWoK over plain", "ddqn", 10_000, "<= 1.15")
    yield trainings("SB3 PPO, CartPole, N=15, 3,072 steps: with EWoK over plain", "ppo", 3_072, "<= 1.25")
    sides = (eight_at_once(robust) for robust in (True, False))
    work = "SB3 PPO, 8 CartPoles in one process, N=15, 4,096 steps: with EWoK over plain"
    yield Row(work, *in_turn(*sides, rounds=TRAININGS, processor=True), "stated")
    yield steps_together()
    yield eight_processes()

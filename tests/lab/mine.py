"""What a researcher brings along: an agent, methods and a world of their own, as quick as can be."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import ewok
from ewok.worlds import Perturbation, get

named_oddly = dataclasses.replace(
    get("cartpole"), parameters=[Perturbation(name="how much", nominal=1.0, low=0.0, high=2.0)]
)
unmoved = dataclasses.replace(get("cartpole"), parameters=[])


class Coin:
    """Tosses a coin for every action while it learns, and leans with the pole when it is asked; learns nothing."""

    def __init__(self, env: gym.Env, seed: int) -> None:
        self.env, self.rng = env, np.random.default_rng(seed)
        self.seed = seed

    def learn(self, num_steps: int) -> Coin:
        self.env.reset(seed=self.seed)
        for _ in range(num_steps):
            _, _, terminated, truncated, _ = self.env.step(int(self.rng.integers(2)))
            if terminated or truncated:
                self.env.reset()
        return self

    def value(self, observations: Any) -> Any:
        return -np.abs(observations[:, 0])

    def predict(self, observations: Any, deterministic: bool = True) -> Any:
        return (observations[:, 2] + 0.01 * self.seed * observations[:, 3] > 0).astype(int), None

    def save(self, path: Path) -> None:
        path.write_text("heads or tails")


def coin(env: gym.Env, seed: int) -> Coin:
    return Coin(env, seed)


def normalised(env: gym.Env, seed: int) -> Any:
    """Learns behind a normaliser of its library's."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    options: Any = {"n_steps": 32, "batch_size": 32, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}
    return PPO("MlpPolicy", VecNormalize(DummyVecEnv([lambda: env])), seed=seed, device="cpu", **options)


@dataclasses.dataclass
class Glimpse:
    """What somebody saw who seeded nothing."""

    seen: list[float]

    def learn(self, num_steps: int) -> None: ...


def unseeded(env: gym.Env, seed: int) -> Glimpse:
    return Glimpse([*env.reset()[0].tolist(), *(float(env.action_space.sample()) for _ in range(20))])


def raises(env: gym.Env, seed: int) -> Coin:
    if seed == 1:
        raise RuntimeError("this seed is unlucky")
    return Coin(env, seed)


def talks(env: gym.Env, seed: int) -> Coin:
    os.write(1, b"said on one\n")
    os.write(2, b"said on the other\n")
    return Coin(env, seed)


def slow(env: gym.Env, seed: int) -> Coin:
    time.sleep(float(os.environ.get("EWOK_TEST_SLEEP", "30")))
    return Coin(env, seed)


def marks_node(env: gym.Env, seed: int) -> Coin:
    """Says on which node it is, and takes its time."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    Path(os.environ["EWOK_TEST_MARK"], f"{node}.{seed}.{time.monotonic_ns()}").touch()
    time.sleep(4.0)
    return Coin(env, seed)


def dies_once(env: gym.Env, seed: int) -> Coin:
    mark = Path(os.environ["EWOK_TEST_MARK"])
    if seed == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Coin(env, seed)


def dies(env: gym.Env, seed: int) -> Coin:
    if seed == 1:
        os.write(1, b"last words")
        os.kill(os.getpid(), signal.SIGKILL)
    return Coin(env, seed)


def no_room(env: gym.Env, seed: int) -> Coin:
    if seed == 1:
        raise OSError(28, "No space left on device")
    return Coin(env, seed)


def shaken(env: gym.Env, world: Any, generator: np.random.Generator, std: float = 0.0) -> gym.Env:
    return ewok.StateNoise(env, std=float(generator.uniform(0.0, std)), indices=[2])


def stacked(env: gym.Env, world: Any, generator: np.random.Generator) -> gym.Env:
    return gym.wrappers.FrameStackObservation(env, 2)


def rescaled(env: gym.Env, world: Any, generator: np.random.Generator) -> gym.Env:
    return gym.wrappers.RescaleAction(env, np.float32(-0.5), np.float32(0.5))


world = get("cartpole")

"""Worlds and agents that the tests of several libraries share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import ewok
from ewok.testing import Lottery

from ..worst.exact import expected_kernel

GOOD, BAD = 1.0, 0.0  # values of the two sides of the coin, in every library
KAPPA, NUM_SAMPLES = 0.5, 3


def cartpole(**options: Any) -> ewok.WorstKernel:
    return ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), **({"kappa": 0.2} | options))


def pendulum(**options: Any) -> ewok.WorstKernel:
    env = ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2)
    return ewok.WorstKernel(env, **({"kappa": 0.2} | options))


class Throttled(gym.ActionWrapper[Any, Any, Any]):
    """The same world under an action that is one number; what it says does not matter."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def action(self, action: Any) -> int:
        return 0


def coin(continuous: bool = False) -> ewok.WorstKernel:
    """A fair coin that the agent sees as a one-hot code: [1, 0, 0] at first, then [0, 1, 0] or [0, 0, 1]."""
    world: Any = Lottery([0.5, 0.5])
    seen = gym.wrappers.FlattenObservation(Throttled(world) if continuous else world)
    shown = gym.wrappers.DtypeObservation(seen, np.float32)
    return ewok.WorstKernel(shown, num_samples=NUM_SAMPLES, kappa=KAPPA)


def share_of_bad_sides(value: Any, env: ewok.WorstKernel, num_steps: int = 4000) -> float:
    """How often the coin shows side 1, whose value is the lower, under its worst kernel."""
    ewok.bind(value, env)
    action = env.action_space.sample()
    env.reset(seed=0)
    return float(np.mean([env.step(action)[0][1] for _ in range(num_steps)]))


def share_in_theory() -> float:
    kernel = expected_kernel(np.array([0.5, 0.5]), np.array([BAD, GOOD]), NUM_SAMPLES, lambda drawn: KAPPA)
    assert kernel[0] > 0.7  # the nominal coin is fair
    return float(kernel[0])


def batch(model: Any, num: int = 15, seed: int = 0) -> Any:
    """Observations that are like nothing in particular."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(num, *model.observation_space.shape)).astype(np.float32)


def assert_never_stale(model: Any, value: Any, expected: Callable[[Any], Any], updates: Sequence[Any]) -> None:
    """After each update the value is what the library computes, and another than before."""
    observations = batch(model)
    before = value(observations)
    for update in updates:
        update()
        now = value(observations)
        np.testing.assert_allclose(now, expected(observations), atol=1e-5)
        assert not np.array_equal(now, before), "the update moved nothing"
        before = now


def needs(package: str, extra: str) -> Any:
    """The package, however much it warns about while it loads; skips, saying why, without it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(package, reason=f"needs {package}: pip install 'ewok[{extra}]'")


class Spied:
    """Remembers what the value said of the candidate that then came out of each environment, (steps, environments)."""

    def __init__(self, model: Any) -> None:
        self.kernels = [member_kernel(env) for env in innermost(model.get_env()).envs]
        self.said: list[list[float]] = [[] for _ in self.kernels]
        for kernel, said in zip(self.kernels, self.said, strict=True):
            critic: Any = kernel.critic
            critic.value = self.listening(kernel, critic.value, said)

    def listening(self, kernel: ewok.WorstKernel, asked: Any, said: list[float]) -> Any:
        step = kernel.step
        latest: list[Any] = []

        def value(observations: Any) -> Any:
            latest[:] = [asked(observations)]
            return latest[0]

        def stepping(action: Any) -> Any:
            transition = step(action)
            said.append(float(latest[0][transition[-1]["ewok"]["index"]]))
            return transition

        kernel.step = stepping  # type: ignore[method-assign]
        return value


def innermost(venv: Any) -> Any:
    """The vector of Stable-Baselines3 beneath its wrappers."""
    while hasattr(venv, "venv"):
        venv = venv.venv
    return venv


def member_kernel(env: Any) -> ewok.WorstKernel:
    while not isinstance(env, ewok.WorstKernel):
        env = env.env
    return env


class ImageWalk(gym.Env[Any, Any]):
    """A white column on a black picture that walks left or right, by chance."""

    observation_space = gym.spaces.Box(0, 255, (36, 36, 3), np.uint8)
    action_space = gym.spaces.Discrete(2)
    place = 18

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = 18
        return self.picture(), {}

    def picture(self) -> Any:
        shown = np.zeros((36, 36, 3), np.uint8)
        shown[:, self.place] = 255
        return shown

    def step(self, action: Any) -> Any:
        self.place = int((self.place + self.np_random.choice([-1, 1]) + action) % 36)
        return self.picture(), 1.0, False, False, {}


class DictWalk(gym.ObservationWrapper[Any, Any, Any]):
    """Observations as a dictionary, with a number of its own."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Dict(
            {"picture": env.observation_space, "column": gym.spaces.Discrete(36), "height": gym.spaces.Box(0, 1, (2,))}
        )

    def observation(self, observation: Any) -> Any:
        column = int(observation[0, :, 0].argmax())
        return {"picture": observation, "column": column, "height": np.full(2, column / 36, np.float32)}

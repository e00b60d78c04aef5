"""What the other examples print: how an agent fares where the world shifted, and what its worst kernel did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

import ewok
from ewok.worlds import Perturbation, World

Act = Callable[[NDArray[Any]], Any]  # observations, batch first -> actions
EPISODES = 20


def swing(env: gym.Env[Any, Any], values: Mapping[str, float]) -> None:
    pendulum: Any = env.unwrapped
    pendulum.g, pendulum.m = values["gravity"], values["mass"]


CARTPOLE = ewok.worlds.get("cartpole")
PENDULUM = World(
    name="pendulum",
    build=lambda: ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2),
    parameters=[
        Perturbation(name="gravity", nominal=10.0, low=5.0, high=15.0, above=0.0),
        Perturbation(name="mass", nominal=1.0, low=0.5, high=2.0, above=0.0),
    ],
    settle=swing,
)
POINTS: dict[str, list[dict[str, float]]] = {
    "cartpole": [{}, {"cart_mass": 3.0}, {"pole_length": 1.0}, {"gravity": 20.0}],
    "pendulum": [{}, {"mass": 1.3}, {"gravity": 13.0}],
}


def report(act: Act, told: ArrayLike, world: World = CARTPOLE) -> None:
    """Print mean returns in the nominal and in shifted worlds, and the means of what was told while training.

    Args:
        act: the agent.
        told: `kl` and `spread` of `info["ewok"]` at each step, (steps, 2). Where they are 0, the worst
            kernel was the nominal one.
        world: what it learned in.
    """
    points = POINTS[world.name]
    vector = world.make_vector(points, EPISODES)
    observations, _ = vector.reset(seed=1000)
    returns = np.zeros(vector.num_envs)
    while len(vector.living):
        observations, rewards, *_ = vector.step(act(observations))
        returns += rewards
    print(f"{'world':<20}mean return over {EPISODES} episodes")
    for point, mean in zip(points, returns.reshape(len(points), EPISODES).mean(axis=1), strict=True):
        print(f"{' '.join(f'{name} {value:g}' for name, value in point.items()) or 'nominal':<20}{mean:.0f}")
    kl, spread = np.mean(told, axis=0)
    print(f"while training: mean kl {kl:.3g}, mean spread {spread:.3g}")

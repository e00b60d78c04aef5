"""The parts of a world's environment that its parameters stand for: the simulator, and the nominal noise."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium import wrappers as gw

from ewok.errors import require
from ewok.nominal.layers import layers_of

Environment = gym.Env[Any, Any]
Layer = TypeVar("Layer")


def innermost(env: Environment, kind: type[Layer]) -> Layer:
    """The wrapper of this class that lies closest to the simulator: a world's own noise."""
    found = [wrapper for wrapper in layers_of(env).wrappers if isinstance(wrapper, kind)]
    require(len(found) > 0, "env", f"an environment with a `{kind.__name__}` in it", env, "Make it by `world.make()`.")
    return found[-1]


def step_limit(env: Environment) -> float:
    """After how many steps the wrappers of `env` truncate an episode; infinity where none does."""
    limits = [wrapper._max_episode_steps for wrapper in layers_of(env).wrappers if isinstance(wrapper, gw.TimeLimit)]
    return min(limits, default=math.inf)


def amount_of(noise: Any, attribute: str) -> float:
    """The `std` or `mean` of a noise wrapper, where it is the same in all components."""
    amounts = np.unique(getattr(noise, attribute))
    remedy = "Give one number, which a parameter of the world can stand for."
    require(len(amounts) == 1, attribute, "the same in all components", getattr(noise, attribute), remedy)
    return float(amounts[0])


def simulator_of(env: Environment, kind: str) -> Any:
    """The simulator, which must be of the class that is written as "module:Class", or derived from it."""
    simulator = env.unwrapped
    kinds = [f"{cls.__module__}:{cls.__qualname__}" for cls in type(simulator).__mro__]
    remedy = "It belongs to another world: make one by `world.make()`."
    require(kind in kinds, "env", f"an environment around a `{kind.partition(':')[2]}`", env, remedy)
    return simulator

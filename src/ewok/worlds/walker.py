"""The paper's walkers: dm_control's, standing, walking and running, with Gaussian noise on the action.

Nominal values and ranges are those of the paper's table "Perturbation configurations for DeepMind Control Suite
tasks", and for the friction those of the Real-World RL suite, whose parameters these are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import gymnasium as gym

from ewok.nominal.kernel import register_kernel
from ewok.nominal.noise import ActionNoise
from ewok.worlds.parts import amount_of, innermost, simulator_of
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.vector import Batch
from ewok.worlds.walker_batch import WalkerBatch
from ewok.worlds.walker_kernel import WalkerKernel
from ewok.worlds.walker_model import NOMINAL, PARAMETERS
from ewok.worlds.world import Environment, Values, World

NOISE = 0.2  # standard deviation, of an action between -1 and 1
_TASKS = ("stand", "walk", "run")
_ENTRY_POINT = "ewok.worlds.walker_env:WalkerEnv"

NOISE_MEAN = Perturbation(name="noise_mean", nominal=0.0, low=-0.3, high=0.3, note="the action is clipped")


def register() -> None:
    """Let `gym.make` find the three, and draw from them by a kernel of their own."""
    for task in _TASKS:
        gym.register(
            id=f"ewok/walker-{task}-v0",
            entry_point=_ENTRY_POINT,
            kwargs={"task": task},
            additional_wrappers=(ActionNoise.wrapper_spec(std=NOISE, mean=0.0),),
        )
    register_kernel(_ENTRY_POINT, WalkerKernel)


def settle(env: Environment, values: Values) -> None:
    walker = simulator_of(env, _ENTRY_POINT)
    walker.perturb(**{name: values[name] for name in NOMINAL})
    innermost(env, ActionNoise).mean = values["noise_mean"]


def read(env: Environment) -> Values:
    walker = simulator_of(env, _ENTRY_POINT)
    return {"noise_mean": amount_of(innermost(env, ActionNoise), "mean"), **walker.named_values}


def _batch(build: Callable[[], Environment], points: Sequence[Values], num_episodes: int) -> Batch | None:
    own = {parameter.name for parameter in (NOISE_MEAN, *PARAMETERS)}
    if any(set(point) != own for point in points):
        return None
    return WalkerBatch(build(), settle, points, num_episodes)


def world_of(task: str, *, grounded: bool = False) -> World:
    """The world of one task: "stand", "walk" or "run".

    Args:
        task: what is rewarded.
        grounded: lift every start out of the floor. With long limbs a good part of the suite's own starts lies
            in it (at a thigh_length of 0.5 every fourth by more than a centimetre), as in the paper.
    """
    name = f"walker-{task}"
    build = partial(gym.make, f"ewok/{name}-v0", **({"grounded": True} if grounded else {}))
    return World(
        name=f"{name}-grounded" if grounded else name,
        summary=f"dm_control's walker-{task}, noise on the action" + (", lifted starts" if grounded else ""),
        build=build,
        settle=settle,
        read=read,
        batch=partial(_batch, build),
        parameters=(NOISE_MEAN, *PARAMETERS),
        package="shimmy",
        extra="dmc",
    )


worlds = tuple(world_of(task, grounded=grounded) for grounded in (False, True) for task in _TASKS)

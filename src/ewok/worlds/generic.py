"""The perturbations that fit any environment: each is a wrapper that does nothing at its nominal value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import gymnasium as gym

from ewok.errors import require
from ewok.worlds import controls, sensors
from ewok.worlds.perturbation import Perturbation

Environment = gym.Env[Any, Any]


@final
@dataclass(frozen=True)
class Generic:
    """A parameter, and the wrapper's attribute that has its value."""

    perturbation: Perturbation
    wrapper: type[Any]
    attribute: str


# From the simulator outwards, which is how they are stacked.
_ALL = (
    Generic(controls.NOISE, controls.ActuatorNoise, "std"),
    Generic(controls.MEAN, controls.ActuatorNoise, "mean"),
    Generic(controls.DELAY, controls.ActionDelay, "delay"),
    Generic(sensors.NOISE, sensors.ObservationNoise, "std"),
    Generic(sensors.STUCK, sensors.StuckSensors, "probability"),
    Generic(sensors.DROPPED, sensors.DroppedSensors, "probability"),
    Generic(sensors.DELAY, sensors.ObservationDelay, "delay"),
    Generic(controls.REPEAT, controls.ActionRepeat, "num_repeats"),
)
GENERIC: dict[str, Generic] = {generic.perturbation.name: generic for generic in _ALL}


def fit(env: Environment, values: Mapping[str, float]) -> Environment:
    """`env` with the wrappers that these parameters need, made with these values, where it does not have them yet."""
    for kind in dict.fromkeys(generic.wrapper for generic in _ALL):
        named = {g.attribute: values[name] for name, g in GENERIC.items() if g.wrapper is kind and name in values}
        if named and kind not in _layers(env):
            env = kind(env, **named)
    return env


def place(env: Environment, values: Mapping[str, float]) -> None:
    """Set the generic parameters of `env`: these to these values, all others to nominal."""
    layers = _layers(env)
    for name, generic in GENERIC.items():
        value = values.get(name, generic.perturbation.nominal)
        wrapper = layers.get(generic.wrapper)
        fits = wrapper is not None or value == generic.perturbation.nominal
        remedy = f"Make it by `world.make({name}={generic.perturbation.nominal:g})`."
        require(fits, "env", f"an environment with a `{generic.wrapper.__name__}` in it", env, remedy)
        if wrapper is not None:
            setattr(wrapper, generic.attribute, value)


def values_in(env: Environment) -> dict[str, float]:
    """The values that the wrappers in `env` have."""
    layers = _layers(env)
    placed = {name: generic for name, generic in GENERIC.items() if generic.wrapper in layers}
    return {name: float(getattr(layers[generic.wrapper], generic.attribute)) for name, generic in placed.items()}


def _layers(env: Environment) -> dict[type, Any]:
    """The wrappers of `env` by class."""
    found: dict[type, Any] = {}
    while isinstance(env, gym.Wrapper):
        found.setdefault(type(env), env)
        env = env.env
    return found

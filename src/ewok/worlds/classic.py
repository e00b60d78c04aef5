"""The other classic control worlds. The paper has none of them: nominal noise and ranges are ours.

Nominally a discrete action is another one with probability 0.1, and a continuous one has noise of
standard deviation 0.2, as the paper's walkers have; without noise a worst kernel has nothing to choose from.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete

from ewok.errors import require
from ewok.nominal.noise import ActionNoise, RandomAction
from ewok.worlds import dynamics_classic as dynamics
from ewok.worlds.parts import amount_of, innermost, simulator_of
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.vector_classic import classic_batch
from ewok.worlds.world import Environment, Read, Settle, Values, World

_NOISE = Perturbation(name="noise", unit="std of action", nominal=0.2, low=0.0, high=1.0, least=0.0)
_NOISE_MEAN = Perturbation(name="noise_mean", unit="action", nominal=0.0, low=-0.5, high=0.5)
_RANDOM_ACTION = Perturbation(
    name="random_action", unit="probability", nominal=0.1, low=0.0, high=0.5, least=0.0, most=1.0
)

_CLASSIC = "gymnasium.envs.classic_control"
_ACROBOT = f"{_CLASSIC}.acrobot:AcrobotEnv"
_MOUNTAIN_CAR = f"{_CLASSIC}.mountain_car:MountainCarEnv"
_CONTINUOUS_MOUNTAIN_CAR = f"{_CLASSIC}.continuous_mountain_car:Continuous_MountainCarEnv"
_PENDULUM = f"{_CLASSIC}.pendulum:PendulumEnv"

# Numbers of the cars that are written into their simulators' steps. They know no time but steps.
_MOUNTAIN_CAR_WRITTEN = {"timestep": 1.0}
_CONTINUOUS_MOUNTAIN_CAR_WRITTEN = {"gravity": 0.0025, "timestep": 1.0}


def _with_random_action(env_id: str) -> Environment:
    return RandomAction(gym.make(env_id), probability=_RANDOM_ACTION.nominal)


def _with_noise(env_id: str) -> Environment:
    return ActionNoise(gym.make(env_id), std=_NOISE.nominal)


def _settle_noise(env: Environment, values: Values) -> None:
    noise = innermost(env, ActionNoise)
    noise.std, noise.mean = values["noise"], values["noise_mean"]


def _noise_in(env: Environment) -> Values:
    noise = innermost(env, ActionNoise)
    return {"noise": amount_of(noise, "std"), "noise_mean": amount_of(noise, "mean")}


def _random_action_in(env: Environment) -> Values:
    return {"random_action": innermost(env, RandomAction).probability}


def settle_acrobot(env: Environment, values: Values) -> None:
    """Both links alike, their centres half-way; their inertia, which Gymnasium fixes at 1 = m l^2, follows."""
    swing = simulator_of(env, _ACROBOT)
    mass, length, torque = values["link_mass"], values["link_length"], values["torque"]
    swing.LINK_MASS_1 = swing.LINK_MASS_2 = mass
    swing.LINK_LENGTH_1 = swing.LINK_LENGTH_2 = length
    swing.LINK_COM_POS_1 = swing.LINK_COM_POS_2 = length / 2
    swing.LINK_MOI = mass * length**2
    swing.AVAIL_TORQUE = [-torque, 0.0, torque]
    swing.dt = values["timestep"]
    if values["gravity"] == 9.8:  # written into the simulator's equations, which then are the simulator's own
        vars(swing).pop("_dsdt", None)
    else:
        swing._dsdt = partial(_falling, mass, length, values["gravity"])
    innermost(env, RandomAction).probability = values["random_action"]


def read_acrobot(env: Environment) -> Values:
    swing = simulator_of(env, _ACROBOT)
    equations = vars(swing).get("_dsdt")
    return {
        "link_mass": swing.LINK_MASS_1,
        "link_length": swing.LINK_LENGTH_1,
        "torque": swing.AVAIL_TORQUE[-1],
        "gravity": 9.8 if equations is None else equations.args[-1],
        "timestep": swing.dt,
        **_random_action_in(env),
    }


def _falling(mass: float, length: float, gravity: float, augmented: Any) -> Any:
    """Acrobot's `_dsdt` under another gravity."""
    y, links = np.array(augmented)[:, np.newaxis], (np.array([mass]), np.array([length]), np.array([gravity]))
    return (*(part[0] for part in dynamics.acrobot_derivative(y[:-1], y[-1], links)), 0.0)


def settle_mountain_car(env: Environment, values: Values) -> None:
    car = simulator_of(env, _MOUNTAIN_CAR)
    car.force, car.gravity = values["force"], values["gravity"]
    _settle_car(car, dynamics.MountainCarDynamics(), values, _MOUNTAIN_CAR_WRITTEN)
    innermost(env, RandomAction).probability = values["random_action"]


def read_mountain_car(env: Environment) -> Values:
    car = simulator_of(env, _MOUNTAIN_CAR)
    written = _read_car(car, _MOUNTAIN_CAR_WRITTEN)
    return {"force": car.force, "gravity": car.gravity, **written, **_random_action_in(env)}


def settle_continuous_mountain_car(env: Environment, values: Values) -> None:
    car = simulator_of(env, _CONTINUOUS_MOUNTAIN_CAR)
    car.power = values["power"]
    _settle_car(car, dynamics.ContinuousMountainCarDynamics(), values, _CONTINUOUS_MOUNTAIN_CAR_WRITTEN)
    _settle_noise(env, values)


def read_continuous_mountain_car(env: Environment) -> Values:
    car = simulator_of(env, _CONTINUOUS_MOUNTAIN_CAR)
    return {"power": car.power, **_read_car(car, _CONTINUOUS_MOUNTAIN_CAR_WRITTEN), **_noise_in(env)}


def _settle_car(car: Any, motion: dynamics.CarDynamics, values: Values, written: Values) -> None:
    """Move what is written into the simulator's step, which is its own where that is nominal."""
    if all(values[name] == nominal for name, nominal in written.items()):
        vars(car).pop("step", None)
    else:
        car.step = partial(_driven, car, motion, dict(values))


def _read_car(car: Any, written: Values) -> Values:
    step = vars(car).get("step")
    return written if step is None else {name: step.args[-1][name] for name in written}


def _driven(car: Any, motion: dynamics.CarDynamics, values: Values, action: Any) -> Any:
    """A car's `step`, with nothing written into it."""
    space = car.action_space
    known = not isinstance(space, Discrete) or space.contains(action)
    require(known, "action", f"in {space}", action, "Take one of `env.action_space`.")
    one = {name: np.array([value]) for name, value in values.items()}
    states, observations, rewards, ended = motion.move(car, np.array([car.state]), np.asarray(action)[np.newaxis], one)
    car.state = states[0]
    if car.render_mode == "human":
        car.render()
    return observations[0], float(rewards[0]), bool(ended[0]), False, {}


def settle_pendulum(env: Environment, values: Values) -> None:
    """A rod falls alike whatever it weighs: mass only resists the motor, so a stronger one is a lighter rod.

    The reward function goes on judging the torque that was asked for.
    """
    swing = simulator_of(env, _PENDULUM)
    swing.g, swing.l, swing.dt = values["gravity"], values["length"], values["timestep"]
    swing.strength_scale = values["strength_scale"]
    swing.m = values["mass"] / swing.strength_scale
    _settle_noise(env, values)


def read_pendulum(env: Environment) -> Values:
    swing = simulator_of(env, _PENDULUM)
    strength = vars(swing).get("strength_scale", 1.0)
    known = {"gravity": swing.g, "length": swing.l, "timestep": swing.dt, "strength_scale": strength}
    return {"mass": swing.m * strength, **known, **_noise_in(env)}


def _world(
    name: str, build: Any, settle: Settle, read: Read, step: dynamics.Dynamics, *parameters: Perturbation
) -> World:
    return World(
        name=name,
        summary=f"Gymnasium's {name}, with noise on the action",
        build=build,
        settle=settle,
        read=read,
        batch=partial(classic_batch, build, step),
        parameters=parameters,
    )


acrobot = _world(
    "acrobot",
    partial(_with_random_action, "Acrobot-v1"),
    settle_acrobot,
    read_acrobot,
    dynamics.AcrobotDynamics(),
    _RANDOM_ACTION,
    # Outside these its fixed time step is too long: Gymnasium's simulator turns angles back for minutes, or for ever.
    Perturbation(name="link_mass", unit="kg", nominal=1.0, low=0.25, high=4.0, least=0.1, most=10.0),
    Perturbation(name="link_length", unit="m", nominal=1.0, low=0.5, high=2.0, least=0.25, most=4.0),
    Perturbation(name="torque", unit="N m", nominal=1.0, low=0.25, high=2.0, above=0.0, most=10.0),
    Perturbation(name="gravity", unit="m/s^2", nominal=9.8, low=2.0, high=20.0, least=0.0, most=50.0),
    Perturbation(name="timestep", unit="s", nominal=0.2, low=0.05, high=0.3, above=0.0, most=0.3),
)

_CAR_GRAVITY = Perturbation(name="gravity", unit="per step^2", nominal=0.0025, low=0.001, high=0.004, least=0.0)
_CAR_TIMESTEP = Perturbation(
    name="timestep",
    unit="nominal steps",
    nominal=1.0,
    low=0.5,
    high=2.0,
    above=0.0,
    log=True,
    note="speeds stay distances per nominal step",
)

mountain_car = _world(
    "mountain-car",
    partial(_with_random_action, "MountainCar-v0"),
    settle_mountain_car,
    read_mountain_car,
    dynamics.MountainCarDynamics(),
    _RANDOM_ACTION,
    Perturbation(name="force", unit="per step^2", nominal=0.001, low=0.0005, high=0.002, above=0.0),
    _CAR_GRAVITY,
    _CAR_TIMESTEP,
)

continuous_mountain_car = _world(
    "mountain-car-continuous",
    partial(_with_noise, "MountainCarContinuous-v0"),
    settle_continuous_mountain_car,
    read_continuous_mountain_car,
    dynamics.ContinuousMountainCarDynamics(),
    _NOISE,
    _NOISE_MEAN,
    Perturbation(name="power", unit="per step^2", nominal=0.0015, low=0.0005, high=0.003, above=0.0),
    _CAR_GRAVITY,
    _CAR_TIMESTEP,
)

pendulum = _world(
    "pendulum",
    partial(_with_noise, "Pendulum-v1"),
    settle_pendulum,
    read_pendulum,
    dynamics.PendulumDynamics(),
    _NOISE,
    _NOISE_MEAN,
    Perturbation(name="gravity", unit="m/s^2", nominal=10.0, low=2.0, high=20.0, least=0.0),
    Perturbation(name="mass", unit="kg", nominal=1.0, low=0.25, high=4.0, above=0.0),
    Perturbation(name="length", unit="m", nominal=1.0, low=0.5, high=2.0, above=0.0),
    Perturbation(name="strength_scale", nominal=1.0, low=0.5, high=2.0, above=0.0, log=True, note="of the motor"),
    Perturbation(name="timestep", unit="s", nominal=0.05, low=0.02, high=0.1, above=0.0),
)

worlds = (acrobot, mountain_car, continuous_mountain_car, pendulum)

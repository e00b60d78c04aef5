"""The paper's CartPole: Gymnasium's, with Gaussian noise on the position of the cart.

Nominal values and ranges are those of the paper's table "Perturbation configurations for Cartpole environment".
"""

from __future__ import annotations

from functools import partial

import gymnasium as gym

from ewok.nominal.noise import StateNoise
from ewok.worlds.dynamics_classic import CartPoleDynamics
from ewok.worlds.parts import amount_of, innermost, simulator_of
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.vector_classic import classic_batch
from ewok.worlds.world import Environment, Values, World

POSITION = 0
NOISE = 0.01  # standard deviation
ID = "ewok/NoisyCartPole-v1"
_ENTRY_POINT = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"


def register() -> None:
    gym.register(
        id=ID,
        entry_point=_ENTRY_POINT,
        max_episode_steps=500,
        reward_threshold=475.0,
        additional_wrappers=(StateNoise.wrapper_spec(std=NOISE, indices=[POSITION]),),
    )


def build() -> Environment:
    return gym.make(ID)


def settle(env: Environment, values: Values) -> None:
    """Set what the paper's table names, and what the simulator works out of it once, when it is made."""
    cart = simulator_of(env, _ENTRY_POINT)
    cart.masspole, cart.masscart = values["pole_mass"], values["cart_mass"]
    cart.length, cart.gravity = values["pole_length"], values["gravity"]
    cart.total_mass = cart.masspole + cart.masscart
    cart.polemass_length = cart.masspole * cart.length
    innermost(env, StateNoise).std = values["noise"]


def read(env: Environment) -> Values:
    cart = simulator_of(env, _ENTRY_POINT)
    return {
        "noise": amount_of(innermost(env, StateNoise), "std"),
        "pole_mass": cart.masspole,
        "pole_length": cart.length,
        "cart_mass": cart.masscart,
        "gravity": cart.gravity,
    }


world = World(
    name="cartpole",
    summary="the paper's CartPole, noise on the cart's position",
    build=build,
    settle=settle,
    read=read,
    batch=partial(classic_batch, build, CartPoleDynamics()),
    parameters=(
        Perturbation(name="noise", unit="m", nominal=NOISE, low=0.0, high=0.1, least=0.0),
        Perturbation(
            name="pole_mass",
            unit="kg",
            nominal=0.1,
            low=0.15,
            high=3.0,
            above=0.0,
            note="the paper's range leaves the nominal value out; grids add it",
        ),
        Perturbation(
            name="pole_length", unit="m", nominal=0.5, low=0.25, high=5.0, above=0.0, note="half of it, as in Gymnasium"
        ),
        Perturbation(name="cart_mass", unit="kg", nominal=1.0, low=0.25, high=5.0, above=0.0),
        Perturbation(name="gravity", unit="m/s^2", nominal=9.8, low=0.1, high=30.0, least=0.0),
    ),
)

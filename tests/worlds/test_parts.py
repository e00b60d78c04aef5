"""The parts of an environment that a world's parameters stand for."""

from __future__ import annotations

import gymnasium as gym
import pytest

import ewok
from ewok.errors import ArgumentError
from ewok.worlds.parts import amount_of, innermost, simulator_of, step_limit

PENDULUM = "gymnasium.envs.classic_control.pendulum:PendulumEnv"


def test_the_simulator_is_of_the_world_s_class() -> None:
    assert simulator_of(gym.make("Pendulum-v1"), PENDULUM).g == 10.0
    with pytest.raises(ArgumentError, match="`env` must be an environment around a `PendulumEnv`.*another world"):
        simulator_of(gym.make("CartPole-v1"), PENDULUM)


def test_the_noise_is_the_innermost_and_one_number_says_how_much() -> None:
    inner = ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.3)
    assert innermost(ewok.ActionNoise(inner, std=0.1), ewok.ActionNoise) is inner
    assert amount_of(inner, "std") == 0.3
    cart = gym.make("CartPole-v1")
    assert amount_of(ewok.StateNoise(cart, std=[0.2] * 4), "std") == 0.2
    with pytest.raises(ArgumentError, match="`std` must be the same in all components"):
        amount_of(ewok.StateNoise(cart, std=[0.1, 0.2, 0.1, 0.1]), "std")


@pytest.mark.parametrize(
    ("world", "other"), [("pendulum", "mountain-car-continuous"), ("acrobot", "mountain-car"), ("cartpole", "pendulum")]
)
def test_an_environment_of_another_world_is_refused_and_stays_as_it_is(world: str, other: str) -> None:
    env = ewok.worlds.get(other).build()
    held = dict(vars(env.unwrapped))
    with pytest.raises(ArgumentError, match="`env` must be an environment"):
        ewok.DomainRandomization(env, world, ["gravity"])
    with pytest.raises(ArgumentError, match="`env` must be an environment"):
        ewok.worlds.get(world).move(env, gravity=5.0)
    assert vars(env.unwrapped) == held


def test_an_environment_of_no_mujoco_world_is_refused_there() -> None:
    pytest.importorskip("dm_control")
    for world in ("hopper", "walker-walk"):
        name = next(iter(ewok.worlds.get(world).perturbations))
        with pytest.raises(ArgumentError, match="`env` must be an environment"):
            ewok.worlds.get(world).move(ewok.worlds.get("pendulum").build(), **{name: 0.1})


def test_the_shortest_time_limit_counts() -> None:
    env = gym.make("CartPole-v1")
    assert step_limit(env) == 500
    assert step_limit(gym.wrappers.TimeLimit(env, 30)) == 30
    assert step_limit(env.unwrapped) == float("inf")

"""One step for many states at once is, to the bit, each simulator's own; whatever the states."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ewok
from ewok.errors import ArgumentError
from ewok.worlds import dynamics_classic as dynamics

NUM = 8
FAMILIES: dict[str, tuple[str, Any, dict[str, float], list[float]]] = {
    "cartpole": (
        "CartPole-v1",
        dynamics.CartPoleDynamics(),
        {"noise": 0.0, "pole_mass": 0.1, "pole_length": 0.5, "cart_mass": 1.0, "gravity": 9.8},
        [2.0, 3.0, 0.2, 3.0],
    ),
    "acrobot": (
        "Acrobot-v1",
        dynamics.AcrobotDynamics(),
        {"random_action": 0.0, "link_mass": 1.0, "link_length": 1.0, "torque": 1.0, "gravity": 9.8, "timestep": 0.2},
        [3.1, 3.1, 12.0, 28.0],
    ),
    "mountain car": (
        "MountainCar-v0",
        dynamics.MountainCarDynamics(),
        {"random_action": 0.0, "force": 0.001, "gravity": 0.0025, "timestep": 1.0},
        [0.6, 0.07],
    ),
    "continuous mountain car": (
        "MountainCarContinuous-v0",
        dynamics.ContinuousMountainCarDynamics(),
        {"noise": 0.0, "noise_mean": 0.0, "power": 0.0015, "gravity": 0.0025, "timestep": 1.0},
        [0.6, 0.07],
    ),
    "pendulum": (
        "Pendulum-v1",
        dynamics.PendulumDynamics(),
        {
            "noise": 0.0,
            "noise_mean": 0.0,
            "mass": 1.0,
            "length": 1.0,
            "strength_scale": 1.0,
            "gravity": 10.0,
            "timestep": 0.05,
        },
        [7.0, 8.0],
    ),
}


@pytest.mark.parametrize("name", list(FAMILIES))
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_it_is_the_simulator_s_own_step(name: str, seed: int) -> None:
    env_id, step, nominal, reach = FAMILIES[name]
    generator = np.random.default_rng(seed)
    states = generator.uniform(-1, 1, (NUM, len(reach))) * np.array(reach)
    env: Any = gym.make(env_id).unwrapped
    env.reset(seed=0)
    if name.startswith("continuous"):
        states = states.astype(np.float32)  # as it stores them
    env.action_space.seed(seed)
    actions = np.array([env.action_space.sample() for _ in range(NUM)])
    values = {key: np.full(NUM, value) for key, value in nominal.items()}
    drawn = np.ones(NUM)  # no random action, no noise
    after, observations, rewards, terminated = step.step(env, states.copy(), actions, drawn, values)
    for row in range(NUM):
        env.state, env.steps_beyond_terminated = states[row].copy(), None
        observation, reward, ended, _, _ = env.step(actions[row])
        np.testing.assert_array_equal(after[row], np.asarray(env.state))
        np.testing.assert_array_equal(observations[row], observation)
        assert (rewards[row], terminated[row]) == (reward, ended)


@pytest.mark.parametrize(("name", "value"), [("link_length", 1e-3), ("link_mass", 1e-5), ("torque", 1e6)])
def test_an_acrobot_that_comes_apart_is_told_and_not_turned_back_for_ever(name: str, value: float) -> None:
    env: Any = gym.make("Acrobot-v1").unwrapped
    nominal = ewok.worlds.get("acrobot").nominal
    values = {name: np.full(2, number) for name, number in nominal.items()}
    values[name][1] = value
    states = np.zeros((2, 4))
    for _ in range(3):
        states, observations, *_ = dynamics.AcrobotDynamics().step(env, states, np.array([2, 2]), np.ones(2), values)
    assert np.isfinite(observations[0]).all()
    assert not np.isfinite(observations[1]).all()
    with pytest.raises(ArgumentError, match=f"`{name}` must be"):
        ewok.worlds.get("acrobot").make(**{name: value})


@pytest.mark.parametrize("corner", list(product(*[("least", "most")] * 3)))
def test_an_acrobot_at_the_bounds_of_its_parameters_is_turned_back_in_no_time(corner: tuple[str, ...]) -> None:
    parameters = [ewok.worlds.get("acrobot").perturbations[name] for name in ("link_mass", "link_length", "gravity")]
    values = {each.name: getattr(each, bound) for each, bound in zip(parameters, corner, strict=True)}
    env, generator = ewok.worlds.get("acrobot").make(torque=10.0, timestep=0.3, **values), np.random.default_rng(0)
    simulator: Any = env.unwrapped
    env.reset(seed=0)
    fastest = np.array([np.pi, np.pi, simulator.MAX_VEL_1, simulator.MAX_VEL_2])
    start = time.process_time()
    for _ in range(200):
        simulator.state = generator.uniform(-fastest, fastest)
        assert np.isfinite(simulator.step(2 * generator.integers(2))[0]).all()
    assert time.process_time() - start < 2.0

"""The other classic control worlds: what moves, moves as physics says."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok

IDS = {
    "acrobot": "Acrobot-v1",
    "mountain-car": "MountainCar-v0",
    "mountain-car-continuous": "MountainCarContinuous-v0",
    "pendulum": "Pendulum-v1",
}
SILENT: dict[str, dict[str, float]] = {
    "acrobot": {"random_action": 0.0},
    "mountain-car": {"random_action": 0.0},
    "mountain-car-continuous": {"noise": 0.0},
    "pendulum": {"noise": 0.0},
}


@pytest.mark.parametrize("name", list(IDS))
def test_without_noise_the_nominal_world_is_gymnasium_s(name: str) -> None:
    env, plain = ewok.worlds.get(name).make(**SILENT[name]), gym.make(IDS[name])
    np.testing.assert_array_equal(env.reset(seed=2)[0], plain.reset(seed=2)[0])
    plain.action_space.seed(0)
    for _ in range(150):
        action = plain.action_space.sample()
        one, other = env.step(action), plain.step(action)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1:4] == other[1:4]


@pytest.mark.parametrize("name", ["acrobot", "mountain-car"])
def test_one_action_in_ten_is_another(name: str) -> None:
    env: Any = ewok.worlds.get(name).make()
    assert isinstance(env, ewok.RandomAction)
    env.reset(seed=0)
    chosen = np.ones(20_000, dtype=int)
    others = env.disturb(chosen)
    assert (others != 1).mean() == pytest.approx(0.1, abs=0.01)
    assert (others == 0).mean() == pytest.approx(0.05, abs=0.01)


def energy(env: Any) -> float:
    """Of an acrobot of two like links, moments about their own centres being m l^2."""
    theta1, theta2, speed1, speed2 = env.state
    mass, length, gravity = env.LINK_MASS_1, env.LINK_LENGTH_1, env.gravity
    elbow = -length * np.cos(theta1)
    heights = -length / 2 * np.cos(theta1), elbow - length / 2 * np.cos(theta1 + theta2)
    v1 = (length / 2 * speed1) ** 2
    turn = speed1 + speed2
    v2 = (length * speed1) ** 2 + (length / 2 * turn) ** 2 + length**2 * speed1 * turn * np.cos(theta2)
    kinetic = mass * (v1 + v2) / 2 + env.LINK_MOI * (speed1**2 + turn**2) / 2
    return float(kinetic + mass * gravity * sum(heights))


@pytest.mark.parametrize("point", [{}, {"gravity": 3.0}, {"link_length": 2.0}, {"link_mass": 4.0, "gravity": 20.0}])
def test_an_acrobot_left_alone_keeps_its_energy_wherever_it_was_moved(point: dict[str, float]) -> None:
    """Mass, length, centre, inertia and gravity fit together, in every term of the equations."""
    env: Any = ewok.worlds.get("acrobot").make(random_action=0.0, **point)
    env.reset(seed=0)
    simulator = env.unwrapped
    simulator.gravity = point.get("gravity", 9.8)
    simulator.state = np.array([1.0, 0.5, 0.0, 0.0])
    before = energy(simulator)
    kinetic = 0.0
    for _ in range(10):
        env.step(1)  # no torque
        kinetic = max(kinetic, abs(energy(simulator) - before))
    assert kinetic < 0.03 * abs(before)
    assert np.abs(simulator.state[2:]).max() > 0.1


def test_torque_of_the_acrobot_is_as_strong_as_it_says() -> None:
    speeds = {}
    for torque in (0.5, 2.0):
        env: Any = ewok.worlds.get("acrobot").make(random_action=0.0, gravity=0.0, torque=torque)
        env.reset(seed=0)
        env.unwrapped.state = np.zeros(4)
        env.step(2)
        speeds[torque] = env.unwrapped.state[3]
    assert speeds[2.0] == pytest.approx(4 * speeds[0.5], rel=0.02)


def test_a_pendulum_swings_as_long_as_it_should() -> None:
    """Small swings about the lowest point take 2 pi sqrt(2 l / (3 g)): it is a rod."""
    for length, gravity in ((1.0, 10.0), (2.0, 5.0)):
        env: Any = ewok.worlds.get("pendulum").make(noise=0.0, length=length, gravity=gravity, timestep=0.005)
        env.reset(seed=0)
        env.unwrapped.state = np.array([np.pi - 0.05, 0.0])
        angles = []
        for _ in range(199):
            env.step(np.zeros(1, dtype=np.float32))
            angles.append(env.unwrapped.state[0] - np.pi)
        quarter = int(np.argmax(np.array(angles) > 0.0)) + 1
        assert quarter * 0.005 == pytest.approx(np.pi / 2 * np.sqrt(2 * length / (3 * gravity)), rel=0.05)


def test_torque_moves_a_heavier_pendulum_less() -> None:
    speeds = {}
    for mass in (0.5, 2.0):
        env: Any = ewok.worlds.get("pendulum").make(noise=0.0, mass=mass, gravity=0.0)
        env.reset(seed=0)
        env.unwrapped.state = np.zeros(2)
        env.step(np.ones(1, dtype=np.float32))
        speeds[mass] = env.unwrapped.state[1]
    assert speeds[0.5] == pytest.approx(4 * speeds[2.0])


@pytest.mark.parametrize(
    ("name", "point"), [("mountain-car", {"force": 0.002}), ("mountain-car-continuous", {"power": 0.003})]
)
def test_a_stronger_car_is_pushed_twice_as_hard(name: str, point: dict[str, float]) -> None:
    pushes = []
    for values in ({}, point):
        speeds = []
        for action in (0, 1) if name == "mountain-car" else (np.zeros(1, np.float32), np.ones(1, np.float32)):
            env: Any = ewok.worlds.get(name).make(**SILENT[name], **values)
            env.reset(seed=0)
            env.unwrapped.state = np.array([-0.5, 0.0])
            speeds.append(float(env.step(action)[0][1]))
        pushes.append(speeds[1] - speeds[0])
    assert pushes[1] == pytest.approx(2 * pushes[0], rel=1e-3)

"""The other classic control worlds: what moves, moves as physics says."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError
from ewok.testing import check_kernel, check_snapshot

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


def test_a_stronger_motor_turns_the_pendulum_as_much_faster_and_the_reward_judges_what_was_asked_for() -> None:
    speeds, rewards = {}, {}
    for strength in (0.5, 2.0):
        env: Any = ewok.worlds.get("pendulum").make(noise=0.0, gravity=0.0, strength_scale=strength)
        env.reset(seed=0)
        env.unwrapped.state = np.zeros(2)
        rewards[strength] = env.step(np.full(1, 1.5, dtype=np.float32))[1]
        speeds[strength] = env.unwrapped.state[1]
    assert speeds[2.0] == pytest.approx(4 * speeds[0.5])
    assert speeds[2.0] == pytest.approx(3.0 * 2.0 * 1.5 * 0.05)
    assert rewards[2.0] == rewards[0.5] == pytest.approx(-0.001 * 1.5**2)


def test_the_strength_of_a_pendulum_s_motor_leaves_its_fall_alone() -> None:
    falls = []
    for strength in (1.0, 2.0):
        env: Any = ewok.worlds.get("pendulum").make(noise=0.0, strength_scale=strength)
        env.reset(seed=0)
        falls.append([env.step(np.zeros(1, dtype=np.float32))[0] for _ in range(20)])
    np.testing.assert_array_equal(falls[0], falls[1])


CARS = ["mountain-car", "mountain-car-continuous"]


def pushed(name: str, num_steps: int, **values: float) -> Any:
    """Where a car that is pushed to the right ends, and how fast."""
    env: Any = ewok.worlds.get(name).make(**SILENT[name], **values)
    env.reset(seed=0)
    env.unwrapped.state = np.array([-0.5, 0.0])
    for _ in range(num_steps):
        observation = env.step(2 if name == "mountain-car" else np.ones(1, np.float32))[0]
    return observation


@pytest.mark.parametrize("name", CARS)
def test_a_car_in_shorter_steps_comes_as_far_in_as_much_time(name: str) -> None:
    (far, fast), (further, faster) = pushed(name, 10), pushed(name, 100, timestep=0.1)
    assert further + 0.5 == pytest.approx(far + 0.5, rel=0.1)  # which is the error of the first order of the longer
    assert faster == pytest.approx(fast, rel=0.02)


@pytest.mark.parametrize("name", CARS)
def test_a_car_at_its_own_time_step_is_gymnasium_s_again(name: str) -> None:
    env: Any = ewok.worlds.get(name).make(timestep=2.0)
    assert "step" in vars(env.unwrapped)
    ewok.worlds.get(name).move(env)
    assert "step" not in vars(env.unwrapped)


def test_a_car_whose_step_was_replaced_takes_the_actions_that_gymnasium_s_takes() -> None:
    speeds: list[float] = []
    for timestep in (1.0, 1.0 + 1e-9):
        env: Any = ewok.worlds.get("mountain-car-continuous").make(timestep=timestep).unwrapped
        env.reset(seed=0)
        observation, reward, *_ = env.step(np.full(1, 3.0, dtype=np.float32))  # clipped, but paid for
        speeds.append(observation[1])
        assert reward == pytest.approx(-0.9)
    assert speeds[1] == pytest.approx(speeds[0], rel=1e-5)
    env = ewok.worlds.get("mountain-car").make(random_action=0.0, timestep=2.0)
    env.reset(seed=0)
    env.step(1)
    with pytest.raises(ArgumentError, match=r"`action` must be in Discrete\(3\), but it is .*5"):
        env.step(5)


@pytest.mark.parametrize("name", CARS)
def test_the_worst_kernel_is_exact_where_what_is_written_into_a_car_s_step_was_moved(name: str) -> None:
    point = {"timestep": 1.7, "gravity": 0.003}
    moved = [ewok.worlds.get(name).make(**point) for _ in range(4)]
    check_kernel(moved[0], twin=moved[1], num_steps=60)
    check_snapshot(moved[2], twin=moved[3], num_steps=60)


@pytest.mark.parametrize("name", CARS)
def test_without_gravity_a_car_stays_where_it_is(name: str) -> None:
    env: Any = ewok.worlds.get(name).make(**SILENT[name], gravity=0.0)
    start = env.reset(seed=0)[0]
    np.testing.assert_array_equal(env.step(1 if name == "mountain-car" else np.zeros(1, np.float32))[0], start)


def test_an_acrobot_in_shorter_steps_comes_as_far_in_as_much_time() -> None:
    ends = []
    for timestep, num_steps in ((0.1, 10), (0.05, 20)):
        env: Any = ewok.worlds.get("acrobot").make(random_action=0.0, timestep=timestep)
        env.reset(seed=0)
        for _ in range(num_steps):
            env.step(2)
        ends.append(env.unwrapped.state)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-3)


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

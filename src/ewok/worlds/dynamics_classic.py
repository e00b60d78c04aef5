"""One step of each classic control simulator, for many states at once: to the bit as the simulator's own.

Where the simulators calculate with Python's numbers, so does this: `math.cos`, and powers of single
numbers, are rounded otherwise than numpy's of arrays; and single precision comes and goes with the actions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from ewok.nominal import classic
from ewok.nominal.noise import other_actions

Array = NDArray[Any]
Values = dict[str, Array]
Stepped = tuple[Array, Array, Array, Array]  # states, observations, rewards, terminated


class Dynamics(Protocol):
    """One simulator's step for many states, each with parameters of its own; all arrays have the batch first."""

    def draw(self, generator: np.random.Generator, num: int) -> Array:
        """The random numbers of `num` steps, (num,), in the order in which single steps draw them."""
        ...

    def step(self, env: Any, states: Array, actions: Array, drawn: Array, values: Values) -> Stepped:
        """`env` is the nominal simulator, for what no parameter moves."""
        ...


def _powers(numbers: Array, exponent: int = 2) -> Array:
    """Each number's power as a single one's is rounded."""
    return np.array([number**exponent for number in numbers.tolist()])


def _cosines(numbers: Array) -> Array:
    """As `math.cos` rounds them."""
    return np.array([math.cos(number) for number in numbers.tolist()])


def _noisy(env: Any, actions: Array, drawn: Array, values: Values) -> Array:
    """As `ActionNoise` does it, on one component."""
    moved = actions + (values["noise_mean"] + values["noise"] * drawn)[:, np.newaxis]
    space = env.action_space
    noisy: Array = np.clip(moved, space.low, space.high).astype(space.dtype)
    return noisy


@final
class CartPoleDynamics:
    def draw(self, generator: np.random.Generator, num: int) -> Array:
        return generator.standard_normal(num)

    def step(self, env: Any, states: Array, actions: Array, drawn: Array, values: Values) -> Stepped:
        x, x_dot, theta, theta_dot = np.ascontiguousarray(states.T)
        pole, length = values["pole_mass"], values["pole_length"]
        total, moment = pole + values["cart_mass"], pole * length
        force = np.where(actions == 1, env.force_mag, -env.force_mag)
        cosine, sine = np.cos(theta), np.sin(theta)
        push = (force + moment * np.square(theta_dot) * sine) / total
        turn = (values["gravity"] * sine - cosine * push) / (length * (4.0 / 3.0 - pole * np.square(cosine) / total))
        pull = push - moment * turn * cosine / total
        moved = (x + env.tau * x_dot, x_dot + env.tau * pull, theta + env.tau * theta_dot, theta_dot + env.tau * turn)
        states = np.stack(moved, axis=1)
        states[:, 0] += values["noise"] * drawn
        judge = classic.CartPoleJudge()
        ended = judge.terminated(env, states)
        return states, judge.observe(env, states), judge.reward(env, actions, None, ended), ended


_FARTHEST = 1e5  # radians that an acrobot can turn in one step and be taken seriously


@final
class AcrobotDynamics:
    def draw(self, generator: np.random.Generator, num: int) -> Array:
        return generator.random(num)

    def step(self, env: Any, states: Array, actions: Array, drawn: Array, values: Values) -> Stepped:
        actions = other_actions(actions, drawn, values["random_action"], 3)
        torques = (actions - 1) * values["torque"]
        links = (values["link_mass"], values["link_length"], values["gravity"])

        def derivative(y: Array) -> Array:
            return np.stack(acrobot_derivative(y, torques, links))

        ahead = _runge_kutta(derivative, np.ascontiguousarray(states.T).astype(np.float64), values["timestep"])
        states = _wrapped(env, ahead)
        judge = classic.AcrobotJudge()
        ended = judge.terminated(env, states)
        return states, judge.observe(env, states), judge.reward(env, actions, None, ended), ended


def acrobot_derivative(y: Array, torque: Array, links: tuple[Array, Array, Array]) -> tuple[Array, ...]:
    """The book's equations, for links that are alike, with their centres half-way and inertia m l^2.

    Args:
        y: angles and speeds, (4, B).
        torque: (B,).
        links: mass, length and gravity, each (B,).
    """
    (theta1, theta2, speed1, speed2), (mass, length, gravity) = y, links
    centre, inertia = length / 2, mass * _powers(length)
    bend, turn = np.cos(theta2), np.sin(theta2)
    squares = _powers(length) + _powers(centre)
    d1 = mass * _powers(centre) + mass * (squares + 2 * length * centre * bend) + inertia + inertia
    d2 = mass * (_powers(centre) + length * centre * bend) + inertia
    phi2 = mass * centre * gravity * np.cos(theta1 + theta2 - np.pi / 2.0)
    phi1 = (
        -mass * length * centre * _powers(speed2) * turn
        - 2 * mass * length * centre * speed2 * speed1 * turn
        + (mass * centre + mass * length) * gravity * np.cos(theta1 - np.pi / 2)
        + phi2
    )
    push = torque + d2 / d1 * phi1 - mass * length * centre * _powers(speed1) * turn - phi2
    acceleration2 = push / (mass * _powers(centre) + inertia - _powers(d2) / d1)
    acceleration1 = -(d2 * acceleration2 + phi1) / d1
    return speed1, speed2, acceleration1, acceleration2


def _runge_kutta(derivative: Callable[[Array], Array], y: Array, dt: Array) -> Array:
    """Gymnasium's `rk4`, for many, each with a time step of its own."""
    half = dt / 2.0
    k1 = derivative(y)
    k2 = derivative(y + half * k1)
    k3 = derivative(y + half * k2)
    k4 = derivative(y + dt * k3)
    ahead: Array = y + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return ahead


def _wrapped(env: Any, y: Array) -> Array:
    """Angles turned back as often as it takes, and speeds bounded; (4, B) -> (B, 4).

    Where physics came apart that would take for ever; those angles are then no numbers.
    """
    y[:2][~(np.abs(y[:2]) < _FARTHEST)] = np.nan
    for angle in y[:2]:
        while (high := angle > np.pi).any():
            angle[high] -= 2 * np.pi
        while (low := angle < -np.pi).any():
            angle[low] += 2 * np.pi
    y[2] = np.clip(y[2], -env.MAX_VEL_1, env.MAX_VEL_1)
    y[3] = np.clip(y[3], -env.MAX_VEL_2, env.MAX_VEL_2)
    return np.ascontiguousarray(y.T)


class CarDynamics(Dynamics, Protocol):
    """A car's step, whose motion can be had without the noise on its actions."""

    def move(self, env: Any, states: Array, actions: Array, values: Values) -> Stepped:
        """Speeds are distances per nominal step; a time step of h makes h of it: v += h a(x), then x += h v."""
        ...


@final
class MountainCarDynamics:
    def draw(self, generator: np.random.Generator, num: int) -> Array:
        return generator.random(num)

    def step(self, env: Any, states: Array, actions: Array, drawn: Array, values: Values) -> Stepped:
        return self.move(env, states, other_actions(actions, drawn, values["random_action"], 3), values)

    def move(self, env: Any, states: Array, actions: Array, values: Values) -> Stepped:
        (position, velocity), timestep = states.T, values["timestep"]
        slope = _cosines(3 * position)
        velocity = velocity + timestep * ((actions - 1) * values["force"] + slope * (-values["gravity"]))
        velocity = np.clip(velocity, -env.max_speed, env.max_speed)
        judge = classic.MountainCarJudge()
        states = judge.confine(env, np.stack([position + timestep * velocity, velocity], axis=1))
        ended = judge.terminated(env, states)
        return states, judge.observe(env, states), judge.reward(env, actions, -1.0, ended), ended


@final
class ContinuousMountainCarDynamics:
    def draw(self, generator: np.random.Generator, num: int) -> Array:
        return generator.standard_normal(num)

    def step(self, env: Any, states: Array, actions: Array, drawn: Array, values: Values) -> Stepped:
        return self.move(env, states, _noisy(env, actions, drawn, values), values)

    def move(self, env: Any, states: Array, actions: Array, values: Values) -> Stepped:
        position, velocity = states.T
        # In single precision, which the power, the slope and the time step take on.
        forces = np.clip(actions[:, 0], env.min_action, env.max_action)
        power, timestep = (values[name].astype(forces.dtype) for name in ("power", "timestep"))
        slope = values["gravity"] * _cosines(3 * position)
        velocity = velocity + timestep * (forces * power - slope.astype(forces.dtype))
        velocity = np.clip(velocity, -env.max_speed, env.max_speed)
        position = np.clip(position + timestep * velocity, env.min_position, env.max_position)
        velocity = np.where((position == env.min_position) & (velocity < 0), 0.0, velocity)
        judge = classic.ContinuousMountainCarJudge()
        exact = np.stack([position, velocity], axis=1)
        ended = judge.terminated(env, exact)  # on the numbers before they are stored
        states = exact.astype(np.float32)
        rewards = np.where(ended, 100.0, 0.0) - _powers(actions[:, 0]) * 0.1  # what was asked for is paid for
        return states, states.copy(), rewards, ended


@final
class PendulumDynamics:
    def draw(self, generator: np.random.Generator, num: int) -> Array:
        return generator.standard_normal(num)

    def step(self, env: Any, states: Array, actions: Array, drawn: Array, values: Values) -> Stepped:
        angle, speed = np.ascontiguousarray(states.T)
        torque = np.clip(_noisy(env, actions, drawn, values), -env.max_torque, env.max_torque)[:, 0]
        mass, length = values["mass"] / values["strength_scale"], values["length"]  # as a pendulum is settled
        gravity, dt = values["gravity"], values["timestep"]
        upright = (angle + np.pi) % (2 * np.pi) - np.pi
        efforts = np.array([number**2 for number in torque])  # in single precision, one by one
        costs = _powers(upright) + 0.1 * _powers(speed) + 0.001 * efforts
        gain = (3.0 / (mass * _powers(length))).astype(torque.dtype)
        speed = speed + (3 * gravity / (2 * length) * np.sin(angle) + gain * torque) * dt
        speed = np.clip(speed, -env.max_speed, env.max_speed)
        states = np.stack([angle + speed * dt, speed], axis=1)
        judge = classic.PendulumJudge()
        return states, judge.observe(env, states), -costs, judge.terminated(env, states)

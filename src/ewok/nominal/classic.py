"""Gymnasium's classic control: deterministic dynamics, so the simulator steps once per distinct action.

What differs between candidates is what the noise did: the moved states are judged all together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import NotResetError
from ewok.nominal.disturbed import require_num
from ewok.nominal.kernel import Candidates, Pending, Transition
from ewok.nominal.restore import gathered, repeated

Array = NDArray[Any]
Outcome = tuple[Array, Array, Array, Array]  # states, observations, rewards, terminated


class Judge(Protocol):
    """How one world's states are kept valid, seen, rewarded and ended; all batch first."""

    @property
    def state_size(self) -> int: ...

    @property
    def moving(self) -> tuple[str, ...]:
        """The attributes of the simulator that a step moves."""
        ...

    def confine(self, env: Any, states: Array) -> Array:
        """The nearest states the simulator itself could be in."""
        ...

    def observe(self, env: Any, states: Array) -> Array: ...

    def terminated(self, env: Any, states: Array) -> Array: ...

    def reward(self, env: Any, actions: Any, rewards: Any, terminated: Array) -> Array:
        """Rewards of moved states, from those of the states they were moved from."""
        ...


@final
class CartPoleJudge:
    state_size = 4
    moving = ("state", "steps_beyond_terminated")

    def confine(self, env: Any, states: Array) -> Array:
        return states

    def observe(self, env: Any, states: Array) -> Array:
        return states.astype(np.float32)

    def terminated(self, env: Any, states: Array) -> Array:
        size = np.abs(states)
        ended: Array = (size[:, 0] > env.x_threshold) | (size[:, 2] > env.theta_threshold_radians)
        return ended

    def reward(self, env: Any, actions: Any, rewards: Any, terminated: Array) -> Array:
        if env._sutton_barto_reward:
            return -terminated.astype(np.float64)
        earned = np.empty(len(terminated))
        earned.fill(1.0)  # a third of the time of `np.ones`
        return earned


@final
class AcrobotJudge:
    state_size = 4
    moving = ("state",)

    def confine(self, env: Any, states: Array) -> Array:
        turned = np.mod(states[:, :2] + np.pi, 2 * np.pi) - np.pi
        angles = np.where(np.abs(states[:, :2]) > np.pi, turned, states[:, :2])
        fastest = np.array([env.MAX_VEL_1, env.MAX_VEL_2])
        return np.concatenate([angles, np.clip(states[:, 2:], -fastest, fastest)], axis=1)

    def observe(self, env: Any, states: Array) -> Array:
        first, second = np.ascontiguousarray(states[:, 0]), np.ascontiguousarray(states[:, 1])
        columns = [np.cos(first), np.sin(first), np.cos(second), np.sin(second), states[:, 2], states[:, 3]]
        return np.stack(columns, axis=1).astype(np.float32)

    def terminated(self, env: Any, states: Array) -> Array:
        ended: Array = -np.cos(states[:, 0]) - np.cos(states[:, 1] + states[:, 0]) > 1.0
        return ended

    def reward(self, env: Any, actions: Any, rewards: Any, terminated: Array) -> Array:
        return np.where(terminated, 0.0, -1.0)


def _confine_car(env: Any, states: Array) -> Array:
    position = np.clip(states[:, 0], env.min_position, env.max_position)
    velocity = np.clip(states[:, 1], -env.max_speed, env.max_speed)
    velocity = np.where((position == env.min_position) & (velocity < 0), 0.0, velocity)
    return np.stack([position, velocity], axis=1)


def _at_goal(env: Any, states: Array) -> Array:
    there: Array = (states[:, 0] >= env.goal_position) & (states[:, 1] >= env.goal_velocity)
    return there


@final
class MountainCarJudge:
    state_size = 2
    moving = ("state",)

    def confine(self, env: Any, states: Array) -> Array:
        return _confine_car(env, states)

    def observe(self, env: Any, states: Array) -> Array:
        return states.astype(np.float32)

    def terminated(self, env: Any, states: Array) -> Array:
        return _at_goal(env, states)

    def reward(self, env: Any, actions: Any, rewards: Any, terminated: Array) -> Array:
        return np.full(len(terminated), rewards)


@final
class ContinuousMountainCarJudge:
    state_size = 2
    moving = ("state",)

    def confine(self, env: Any, states: Array) -> Array:
        return _confine_car(env, states).astype(np.float32)

    def observe(self, env: Any, states: Array) -> Array:
        return states.astype(np.float32)

    def terminated(self, env: Any, states: Array) -> Array:
        return _at_goal(env, states)

    def reward(self, env: Any, actions: Any, rewards: Any, terminated: Array) -> Array:
        return np.where(terminated, 100.0, 0.0) - np.asarray(actions)[:, 0].astype(np.float64) ** 2 * 0.1

    def step_each(self, env: Any, actions: Array) -> Outcome:
        """The simulator's own arithmetic, in its own precisions, for many actions at once."""
        position, velocity = env.state
        pull = 0.0025 * np.cos(np.float64(3 * position))
        forces = np.clip(actions[:, 0], env.min_action, env.max_action)
        velocities = velocity + (forces * env.power - float(pull))
        velocities = np.clip(velocities, -env.max_speed, env.max_speed)
        positions = np.clip(position + velocities, env.min_position, env.max_position)
        velocities = np.where((positions == env.min_position) & (velocities < 0), 0.0, velocities)
        states = np.stack([positions, velocities], axis=1).astype(np.float32)
        # The simulator ends the episode on the numbers before they are stored.
        ended = self.terminated(env, np.stack([positions, velocities], axis=1))
        return states, states.copy(), self.reward(env, actions, ended, ended), ended


@final
class PendulumJudge:
    state_size = 2
    moving = ("state", "last_u")

    def confine(self, env: Any, states: Array) -> Array:
        return np.stack([states[:, 0], np.clip(states[:, 1], -env.max_speed, env.max_speed)], axis=1)

    def observe(self, env: Any, states: Array) -> Array:
        angles = np.ascontiguousarray(states[:, 0])
        return np.stack([np.cos(angles), np.sin(angles), states[:, 1]], axis=1).astype(np.float32)

    def terminated(self, env: Any, states: Array) -> Array:
        return np.zeros(len(states), dtype=bool)

    def reward(self, env: Any, actions: Any, rewards: Any, terminated: Array) -> Array:
        return np.full(len(terminated), rewards)

    def step_each(self, env: Any, actions: Array) -> Outcome:
        """The simulator's own arithmetic for many torques at once."""
        angle, speed = env.state
        torques = np.clip(actions, -env.max_torque, env.max_torque)[:, 0]
        turned = (angle + np.pi) % (2 * np.pi) - np.pi
        # One by one, as the simulator does it: the square of an array is rounded differently.
        efforts = np.array([torque**2 for torque in torques])
        costs = turned**2 + 0.1 * speed**2 + 0.001 * efforts
        gravity = 3 * env.g / (2 * env.l) * np.sin(angle)
        speeds = speed + (gravity + 3.0 / (env.m * env.l**2) * torques) * env.dt
        speeds = np.clip(speeds, -env.max_speed, env.max_speed)
        states = np.stack([angle + speeds * env.dt, speeds], axis=1)
        return states, self.observe(env, states), -costs, self.terminated(env, states)


def _is_one(actions: list[Any]) -> bool:
    """Whether all are the same; of arrays only whether they are one object, which is what matters to speed."""
    if isinstance(actions[0], np.ndarray):
        return len(set(map(id, actions))) == 1
    return actions.count(actions[0]) == len(actions)


@final
class ClassicKernel:
    """Candidates of one classic control simulator."""

    deterministic = True

    def __init__(self, env: Any, judge: Judge) -> None:
        self._env = env
        self._judge = judge
        self._start: dict[str, Any] = {}
        self._states: Array = np.zeros((0, 0))
        self._actions: Any = ()
        self._terminated: Array = np.zeros(0, dtype=bool)
        self._pending = Pending()

    @property
    def state_size(self) -> int:
        return self._judge.state_size

    def draw(self, action: Any, num: int) -> Candidates:
        require_num(num)
        return self.draw_each([action] * num, None)

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        env, judge = self._env, self._judge
        if vars(env).get("state") is None:
            raise NotResetError("There is no state to draw from. Call `reset()` first.")
        self._pending.drop()
        self._start = {name: vars(env)[name] for name in judge.moving}
        num, first = len(actions), actions[0]
        if isinstance(actions, list) and _is_one(actions):
            outcome, state = self._step(first)
            if shift is None:
                states = np.repeat(state[np.newaxis], num, axis=0)
                candidates = repeated(gathered([outcome]), num)
            else:
                states, candidates = self._moved(state + shift, actions, outcome[1])
        else:
            states, candidates = self._step_each(actions)
            if shift is not None:
                states, candidates = self._moved(states + shift, actions, candidates.rewards)
        self._states, self._actions, self._terminated = states, actions, candidates.terminated
        self._pending.open(num)
        return candidates

    def abandon(self) -> None:
        self._pending.drop()

    def commit(self, index: int) -> None:
        index = self._pending.close(index)
        env = self._env
        env.state = self._states[index]
        if "steps_beyond_terminated" in self._judge.moving:
            env.steps_beyond_terminated = 0 if self._terminated[index] else None
        if "last_u" in self._judge.moving:
            env.last_u = np.clip(self._actions[index], -env.max_torque, env.max_torque)[0]
        if env.render_mode == "human":
            env.render()

    def _step_each(self, actions: Sequence[Any]) -> tuple[Array, Candidates]:
        """Next states and transitions before any displacement, in the order of the actions."""
        if "step" in vars(self._env):  # not the simulator's own any more: what was put there knows how it moves
            steps = [self._step(action) for action in actions]
            return np.array([state for _, state in steps]), gathered([outcome for outcome, _ in steps])
        if isinstance(actions[0], np.ndarray) and actions[0].ndim == 1:
            states, observations, rewards, ended = self._judge.step_each(self._env, np.asarray(actions))  # type: ignore[attr-defined]
            no = np.zeros(len(actions), dtype=bool)
            return states, Candidates(observations, rewards, ended, no, [{} for _ in actions])
        distinct, order = np.unique(np.asarray(actions), return_inverse=True)
        steps = [self._step(action) for action in distinct]
        return np.array([steps[i][1] for i in order]), gathered([steps[i][0] for i in order])

    def _step(self, action: Any) -> tuple[Transition, Array]:
        """The simulator's own step from where it stands, and the state it leads to."""
        env = self._env
        mode = env.render_mode
        if mode == "human":
            env.render_mode = None  # candidates are not shown, only the one that is kept
        try:
            outcome = env.step(action)
            return outcome, np.asarray(env.state)
        finally:
            vars(env).update(self._start)
            if mode == "human":
                env.render_mode = mode

    def _moved(self, states: Array, actions: Sequence[Any], rewards: Any) -> tuple[Array, Candidates]:
        """Candidates judged where the noise moved them to."""
        env, judge = self._env, self._judge
        states = judge.confine(env, states)
        ended = judge.terminated(env, states)
        earned = judge.reward(env, actions, rewards, ended)
        no = np.zeros(len(states), dtype=bool)
        infos: list[dict[str, Any]] = [{}] * len(states)  # these worlds have nothing to say of a step
        return states, Candidates(judge.observe(env, states), earned, ended, no, infos)

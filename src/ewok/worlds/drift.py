"""Parameters that move while an episode goes on."""

from __future__ import annotations

import math
from typing import Any, Literal, final

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from ewok.errors import require, require_known
from ewok.nominal.generators import seeded
from ewok.nominal.layers import place_of, plain
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.world import World, get

Course = Literal["constant", "uniform", "random-walk", "cyclic", "up", "down"]
_COURSES = ("constant", "uniform", "random-walk", "cyclic", "up", "down")


@final
class Drift(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Moves one parameter of a world within every episode, between the ends of its tested range.

    Each episode begins anew. `info["world"]` of every step says where the parameter was during it.

    Args:
        env: an environment of the world; what is not named stays as it is there.
        world: the world, or its name.
        parameter: which to move.
        course: how it moves. "constant": stays at a value drawn for the episode; "uniform": a new draw at
            every step. The others begin at the nominal value, or the end nearest to it: "random-walk"
            by Gaussian steps, turned back at the ends; "cyclic" in a sine from end to end; "up" and "down"
            straight to that end, and it stays there.
        period: in steps: of a cycle, or of the way to the end; the steps of a random walk add up to the
            whole range, by their standard deviation, in as many.

    Example:
        >>> import gymnasium as gym, ewok
        >>> from ewok.worlds import Drift
        >>> env = Drift(gym.make("ewok/NoisyCartPole-v1"), "cartpole", "gravity", "cyclic", period=100)
        >>> observation, info = env.reset(seed=0)
        >>> round(info["world"]["gravity"], 6)
        9.8
    """

    snapshot_names = ("generator", "_num_steps", "_fraction")

    def __init__(
        self,
        env: gym.Env[Any, Any],
        world: World | str,
        parameter: str,
        course: Course = "random-walk",
        period: int = 200,
    ) -> None:
        self.world = get(world)
        self._parameter = self.world.perturbation(parameter)
        remedy = "Move it between episodes: ewok.DomainRandomization(env, world, parameter)."
        require(self._parameter.live, "parameter", "one that can move in mid-episode", parameter, remedy)
        require_known(course, _COURSES, "course", "a course")
        self._period = Perturbation(name="period", nominal=200, low=1, high=1000, least=1, whole=True).checked(period)
        RecordConstructorArgs.__init__(
            self, world=self.world.recorded, parameter=parameter, course=course, period=plain(period)
        )
        super().__init__(self.world.prepared(env, [parameter]))
        self.course = course
        self.generator = np.random.default_rng()
        self._num_steps = 0
        self._fraction = 0.0

    @property
    def value(self) -> float:
        """Where the parameter is in the next step."""
        return self._parameter.place(self._fraction)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = seeded(seed, place_of(self.env))
        self._num_steps, self._fraction = 0, self._start()
        self._move()
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "world": {self._parameter.name: self.value, **info.get("world", {})}}

    def step(self, action: Any) -> Any:
        value = self.value
        self._move()
        *transition, info = super().step(action)
        self._num_steps += 1
        self._fraction = self._next()
        return *transition, {**info, "world": {self._parameter.name: value, **info.get("world", {})}}

    def _move(self) -> None:
        """To where it is now; others stay where wrappers beneath have them, which may move them afterwards."""
        self.world.move(self.env, **{**self.world.values_of(self.env), self._parameter.name: self.value})

    def _start(self) -> float:
        random = self.course in ("constant", "uniform")
        return self.generator.random() if random else self._parameter.fraction(self._parameter.nominal)

    def _next(self) -> float:
        """The fraction of the tested range after this many steps."""
        nominal = self._parameter.fraction(self._parameter.nominal)
        way = min(1.0, self._num_steps / self._period)
        if self.course == "uniform":
            return self.generator.random()
        if self.course == "random-walk":
            return _reflected(self._fraction + self.generator.normal(0.0, 1.0 / math.sqrt(self._period)))
        if self.course == "cyclic":
            phase = math.asin(2.0 * nominal - 1.0) + 2.0 * math.pi * self._num_steps / self._period
            return 0.5 + 0.5 * math.sin(phase)
        if self.course == "up":
            return nominal + way * (1.0 - nominal)
        return nominal - way * nominal if self.course == "down" else self._fraction


def _reflected(fraction: float) -> float:
    """Turned back at 0 and at 1, as often as it takes."""
    folded = fraction % 2.0
    return 2.0 - folded if folded > 1.0 else folded

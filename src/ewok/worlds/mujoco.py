"""Gymnasium's MuJoCo worlds, and any task of dm_control's suite. The paper has none: nominal noise and ranges are ours.

What can be moved is read off the compiled model: gravity where something can fall, friction where something
can rub, and so on. Actions have Gaussian noise of a fifth of their half range, as the paper's walkers have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, final

import gymnasium as gym
import numpy as np

from ewok.errors import require_known, require_package
from ewok.nominal.noise import ActionNoise
from ewok.worlds.mujoco_model import SIZE, MovableModel, parameters_of, update
from ewok.worlds.parts import amount_of, innermost, simulator_of
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.pooled import PooledBatch, can_be_shared
from ewok.worlds.vector import Batch
from ewok.worlds.world import Environment, Values, World

_NOISE = 0.2  # of the half range of an action
_NUM_STARTS, _NUM_STEPS = 20, 2  # of episodes whose beginnings tell whether bodies of a size can start at all
_MUJOCO = "gymnasium.envs.mujoco.mujoco_env:MujocoEnv"
_SUITE = "shimmy.dm_control_compatibility:DmControlCompatibilityV0"
_GYMNASIUM = {
    "hopper": "Hopper-v5",
    "half-cheetah": "HalfCheetah-v5",
    "walker2d": "Walker2d-v5",
    "ant": "Ant-v5",
    "humanoid": "Humanoid-v5",
    "humanoid-standup": "HumanoidStandup-v5",
    "swimmer": "Swimmer-v5",
    "reacher": "Reacher-v5",
    "pusher": "Pusher-v5",
    "inverted-pendulum": "InvertedPendulum-v5",
    "inverted-double-pendulum": "InvertedDoublePendulum-v5",
}


def world_of(name: str, build: Callable[[], Environment], summary: str = "", package: str = "mujoco") -> World:
    """A world of any environment that is a `MujocoEnv` of Gymnasium's, or a task of dm_control's suite.

    Args:
        name: what people type.
        build: makes the environment, without noise.
        summary: one line for a list of worlds.
        package: what must be installed.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.worlds import mujoco
        >>> world = mujoco.world_of("slow-hopper", lambda: gym.make("Hopper-v5", forward_reward_weight=0.5))
        >>> env = world.make(mass_scale=1.5)
    """
    physics = _Physics(build)
    return World(
        name=name,
        summary=summary,
        build=physics.noisy,
        parameters=physics.parameters,
        settle=physics.settle,
        read=physics.read,
        batch=physics.batch,
        package=package,
        extra="dmc",
    )


@final
@dataclass(frozen=True)
class _Nominal:
    """What is known of a world once its simulator was made for the first time.

    Attributes:
        parameters: what can be moved.
        model: its numbers.
        start: where Gymnasium's episodes start, around which they draw; None in dm_control.
        shared: whether one simulator can step many episodes.
    """

    parameters: tuple[Perturbation, ...]
    model: MovableModel
    start: Any
    shared: bool

    def settle(self, env: Environment, values: Values) -> None:
        """The physics; noise is not its own."""
        simulator: Any = env.unwrapped
        self.model.move(_model_of(env), values)
        if self.start is not None:
            lengths = self.model.lengths
            simulator.init_qpos[lengths] = self.start[lengths] * values.get("size_scale", 1.0)
        elif not simulator._env._reset_next_step:
            update(simulator._env.physics)

    def with_sizes_that_start(self, env: Environment) -> _Nominal:
        """With sizes tested as far as episodes go on: many of Gymnasium's end where bodies are too high or low."""
        if self.start is None or SIZE not in self.parameters:
            return self
        most = self._num_lost(env, 1.0)

        def end(far: float) -> float:
            sizes = [float(f"{1.0 + part * (far - 1.0):.3g}") for part in (1.0, 0.75, 0.5, 0.25)]
            return next((size for size in sizes if self._num_lost(env, size) <= most), 1.0)

        low, high = end(SIZE.low), end(SIZE.high)
        sized = [replace(SIZE, low=low, high=high)] if low < high else []
        others = [parameter for parameter in self.parameters if parameter is not SIZE]
        place = self.parameters.index(SIZE)
        return replace(self, parameters=(*others[:place], *sized, *others[place:]))

    def _num_lost(self, env: Environment, size: float) -> int:
        """How many of some episodes are over as soon as they begin, with no action taken."""
        self.settle(env, {**{parameter.name: parameter.nominal for parameter in self.parameters}, SIZE.name: size})
        still = np.zeros(env.action_space.shape or (), env.action_space.dtype)
        lost = 0
        for seed in range(_NUM_STARTS):
            env.reset(seed=seed)
            lost += any(env.step(still)[2] for _ in range(_NUM_STEPS))
        return lost


@final
class _Physics:
    """A world's functions, which ask its simulator."""

    def __init__(self, build: Callable[[], Environment]) -> None:
        self._build = build

    def noisy(self) -> Environment:
        env = self._build()
        return ActionNoise(env, std=_NOISE * _half_range(env))

    def parameters(self) -> tuple[Perturbation, ...]:
        return self._nominal.parameters

    def settle(self, env: Environment, values: Values) -> None:
        noise = innermost(env, ActionNoise)
        noise.std, noise.mean = values["noise"], values["noise_mean"]
        self._nominal.settle(env, values)

    def read(self, env: Environment) -> Values:
        noise, model = innermost(env, ActionNoise), _model_of(env)
        found = self._nominal.model.read(model)
        amounts = {"noise": amount_of(noise, "std"), "noise_mean": amount_of(noise, "mean")}
        return {parameter.name: {**found, **amounts}[parameter.name] for parameter in self.parameters()}

    def batch(self, points: Sequence[Values], num_episodes: int) -> Batch | None:
        own = {parameter.name for parameter in self.parameters()}
        if not self._nominal.shared or any(set(point) != own for point in points):
            return None
        return PooledBatch(self.noisy, self.settle, points, num_episodes)

    @cached_property
    def _nominal(self) -> _Nominal:
        env = self.noisy()
        simulator: Any = env.unwrapped
        model, half = _model_of(env), _half_range(env)
        noise = Perturbation(name="noise", unit="std of action", nominal=_NOISE * half, low=0.0, high=half, least=0.0)
        mean = Perturbation(name="noise_mean", unit="action", nominal=0.0, low=-0.5 * half, high=0.5 * half)
        parameters = (noise, mean, *parameters_of(model))
        start = vars(simulator).get("init_qpos")
        start = None if start is None else start.copy()
        nominal = _Nominal(parameters, MovableModel(model), start, can_be_shared(env)).with_sizes_that_start(env)
        env.close()
        return nominal


def _half_range(env: Environment) -> float:
    space: Any = env.action_space
    half = float(np.min(space.high - space.low)) / 2
    return float(f"{half:.6g}") if half < 1e6 else 1.0  # some actions have no bounds


def _model_of(env: Environment) -> Any:
    if isinstance(vars(env.unwrapped).get("frame_skip"), int):
        return simulator_of(env, _MUJOCO).model
    return simulator_of(env, _SUITE)._env.physics.model.ptr


def _gymnasium(name: str) -> World:
    env_id = _GYMNASIUM[name]
    return world_of(name, partial(gym.make, env_id), f"Gymnasium's {env_id}, noise on the action")


def suite_task(task: str) -> World:
    """The world of a task of dm_control's suite, named as in "cheetah-run"."""
    require_package("shimmy", "dmc")
    require_package("dm_control", "dmc")
    from dm_control import suite

    require_known(task, ["-".join(names) for names in suite.ALL_TASKS], "task", "a task of dm_control's suite")
    return world_of(
        f"dm_control/{task}", partial(_suite_env, task), f"dm_control's {task}, noise on the action", "shimmy"
    )


def _suite_env(task: str) -> Environment:
    """With flat observations: those of some tasks have parts without axes, which agents cannot read.

    The springs of the linear ones are drawn as they are made: here always the same, so that it is one world.
    """
    drawn: dict[str, Any] = {"task_kwargs": {"random": 0}} if task.startswith("lqr-") else {}
    env: Any = gym.make(f"shimmy:dm_control/{task}-v0", **drawn)
    if drawn:
        env.unwrapped.np_random = np.random.RandomState()  # episodes that nobody seeded are not
    return gym.wrappers.FlattenObservation(env)


worlds = tuple(_gymnasium(name) for name in _GYMNASIUM)

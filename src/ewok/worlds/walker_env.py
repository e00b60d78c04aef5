"""The walker of dm_control's suite as a Gymnasium environment whose physics can be moved."""
# ruff: noqa: E402

from __future__ import annotations

from typing import Any, final

from ewok.errors import require_known, require_package

require_package("shimmy", "dmc")
require_package("dm_control", "dmc")

import copy

import mujoco
import numpy as np
from dm_control.mujoco import wrapper
from dm_control.rl import control
from dm_control.suite import walker
from gymnasium.spaces import Box
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from shimmy.dm_control_compatibility import DmControlCompatibilityV0

from ewok.nominal.physics import Physics
from ewok.worlds.mujoco_model import update
from ewok.worlds.walker_model import NOMINAL, PARAMETERS, assign, textured_model, values_in

SPEEDS = {"stand": 0.0, "walk": 1.0, "run": 8.0}  # m/s, from which on moving is fully rewarded
_TIME_LIMIT, _CONTROL_TIMESTEP = 25.0, 0.025
_SIZE = 24


@final
class WalkerEnv(DmControlCompatibilityV0):  # type: ignore[misc]
    """`dm_control.suite.walker` with flat observations, and lengths, damping and friction of one's choosing.

    Args:
        task: stand, walk or run.
        thigh_length: half the length of each thigh, m.
        torso_length: half the length of the torso, m.
        joint_damping: of hips, knees and ankles, N m s.
        contact_friction: sliding friction between walker and floor.
        grounded: lift a start out of the floor. The suite's own starts may reach into it, the more so with
            long limbs, and are shot out of it by the contact forces.
        render_mode: as in shimmy.
        render_kwargs: likewise.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = gym.make("ewok/walker-walk-v0", thigh_length=0.3)
        >>> env.reset(seed=0)[0].shape
        (24,)
    """

    def __init__(
        self,
        task: str = "walk",
        *,
        grounded: bool = False,
        render_mode: str | None = None,
        render_kwargs: dict[str, Any] | None = None,
        **values: float,
    ) -> None:
        require_known(task, SPEEDS, "task", "a task of the walker")
        self.speed = SPEEDS[task]
        self.values = values_in(NOMINAL)
        physics = walker.Physics.from_model(wrapper.MjModel(textured_model()))
        environment = control.Environment(
            physics,
            _GroundedWalker(self.speed) if grounded else walker.PlanarWalker(self.speed),
            time_limit=_TIME_LIMIT,
            control_timestep=_CONTROL_TIMESTEP,
            flat_observation=True,
        )
        super().__init__(environment, render_mode, render_kwargs)
        self.observation_space = Box(-np.inf, np.inf, (_SIZE,), np.float64)
        options = {"grounded": grounded, "render_mode": render_mode, "render_kwargs": render_kwargs}
        EzPickle.__init__(self, task, **options, **values)
        self.perturb(**values)

    @property
    def named_values(self) -> dict[str, float]:
        """Where its physics is."""
        return dict(zip(NOMINAL, self.values, strict=True))

    def perturb(self, **values: float) -> None:
        """Move the physics, from where it stands on: what is not named stays as it is."""
        for name in values:
            require_known(name, NOMINAL, "values", "a parameter of the walker")
        named = self.named_values | values
        after = values_in({parameter.name: parameter.checked(named[parameter.name]) for parameter in PARAMETERS})
        if after == self.values:
            return
        physics = self._env.physics
        assign(physics.model.ptr, after)
        self.values = after
        self._ezpickle_kwargs: dict[str, Any] = {**self._ezpickle_kwargs, **values}
        if not self._env._reset_next_step:
            update(physics)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observation, info = super().reset(seed=seed, options=options)
        return observation[control.FLAT_OBSERVATION_KEY], info

    def step(self, action: NDArray[Any]) -> Any:
        observation, *rest = super().step(action)
        return observation[control.FLAT_OBSERVATION_KEY], *rest

    def snapshot(self) -> Any:
        environment = self._env
        data = copy.copy(environment.physics.data.ptr)
        return self.values, data, environment._step_count, environment._reset_next_step

    def restore(self, snapshot: Any) -> None:
        values, data, step_count, reset_next_step = snapshot
        environment = self._env
        self.perturb(**dict(zip(NOMINAL, values, strict=True)))
        Physics(environment.physics.model.ptr).copy(environment.physics.data.ptr, data)
        environment._step_count, environment._reset_next_step = step_count, reset_next_step


class _GroundedWalker(walker.PlanarWalker):  # type: ignore[misc]
    """Starts with no part of it beneath the floor."""

    def initialize_episode(self, physics: Any) -> None:
        super().initialize_episode(physics)
        mujoco.mj_kinematics(physics.model.ptr, physics.data.ptr)
        physics.named.data.qpos["rootz"] += max(0.0, -lowest_point(physics.model.ptr, physics.data.ptr))


def lowest_point(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Height of the lowest point of the walker, all of whose limbs are capsules, over the floor."""
    radius, half_length = model.geom_size[1:, 0], model.geom_size[1:, 1]
    reach = np.abs(data.geom_xmat[1:, 8]) * half_length + radius
    return float((data.geom_xpos[1:, 2] - reach).min())

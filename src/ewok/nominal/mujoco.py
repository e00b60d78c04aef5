"""Gymnasium's MuJoCo environments: candidates on pooled `MjData` that share one model.

The environment's own `step` runs once per candidate, on the pooled data, so rewards, termination
and info are its own to the bit. It reads what was before the simulation from the original data and
what came after from the candidate's.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import NotResetError
from ewok.nominal.batch import copied
from ewok.nominal.disturbed import require_num
from ewok.nominal.generators import generator_of
from ewok.nominal.kernel import Candidates, NominalKernel, Pending, Transition
from ewok.nominal.physics import Physics, PhysicsSaver, Threads
from ewok.nominal.restore import RestoreKernel, finite, gathered, repeated

if TYPE_CHECKING:
    from mujoco import MjData

_HOOK = "_step_mujoco_simulation"


@final
class MujocoKernel:
    """Candidates of one `gymnasium.envs.mujoco.MujocoEnv`.

    For environments whose `step` simulates once, with the action as the control, and changes nothing
    but the physics: those that Gymnasium ships. Register it for a class of your own that does the same.

    Args:
        env: the simulator, without wrappers.
        num_threads: how many threads simulate candidates side by side.

    Example:
        >>> from functools import partial
        >>> import ewok
        >>> from ewok.nominal.mujoco import MujocoKernel
        >>> from gymnasium.envs.mujoco.humanoid_v5 import HumanoidEnv
        >>> ewok.register_kernel(HumanoidEnv, partial(MujocoKernel, num_threads=2))
    """

    deterministic = True

    def __init__(self, env: Any, num_threads: int = 1) -> None:
        self._env = env
        self._threads = Threads(num_threads)
        self._physics = Physics(env.model)
        self._pool: list[MjData] = []
        self._kept: list[int] = []
        self._pending = Pending()

    @property
    def state_size(self) -> int:
        return int(self._env.model.nq + self._env.model.nv)

    def draw(self, action: Any, num: int) -> Candidates:
        """Without noise the simulator is deterministic: one simulation answers for all."""
        require_num(num)
        one = self.draw_each([action], None)
        self._kept = self._kept * num
        self._pending.open(len(self._kept))
        return repeated(one, num)

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        if generator_of(self._env) is None:
            raise NotResetError("There is no state to draw from. Call `reset()` first.")
        self._pending.drop()
        self._fit_pool(len(actions))
        ahead = self._threads.num > 1 and len(actions) > 1
        if ahead:
            self._simulate_ahead(actions, shift)
        stable = self._physics.warnings(self._env.data)
        outcomes, kept, error = [], [], None
        for index, action in enumerate(actions):
            try:
                outcome = self._step(index, action, None if shift is None else shift[index], ahead)
            except Exception as raised:
                error = raised
                continue
            if self._physics.warnings(self._pool[index]) == stable:
                outcomes.append(outcome)
                kept.append(index)
        if error is not None and not outcomes:
            raise error
        candidates, self._kept = finite(gathered(outcomes), kept, len(actions))
        self._pending.open(len(candidates))
        return candidates

    def abandon(self) -> None:
        self._pending.drop()

    def commit(self, index: int) -> None:
        self._physics.copy(self._env.data, self._pool[self._kept[self._pending.close(index)]])
        if self._env.render_mode == "human":
            self._env.render()

    def _fit_pool(self, num: int) -> None:
        if self._physics.model is not self._env.model:
            self._physics, self._pool = Physics(self._env.model), []
        while len(self._pool) < num:
            self._pool.append(self._physics.data())

    def _simulate_ahead(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> None:
        """All simulations side by side, before the environment's own Python reads the results."""
        env, physics = self._env, self._physics

        def simulate(index: int) -> None:
            physics.copy(self._pool[index], env.data)
            moved = None if shift is None else shift[index]
            physics.simulate(self._pool[index], actions[index], env.frame_skip, moved)

        self._threads.each(simulate, len(actions))

    def _step(self, index: int, action: Any, shift: NDArray[np.float64] | None, ahead: bool) -> Transition:
        """The environment's own step, with the simulation diverted to the candidate's data."""
        env, physics = self._env, self._physics
        original, target, mode = env.data, self._pool[index], env.render_mode

        def simulate(control: Any, num_frames: int) -> None:
            if not ahead:
                if env.data is original:
                    physics.copy(target, original)
                physics.simulate(target, control, num_frames, shift)
            env.data = target

        vars(env)[_HOOK] = simulate
        if mode == "human":
            env.render_mode = None  # candidates are not shown, only the one that is kept
        try:
            observation, reward, terminated, truncated, info = env.step(action)
        finally:
            del vars(env)[_HOOK]
            env.data = original
            if mode == "human":
                env.render_mode = mode
        return copied(observation), float(reward), bool(terminated), bool(truncated), info


_STRUCTURE = frozenset(
    {"model", "data", "mujoco_renderer", "action_space", "observation_space", "spec", "metadata"}
    | {"_np_random", "render_mode", _HOOK}
)


def memory_of(env: Any) -> dict[str, Any]:
    """What an environment remembers beside its physics: a goal, a counter, a previous position."""
    return {name: copy.deepcopy(value) for name, value in vars(env).items() if name not in _STRUCTURE}


def mujoco_kernel(env: Any) -> NominalKernel:
    """Pooled data for the environments that Gymnasium ships; a subclass may do anything in its step."""
    return MujocoKernel(env) if is_shipped(env) else RestoreKernel(env)


def is_shipped(env: Any) -> bool:
    """Whether it is one of Gymnasium's own, whose step changes nothing but the physics."""
    return type(env).__module__.startswith("gymnasium.envs.mujoco.")


@final
class MujocoSaver:
    """Saves a `MujocoEnv`: physics, and what the environment itself remembers."""

    def save(self, env: Any) -> Any:
        return PhysicsSaver().save(env.model, env.data), memory_of(env)

    def load(self, env: Any, saved: Any) -> None:
        physics, memory = saved
        PhysicsSaver().load(env.model, env.data, physics)
        vars(env).update(copy.deepcopy(memory))


def instabilities(env: Any) -> bytes:
    """How often the physics of a simulator came apart without a word; empty for one that is not MuJoCo's."""
    model, data = vars(env).get("model"), vars(env).get("data")
    if model is None or not type(model).__module__.startswith("mujoco"):
        return b""
    return Physics(model).warnings(data)

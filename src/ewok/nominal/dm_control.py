"""dm_control's suite through shimmy: candidates on pooled physics that share one model."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import NotResetError
from ewok.nominal.disturbed import require_num
from ewok.nominal.kernel import Candidates, NominalKernel, Pending, Transition
from ewok.nominal.physics import Physics, PhysicsSaver, Threads
from ewok.nominal.restore import RestoreKernel, finite, gathered, repeated
from ewok.nominal.snapshot import Saver


@final
class DmControlKernel:
    """Candidates of one `dm_control.rl.control.Environment` inside shimmy's wrapper.

    Args:
        env: shimmy's `DmControlCompatibilityV0`, without wrappers.
        num_threads: how many threads simulate candidates side by side.
    """

    deterministic = True

    def __init__(self, env: Any, num_threads: int = 1) -> None:
        from dm_control.rl.control import PhysicsError
        from dm_env import StepType, TimeStep
        from shimmy.utils.dm_env import dm_env_step2gym_step

        self._error, self._types, self._time_step, self._convert = (
            PhysicsError,
            StepType,
            TimeStep,
            dm_env_step2gym_step,
        )
        self._env, self._control = env, env._env
        self._threads = Threads(num_threads)
        self._model: Any = None
        self._pool: list[Any] = []
        self._kept: list[int] = []
        self._ended: list[bool] = []
        self._pending = Pending()

    @property
    def state_size(self) -> int:
        model = self._control.physics.model
        return int(model.nq + model.nv)

    def draw(self, action: Any, num: int) -> Candidates:
        """Without noise the simulator is deterministic: one simulation answers for all."""
        require_num(num)
        one = self.draw_each([action], None)
        self._kept, self._ended = self._kept * num, self._ended * num
        self._pending.open(len(self._kept))
        return repeated(one, num)

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        if self._control._reset_next_step:
            raise NotResetError("There is no state to draw from: call `reset()` before, and after the end.")
        self._pending.drop()
        self._fit_pool(len(actions))
        shifts = [None] * len(actions) if shift is None else list(shift)
        errors = self._threads.each(lambda i: self._simulate(i, actions[i], shifts[i]), len(actions))
        kept = [index for index, error in enumerate(errors) if error is None]
        outcomes = [self._judge(self._pool[index]) for index in kept]
        candidates, self._kept = finite(gathered(outcomes), kept, len(actions))
        if not self._kept:
            raise next((error for error in errors if error is not None), self._error("no outcome is finite"))
        self._ended = (candidates.terminated | candidates.truncated).tolist()
        self._pending.open(len(candidates))
        return candidates

    def abandon(self) -> None:
        self._pending.drop()

    def commit(self, index: int) -> None:
        index = self._pending.close(index)
        physics = self._control.physics
        self._model.copy(physics.data.ptr, self._pool[self._kept[index]].data.ptr)
        self._control._step_count += 1
        self._control._reset_next_step = self._ended[index]
        if self._env.render_mode == "human":
            self._env.viewer.render("human")

    def _fit_pool(self, num: int) -> None:
        physics = self._control.physics
        if self._model is None or self._model.model is not physics.model.ptr:
            self._model, self._pool = Physics(physics.model.ptr), []
        while len(self._pool) < num:
            self._pool.append(physics.copy(share_model=True))

    def _simulate(self, index: int, action: Any, shift: NDArray[np.float64] | None) -> Exception | None:
        """One candidate's physics. Returns rather than raises what makes it no candidate."""
        control, physics = self._control, self._pool[index]
        self._model.copy(physics.data.ptr, control.physics.data.ptr)
        try:
            control.task.before_step(action, physics)
            physics.step(control._n_sub_steps)
            if shift is not None:
                self._model.displace(physics.data.ptr, shift)
                if self._model.warnings(physics.data.ptr) != self._model.warnings(control.physics.data.ptr):
                    return self._error("Physics state is invalid after `StateNoise` moved it.")  # type: ignore[no-any-return]
        except self._error as error:
            return error  # type: ignore[no-any-return]
        return None

    def _judge(self, physics: Any) -> Transition:
        """What `dm_control.rl.control.Environment.step` does once the physics has moved."""
        control, task = self._control, self._control.task
        task.after_step(physics)
        reward = task.get_reward(physics)
        observation = task.get_observation(physics)
        if control._flat_observation:
            observation = _flattened(observation)
        timed_out = control._step_count + 1 >= control._step_limit
        discount = 1.0 if timed_out else task.get_termination(physics)
        kind = self._types.MID if discount is None else self._types.LAST
        step = self._time_step(kind, reward, 1.0 if discount is None else discount, observation)
        transition: Transition = self._convert(step)
        return transition


def _flattened(observation: Any) -> Any:
    from dm_control.rl.control import flatten_observation

    return flatten_observation(observation)


def dm_control_kernel(env: Any) -> NominalKernel:
    """Pooled physics for the suite's own tasks; others may remember, or draw, while they judge a step."""
    return DmControlKernel(env) if is_suite_task(env) else RestoreKernel(env)


def is_suite_task(env: Any) -> bool:
    """Whether it is a task of the suite itself, whose step changes nothing but the physics."""
    return _is_suite(env) and type(env._env.task).__module__.startswith("dm_control.suite.")


def dm_control_saver(env: Any) -> Saver | None:
    return DmControlSaver() if _is_suite(env) else None


def _is_suite(env: Any) -> bool:
    kind = type(vars(env).get("_env"))
    return f"{kind.__module__}:{kind.__qualname__}" == "dm_control.rl.control:Environment"


@final
class DmControlSaver:
    """Saves a suite environment: physics, what the task remembers, and where in the episode it is."""

    def save(self, env: Any) -> Any:
        control = env._env
        physics = PhysicsSaver().save(control.physics.model.ptr, control.physics.data.ptr)
        return physics, memory_of(control.task), control._step_count, control._reset_next_step

    def load(self, env: Any, saved: Any) -> None:
        control = env._env
        physics, memory, control._step_count, control._reset_next_step = saved
        PhysicsSaver().load(control.physics.model.ptr, control.physics.data.ptr, physics)
        vars(control.task).update(copy.deepcopy(memory))


def memory_of(task: Any) -> dict[str, Any]:
    """What a task remembers beside its physics."""
    return {name: copy.deepcopy(value) for name, value in vars(task).items() if name != "_random"}

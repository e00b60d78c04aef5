"""The walker's own nominal kernel: what candidates are seen as, and earn, is worked out for all of them at once.

Bit for bit what dm_control's task makes of each alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import NotResetError
from ewok.nominal.disturbed import require_num
from ewok.nominal.kernel import Candidates, Pending
from ewok.nominal.physics import Physics, Threads
from ewok.nominal.restore import repeated

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

Array = NDArray[np.float64]

_STAND_HEIGHT = 1.2  # m, of the torso, from which on standing is fully rewarded
_TORSO = 1
_SCALE = np.sqrt(-2 * np.log(0.1))  # of the Gaussian that falls to 0.1 at the margin


def rewards_of(height: Array, upright: Array, speed: Array, target: float) -> Array:
    """What `dm_control.suite.walker.PlanarWalker.get_reward` gives, to the bit.

    Args:
        height: (N,) of the torso.
        upright: (N,) cosine between the torso and the vertical.
        speed: (N,) of the centre of mass, horizontally.
        target: speed from which on moving is fully rewarded; 0 to reward standing alone.
    """
    distance = (_STAND_HEIGHT - height) / (_STAND_HEIGHT / 2) * _SCALE
    # One by one, as the task does it: the square of an array is rounded differently.
    squares = np.array([number**2 for number in distance.tolist()])
    standing = np.where(height >= _STAND_HEIGHT, 1.0, np.exp(-0.5 * squares))
    stand = (3 * standing + (1 + upright) / 2) / 4
    if target == 0.0:
        return stand
    short = (target - speed) / (target / 2) * 0.5
    moving = np.where(speed >= target, 1.0, np.where(np.abs(short) < 1, 1 - short, 0.0))
    rewards: Array = stand * (5 * moving + 1) / 6
    return rewards


@final
class Walkers:
    """Room for walkers to be simulated in, one for each of `models`; each can be put into any state."""

    def __init__(self, models: Sequence[MjModel], num_frames: int) -> None:
        import mujoco

        self._steps, self._step1 = mujoco.mj_step, mujoco.mj_step1
        self._set, self._get = mujoco.mj_setState, mujoco.mj_getState
        self._integration = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        self._num_frames = num_frames
        self._models = models
        self.state_size = int(mujoco.mj_stateSize(models[0], self._integration))
        self.data: list[MjData] = [mujoco.MjData(model) for model in models]
        self._controls = [data.ctrl for data in self.data]
        self._warnings = [data.warning.number for data in self.data]
        self.seen = [_seen(data) for data in self.data]

    def __len__(self) -> int:
        return len(self.data)

    def place(self, index: int, state: Array) -> None:
        """Put a walker into an integration state; what follows from it is worked out when it advances."""
        self._set(self._models[index], self.data[index], state, self._integration)

    def advance(self, index: int, control: Any) -> bool:
        """One step of the suite's, ending with all that follows from the new state. Returns whether it was stable."""
        model, data, warnings = self._models[index], self.data[index], self._warnings[index]
        before = warnings.tobytes()
        self._controls[index][:] = control
        self._steps(model, data, self._num_frames)
        self._step1(model, data)
        return bool(warnings.tobytes() == before)

    def save(self, index: int, state: Array) -> None:
        """Write the integration state of a walker into `state`."""
        self.save_other(self.data[index], state)

    def save_other(self, data: MjData, state: Array) -> None:
        """That of a walker which stands elsewhere."""
        self._get(self._models[0], data, state, self._integration)


_NUM_BODIES = 7
_MATRICES = 9 * np.arange(_NUM_BODIES)
_HEIGHT = 9 * _NUM_BODIES  # column of a table whose rows are what `_seen` gives
_SPEED = _HEIGHT + 1 + 9
NUM_SEEN = _SPEED + 1
_UPRIGHT = 8  # zz of the torso
_OBSERVED = np.concatenate([np.stack([_MATRICES, _MATRICES + 2], axis=1).ravel(), np.arange(_HEIGHT, _SPEED)])


def _seen(data: MjData) -> list[Array]:
    """Arrays that stay where they are while the walker moves: orientations, height, velocities, speed."""
    return [data.xmat[_TORSO:].reshape(-1), data.xpos[_TORSO, 2:], data.qvel, data.sensordata[:1]]


def judged(table: Array, target: float) -> tuple[Array, Array]:
    """What walkers are observed as, (N, 24), and earn, (N,), from a table with a row of what is seen for each."""
    return table[:, _OBSERVED], rewards_of(table[:, _HEIGHT], table[:, _UPRIGHT], table[:, _SPEED], target)


@final
class WalkerKernel:
    """Candidates of one `ewok.worlds.walker_env.WalkerEnv`.

    Args:
        env: the simulator, without wrappers.
        num_threads: how many threads simulate candidates side by side.
    """

    deterministic = True

    def __init__(self, env: Any, num_threads: int = 1) -> None:
        from dm_control.rl.control import PhysicsError
        from dm_env import StepType

        self._error, self._types = PhysicsError, StepType
        self._env, self._control = env, env._env
        self._threads = Threads(num_threads)
        self._physics = Physics(self._control.physics.model.ptr)
        self._pool = self._pooled(1)
        self._start = np.zeros(self._pool.state_size)
        self._kept: list[int] = []
        self._over = False
        self._pending = Pending()

    @property
    def state_size(self) -> int:
        return int(self._physics.model.nq + self._physics.model.nv)

    def draw(self, action: Any, num: int) -> Candidates:
        """Without noise the simulator is deterministic: one simulation answers for all."""
        require_num(num)
        one = self.draw_each([action], None)
        self._kept = self._kept * num
        self._pending.open(len(self._kept))
        return repeated(one, num)

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        control, num = self._control, len(actions)
        if control._reset_next_step:
            raise NotResetError("There is no state to draw from: call `reset()` before, and after the end.")
        self._pending.drop()
        if len(self._pool) < num:
            self._pool = self._pooled(num)
        self._pool.save_other(control.physics.data.ptr, self._start)
        shifts = [None] * num if shift is None else list(shift)
        stable = self._threads.each(lambda index: self._simulate(index, actions[index], shifts[index]), num)
        kept = [index for index in range(num) if stable[index]]
        if not kept:
            raise self._error("Physics state is invalid: every outcome of this action diverged.")
        table = np.concatenate([part for index in kept for part in self._pool.seen[index]]).reshape(len(kept), -1)
        observations, rewards = judged(table, self._env.speed)
        self._over = control._step_count + 1 >= control._step_limit
        info = {"timestep.discount": 1.0, "timestep.step_type": self._types.LAST if self._over else self._types.MID}
        self._kept = kept
        self._pending.open(len(kept))
        return Candidates(
            observations,
            rewards,
            np.zeros(len(kept), dtype=bool),
            np.full(len(kept), self._over),
            [info.copy() for _ in kept],
            num - len(kept),
        )

    def abandon(self) -> None:
        self._pending.drop()

    def commit(self, index: int) -> None:
        index = self._pending.close(index)
        control = self._control
        self._physics.copy(control.physics.data.ptr, self._pool.data[self._kept[index]])
        control._step_count += 1
        control._reset_next_step = self._over
        if self._env.render_mode == "human":
            self._env.viewer.render("human")

    def _pooled(self, num: int) -> Walkers:
        return Walkers([self._physics.model] * num, self._control._n_sub_steps)

    def _simulate(self, index: int, action: Any, shift: NDArray[np.float64] | None) -> bool:
        """One candidate's physics. Returns whether it is a candidate at all."""
        walkers = self._pool
        walkers.place(index, self._start)
        stable = walkers.advance(index, action)
        if shift is not None:
            before = self._physics.warnings(walkers.data[index])
            self._physics.displace(walkers.data[index], shift)
            stable = stable and self._physics.warnings(walkers.data[index]) == before
        return stable

"""MuJoCo data, copied whole: saving, pooling, moving a state, and noticing that it diverged.

Copying only the integration state leaves derived quantities behind (body positions, contact
forces), which rewards and observations read; `mj_copyData` costs two microseconds.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import require

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

# Large, and never moved. Height fields are: some tasks grow new terrain at reset.
_FIXED = ("mesh_", "tex_", "skin_", "flex_", "name_", "names", "text_", "paths", "bvh_", "oct_")


def available_threads() -> int:
    """How many threads this process may use: its share of the processors, or what OMP_NUM_THREADS allows."""
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    if allowed.isdecimal() and int(allowed) > 0:
        return int(allowed)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@final
class Threads:
    """Runs one function over many candidates side by side, a share each: handing over costs as much as a step."""

    def __init__(self, num_threads: int) -> None:
        require(num_threads >= 1, "num_threads", "at least 1", num_threads, "Leave it out for one thread.")
        self.num = num_threads
        self._pool = ThreadPoolExecutor(num_threads) if num_threads > 1 else None

    def each(self, function: Callable[[int], Any], num: int) -> list[Any]:
        """`function(0)` to `function(num - 1)`, in this order. Indices equal modulo `self.num` never run at once."""
        if self._pool is None or num == 1:
            return [function(index) for index in range(num)]
        results: list[Any] = [None] * num

        def share(first: int) -> None:
            for index in range(first, num, self.num):
                results[index] = function(index)

        list(self._pool.map(share, range(min(self.num, num))))
        return results


@final
class Physics:
    """What can be done with the data of one model."""

    def __init__(self, model: MjModel) -> None:
        import mujoco  # not in the base install; whoever has a MuJoCo environment has it

        self._mujoco = mujoco
        self.model = model
        warning = mujoco.mjtWarning
        self._bad = slice(int(warning.mjWARN_BADQPOS), int(warning.mjWARN_BADQACC) + 1)

    def data(self) -> MjData:
        return self._mujoco.MjData(self.model)

    def copy(self, target: MjData, source: MjData) -> None:
        self._mujoco.mj_copyData(target, self.model, source)

    def simulate(self, data: MjData, control: Any, num_frames: int, shift: NDArray[np.float64] | None) -> None:
        """What Gymnasium's `MujocoEnv` does for one step, then the displacement of the state."""
        data.ctrl[:] = control
        self._mujoco.mj_step(self.model, data, nstep=num_frames)
        if shift is not None:
            self.displace(data, shift)
        self._mujoco.mj_rnePostConstraint(self.model, data)

    def displace(self, data: MjData, shift: NDArray[np.float64]) -> None:
        """Move `qpos`, then `qvel`, and all that follows from them, looking for what is too large."""
        num_positions = self.model.nq
        data.qpos[:] += shift[:num_positions]
        data.qvel[:] += shift[num_positions:]
        self._mujoco.mj_normalizeQuat(self.model, data.qpos)
        self._mujoco.mj_checkPos(self.model, data)
        self._mujoco.mj_checkVel(self.model, data)
        self._mujoco.mj_forward(self.model, data)
        self._mujoco.mj_checkAcc(self.model, data)

    def warnings(self, data: MjData) -> bytes:
        """How often the simulation was unstable: MuJoCo then resets the state, and only counts it."""
        counts: bytes = data.warning.number[self._bad].tobytes()
        return counts


@final
class PhysicsSaver:
    """Saves the data and all numbers of the model and its options: some tasks change them at reset."""

    def save(self, model: MjModel, data: MjData) -> tuple[MjData, dict[str, Any]]:
        return copy.copy(data), numbers_of(model)

    def load(self, model: MjModel, data: MjData, saved: tuple[MjData, dict[str, Any]]) -> None:
        source, numbers = saved
        set_numbers(model, numbers)
        Physics(model).copy(data, source)


def numbers_of(model: MjModel) -> dict[str, Any]:
    """All numbers of a model, its options and its statistics, in arrays of their own."""
    names = _number_names(model)
    volumes = [] if model.nmesh else ["bvh_aabb"]  # those of meshes are large, and never moved
    return {name: _copied(_get(model, name)) for name in (*names, *volumes)}


def set_numbers(model: MjModel, numbers: Mapping[str, Any]) -> None:
    """Give a model these numbers; those that are not named stay."""
    for name, number in numbers.items():
        current = _get(model, name)
        if isinstance(current, np.ndarray):
            np.copyto(current, number)
        elif current != number:
            part, _, attribute = name.partition(".")
            setattr(getattr(model, part), attribute, number)


_PARTS = ("opt", "stat")  # the solver reads statistics too
_NUMBER_NAMES: dict[type, list[str]] = {}


def _get(model: MjModel, name: str) -> Any:
    part, dot, attribute = name.partition(".")
    return getattr(getattr(model, part), attribute) if dot else getattr(model, name)


def _copied(number: Any) -> Any:
    return number.copy() if isinstance(number, np.ndarray) else number


def _number_names(model: MjModel) -> list[str]:
    """The attributes of a model that are arrays of numbers, and those of its options and statistics."""
    names = _NUMBER_NAMES.get(type(model))
    if names is None:
        names = [n for n in dir(model) if not n.startswith(("_", *_FIXED)) and isinstance(_get(model, n), np.ndarray)]
        for part in _PARTS:
            dotted = [f"{part}.{n}" for n in dir(getattr(model, part)) if not n.startswith("_")]
            names += [n for n in dotted if isinstance(_get(model, n), np.ndarray | int | float)]
        _NUMBER_NAMES[type(model)] = names
    return names

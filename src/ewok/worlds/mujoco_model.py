"""A compiled MuJoCo model, moved in place as if it had been compiled so.

What MuJoCo works out when it compiles (inertias over the whole tree, the constants that its solver
scales by) is worked out again by `mj_setConst`; bounding volumes and initial heights follow sizes here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import require
from ewok.worlds.perturbation import Perturbation

MASS = Perturbation(
    name="mass_scale", nominal=1.0, low=0.5, high=2.0, above=0.0, log=True, note="of all bodies, with their inertia"
)
SIZE = Perturbation(
    name="size_scale",
    nominal=1.0,
    low=0.8,
    high=1.25,
    above=0.0,
    log=True,
    note="of all bodies, of the same density; starts are as much higher",
)
FRICTION = Perturbation(
    name="friction_scale", nominal=1.0, low=0.1, high=3.0, least=0.0, log=True, note="of both sides of every contact"
)
DAMPING = Perturbation(
    name="damping_scale", nominal=1.0, low=0.2, high=3.0, least=0.0, log=True, note="of all joints that have some"
)
STRENGTH = Perturbation(
    name="strength_scale", nominal=1.0, low=0.5, high=2.0, least=0.0, log=True, note="of all actuators"
)

# Everything that moving a model writes to, but for what `mj_setConst` works out.
_MOVED = (
    *("body_mass", "body_inertia", "body_pos", "body_ipos", "jnt_pos", "site_pos", "qpos0", "qpos_spring", "key_qpos"),
    *("geom_pos", "geom_size", "geom_rbound", "geom_aabb", "bvh_aabb", "geom_friction", "pair_friction"),
    *("dof_damping", "actuator_gainprm", "actuator_biasprm", "actuator_forcerange", "jnt_actfrcrange"),
)

_NUM_TRIES, _TRY, _HELD = 3, 1_000, 50  # runs, steps of each, steps for which controls are held
_OPTIONS = {"timestep": "timestep", "fluid_density": "density", "fluid_viscosity": "viscosity"}


def parameters_of(model: Any) -> list[Perturbation]:
    """What can be moved in this model, and makes a difference to it."""
    found = [MASS]
    if _can_be_scaled(model):
        found.append(SIZE)
    if _has_friction(model):
        found.append(FRICTION)
    if (model.dof_damping > 0.0).any():
        found.append(DAMPING)
    if _has_plain_actuators(model):
        found.append(STRENGTH)
    if _falls(model):
        found.append(_absolute("gravity", "m/s^2", math.hypot(*model.opt.gravity), least=0.0))
    if model.opt.density > 0.0:
        found.append(_absolute("fluid_density", "kg/m^3", float(model.opt.density), least=0.0))
    if model.opt.viscosity > 0.0:
        found.append(_absolute("fluid_viscosity", "Pa s", float(model.opt.viscosity), least=0.0))
    return [*found, _absolute("timestep", "s", float(model.opt.timestep), above=0.0)]


def _absolute(
    name: str, unit: str, nominal: float, *, above: float = -math.inf, least: float = -math.inf
) -> Perturbation:
    low, high = (float(f"{nominal * factor:.6g}") for factor in (0.5, 1.5))
    return Perturbation(name=name, unit=unit, nominal=nominal, low=low, high=high, above=above, least=least)


def _can_be_scaled(model: Any) -> bool:
    """Shapes from files, ropes over surfaces and anchors between bodies have sizes in places of their own."""
    import mujoco

    only_joints = bool((model.wrap_type == int(mujoco.mjtWrap.mjWRAP_JOINT)).all())
    plain_fluid = not (model.geom_fluid[:, 0] > 0.0).any()
    return only_joints and plain_fluid and model.nmesh == model.nhfield == model.neq == model.nflex == 0


def _has_friction(model: Any) -> bool:
    """Whether anything rubs, in a short time of random controls."""
    import mujoco

    data, generator = mujoco.MjData(model), np.random.default_rng(0)
    low, high = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, [-1.0, 1.0]).T
    for _ in range(_NUM_TRIES):
        mujoco.mj_resetData(model, data)
        for _ in range(_TRY // _HELD):
            data.ctrl[:] = generator.uniform(low, high)
            mujoco.mj_step(model, data, nstep=_HELD)
            if (data.contact.dim > 1).any():
                return True
    return False


def _has_plain_actuators(model: Any) -> bool:
    """Forces that are affine in control, length and speed: those of motors and servos, not of muscles."""
    import mujoco

    gains = (int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE))
    biases = (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))
    plain = np.isin(model.actuator_gaintype, gains).all() and np.isin(model.actuator_biastype, biases).all()
    return bool(model.nu and plain)


def _falls(model: Any) -> bool:
    """Whether gravity moves any joint, in some pose: not where all of them lie flat."""
    import mujoco

    data = mujoco.MjData(model)
    generator = np.random.default_rng(0)
    for _ in range(3):
        mujoco.mj_integratePos(model, data.qpos, generator.uniform(-1.0, 1.0, model.nv), 1.0)
        mujoco.mj_forward(model, data)  # at rest, so that the bias is gravity's alone
        if np.abs(data.qfrc_bias).max(initial=0.0) > 1e-3:
            return True
    return False


@final
class MovableModel:
    """The numbers of a nominal model, and any model compiled from the same source moved away from them.

    Args:
        model: `mujoco.MjModel`, nominal.
    """

    def __init__(self, model: Any) -> None:
        self._sizes = _sizes_of(model)
        self._nominal: dict[str, NDArray[Any]] = {name: getattr(model, name).copy() for name in _MOVED}
        self._pull = model.opt.gravity.copy()
        self._mean_inertia, self._mean_mass = float(model.stat.meaninertia), float(model.stat.meanmass)
        self._mean_resistance = float(model.dof_M0.mean())
        self._bodies = np.arange(1, model.nbody)  # all but the world
        self.lengths = _lengths_in(model)
        geoms = np.flatnonzero(model.geom_bodyid > 0)
        self._places: dict[str, NDArray[np.intp]] = {
            **dict.fromkeys(("body_pos", "body_ipos"), self._bodies),
            **dict.fromkeys(("geom_pos", "geom_size", "geom_rbound", "geom_aabb"), geoms),
            "jnt_pos": np.flatnonzero(model.jnt_bodyid > 0),
            "site_pos": np.flatnonzero(model.site_bodyid > 0),
            "bvh_aabb": np.setdiff1d(np.arange(model.nbvh), _volumes_of_world(model)),
            **dict.fromkeys(("qpos0", "qpos_spring"), self.lengths),
        }

    def move(self, model: Any, values: Mapping[str, float]) -> None:
        """Move `model` to these values of all its parameters, from wherever it is."""
        require(_sizes_of(model) == self._sizes, "env", "of this world", model, "Make it by `world.make()`.")
        self._move_bodies(model, values["mass_scale"], values.get("size_scale", 1.0))
        if "friction_scale" in values:
            self._scale(model, "geom_friction", values["friction_scale"], (slice(None), 0))
            self._scale(model, "pair_friction", values["friction_scale"], (slice(None), slice(0, 2)))
        if "damping_scale" in values:
            self._scale(model, "dof_damping", values["damping_scale"])
        if "strength_scale" in values:
            for name in ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange", "jnt_actfrcrange"):
                self._scale(model, name, values["strength_scale"])
        if "gravity" in values:
            norm = math.hypot(*self._pull)
            nominal = values["gravity"] == norm
            model.opt.gravity[:] = self._pull if nominal else self._pull / norm * values["gravity"]
        for name, option in _OPTIONS.items():
            if name in values:
                setattr(model.opt, option, values[name])

    def read(self, model: Any) -> dict[str, float]:
        """Where `model` is: what `move` would have to be given, of any of the parameters."""
        require(_sizes_of(model) == self._sizes, "env", "of this world", model, "Make it by `world.make()`.")
        size = self._factor(model, "geom_size", self._places["geom_size"])
        return {
            "mass_scale": self._factor(model, "body_mass", self._bodies) / size**3,
            "size_scale": size,
            "friction_scale": self._factor(model, "geom_friction", (slice(None), 0)),
            "damping_scale": self._factor(model, "dof_damping"),
            "strength_scale": self._factor(model, "actuator_gainprm"),
            "gravity": math.hypot(*model.opt.gravity),
            **{name: float(getattr(model.opt, option)) for name, option in _OPTIONS.items()},
        }

    def _factor(self, model: Any, name: str, place: Any = slice(None)) -> float:
        """By how much numbers of the model were multiplied; by the median, where some moved for other reasons."""
        nominal = self._nominal[name][place]
        factors = getattr(model, name)[place][nominal != 0.0] / nominal[nominal != 0.0]
        return float(np.median(factors)) if factors.size else 1.0

    def _move_bodies(self, model: Any, mass: float, size: float) -> None:
        """Lengths by `size`, masses by its cube, inertias by its fifth power; both of the latter by `mass`."""
        there = all(self._is_scaled(model, name, size, self._places[name]) for name in ("body_ipos", "geom_rbound"))
        weighs = self._is_scaled(model, "body_mass", mass * size**3, self._bodies)
        if there and weighs and self._is_scaled(model, "body_inertia", mass * size**5, self._bodies):
            return  # what follows from them takes many times a step
        self._scale(model, "body_mass", mass * size**3, self._bodies)
        self._scale(model, "body_inertia", mass * size**5, self._bodies)
        if not there:  # some tasks put things elsewhere at reset, to stay there for the episode
            for name, places in self._places.items():
                self._scale(model, name, size, places)
            self._scale(model, "key_qpos", size, (slice(None), self.lengths))
        set_constants(model)
        # The solver's tolerance is relative to it, and `mj_setConst` leaves it as it was.
        model.stat.meaninertia = self._mean_inertia * (float(model.dof_M0.mean()) / self._mean_resistance)
        model.stat.meanmass = self._mean_mass * (mass * size**3)

    def _is_scaled(self, model: Any, name: str, factor: float, place: Any) -> bool:
        return np.array_equal(getattr(model, name)[place], self._nominal[name][place] * factor)

    def _scale(self, model: Any, name: str, factor: float, place: Any = slice(None)) -> None:
        getattr(model, name)[place] = self._nominal[name][place] * factor


def update(physics: Any) -> None:
    """In mid-episode, what follows from the state: dm_control's next step begins with it, and Gymnasium's makes it.

    Not `mj_forward`, from which the solver would start another way.
    """
    import mujoco

    mujoco.mj_step1(physics.model.ptr, physics.data.ptr)


def set_constants(model: Any) -> None:
    import mujoco

    mujoco.mj_setConst(model, mujoco.MjData(model))


def _sizes_of(model: Any) -> tuple[int, ...]:
    return model.nq, model.nv, model.nu, model.nbody, model.ngeom, model.nsite, model.nbvh


def _volumes_of_world(model: Any) -> NDArray[np.intp]:
    first = int(model.body_bvhadr[0])
    return np.arange(first, first + int(model.body_bvhnum[0])) if first >= 0 else np.arange(0)


def _lengths_in(model: Any) -> NDArray[np.intp]:
    """The components of a position that are lengths: of free joints the first three, of slides all."""
    import mujoco

    found: list[int] = []
    for kind, first in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind == int(mujoco.mjtJoint.mjJNT_FREE):
            found += range(first, first + 3)
        elif kind == int(mujoco.mjtJoint.mjJNT_SLIDE):
            found.append(int(first))
    return np.array(found, dtype=np.intp)

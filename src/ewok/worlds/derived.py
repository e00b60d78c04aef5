"""Numbers that a simulator works out of others once, and that go stale when only the others are moved.

The simulator is made anew while what was moved is held where it was moved to: what its constructor then
works out is what the moved environment should have.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import gymnasium as gym
import numpy as np

from ewok.nominal.batch import same
from ewok.nominal.layers import layers_of

Environment = gym.Env[Any, Any]


def first_stale(nominal: Environment, moved: Environment) -> str | None:
    """The first number that does not follow from those that were moved; None where none is known to be stale.

    Args:
        nominal: a nominal environment, never stepped.
        moved: one that was moved, never stepped.
    """
    one, other = layers_of(nominal).simulator, layers_of(moved).simulator
    return _stale_attribute(one, other, nominal.spec) or _stale_in_model(one, other)


def _stale_attribute(nominal: Any, moved: Any, spec: Any) -> str | None:
    before, after = _numbers(nominal), _numbers(moved)
    held = {name: value for name, value in after.items() if name not in before or not same(before[name], value)}
    if not held:
        return None
    remade = _made_with(type(nominal), held, {} if spec is None else spec.kwargs)
    if remade is None:
        return None
    expected = _numbers(remade)
    return next((name for name, value in after.items() if name in expected and not same(expected[name], value)), None)


def _made_with(cls: type, held: dict[str, Any], kwargs: dict[str, Any]) -> Any:
    """A simulator whose constructor finds these attributes where they are held; None where it cannot be made."""

    def keep(self: Any, name: str, value: Any) -> None:
        object.__setattr__(self, name, held.get(name, value))

    try:
        return type(cls.__name__, (cls,), {**held, "__setattr__": keep})(**kwargs)
    except Exception:  # it needs more than its spec says, or is not made of plain attributes
        return None


def _numbers(simulator: Any) -> dict[str, Any]:
    """What it holds that is a number, or an array or list of them."""
    found = {}
    for name, value in vars(simulator).items():
        if isinstance(value, int | float | np.generic | np.ndarray | list | tuple):
            try:
                array = np.asarray(value)
            except ValueError:  # a list of things that are no numbers
                continue
            if array.dtype.kind in "iuf":
                found[name] = array
    return found


# What MuJoCo works out of masses, inertias and geometry when a model is compiled.
_CONSTANTS = ("body_subtreemass", "body_invweight0", "dof_M0", "dof_invweight0", "tendon_length0", "actuator_acc0")


def _stale_in_model(nominal: Any, moved: Any) -> str | None:
    mujoco: Any = sys.modules.get("mujoco")
    before, model = _model_of(nominal), _model_of(moved)
    if mujoco is None or not isinstance(model, mujoco.MjModel):
        return None
    fresh = copy.copy(model)
    mujoco.mj_setConst(fresh, mujoco.MjData(fresh))
    for name in _CONSTANTS:
        if not np.allclose(getattr(model, name), getattr(fresh, name), rtol=1e-6, atol=1e-9):
            return f"model.{name}"
    return _stale_in_bodies(before, model) or _stale_in_shapes(mujoco, model)


def _stale_in_bodies(before: Any, after: Any) -> str | None:
    """What is heavier turns more slowly, and what has another size is another weight."""
    heavier = before.body_mass != after.body_mass
    if (heavier & (before.body_inertia == after.body_inertia).all(axis=1) & (after.body_dofnum > 0)).any():
        return "model.body_inertia"
    resized = (before.geom_size != after.geom_size).any(axis=1)
    bodies = np.unique(after.geom_bodyid[resized])
    bodies = bodies[(after.body_dofnum[bodies] > 0) & (after.body_mass[bodies] > 0.0)]
    same_weight = before.body_mass[bodies] == after.body_mass[bodies]
    same_turning = (before.body_inertia[bodies] == after.body_inertia[bodies]).all(axis=1)
    return "model.body_mass" if (same_weight & same_turning).any() else None


def _stale_in_shapes(mujoco: Any, model: Any) -> str | None:
    """Geoms farther apart than their bounding radii are not looked at."""
    kinds, size = mujoco.mjtGeom, model.geom_size
    radii = {
        kinds.mjGEOM_SPHERE: size[:, 0],
        kinds.mjGEOM_CAPSULE: size[:, 0] + size[:, 1],
        kinds.mjGEOM_CYLINDER: np.hypot(size[:, 0], size[:, 1]),
        kinds.mjGEOM_ELLIPSOID: size.max(axis=1),
        kinds.mjGEOM_BOX: np.sqrt((size**2).sum(axis=1)),
    }
    for kind, radius in radii.items():
        chosen = model.geom_type == int(kind)
        if not np.allclose(model.geom_rbound[chosen], radius[chosen], rtol=1e-6):
            return "model.geom_rbound"
    return None


def _model_of(simulator: Any) -> Any:
    if hasattr(simulator, "model"):
        return simulator.model
    physics = getattr(getattr(simulator, "_env", None), "physics", None)  # dm_control, in shimmy
    return None if physics is None else physics.model.ptr

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
    return _stale_attribute(one, other, nominal.spec) or _stale_in_model(other)


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
        array = np.asarray(value) if isinstance(value, int | float | np.generic | np.ndarray | list | tuple) else None
        if array is not None and array.dtype.kind in "iuf":
            found[name] = array
    return found


# What MuJoCo works out of masses, inertias and geometry when a model is compiled.
_CONSTANTS = ("body_subtreemass", "body_invweight0", "dof_M0", "dof_invweight0", "tendon_length0", "actuator_acc0")


def _stale_in_model(simulator: Any) -> str | None:
    mujoco: Any = sys.modules.get("mujoco")
    model = _model_of(simulator)
    if mujoco is None or not isinstance(model, mujoco.MjModel):
        return None
    fresh = copy.copy(model)
    mujoco.mj_setConst(fresh, mujoco.MjData(fresh))
    for name in _CONSTANTS:
        if not np.allclose(getattr(model, name), getattr(fresh, name), rtol=1e-6, atol=1e-9):
            return f"model.{name}"
    return None


def _model_of(simulator: Any) -> Any:
    if hasattr(simulator, "model"):
        return simulator.model
    physics = getattr(getattr(simulator, "_env", None), "physics", None)  # dm_control, in shimmy
    return None if physics is None else physics.model.ptr

"""Saving an environment by copying it: for simulators that nobody taught us, once they have shown it works."""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any, final

import gymnasium as gym
import numpy as np

from ewok.errors import SnapshotError
from ewok.nominal.batch import same
from ewok.nominal.generators import Generator, own_generator, parts

_PROOF_STEPS = 20


class _Itself:
    """Stands in a copy for the environment that was copied, wherever its parts refer back to it."""


_ITSELF = _Itself()


@final
class CopySaver:
    """Copies everything an environment holds, and puts copies back into the same object.

    Before the first copy is trusted, copies are stepped to see that the original does not move and
    that they agree with each other.
    """

    def __init__(self) -> None:
        self._proven = False

    def save(self, env: gym.Env[Any, Any], share: Sequence[Generator] = ()) -> dict[str, Any]:
        """A copy of what `env` holds. Generators in `share` are not copied: copies use the same."""
        own_generator(env)
        if not self._proven:
            self._prove(env)
        return self._copy_out(env, share)

    def load(self, env: gym.Env[Any, Any], saved: dict[str, Any], share: Sequence[Generator] = ()) -> None:
        memo = _memo(env, share) | _screens_in(saved)
        memo[id(_ITSELF)] = env
        _put_back(env, copy.deepcopy(saved, memo))

    def _copy_out(self, env: gym.Env[Any, Any], share: Sequence[Generator]) -> dict[str, Any]:
        memo = _memo(env, share)
        memo[id(env)] = _ITSELF
        try:
            return copy.deepcopy(vars(env), dict(memo))
        except Exception:
            memo.update(_screens_in(env))  # once rendered: a screen cannot be copied, and need not be
        try:
            return copy.deepcopy(vars(env), memo)
        except Exception as error:
            raise _cannot_save(env, f"it cannot be copied ({type(error).__name__}: {error})") from error

    def _prove(self, env: gym.Env[Any, Any]) -> None:
        """Step copies for a while, beside the original, and compare."""
        original = dict(vars(env))
        saved = self._copy_out(env, ())
        difference = first_difference(original, saved, skip=env)
        if difference is not None:
            raise _cannot_save(env, f"its copy starts elsewhere (see `{difference}`)")
        try:
            self.load(env, saved)
            first = _walk(env)
            self.load(env, saved)
            second = _walk(env)
            _put_back(env, original)
            self.load(env, self._copy_out(env, ()))
            third = _walk(env)
        finally:
            _put_back(env, original)
        if not same(first, second):
            raise _cannot_save(env, "two copies given the same actions went different ways")
        if not same(first, third):
            raise _cannot_save(env, "stepping a copy moved the original")
        self._proven = True


def _memo(env: gym.Env[Any, Any], share: Sequence[Generator]) -> dict[int, Any]:
    """What copies share with the original: what never changes, and the generators in `share`."""
    kept = [env.spec, vars(env).get("action_space"), vars(env).get("observation_space"), env.metadata]
    return {id(part): part for part in [*kept, *share] if part is not None}


def _screens_in(root: Any) -> dict[int, Any]:
    """The windows, surfaces and clocks of pygame reachable from `root`, if it was ever loaded."""
    if "pygame" not in sys.modules:
        return {}
    found: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if any(cls.__module__.partition(".")[0] == "pygame" for cls in type(value).__mro__):
            found[id(value)] = value
        else:
            waiting.extend(part for _, part in parts(value))
    return found


def _put_back(env: gym.Env[Any, Any], attributes: dict[str, Any]) -> None:
    vars(env).clear()
    vars(env).update(attributes)


def _walk(env: gym.Env[Any, Any]) -> list[Any]:
    """Some twenty seeded random steps, or up to the end of the episode.

    A step may raise: at random, actions that are not allowed come up, and simulations break down.
    """
    space = copy.deepcopy(env.action_space)
    space.seed(0)
    if env.render_mode == "human":
        env.render_mode = None
    steps: list[Any] = []
    errors: list[Exception] = []
    for _ in range(_PROOF_STEPS):
        try:
            observation, reward, terminated, truncated, _ = env.step(space.sample())
        except Exception as error:
            errors.append(error)
            steps.append(type(error).__name__)
            continue
        steps.append(copy.deepcopy((observation, float(reward), terminated, truncated)))
        if terminated or truncated:
            break
    if len(errors) == len(steps):
        reason = f"a copy cannot be stepped ({type(errors[0]).__name__}: {errors[0]}; was it reset?)"
        raise _cannot_save(env, reason) from errors[0]
    return steps


def first_difference(original: Any, copied: Any, skip: Any = None, trust: bool = True) -> str | None:
    """Where two structures hold other numbers; in a copy that is none, a constructor run again would show here.

    Objects that cannot be looked into count as equal with `trust`, else as different.
    """
    seen: set[int] = {id(skip)}
    waiting = [("", original, copied)]
    while waiting:
        path, one, other = waiting.pop()
        if one is other or id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) is not type(other):
            return path
        if isinstance(one, np.ndarray | np.generic | int | float | str):
            if not (same(one, other) or (isinstance(one, np.ndarray) and one.dtype == object)):
                return path
            continue
        if hasattr(one, "qpos") and not (same(one.qpos, other.qpos) and same(one.qvel, other.qvel)):
            return f"{path}.qpos"  # MuJoCo's data, which has no parts to walk through
        if isinstance(one, dict | list | tuple | deque) and len(one) != len(other):
            return path
        there = dict(parts(other))
        if not (trust or there or isinstance(one, dict | list | tuple | type(None))):
            return path
        for name, part in parts(one):
            if name not in there:
                return f"{path}.{name}"
            waiting.append((f"{path}.{name}" if path else str(name), part, there[name]))
    return None


def _cannot_save(env: gym.Env[Any, Any], reason: str) -> SnapshotError:
    return SnapshotError(how_to_save(type(env).__name__, reason))


def how_to_save(name: str, reason: str) -> str:
    """One text for all simulators that cannot be saved: why, and what the user can write."""
    return (
        f"{name} cannot be saved and restored: {reason}. Give its class `snapshot() -> state` and "
        "`restore(state)` (all that moves, random generator apart), or write an `ewok.NominalKernel` "
        f"for it and call `ewok.register_kernel({name}, YourKernel)`."
    )

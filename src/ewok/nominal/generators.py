"""The random generators inside an environment: finding them, and moving them back."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium as gym
import numpy as np

Generator = np.random.Generator | np.random.RandomState | random.Random

_OURS = int.from_bytes(b"ewok")

_OPAQUE = (str, bytes, int, float, complex, bool, type(None), type, FunctionType, ModuleType, np.ndarray, np.generic)


def parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What a Python object is made of, one level down, as (name, part)."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple | deque):
        yield from enumerate(value)
    elif isinstance(value, MethodType):
        yield "__self__", value.__self__
    elif not isinstance(value, _OPAQUE):
        held = getattr(value, "__dict__", None)
        if isinstance(held, dict):  # some proxies answer to any attribute
            yield from held.items()
        for cls in type(value).__mro__:
            names = cls.__dict__.get("__slots__", ())
            for name in (names,) if isinstance(names, str) else names:
                if hasattr(value, name):
                    yield name, getattr(value, name)


def generators_in(root: Any, skip: frozenset[int] = frozenset()) -> list[Generator]:
    """Every random generator reachable from `root`, in an order that depends on its structure alone."""
    found: list[Generator] = []
    seen, waiting = set(skip), [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, _OPAQUE) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.random.Generator | np.random.RandomState | random.Random):
            found.append(value)
        else:
            waiting.extend(part for _, part in parts(value))
    return found


def generator_of(simulator: gym.Env[Any, Any]) -> Generator | None:
    """The simulator's own generator; None where it has not made one yet, so was never reset."""
    if type(simulator).np_random is gym.Env.np_random:
        return simulator._np_random
    return simulator.np_random


def own_generator(simulator: gym.Env[Any, Any]) -> Generator:
    """The simulator's own generator, made if need be.

    Gymnasium makes it when it is first asked for, if no seed was given: copies taken before would each make their own.
    """
    return simulator.np_random


def state_of(generator: Generator) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.getstate() if isinstance(generator, random.Random) else generator.get_state()


def rewind(generator: Generator, state: Any) -> None:
    """Put a generator back to a state it had."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        generator.set_state(state)


def seeded(seed: int | None, place: int) -> np.random.Generator:
    """A generator of a wrapper's own: another stream than the simulator's and other wrappers'.

    `place` tells the wrappers of one environment apart; the simulator itself uses the bare seed, and
    may spawn more generators from it, whose keys count from 0.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_OURS, place)))

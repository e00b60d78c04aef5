"""What can go wrong, each as a type of its own.

A message names the argument, what it must be, what was received, and what to do.
"""

from __future__ import annotations

from typing import Any

from gymnasium.error import ResetNeeded


class EwokError(Exception):
    """Everything this library raises on purpose."""


class ArgumentError(EwokError, ValueError):
    """An argument has a value that cannot be used."""


class WrapperError(EwokError, ValueError):
    """A wrapper stands where it would break the draw."""


class SnapshotError(EwokError, RuntimeError):
    """A simulator cannot be saved and restored."""


class KernelError(EwokError, RuntimeError):
    """A nominal kernel was used out of order, or broke its promise."""


class NotResetError(EwokError, ResetNeeded):
    """There is no state to draw from: before the first reset, or after the end of an episode."""


class DivergedError(EwokError, ArithmeticError):
    """Every candidate diverged, and the simulator raised no error of its own."""


class ValueFunctionError(EwokError, ValueError):
    """A value function raised, or returned something that is not one finite number per observation."""


class CheckError(EwokError, AssertionError):
    """A conformance check of `ewok.testing` failed."""


class EwokWarning(UserWarning):
    """Something is allowed but probably not meant."""


def require(condition: bool, argument: str, requirement: str, value: Any, remedy: str) -> None:
    """Raise `ArgumentError` in one form everywhere unless `condition` holds."""
    if not condition:
        raise ArgumentError(f"`{argument}` must be {requirement}, but it is {value!r}. {remedy}")

"""What can go wrong, each as a type of its own.

A message names the argument, what it must be, what was received, and what to do.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable, Mapping, Sized
from numbers import Integral
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


class MissingExtraError(EwokError, ImportError):
    """A part of this library needs a package that is not installed."""


class CheckError(EwokError, AssertionError):
    """A conformance check of `ewok.testing` failed."""


class EwokWarning(UserWarning):
    """Something is allowed but probably not meant."""


def require(condition: bool, argument: str, requirement: str, value: Any, remedy: str) -> None:
    """Raise `ArgumentError` in one form everywhere unless `condition` holds."""
    if not condition:
        raise ArgumentError(f"`{argument}` must be {requirement}, but it is {value!r}. {remedy}")


def require_whole(value: Any, argument: str, remedy: str, *, of: str = "", least: int = 1) -> int:
    """`value` as an integer; raise `ArgumentError` unless it is a whole number `of` something, at least `least`."""
    valid = not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least
    require(valid, argument, f"a whole number{of and f' of {of}'}, at least {least}", value, remedy)
    return int(value)


def require_several(values: Any, argument: str, requirement: str, remedy: str) -> None:
    """Raise `ArgumentError` unless there are one or more values, in a list or the like."""
    listed = isinstance(values, Iterable) and isinstance(values, Sized) and getattr(values, "ndim", 1) > 0
    listed = listed and not isinstance(values, str | bytes | Mapping) and len(values) > 0
    require(listed, argument, f"{requirement}, in a list", values, remedy)


def require_package(package: str, extra: str) -> None:
    """Raise `MissingExtraError` with the line that installs `package` unless it is there."""
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(f"{package} is not installed. Install it: pip install 'ewok[{extra}]'")


def require_known(name: Any, known: Iterable[str], argument: str, of: str, more: str = "") -> None:
    """Raise `ArgumentError` with the nearest name, all of them and what `more` says unless `name` is one of `known`."""
    names = sorted(known)
    if name not in names:
        near = difflib.get_close_matches(str(name), names, n=1)
        guess = f"Did you mean {near[0]!r}? " if near else ""
        remedy = f"{guess}There are: {', '.join(names)}. {more}".rstrip()
        require(False, argument, f"the name of {of}", name, remedy)

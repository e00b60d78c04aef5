"""Objects that people name as text, "module:object": in study files, on the command line."""

from __future__ import annotations

import importlib
import traceback
from typing import Any

from ewok.errors import ArgumentError, EwokError, require


def named(path: str, argument: str) -> Any:
    """The object that "module:object" names.

    Args:
        path: the name.
        argument: what it was given as.

    Raises:
        ArgumentError: with what its module raised, and where: that is a mistake in a file of somebody's own.

    Example:
        >>> from ewok.named import named
        >>> named("math:tau", "number")
        6.283185307179586
    """
    module, _, name = path.partition(":")
    require(bool(module and name), argument, '"module:object"', path, 'Try "stable_baselines3:PPO".')
    try:
        return getattr(importlib.import_module(module), name)
    except EwokError:
        raise
    except Exception as error:  # modules raise whatever they like
        told = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".") + _where(error)
        raise ArgumentError(
            f'`{argument}` must be "module:object", but {path} cannot be imported: {told}.{_remedy(error)}'
        ) from error


def _where(error: Exception) -> str:
    """The line that raised; nothing where it is none of a module's own."""
    if isinstance(error, SyntaxError):
        return ""  # it says so itself
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_of_a_module(frame.filename)]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _is_of_a_module(filename: str) -> bool:
    return filename not in (__file__, importlib.__file__) and not filename.startswith("<frozen")


def _remedy(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return " Modules of yours are looked for in the current folder, and where Python finds others."
    return ""

"""The kinds of study, and the module that knows each: tables take packages that agents do without."""

from __future__ import annotations

import importlib
from typing import Any

from ewok.errors import require_package

_PLANNERS = {"agents": "ewok.lab.plan", "tabular": "ewok.lab.cliff"}
_RUNNERS = {"agents": "ewok.lab.trial", "tabular": "ewok.lab.cliff"}


def planner(kind: str) -> Any:
    """The module with `plan` and `described`."""
    return _module(_PLANNERS, kind)


def runner(kind: str) -> Any:
    """The module with `run_trial`."""
    return _module(_RUNNERS, kind)


def kind_of(meaning: Any) -> str:
    """Of a trial's meaning, or of a study's file."""
    return "tabular" if meaning.get("kind") == "tabular" else "agents"


def _module(modules: dict[str, str], kind: str) -> Any:
    if kind == "tabular":
        require_package("numba", "tabular")
    return importlib.import_module(modules[kind])

"""The kinds of study, and the module that knows each: tables take packages that agents do without."""

from __future__ import annotations

import importlib
from typing import Any

from ewok.errors import require_package

_PLANNERS = {"agents": "ewok.lab.plan", "tabular": "ewok.lab.cliff", "estimate": "ewok.lab.distance"}
_RUNNERS = {**_PLANNERS, "agents": "ewok.lab.trial"}


def planner(kind: str) -> Any:
    """The module with `plan`, `described`, and what its studies' files may say: `TABLES` and `mistakes_of`."""
    return _module(_PLANNERS, kind)


def runner(kind: str) -> Any:
    """The module with `run_trial`."""
    return _module(_RUNNERS, kind)


def kind_of(meaning: Any) -> str:
    """Of a trial's meaning, or of a study's file."""
    kind = meaning.get("kind")
    return kind if isinstance(kind, str) and kind in _PLANNERS else "agents"


def _module(modules: dict[str, str], kind: str) -> Any:
    if kind == "tabular":
        require_package("numba", "tabular")
    return importlib.import_module(modules[kind])

"""What happens to trials while they run, wherever they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ewok.lab.plan import Trial

WorkPlaces = Callable[[str], Path]  # from a trial's id to an empty folder to write it in


@final
@dataclass(frozen=True)
class Started:
    """Somebody is at it."""

    trial: Trial


@final
@dataclass(frozen=True)
class Progress:
    """How far it is: "train" or "evaluate", steps of training so far, and the mean return of recent episodes."""

    trial: Trial
    stage: str
    steps: int
    level: float | None


@final
@dataclass(frozen=True)
class Done:
    """All of it is written in `place`."""

    trial: Trial
    place: Path


@final
@dataclass(frozen=True)
class Failure:
    """It raised.

    Attributes:
        full: whether that was for want of room to write, which no other trial would have either.
    """

    trial: Trial
    place: Path | None
    error: str
    traceback: str
    full: bool


@final
@dataclass(frozen=True)
class Lost:
    """Whoever was at it is gone: killed, or out of memory."""

    trial: Trial
    place: Path | None
    told: str


@final
@dataclass(frozen=True)
class Quiet:
    """Nothing was heard for a while: time to look at the clock."""


Event = Started | Progress | Done | Failure | Lost | Quiet

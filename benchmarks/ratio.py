"""One ratio: two sides timed in turn in one run, many times over, and their medians divided.

What else the machine does meets both sides alike.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MUJOCO_GL", "egl")

ROUNDS = 25


@dataclass(frozen=True)
class Row:
    """One line of the table; `measure` replaces the plain ratio where that is not what counts."""

    work: str
    ours: float  # seconds
    peer: float
    bar: str
    measure: str = ""

    def __str__(self) -> str:
        measured = self.measure or f"{self.ours / self.peer:.2f}"
        return f"| {self.work} | {duration(self.ours)} | {duration(self.peer)} | {measured} | {self.bar} |"


def duration(seconds: float) -> str:
    if seconds >= 1.0:
        return f"{seconds:,.1f} s"
    if seconds < 1e-6:
        return f"{seconds * 1e9:,.0f} ns"
    return f"{seconds * 1e3:,.0f} ms" if seconds >= 0.01 else f"{seconds * 1e6:,.0f} us"


def in_turn(
    ours: Callable[[], object],
    peer: Callable[[], object],
    steps: int = 1,
    rounds: int = ROUNDS,
    processor: bool = False,
) -> tuple[float, float]:
    """Median seconds a call of each, timed in turn: on the clock, or of this process on the processor."""
    clock = time.process_time if processor else time.perf_counter
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, kept in zip((ours, peer), times, strict=True):
            start = clock()
            for _ in range(steps):
                call()
            kept.append((clock() - start) / steps)
    return statistics.median(times[0]), statistics.median(times[1])

"""How far a study is, for people: a live line for each running trial and one for the study, or lines of a log."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass, field
from typing import TextIO, final

from ewok.lab.events import Done, Event, Failure, Lost, Progress, Quiet, Started
from ewok.lab.plan import Trial
from ewok.lab.summary import spoken

_REDRAW = 0.25  # seconds
_LOG = 30.0  # seconds between two lines of a log
_DEFAULT_SHARE = 0.1  # of a trial that is evaluation, until one has been seen


@final
@dataclass
class _Running:
    trial: Trial
    began: float = field(default_factory=lambda: time.monotonic())
    stage: str = "start"
    steps: int = 0
    level: float | None = None
    trained: float | None = None  # seconds

    def share(self, evaluation: float) -> float:
        """How much of the trial is done, from 0 to 1."""
        if self.stage == "evaluate":
            return 1.0 - evaluation / 2.0
        return (1.0 - evaluation) * min(1.0, self.steps / self.trial.num_steps)

    def left(self, evaluation: float) -> float | None:
        """Seconds, as far as can be told."""
        share = self.share(evaluation)
        return (time.monotonic() - self.began) * (1.0 - share) / share if share > 0.02 else None


@final
class Board:
    """Shows what happens.

    Args:
        num: how many trials are to be run.
        num_workers: how many at a time; None where others decide, and those that run are counted.
        stream: where to; live lines if it is a terminal.
    """

    def __init__(self, num: int, num_workers: int | None, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_live = self._stream.isatty()
        self._num, self._num_workers = num, num_workers
        self._most = 1  # that ran at once
        self._running: dict[str, _Running] = {}
        self._seconds: list[float] = []
        self._evaluation = _DEFAULT_SHARE
        self._began = self._drawn = time.monotonic()
        self._num_lines = 0
        self.num_done = self.num_failed = 0

    def take(self, event: Event) -> None:
        """Take notice of what happened."""
        now = time.monotonic()
        if isinstance(event, Quiet):
            if self._is_live:
                self.draw()
            return
        name = event.trial.id
        self._most = max(self._most, len(self._running))
        if isinstance(event, Started):
            self._running[name] = _Running(event.trial)
        elif isinstance(event, Progress):
            running = self._running.setdefault(name, _Running(event.trial))
            if event.stage == "evaluate" and running.stage != "evaluate":
                running.trained = now - running.began
            running.stage, running.steps = event.stage, event.steps
            running.level = running.level if event.level is None else event.level
        else:
            self._end(event, self._running.pop(name, None), now)
        if now - self._drawn >= (_REDRAW if self._is_live else _LOG):
            self.draw()

    def say(self, line: str) -> None:
        """One line that stays."""
        self._wipe()
        self._stream.write(f"{line}\n")
        self.draw()

    def draw(self) -> None:
        """The lines as they are now."""
        self._drawn = time.monotonic()
        lines = [self._line(running) for running in self._running.values()]
        if not self._is_live:
            self._stream.writelines(f"{line}\n" for line in [*lines, self._all()])
            self._stream.flush()
            return
        self._wipe()
        width = shutil.get_terminal_size().columns - 1
        height = max(1, shutil.get_terminal_size().lines - 2)
        shown = [*lines[: height - 1], self._all()]
        self._stream.write("".join(f"{line[:width]}\n" for line in shown))
        self._num_lines = len(shown)
        self._stream.flush()

    def close(self) -> None:
        """Take away the lines that moved."""
        self._wipe()
        self._stream.flush()

    def _end(self, event: Done | Failure | Lost, running: _Running | None, now: float) -> None:
        seconds = 0.0 if running is None else now - running.began
        took = f"in {spoken(seconds)}"
        if isinstance(event, Done):
            self.num_done += 1
            self._seconds.append(seconds)
            if running is not None and running.trained is not None and seconds > 0.0:
                self._evaluation = 1.0 - running.trained / seconds
            level = "" if running is None or running.level is None else f", last returns {running.level:.1f}"
            line = f"done   {event.trial.id} {took}{level}"
        elif isinstance(event, Failure):
            self.num_failed += 1
            line = f"failed {event.trial.id}: {event.error.splitlines()[0]}"
        else:
            line = f"lost   {event.trial.id}: {event.told.splitlines()[0]}"
        if self._is_live:
            self.say(line)
        else:
            self._stream.write(f"{line} [{self.num_done + self.num_failed} of {self._num}{self._study_left()}]\n")
            self._stream.flush()

    def _line(self, running: _Running) -> str:
        trial = running.trial
        name = f"{trial.method} seed {trial.seed}"
        if running.stage == "start":
            return f"  {name:<28} starting"
        left = running.left(self._evaluation)
        rest = "" if left is None else f"  {spoken(left)} left"
        level = "" if running.level is None else f"  return {running.level:8.1f}"
        if running.stage == "evaluate":
            return f"  {name:<28} evaluating{rest}"
        return f"  {name:<28} {running.steps:>9,} of {trial.num_steps:,} steps{level}{rest}"

    def _all(self) -> str:
        failed = f", {self.num_failed} failed" if self.num_failed else ""
        spent = spoken(time.monotonic() - self._began)
        return f"{self.num_done} of {self._num} trials done{failed}, {spent} so far{self._study_left()}"

    def _study_left(self) -> str:
        shares = sum(running.share(self._evaluation) for running in self._running.values())
        waiting = self._num - self.num_done - self.num_failed - shares
        if waiting <= 0.0:
            return ""
        if self._seconds:
            each = sum(self._seconds) / len(self._seconds)
        else:
            spent = sum(time.monotonic() - running.began for running in self._running.values())
            if shares < 0.05:
                return ""
            each = spent / shares
        return f", about {spoken(each * waiting / (self._num_workers or self._most))} left"

    def _wipe(self) -> None:
        if self._num_lines:
            self._stream.write(f"\x1b[{self._num_lines}A\x1b[0J")
            self._num_lines = 0

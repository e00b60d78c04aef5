"""Running what is missing of a study: the one place that writes into its folder."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ewok.errors import require
from ewok.lab.columns import StoreError
from ewok.lab.events import Done, Event, Failure, Lost, WorkPlaces
from ewok.lab.folder import Folder, as_json, held
from ewok.lab.kinds import planner
from ewok.lab.local import run_here
from ewok.lab.plan import Trial
from ewok.lab.progress import Board
from ewok.lab.store import Failed, read_study
from ewok.lab.study import AnyStudy
from ewok.lab.trial import now

Runner = Callable[[Sequence[Trial], WorkPlaces], Generator[Event, None, None]]

_TRIES = 2  # for a trial whose worker was lost


@final
@dataclass(frozen=True)
class Outcome:
    """What came of running a study.

    Attributes:
        folder: where it all is.
        num_before: trials that were there already.
        num_done: trials that were run.
        num_failed: trials that raised, or whose worker was lost time and again.
    """

    folder: Path
    num_before: int
    num_done: int
    num_failed: int


def run_study(
    study: AnyStudy,
    out: Path | str,
    *,
    text: str = "",
    num_workers: int | None = None,
    runner: Runner | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run every trial that is not in the folder yet, each whole or not at all.

    Args:
        study: what to run.
        out: the study's folder; another command's hold on it is an error.
        text: the study's file.
        num_workers: processes of this machine; as many as it has processors by default.
        runner: runs trials elsewhere.
        say: told what is going to happen, in lines.
    """
    module = planner(study.kind)
    trials: list[Trial] = module.plan(study)
    require(len(trials) > 0, "study", "one with trials", study.name, "Give it methods and seeds.")
    workers = num_workers or default_workers()
    with held(out) as folder, _ended_by_signals():
        if folder.leftovers:
            say(f"removed what a command that was killed left half-written: {', '.join(folder.leftovers)}")
        _require_same(folder.path, study.name)
        folder.write("study.json", as_json(module.described(study, trials)))
        folder.write("study.toml", text)
        waiting = [trial for trial in trials if not folder.has(trial.id)]
        there = len(trials) - len(waiting)
        say(f"{study.name}: {len(trials)} trials, {there} there already, {len(waiting)} to run, into {folder.path}")
        others = {path.name for path in (folder.path / "trials").iterdir()} - {trial.id for trial in trials}
        if others:
            say(f"{len(others)} trials there are not of the study as it is now: they stay, and are not reported")
        board = Board(len(waiting), workers if runner is None else None)
        try:
            _run(waiting, folder, board, runner or (lambda todo, places: run_here(todo, places, workers)))
        finally:
            board.close()
    return Outcome(Path(out), there, board.num_done, board.num_failed)


def default_workers() -> int:
    """As many as this process may use processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _require_same(folder: Path, name: str) -> None:
    """The folder is new, or another version of this study has it."""
    if (folder / "study.json").exists():
        other = read_study(folder)["name"]
        told = f"`out` must be a folder of the study {name!r}, but {str(folder)!r} holds {other!r}."
        if other != name:
            raise StoreError(f"{told} Give another: --out DIR.")


def _run(waiting: Sequence[Trial], folder: Folder, board: Board, runner: Runner) -> None:
    """Trials whose worker is lost are tried again when all others are through."""
    for attempt in range(1, _TRIES + 1):
        lost: list[Trial] = []
        with closing(runner(waiting, folder.workplace)) as events:  # ends its workers, whatever ends this
            for event in events:
                if isinstance(event, Lost):
                    folder.drop(event.place)
                    if attempt < _TRIES:
                        lost.append(event.trial)
                    else:
                        event = Failure(event.trial, None, event.told, event.told, full=False)
                _settle(event, folder)
                board.take(event)
        waiting = lost


def _settle(event: Event, folder: Folder) -> None:
    if isinstance(event, Done):
        folder.keep(event.trial.id, event.place)
    elif isinstance(event, Failure):
        trial = event.trial
        folder.drop(event.place)
        if event.full:
            told = f"no room for {trial.id} ({event.error}). What is finished is whole; make room, and run again"
            raise OSError(errno.ENOSPC, told, str(folder.path))
        told_of: dict[str, Any] = {"error": event.error, "traceback": event.traceback, "when": now()}
        folder.note_failure(Failed(trial.id, trial.method, trial.seed, trial.meaning, **told_of))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """A polite request to end is taken as Ctrl-C is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

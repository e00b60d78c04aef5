"""Trials in processes of this machine, one thread each, a few at a time."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, final

from ewok.lab.events import Done, Event, Failure, Lost, Progress, Quiet, Started, WorkPlaces
from ewok.lab.plan import Trial
from ewok.lab.screen import without_a_screen

_PATIENCE = 1.0  # seconds between two looks, when nothing is heard
_MOST = 1 << 16  # bytes at a time
_TAIL = 4_000  # characters of what a lost worker last wrote


@final
class Worker:
    """One process, and the trial it is at."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "ewok.lab.worker"]
        # In a session of its own, so that Ctrl-C reaches only the command, which then ends its workers.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), start_new_session=True
        )
        assert self._process.stdout is not None
        self.output = self._process.stdout
        self.trial: Trial | None = None
        self.place = Path()
        self._heard = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    def give(self, trial: Trial, place: Path) -> None:
        """Let it run this trial, and write into `place`."""
        self.trial, self.place = trial, place
        assert self._process.stdin is not None
        job = json.dumps({"trial": asdict(trial), "place": str(place)})
        try:
            self._process.stdin.write(f"{job}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it is gone, which is heard of next

    def hear(self) -> tuple[list[dict[str, Any]], bool]:
        """What it said since the last time, and whether it is still there."""
        said = os.read(self.output.fileno(), _MOST)
        *lines, self._heard = (self._heard + said).split(b"\n")
        return [json.loads(line) for line in lines], said != b""

    def last_words(self) -> str:
        """What is known of a process that ended by itself."""
        code = self._process.wait()
        log = self.place / "log.txt"
        wrote = log.read_text(encoding="utf-8", errors="replace")[-_TAIL:] if log.is_file() else ""
        return f"the worker process ended ({f'signal {-code}' if code < 0 else f'exit code {code}'})\n{wrote}".rstrip()

    def end(self) -> None:
        """Now, whatever it is at."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue


def run_here(trials: Sequence[Trial], places: WorkPlaces, num_workers: int) -> Generator[Event, None, None]:
    """Run trials in worker processes; what happens to them, as it happens.

    The numbers do not depend on `num_workers`: every trial has its own seed, and a thread of its own.
    """
    waiting = deque(trials)
    workers: dict[int, Worker] = {}
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or any(worker.trial is not None for worker in workers.values()):
                for worker in [w for w in workers.values() if w.trial is None]:
                    if waiting:
                        yield _start(worker, waiting.popleft(), places)
                while waiting and len(workers) < num_workers:
                    worker = Worker()
                    workers[worker.output.fileno()] = worker
                    selector.register(worker.output, selectors.EVENT_READ)
                    yield _start(worker, waiting.popleft(), places)
                heard = selector.select(_PATIENCE)
                if not heard:
                    yield Quiet()
                for key, _ in heard:
                    worker = workers[key.fd]
                    messages, is_there = worker.hear()
                    yield from (_event(worker, message) for message in messages)
                    if not is_there:
                        selector.unregister(worker.output)
                        del workers[key.fd]
                        if worker.trial is not None:
                            yield Lost(worker.trial, worker.place, worker.last_words())
                        worker.end()
        finally:
            for worker in workers.values():
                worker.end()


def environment() -> Mapping[str, str]:
    """Of a worker: one thread for every library that would take more, and the same modules to import."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    ours = {"XLA_FLAGS": flags.strip(), "PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return {**without_a_screen(), **os.environ, **one, **ours}


def _start(worker: Worker, trial: Trial, places: WorkPlaces) -> Event:
    worker.give(trial, places(trial.id))
    return Started(trial)


def _event(worker: Worker, message: dict[str, Any]) -> Event:
    trial = worker.trial
    assert trial is not None
    if "stage" in message:
        return Progress(trial, message["stage"], message["steps"], message["return"])
    worker.trial = None
    if "done" in message:
        return Done(trial, worker.place)
    return Failure(trial, worker.place, message["error"], message["traceback"], message["full"])

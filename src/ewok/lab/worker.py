"""A process that runs one trial after another: jobs come in as lines of JSON, and so go out what became of them.

    in   {"trial": {...}, "place": "folder to write in"}
    out  {"stage": "train" | "evaluate", "steps": 640, "return": 21.5}
         {"done": true}
         {"error": "...", "traceback": "...", "full": whether the disk is full}

It ends when whoever started it does, however that ended. What libraries print goes to `log.txt` of the trial.
"""

from __future__ import annotations

import gc
import json
import math
import os
import queue
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, TextIO

from ewok.lab.folder import is_disk_full
from ewok.lab.kinds import kind_of, runner
from ewok.lab.plan import Trial

Message = dict[str, Any]


def serve() -> None:
    """Take jobs from the standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what libraries print is no message
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    while True:
        job = jobs.get()
        place = Path(job["place"])
        _write_into(place / "log.txt")
        _send(answers, attempt(Trial(**job["trial"]), place, lambda message: _send(answers, message)))
        gc.collect()  # replay buffers are held in cycles


def attempt(trial: Trial, place: Path, send: Any) -> Message:
    """Run a trial; what became of it, as a message."""
    try:
        runner(kind_of(trial.meaning)).run_trial(
            trial, place, lambda stage, steps, level: send(progress(stage, steps, level))
        )
        return {"done": True}
    except Exception as error:
        told = "".join(traceback.format_exception(error))
        return {"error": f"{type(error).__name__}: {error}", "traceback": told, "full": is_disk_full(error)}


def progress(stage: str, steps: int, level: float) -> Message:
    """How far a trial is; the return is None before the first episode ended."""
    return {"stage": stage, "steps": steps, "return": level if math.isfinite(level) else None}


def _write_into(path: Path) -> None:
    """Let this process's output go there from now on."""
    sys.stdout.flush()
    sys.stderr.flush()
    with path.open("wb", buffering=0) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)


def _listen(jobs: queue.SimpleQueue[Message]) -> None:
    for line in sys.stdin:
        jobs.put(json.loads(line))
    os._exit(0)  # whoever started this process is gone, and with it the folder's lock


def _send(answers: TextIO, message: Message) -> None:
    answers.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    serve()

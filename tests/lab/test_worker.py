"""A process that runs one trial after another: what it is told, what it answers, and when it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ewok.lab.plan import plan
from ewok.lab.worker import attempt, progress
from tests.lab.test_launch import study_of


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen([sys.executable, "-m", "ewok.lab.worker"], **options) as process:
        yield process
        process.kill()


def answers(worker: subprocess.Popen[str], agent: str, place: Path, seed: int = 0) -> list[dict[str, Any]]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    place.mkdir()
    trial = next(one for one in plan(study_of(agent)) if one.seed == seed)
    worker.stdin.write(json.dumps({"trial": asdict(trial), "place": str(place)}) + "\n")
    worker.stdin.flush()
    heard = [json.loads(worker.stdout.readline())]
    while "stage" in heard[-1]:
        heard.append(json.loads(worker.stdout.readline()))
    return heard


def test_it_runs_one_trial_after_another_until_nobody_asks(worker: subprocess.Popen[str], tmp_path: Path) -> None:
    heard = answers(worker, "talks", tmp_path / "a")
    assert [message.get("stage") for message in heard] == ["train", "evaluate", None]
    assert heard[-1] == {"done": True}
    assert (tmp_path / "a" / "trial.json").is_file()
    assert (tmp_path / "a" / "log.txt").read_text() == "said on one\nsaid on the other\n", "and not among the messages"
    raised = answers(worker, "raises", tmp_path / "b", seed=1)[-1]
    assert raised["error"] == "RuntimeError: this seed is unlucky"
    assert "in raises" in raised["traceback"]
    assert raised["full"] is False
    assert answers(worker, "coin", tmp_path / "c")[-1] == {"done": True}
    assert (tmp_path / "a" / "returns.csv.gz").read_bytes() == (tmp_path / "c" / "returns.csv.gz").read_bytes()
    worker.stdin.close()  # type: ignore[union-attr]
    assert worker.wait(10) == 0


def test_want_of_room_is_told_apart(tmp_path: Path) -> None:
    trial = plan(study_of("no_room"))[-1]
    assert attempt(trial, tmp_path, lambda message: None)["full"] is True


def test_a_return_that_is_not_there_yet_is_none() -> None:
    assert progress("train", 3, float("nan")) == {"stage": "train", "steps": 3, "return": None}
    assert progress("train", 3, 1.5)["return"] == 1.5

"""Trials in processes of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ewok.lab.events import Done, Event, Lost, Progress, Started
from ewok.lab.local import environment, run_here
from ewok.lab.plan import plan
from tests.lab.test_launch import children, study_of


def events_of(agent: str, folder: Path, num_workers: int, **changes: object) -> list[Event]:
    def place(name: str) -> Path:
        (folder / name).mkdir(parents=True)
        return folder / name

    return list(run_here(plan(study_of(agent, **changes)), place, num_workers))


def test_every_trial_starts_once_and_ends_once(tmp_path: Path) -> None:
    events = events_of("coin", tmp_path, 2)
    for kind in (Started, Done):
        assert len({event.trial.id for event in events if isinstance(event, kind)}) == 4
    for event in events:
        if isinstance(event, Done):
            assert (event.place / "trial.json").is_file()
    assert {event.stage for event in events if isinstance(event, Progress)} == {"train", "evaluate"}


def test_a_lost_worker_says_how_it_ended_and_what_it_said_last(tmp_path: Path) -> None:
    events = events_of("dies", tmp_path, 1, methods={"baseline": {}}, seeds=3)
    (lost,) = (event for event in events if isinstance(event, Lost))
    assert lost.trial.seed == 1
    assert lost.told == "the worker process ended (signal 9)\nlast words"
    assert sum(isinstance(event, Done) for event in events) == 2


def test_workers_have_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    told = environment()
    assert told["OMP_NUM_THREADS"] == told["OPENBLAS_NUM_THREADS"] == "1"
    assert told["XLA_FLAGS"].startswith("--xla_cpu_enable_fast_math=false --xla_cpu_multi_thread_eigen=false")


def test_workers_end_with_whoever_listens(tmp_path: Path) -> None:
    def place(name: str) -> Path:
        (tmp_path / name).mkdir()
        return tmp_path / name

    before = set(children(os.getpid()))
    running = run_here(plan(study_of("slow")), place, 2)
    next(running)
    assert set(children(os.getpid())) - before
    running.close()
    assert set(children(os.getpid())) == before

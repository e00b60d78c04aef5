"""Running a study: what is missing and nothing else, whatever raises, dies, fills up or is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ewok.lab.columns import StoreError
from ewok.lab.launch import Outcome, run_study
from ewok.lab.reading import read_plain
from ewok.lab.store import Results, read

GRAVITY = {"gravity": [5.0, 20.0]}
EWOK = {"kind": "ewok", "kappa": 0.1, "num_samples": 3}


def study_of(agent: str = "coin", num_steps: int = 60, **changes: Any) -> Any:
    raw = {
        "name": "small",
        "world": "cartpole",
        "seeds": 2,
        "episodes": 2,
        "agent": {"agent": f"tests.lab.mine:{agent}", "num_steps": num_steps},
        "methods": {"baseline": {}, "ewok": EWOK},
        "perturbations": GRAVITY,
    }
    return read_plain({**raw, **changes})


def run(out: Path, agent: str = "coin", workers: int = 1, **changes: Any) -> Outcome:
    return run_study(study_of(agent, **changes), out, num_workers=workers)


def numbers(results: Results) -> dict[str, list[Any]]:
    """All that is not a time."""
    found = {}
    for trial in results.finished:
        columns = {name: column for name, column in trial.training.items() if name != "seconds"}
        parts = [*trial.returns.of("gravity"), *columns.values(), *(trial.diagnostics or {}).values()]
        found[trial.id] = [np.asarray(part).tolist() for part in parts]
    return found


def test_a_study_leaves_all_there_is_to_know(tmp_path: Path) -> None:
    assert run(tmp_path) == Outcome(tmp_path, 0, 4, 0)
    results = read(tmp_path)
    assert [(t.method, t.seed) for t in results.finished] == [
        ("baseline", 0),
        ("baseline", 1),
        ("ewok", 0),
        ("ewok", 1),
    ]
    trial = results.finished[-1]
    assert trial.steps == 60
    assert trial.returns.of("gravity").values.tolist() == [5.0, 9.8, 20.0]
    assert trial.returns.of("gravity").returns.shape == (3, 2)
    assert int(trial.training["length"].sum()) <= 60
    assert trial.training["return"].tolist() == trial.training["length"].tolist()
    assert trial.diagnostics is not None
    assert (trial.diagnostics["kl"] > 0.0).any()
    assert (trial.diagnostics["kappa"] == 0.1).all()
    assert results.finished[0].diagnostics is None
    assert set(trial.seconds) == {"train", "evaluate", "total"}
    assert trial.seconds["total"] >= trial.seconds["train"]
    assert {"python", "numpy", "gymnasium"} <= set(trial.versions)
    assert {"processor", "cores", "system"} <= set(trial.machine)
    assert (trial.path / "model.zip").read_text() == "heads or tails"
    assert list((tmp_path / "partial").iterdir()) == []
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".pkl", ".pickle")]


def test_numbers_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    for workers in (1, 3):
        run(tmp_path / str(workers), workers=workers, methods={"baseline": {}, "ewok": EWOK, "randomized": {}})
    assert numbers(read(tmp_path / "1")) == numbers(read(tmp_path / "3"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "world", "package"), [("ddqn", "cartpole", "stable_baselines3"), ("sac-cpu", "walker-stand", "sbx")]
)
def test_numbers_of_the_papers_agents_do_not_either(tmp_path: Path, recipe: str, world: str, package: str) -> None:
    """Workers keep their libraries loaded from one trial to the next: nothing of the one may reach the other."""
    pytest.importorskip(package, reason=f"needs {package}: pip install 'ewok[all]'")
    settings = {"learning_starts": 50, "train_freq": 8, "gradient_steps": 4}
    agent = {"recipe": recipe, "num_steps": 1_200, "networks": {"net_arch": [16, 16]}, "settings": settings}
    study = {"name": "small", "world": world, "seeds": 2, "episodes": 1, "agent": agent}
    study |= {"methods": {"baseline": {}, "ewok": EWOK}}
    study |= {"perturbations": GRAVITY if world == "cartpole" else {"noise_mean": [0.3]}}
    for workers in (1, 2):
        assert run_study(read_plain(study), tmp_path / str(workers), num_workers=workers).num_failed == 0
    one, other = (read(tmp_path / str(workers)).finished for workers in (1, 2))
    for here, there in zip(one, other, strict=True):
        for name in ("returns.csv.gz", "diagnostics.csv.gz"):
            if (here.path / name).exists():
                assert (here.path / name).read_bytes() == (there.path / name).read_bytes()
        assert here.training["return"].tolist() == there.training["return"].tolist()
    assert one[0].training["return"].tolist() != one[1].training["return"].tolist(), "seeds differ"


def test_only_what_is_missing_runs(tmp_path: Path) -> None:
    run(tmp_path, seeds=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "trials").rglob("*")}
    assert run(tmp_path) == Outcome(tmp_path, 2, 2, 0)
    assert run(tmp_path) == Outcome(tmp_path, 4, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_changed_study_runs_what_changed_and_mixes_nothing(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, methods={"baseline": {}, "ewok": EWOK | {"kappa": 0.5}}) == Outcome(tmp_path, 2, 2, 0)
    results = read(tmp_path)
    assert {trial.meaning["method"]["kappa"] for trial in results.of("ewok")} == {0.5}
    assert len(list((tmp_path / "trials").iterdir())) == 6
    assert run(tmp_path) == Outcome(tmp_path, 4, 0, 0), "and back"


def test_what_is_left_of_an_earlier_version_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    for changes in ({}, {"episodes": 3}):
        run_study(study_of(seeds=1, **changes), tmp_path, num_workers=1, say=told.append)
    assert [line for line in told if "not of the study as it is now" in line] == [
        "2 trials there are not of the study as it is now: they stay, and are not reported"
    ]


def test_another_studys_folder_is_not_taken(tmp_path: Path) -> None:
    run(tmp_path, seeds=1)
    before = (tmp_path / "study.json").read_text()
    with pytest.raises(StoreError, match="holds 'small'"):
        run(tmp_path, name="other")
    assert (tmp_path / "study.json").read_text() == before


def test_a_trial_that_raises_is_written_down_and_the_others_go_on(tmp_path: Path) -> None:
    assert run(tmp_path, "raises", methods={"baseline": {}}, seeds=3) == Outcome(tmp_path, 0, 2, 1)
    (failed,) = read(tmp_path).failed
    assert failed.seed == 1
    assert failed.error == "RuntimeError: this seed is unlucky"
    assert "in raises" in failed.traceback
    assert list((tmp_path / "partial").iterdir()) == []
    assert run(tmp_path, "raises", methods={"baseline": {}}, seeds=3) == Outcome(tmp_path, 2, 0, 1), "it is tried again"


def test_a_worker_that_is_killed_costs_a_second_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EWOK_TEST_MARK", str(tmp_path / "mark"))
    assert run(tmp_path / "out", "dies_once", methods={"baseline": {}}, seeds=3) == Outcome(tmp_path / "out", 0, 3, 0)


def test_a_worker_that_is_killed_time_and_again_is_a_failure(tmp_path: Path) -> None:
    assert run(tmp_path, "dies", methods={"baseline": {}}, seeds=3) == Outcome(tmp_path, 0, 2, 1)
    (failed,) = read(tmp_path).failed
    assert "signal 9" in failed.error
    assert "last words" in failed.traceback


def test_a_full_disk_stops_the_study_and_leaves_whole_what_is_done(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="make room, and run again") as caught:
        run(tmp_path, "no_room", methods={"baseline": {}}, seeds=3)
    assert caught.value.errno == 28
    results = read(tmp_path)
    assert [trial.seed for trial in results.finished] == [0]
    assert results.failed == ()
    assert list((tmp_path / "partial").iterdir()) == []


def test_a_method_and_a_world_of_ones_own(tmp_path: Path) -> None:
    methods = {"mine": {"kind": "tests.lab.mine:shaken", "options": {"std": 0.1}}, "baseline": {}}
    assert run(tmp_path, methods=methods, world="tests.lab.mine:world").num_failed == 0
    results = read(tmp_path)
    assert results.methods == ("mine", "baseline")
    assert results.of("mine")[0].training["length"].tolist() != results.of("baseline")[0].training["length"].tolist()


# As a command: what a kill, Ctrl-C and a request to end leave behind.

COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests run in the background it is ignored
from ewok.lab.columns import StoreError
from ewok.lab.launch import run_study
from tests.lab.test_launch import study_of
run_study(study_of("slow", methods={"baseline": {}}), sys.argv[1], num_workers=2)
"""


def wait_for(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come")


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(one) for one in path.read_text().split()] if path.exists() else []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_ended_takes_its_workers_along_and_can_be_run_again(tmp_path: Path, number: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(tmp_path)], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: len(list((tmp_path / "partial").glob("*/log.txt"))) == 2)
        workers = children(command.pid)
        assert len(workers) == 2
        command.send_signal(number)
        command.wait(10)
        wait_for(lambda: not any(map(is_running, workers)))
        if number != signal.SIGKILL:
            assert list((tmp_path / "partial").iterdir()) == []
    finally:
        command.kill()
        command.wait()
    assert read(tmp_path).finished == ()
    os.environ["EWOK_TEST_SLEEP"] = "0"
    try:
        assert run(tmp_path, "slow", methods={"baseline": {}}) == Outcome(tmp_path, 0, 2, 0)
    finally:
        del os.environ["EWOK_TEST_SLEEP"]
    assert list((tmp_path / "partial").iterdir()) == []

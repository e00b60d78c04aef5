"""`ewok run` and `ewok status`: what a person types, and what they read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ewok.cli import app
from ewok.cli.root import FAILED, MACHINE, MISTAKE

pytest.importorskip("pydantic", reason="needs the lab: pip install 'ewok[lab]'")

STUDY = """
name = "small"
world = "cartpole"
seeds = 2
episodes = 2
[agent]
agent = "tests.lab.mine:coin"
num_steps = 60
[methods.baseline]
[methods.ewok]
kappa = 0.1
num_samples = 3
[perturbations]
gravity = [5.0, 20.0]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def ewok(*args: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_run_writes_a_folder_that_status_reads(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, text, progress = ewok("run", file, "--out", out, "--workers", 1)
    assert code == 0
    assert "4 trials, 0 there already, 4 to run" in progress
    assert "[4 of 4" in progress
    assert "nominal" in text
    assert "ewok" in text
    assert (out / "study.toml").read_text() == STUDY
    code, text, _ = ewok("status", out)
    assert code == 0
    assert "small: 4 of 4 trials done" in text
    assert "worst of each parameter's grid" in text


def test_options_of_run_reach_the_study(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        ewok("run", file, "--out", out, "--seeds", 1, "--set", "episodes=3", "--set", "methods.ewok.kappa=0.5")[0] == 0
    )
    told = json.loads((out / "study.json").read_text())
    assert [trial["seed"] for trial in told["trials"]] == [0, 0]
    assert told["study"]["episodes"] == 3
    assert told["kinds"]["ewok"]["kappa"] == 0.5


def test_a_dry_run_runs_nothing(file: Path, tmp_path: Path) -> None:
    code, text, _ = ewok("run", file, "--out", tmp_path / "out", "--dry-run", "--set", "methods={baseline={}}")
    assert code == 0
    assert "2 trials, 0 there already, 2 to run" in text
    assert "MB in" in text
    assert not (tmp_path / "out").exists()


def test_the_folder_is_named_after_the_study(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ewok("run", file, "--seeds", 1)[0] == 0
    assert (tmp_path / "runs" / "small" / "study.json").is_file()


def test_a_failed_trial_is_in_the_exit_code(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, text, _ = ewok("run", file, "--out", out, "--set", "agent.agent=tests.lab.mine:raises")
    assert code == FAILED
    assert "RuntimeError: this seed is unlucky" in text
    assert "1 failed" in ewok("status", out)[1]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["run", "none.toml"], "none.toml: No such file or directory."),
        (["run", "."], "Is a directory"),
        (["run", "{file}", "--set", "seeds=0"], "seeds: "),
        (["run", "{file}", "--set", "methods={}"], "methods: "),
        (["run", "{file}", "--set", "wrold=1"], "did you mean 'world'?"),
        (["run", "{file}", "--set", "world=cartpol"], "did you mean 'cartpole'?"),
        (["run", "{file}", "--out", "{file}"], "is a file, or lies in one"),
        (["run", "{file}", "--out", "/proc/none"], "cannot be"),
        (["run", "{file}", "--gpus", "1"], "`--gpus` must be 0 without --ray"),
        (["run", "{archive}"], "it must be a TOML file"),
        (["status", "none"], "There is nothing there"),
        (["status", "{file}"], "It is a file"),
        (["status", "."], "has no study.json"),
    ],
)
def test_a_mistake_is_told_without_a_traceback(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    archive = tmp_path / "model.zip"
    archive.write_bytes(b"PK\x03\x04\xff\xfe")
    code, out, text = ewok(*(arg.replace("{file}", str(file)).replace("{archive}", str(archive)) for arg in args))
    assert code == MISTAKE
    assert told in text
    assert "Traceback" not in text + out


def test_a_disk_that_is_full_is_the_machines_fault(file: Path, tmp_path: Path) -> None:
    code, _, text = ewok("run", file, "--out", tmp_path / "out", "--set", "agent.agent=tests.lab.mine:no_room")
    assert code == MACHINE
    assert "make room, and run again" in text


def test_an_address_where_no_ray_answers_is_told(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'ewok[ray]'")
    code, _, text = ewok("run", file, "--out", tmp_path / "out", "--ray", "127.0.0.1:1")
    assert code == MACHINE
    assert "none answers at '127.0.0.1:1'" in text
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_disk_that_is_really_full_costs_the_running_trials_only(file: Path, tmp_path: Path) -> None:
    """On a file system of 400 KB, in a namespace of its own."""
    program = f"""
        mount -t tmpfs -o size=400k tmpfs {tmp_path} || exit 77
        {sys.executable} -c 'from ewok.cli import app; app()' run {tmp_path.parent}/small.toml --out {tmp_path}/out \
            --workers 1 --set seeds=40
        echo "exit $?"
        ls -A {tmp_path}/out/partial | wc -l
        {sys.executable} -c 'from ewok.cli import app; app()' status {tmp_path}/out
    """
    (tmp_path.parent / "small.toml").write_text(STUDY)
    done = subprocess.run(["unshare", "-rm", "bash", "-c", program], capture_output=True, text=True, check=False)
    if "exit" not in done.stdout:
        pytest.skip("no namespaces here: " + done.stderr)
    code, num_partial, state, *_ = done.stdout.splitlines()
    assert code == f"exit {MACHINE}"
    assert "No space left on device" in done.stderr
    assert int(num_partial) == 0
    num_done = int(re.fullmatch(r"small: (\d+) of 80 trials done.*", state)[1])  # type: ignore[index]
    assert 0 < num_done < 80

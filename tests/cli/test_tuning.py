"""`ewok tune`, as it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("optuna", reason="needs the lab extra")

from ewok.cli import app
from ewok.cli.root import FAILED, MISTAKE, STOPPED
from ewok.lab.tune import Candidate, Tuned
from ewok.lab.validation import Scores

STUDY = """
name = "small"
world = "cartpole"
seeds = 2
[agent]
recipe = "ddqn"
[methods.ewok]
num_samples = 15
kappa = 0.1
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(STUDY)
    return tmp_path


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["tune", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_what_is_typed_is_what_is_searched(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    best = Candidate({"radius": 0.25, "num_samples": 9}, Scores(480.0, 210.0))

    def search(*args: Any, **options: Any) -> Tuned:
        asked.append((*args, options["num_workers"]))
        return Tuned("ewok", (best,), (best,), num_failed=len(asked) - 1)

    monkeypatch.setattr("ewok.lab.tune.tune", search)
    args = ["small.toml", "--tune", "radius", "--range", "0.1", "1", "--samples", "5", "9", "--set", "episodes=3"]
    code, out, _ = run(*args, "--workers", "1")
    study, searched, folder, workers = asked[0]
    assert (code, study.episodes, folder, workers) == (0, 3, Path("runs/small-tune"), 1)
    assert (searched.temper, searched.tempers, searched.samples) == ("radius", (0.1, 1.0), (5, 9))
    assert "radius = 0.25, num_samples = 9: nominal 480, worst 210" in out
    assert "  [methods.ewok]\n  radius = 0.25\n  num_samples = 9\n" in out
    assert run(*args)[0] == FAILED, "a candidate could not be trained"


def test_stopping_is_no_failure(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ewok.lab.tune.tune", stop)
    code, _, err = run("small.toml")
    assert code == STOPPED
    assert "goes on from what is finished" in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["none.toml"], "none.toml"),
        (["small.toml", "--score", "wrost"], "Did you mean 'worst'"),
        (["small.toml", "--tune", "gamma"], "the name of a setting to tune"),
        (["small.toml", "--method", "mine"], "a method of kind 'ewok' in the study"),
        (["small.toml", "--set", "seedz=3"], "did you mean 'seeds'"),
        (["small.toml", "--out", "small.toml"], "`out` must be a folder"),
    ],
)
def test_mistakes_are_told(args: list[str], message: str, here: Path) -> None:
    code, out, err = run(*args)
    assert (code, out) == (MISTAKE, "")
    assert message in err

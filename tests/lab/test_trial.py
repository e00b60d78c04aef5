"""One trial, from its meaning to its files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ewok import worlds
from ewok.lab import trial as trial_module
from ewok.lab.plan import plan
from ewok.lab.store import Returns
from ewok.lab.trial import commit, machine, now, run_trial, versions
from tests.lab.test_launch import study_of


def test_the_same_meaning_gives_the_same_numbers_to_the_byte(tmp_path: Path) -> None:
    trial = plan(study_of())[1]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        run_trial(trial, tmp_path / name, lambda *told: None)
    for file in ("returns.csv.gz", "diagnostics.csv.gz", "model.zip"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_a_model_and_its_normaliser_can_be_taken_up_again(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    from ewok.lab.pilot import Pilot
    from ewok.lab.saved import load

    trial = plan(study_of("normalised", num_steps=64))[-1]
    run_trial(trial, tmp_path, lambda *told: None)
    pilot = Pilot(load(tmp_path / "model.zip", vecnormalize=tmp_path / "vecnormalize.pkl"), worlds.get("cartpole"))
    evaluation = trial.meaning["evaluation"]
    points = [{"gravity": value} for value in evaluation["grids"]["gravity"]]
    flown = pilot.run(points, evaluation["episodes"], seed=evaluation["seed"])
    assert Returns.read(tmp_path / "returns.csv.gz").of("gravity").returns.tolist() == flown.returns.tolist()


def test_it_says_what_it_is_at(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    run_trial(plan(study_of())[0], tmp_path, lambda stage, steps, level: told.append((stage, steps)))
    assert told[0] == ("train", 0)
    assert told[-1] == ("evaluate", 60)


def test_what_it_ran_with_and_on_is_written_down(tmp_path: Path) -> None:
    run_trial(plan(study_of())[0], tmp_path, lambda *told: None)
    told = json.loads((tmp_path / "trial.json").read_text())
    assert told["versions"] == versions()
    assert told["machine"] == machine()
    assert told["seconds"]["total"] >= told["seconds"]["train"] + told["seconds"]["evaluate"] - 0.002
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told["finished"])
    assert now() >= told["finished"]
    assert "hostname" not in json.dumps(told), "a folder can be shown to anybody"


def test_the_commit_is_the_librarys_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = commit()
    assert found is None or re.fullmatch(r"[0-9a-f]{40}\+?", found)
    (tmp_path / "errors.py").touch()
    monkeypatch.setattr(trial_module.errors, "__file__", str(tmp_path / "errors.py"))
    assert commit() is None, "an installed copy, whatever repository it lies in"

"""Every shipped study runs, at a fraction of its size."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("pydantic", reason="needs the lab: pip install 'ewok[lab]'")

from ewok.cli import app
from ewok.lab.columns import read_columns
from ewok.lab.kinds import planner
from ewok.lab.plan import Trial
from ewok.lab.reading import read_file
from ewok.lab.store import DISTANCES, Returns
from ewok.lab.worker import attempt

ROOT = Path(__file__).parent.parent
STUDIES = sorted((ROOT / "studies").glob("*.toml"))


def test_the_demo_is_the_study_that_make_runs(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    assert "ewok run studies/demo.toml" in (ROOT / "Makefile").read_text()
    small = ["--set", "agent.num_steps=1100", "--set", "episodes=2", "--seeds", "1", "--workers", "1"]
    result = CliRunner().invoke(app, ["run", str(ROOT / "studies" / "demo.toml"), "--out", str(tmp_path), *small])
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.stdout.splitlines()[2:4]] == ["baseline", "ewok"]
    assert (tmp_path / "figures" / "robustness.png").stat().st_size > 10_000
    assert (tmp_path / "report.html").is_file()


def small(path: Path) -> list[str]:
    """Changes that make a study a matter of seconds."""
    if path.stem == "cliff":
        return ["learning.num_episodes=50"]
    if path.stem == "estimate":
        agents = [f"worlds.{name}.agent" for name in tomllib.loads(path.read_text())["worlds"]]
        steps = [f"{agent}.{told}" for agent in agents for told in ("num_steps=120", "settings.learning_starts=100")]
        return [*steps, "num_states=2", "num_candidates=20"]
    starts = [] if "ppo" in path.stem else ["agent.settings.learning_starts=100"]
    return ["agent.num_steps=120", "episodes=1", *starts]


@pytest.mark.slow
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_kind_of_method_of_every_study_runs(path: Path, tmp_path: Path) -> None:
    packages = {"walker": ("shimmy",), "cpu": ("sbx",), "cliff": ("numba",), "estimate": ("shimmy", "sbx")}
    for package in ("stable_baselines3", *(p for part, names in packages.items() if part in path.stem for p in names)):
        pytest.importorskip(package, reason=f"{path.name} needs {package}: pip install 'ewok[all]'")
    study, _ = read_file(path, small(path), num_seeds=1)
    kinds: dict[Any, Trial] = {}
    for trial in planner(study.kind).plan(study):
        method, world = trial.meaning["method"], trial.meaning.get("world")
        kinds.setdefault((method["kind"], "radius" in method, world), trial)
    for trial in kinds.values():
        place = tmp_path / trial.id
        place.mkdir()
        message = attempt(trial, place, lambda said: None)
        assert message == {"done": True}, message
        if path.stem == "estimate":
            assert len(read_columns(place / DISTANCES)["num_samples"]) == len(study.num_samples) + 1
            continue
        for name, curve in Returns.read(place / "returns.csv.gz").curves.items():
            assert curve.returns.shape == (len(curve.values), 1), name
            assert not curve.diverged.any()

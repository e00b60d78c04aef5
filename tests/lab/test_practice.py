"""From files to films and pages: which models, under which names, in which world."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")

from ewok.errors import ArgumentError
from ewok.lab import practice
from ewok.lab.saved import NOTICE
from tests.lab.mine import normalised
from tests.lab.models import CARTPOLE, OwnPPO, save_balancer, save_ppo


class Filmed:
    """Stands for the film: what it would have shown."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pilots: list[Any] = []
        self.names: list[str] = []
        self.point: dict[str, float] = {}
        monkeypatch.setattr(practice, "film", self)

    def __call__(self, pilots: Any, world: Any, point: Any, path: Path, **options: Any) -> list[float]:
        self.pilots = list(pilots)
        self.names, self.point = [pilot.model.name for pilot in pilots], dict(point)
        return [1.0] * len(pilots)


@pytest.fixture
def filmed(monkeypatch: pytest.MonkeyPatch) -> Filmed:
    return Filmed(monkeypatch)


def results(folder: Path, **seeds: list[int]) -> Any:
    """A study of CartPole with a finished trial of each method for each of these seeds."""
    trials = {}
    for method, own in seeds.items():
        for seed in own:
            (folder / f"{method}-{seed}").mkdir(parents=True)
            save_ppo(folder / f"{method}-{seed}", seed=seed)
        meaning = {"agent": {"agent": "stable_baselines3:PPO"}}
        trials[method] = [SimpleNamespace(seed=seed, path=folder / f"{method}-{seed}", meaning=meaning) for seed in own]
    return SimpleNamespace(study={}, world={"name": "cartpole"}, methods=tuple(seeds), of=trials.__getitem__)


def test_of_a_study_one_agent_of_each_method_is_filmed(
    filmed: Filmed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = results(tmp_path / "runs", baseline=[0, 2, 3], ewok=[2, 3], unfinished=[])
    monkeypatch.setattr(practice, "read", lambda folder: made)
    said: list[str] = []
    came = practice.video([tmp_path], at=["gravity=12", "noise = 0.1"], out=tmp_path / "film.mp4", say=said.append)
    assert filmed.names == ["baseline", "ewok"]
    assert filmed.point == {"gravity": 12.0, "noise": 0.1}
    assert came == ["baseline: 1", "ewok: 1"]
    assert said[:2] == ["agents of seed 2", NOTICE]
    with pytest.raises(ArgumentError, match="the study's own, 'cartpole'"):
        practice.video([tmp_path], world="pendulum", out=tmp_path / "film.mp4")


def test_agents_of_a_study_fly_behind_their_normalisers(
    filmed: Filmed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = results(tmp_path / "runs", baseline=[0], ewok=[0])
    normalised(CARTPOLE.make(), 0).get_vec_normalize_env().save(tmp_path / "runs" / "ewok-0" / "vecnormalize.pkl")
    monkeypatch.setattr(practice, "read", lambda folder: made)
    practice.video([tmp_path], out=tmp_path / "film.mp4")
    assert [pilot.model.normaliser is None for pilot in filmed.pilots] == [True, False]


def test_a_study_knows_its_own_agents(filmed: Filmed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = results(tmp_path / "runs", ewok=[0])
    made.of("ewok")[0].meaning["agent"]["agent"] = "tests.lab.models:OwnPPO"
    monkeypatch.setattr(practice, "read", lambda folder: made)
    practice.video([tmp_path], out=tmp_path / "film.mp4")
    assert [type(pilot.model.agent) for pilot in filmed.pilots] == [OwnPPO]
    given: list[dict[str, Any]] = [{"algos": ["PPO"]}, {"vecnormalize": [tmp_path / "other.pkl"]}]
    for options in given:
        with pytest.raises(ArgumentError, match="must be left out for a study"):
            practice.video([tmp_path], out=tmp_path / "film.mp4", **options)


def test_a_study_without_a_seed_in_common_is_refused(
    filmed: Filmed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seeds in ({"baseline": [0], "ewok": [1]}, {"baseline": [], "ewok": []}):
        made = results(tmp_path / str(len(seeds["ewok"])), **seeds)
        monkeypatch.setattr(practice, "read", lambda folder, made=made: made)
        with pytest.raises(ArgumentError, match="must have a seed that is finished for all methods"):
            practice.video([tmp_path], out=tmp_path / "film.mp4")


def test_a_study_of_no_agents_or_of_several_worlds_is_refused(
    filmed: Filmed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = results(tmp_path / "runs", cartpole=[0])
    monkeypatch.setattr(practice, "read", lambda folder: made)
    for kind in ("tabular", "estimate"):
        made.study = {"kind": kind}
        with pytest.raises(ArgumentError, match=f"of kind \"agents\", but it is '{kind}'"):
            practice.video([tmp_path], out=tmp_path / "film.mp4")


def test_models_of_one_name_are_told_apart(filmed: Filmed, tmp_path: Path) -> None:
    path = save_balancer(tmp_path)
    practice.video([path, path, path], world="cartpole", algos=["-", "PPO"], out=tmp_path / "film.mp4")
    assert filmed.names == ["balancer", "balancer (2)", "balancer (3)"]


@pytest.mark.slow
def test_models_of_a_real_study_can_be_filmed_and_put_under_stress(tmp_path: Path) -> None:
    from ewok.lab.launch import run_study
    from ewok.lab.reading import read_plain

    plain = {
        "name": "small",
        "world": "cartpole",
        "seeds": 1,
        "episodes": 2,
        "agent": {"recipe": "ddqn", "num_steps": 300},
        "methods": {"baseline": {}, "ewok": {"num_samples": 3, "kappa": 0.1}},
        "perturbations": {"gravity": [5.0]},
    }
    run_study(read_plain(plain), tmp_path / "runs", num_workers=1)
    assert len(practice.video([tmp_path / "runs"], out=tmp_path / "film.gif", num_steps=20)) == 2
    assert (tmp_path / "film.gif").stat().st_size > 1000
    one, other = sorted(tmp_path.glob("runs/trials/*/model.zip"))
    sources = [(one, None, None), (other, None, None)]
    said, _ = practice.stress(sources, "cartpole", practice.Plan(episodes=3, num_mixtures=2), out=tmp_path / "out")
    assert any(f" against {other.parent.name}" in sentence for sentence in said)

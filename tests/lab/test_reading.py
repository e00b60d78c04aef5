"""From a file to a study: what it may say, and how it is told what is wrong, all at once."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ewok.errors import ArgumentError
from ewok.lab.kinds import planner
from ewok.lab.plan import plan
from ewok.lab.reading import StudyError, read_file, read_plain
from ewok.lab.study import seeds_of

INF = float("inf")
STUDIES = Path(__file__).parent.parent.parent / "studies"
SMALL: dict[str, Any] = {
    "name": "small",
    "world": "cartpole",
    "seeds": 2,
    "agent": {"agent": "tests.lab.mine:coin", "num_steps": 10},
    "methods": {"baseline": {}},
}
EWOK = {"kind": "ewok", "kappa": 0.1}
SWEEP = {"base": "ewok", "kappa": [0.5]}
LOG = {"kind": "randomized", "distribution": "log-uniform"}
EACH = {"kind": "randomized", "parameters": "each"}


def mistakes(changes: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(StudyError) as caught:
        read_plain({**SMALL, **changes})
    assert all(
        place in str(caught.value) and told in str(caught.value) for place, told in caught.value.mistakes.items()
    )
    return caught.value.mistakes


def test_all_mistakes_are_told_at_once_each_with_its_place_and_the_nearest_name(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    path = tmp_path / "bad.toml"
    path.write_text(
        """
        name = "bad"
        wrld = "cartpole"
        world = "cartpol"
        seeds = 0
        epsiodes = 30
        [agent]
        recipe = "ppo"
        settings = { lerning_rate = 1e-3, seed = 3 }
        networks = { net_ach = [64] }
        [methods.ewok]
        kapa = 0.1
        [methods.random]
        [methods.mine]
        kind = "tests.lab.mine:nothing"
        [methods.other]
        kind = "baseline"
        num_samples = 3
        [sweeps.kappa]
        base = "ewock"
        kappa = [0.1, -1.0]
        """
    )
    with pytest.raises(StudyError) as caught:
        read_file(path)
    told = caught.value.mistakes
    assert "did you mean 'world'?" in told["wrld"]
    assert "did you mean 'cartpole'?" in told["world"]
    assert "but it is 0" in told["seeds"]
    assert "did you mean 'episodes'?" in told["epsiodes"]
    assert "did you mean 'learning_rate'?" in told["agent.settings.lerning_rate"]
    assert "`seeds` decide" in told["agent.settings.seed"]
    assert "did you mean 'net_arch'?" in told["agent.networks.net_ach"]
    assert "did you mean 'kappa'?" in told["methods.ewok.kapa"]
    assert "did you mean 'randomized'?" in told["methods.random.kind"]
    assert "has no attribute 'nothing'" in told["methods.mine.kind"]
    assert 'kind = "baseline"' in told["methods.other.num_samples"]
    assert "did you mean 'ewok'?" in told["sweeps.kappa.base"]
    assert "greater than 0, but it is -1.0" in told["sweeps.kappa.kappa.1"]
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "place", "told"),
    [
        ({"methods": {}}, "methods", "at least 1 item"),
        ({"methods": {"ewok": {}}}, "methods.ewok", "neither is"),
        (
            {"methods": {"wide": {"kappa": 0.1}}},
            "methods.wide.kind",
            'there are: baseline, ewok, randomized; write kind = "ewok"',
        ),
        ({"methods": {"randomized2": {}}}, "methods.randomized2.kind", 'write kind = "randomized"'),
        ({"methods": {"ewok": {"kappa": 1.0, "radius": 1.0}}}, "methods.ewok", "both are"),
        ({"methods": {"a/b": {"kind": "baseline"}}}, "methods.a/b", "pattern"),
        ({"methods": {"baseline": {"seeds": [1, -1]}}}, "methods.baseline.seeds.1", "greater than or equal to 0"),
        ({"methods": {"randomized": {"parameters": ["gravitty"]}}}, "methods.randomized.parameters", "'gravity'"),
        ({"agent": {}}, "agent", "names no one"),
        ({"agent": {"agent": "tests.lab.mine:coin"}}, "agent", "num_steps is missing"),
        ({"agent": {"recipe": "pp0"}}, "agent.recipe", "did you mean 'ppo'?"),
        ({"agent": {"agent": "coin", "num_steps": 3}}, "agent.agent", '"module:object"'),
        ({"agent": {"agent": "nowhere:coin", "num_steps": 3}}, "agent.agent", "No module named 'nowhere'"),
        (
            {"agent": {"agent": "tests.lab.mine:coin", "num_steps": 3, "settings": {"a": 1}}},
            "agent.settings",
            "function of (env, seed)",
        ),
        ({"perturbations": {"gravity": [-1.0]}}, "perturbations.gravity", "at least 0"),
        ({"perturbations": {"gravty": [1.0]}}, "perturbations.gravty", "'gravity'"),
        ({"perturbations": {"gravity": []}}, "perturbations.gravity", "at least 1 item"),
        ({"sweeps": {"s": {"base": "baseline"}}}, "sweeps.s", "exactly one of kappa"),
        ({"sweeps": {"s": {"base": "baseline", "kappa": [1.0]}}}, "sweeps.s.base", "of the kind ewok"),
        (
            {"methods": {"ewok": EWOK}, "sweeps": {"a": SWEEP | {"seeds": [0]}, "b": SWEEP | {"seeds": [1]}}},
            "sweeps.b",
            "makes a method 'ewok-kappa-0.5' as sweeps.a does",
        ),
        (
            {"methods": {"ewok": EWOK, "ewok-kappa-0.5": {"kind": "baseline"}}, "sweeps": {"a": SWEEP}},
            "sweeps.a",
            "as methods.ewok-kappa-0.5 does",
        ),
        (
            {"methods": {"random": EACH, "random-gravity": {"kind": "baseline"}}},
            "methods.random-gravity",
            "as methods.random does",
        ),
        (
            {"world": "tests.lab.mine:named_oddly", "methods": {"all": EACH}},
            "methods.all",
            "'all-how much', but",
        ),
        (
            {"world": "walker-walk", "perturbations": {"joint_damping": [0.0, 1.0]}},
            "perturbations.joint_damping",
            "must be above 0, for its axis is logarithmic",
        ),
        (
            {"methods": {"all": EACH | LOG}},
            "methods.all.distribution",
            "noise is tested from 0, which has no logarithm",
        ),
        (
            {"methods": {"some": {**LOG, "parameters": ["gravity"]}}, "perturbations": {"gravity": [0.0]}},
            "methods.some.distribution",
            "gravity is tested from 0",
        ),
        ({"world": "tests.lab.mine:unmoved"}, "perturbations", "these fit any world: "),
        ({"world": "tests.lab.mine:coin"}, "world", "ewok.worlds.World"),
        ({"world": "nowhere:world"}, "world", "No module named 'nowhere'"),
        ({"world": "tests.lab.mistaken:world"}, "world", "NameError: name 'undefined' is not defined (/"),
        ({"methods": {"m": {"kind": "tests.lab.mistaken:made"}}}, "methods.m.kind", "mistaken.py, line 5)"),
        ({"agent": {"agent": "tests.lab.mistaken:coin", "num_steps": 3}}, "agent.agent", "NameError"),
        ({"world": 3}, "world", "string, but it is 3"),
        ({"perturbations": {"gravity": [INF]}}, "perturbations.gravity.0", "finite"),
        ({"methods": {"a": {"kind": "tests.lab.mine:shaken", "options": {"b": INF}}}}, "methods.a.options.b", "inf"),
        ({"name": "../up"}, "name", "pattern"),
        ({"episodes": 0}, "episodes", "greater than or equal to 1"),
        ({"kind": "table"}, "kind", "'agents'"),
    ],
)
def test_what_cannot_be_meant_is_told_where_it_stands(changes: dict[str, Any], place: str, told: str) -> None:
    assert told in mistakes(changes)[place]


def test_what_is_no_toml_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("name = ")
    with pytest.raises(StudyError, match="must be a TOML file"):
        read_file(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyError, match="it is no text"):
        read_file(path)
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "none.toml")


def test_values_can_be_set_beside_the_file() -> None:
    pytest.importorskip("stable_baselines3")
    changes = ["episodes=3", "methods.ewok.kappa=0.5", "agent.settings.gamma = 0.9", "title=of mine"]
    study, text = read_file(STUDIES / "demo.toml", changes, num_seeds=1)
    assert (study.episodes, study.methods["ewok"].kappa, study.agent.settings, study.title) == (
        3, 0.5, {"gamma": 0.9}, "of mine")  # fmt: skip
    assert study.seeds == 1
    assert text == (STUDIES / "demo.toml").read_text()


@pytest.mark.parametrize("change", ["episodes", "=3", "a..b=3", "name.x=3"])
def test_a_change_must_lead_somewhere(change: str) -> None:
    with pytest.raises(ArgumentError, match="--set"):
        read_file(STUDIES / "demo.toml", [change])


def test_a_change_to_what_is_not_known_is_a_mistake_like_any_other() -> None:
    with pytest.raises(StudyError, match="did you mean 'episodes'"):
        read_file(STUDIES / "demo.toml", ["epsodes=3"])


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_studies_can_be_read(path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    if "cpu" in path.stem or path.stem == "estimate":
        pytest.importorskip("sbx")
    if path.stem == "cliff":
        pytest.importorskip("numba")
    if "walker" in path.stem or path.stem == "estimate":
        pytest.importorskip("shimmy")
    study, _ = read_file(path)
    assert study.name == path.stem
    assert planner(study.kind).plan(study)


def test_fewer_seeds_are_the_first_of_each_list() -> None:
    raw = {**SMALL, "seeds": 5, "methods": {"baseline": {"seeds": [7, 3, 1]}, "other": {"kind": "baseline"}}}
    study = read_plain(raw).with_seeds(2)
    assert seeds_of(study.seeds) == [0, 1]
    assert study.methods["baseline"].seeds == [7, 3]


def test_fewer_seeds_are_never_more() -> None:
    raw = {**SMALL, "seeds": 3, "methods": {"baseline": {"seeds": 2}, "other": {"kind": "baseline"}}}
    study = read_plain(raw).with_seeds(5)
    assert seeds_of(study.seeds) == [0, 1, 2]
    assert seeds_of(study.methods["baseline"].seeds) == [0, 1]
    cliff = read_plain({"name": "c", "kind": "tabular", "seeds": 3, "methods": {"plain": {}}})
    assert seeds_of(cliff.with_seeds(5).seeds) == [0, 1, 2]


def test_what_the_docs_show_can_be_read() -> None:
    pytest.importorskip("stable_baselines3")
    page = (STUDIES.parent / "docs" / "studies.md").read_text()
    shown = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert shown
    for text in shown:
        assert plan(read_plain(tomllib.loads(text)))

"""The cliff's study: exact answers are exact, and what is learned lands in the same kind of folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba", reason="needs the tables: pip install 'ewok[tabular]'")

from ewok.lab import cliff
from ewok.lab.conclusion import conclude
from ewok.lab.launch import run_study
from ewok.lab.reading import StudyError, read_file, read_plain
from ewok.lab.store import read

STUDY: dict[str, Any] = {
    "name": "cliff",
    "kind": "tabular",
    "seeds": 2,
    "radii": [0.0, 0.4],
    "learning": {"num_episodes": 300},
    "methods": {
        "ewok": {"num_samples": 5, "kappa": 0.4},
        "nominal-optimum": {"kind": "nominal"},
        "paper-optimum": {"kind": "paper"},
        "robust-optimum": {"kind": "robust"},
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cliff")
    assert run_study(read_plain(STUDY), out, num_workers=1).num_failed == 0
    return out


def test_every_optimum_is_best_where_it_is_meant_to_be(folder: Path) -> None:
    results = read(folder)
    optima = [results.of(name)[0].returns for name in cliff.OPTIMA]
    exact = {name: one.of("exact_radius").returns[:, 0] for name, one in zip("npr", optima, strict=True)}
    assert exact["n"][0] == max(one[0] for one in exact.values())
    assert exact["r"][1] == max(one[1] for one in exact.values())
    at = [one.of("paper_radius").returns[1, 0] for one in optima]
    assert at[1] == max(at)
    assert exact["n"].tolist() == pytest.approx([-2.44, -15.59], abs=0.01)


def test_without_a_radius_both_worst_kernels_are_the_nominal_one(folder: Path) -> None:
    for trial in read(folder).finished:
        values = [trial.returns.of(name).returns[0, 0] for name in ("exact_radius", "paper_radius")]
        assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_an_optimum_agrees_with_itself_everywhere() -> None:
    for name, kind in zip(cliff.OPTIMA, ("nominal", "paper", "robust"), strict=True):
        assert cliff.agreement(np.asarray(cliff._optimum(kind).policy))[name] == 1.0


def test_optima_are_solved_once_and_learners_learn_with_every_seed(folder: Path) -> None:
    results = read(folder)
    assert [(t.method, t.seed) for t in results.finished] == [
        ("ewok", 0), ("ewok", 1), ("nominal-optimum", 0), ("paper-optimum", 0), ("robust-optimum", 0)]  # fmt: skip
    one, other = results.of("ewok")
    assert one.training["return"].tolist() != other.training["return"].tolist()
    assert int(one.training["length"].sum()) == one.steps == 300


def test_the_same_seed_learns_the_same(folder: Path, tmp_path: Path) -> None:
    run_study(read_plain(STUDY), tmp_path, num_workers=2)
    for one, other in zip(read(folder).of("ewok"), read(tmp_path).of("ewok"), strict=True):
        assert one.training["return"].tolist() == other.training["return"].tolist()


def test_it_ends_with_a_table_and_a_picture(folder: Path) -> None:
    lines = list(conclude(folder))
    assert any(line.startswith("robust-optimum") and "100%" in line for line in lines)
    assert (folder / "figures" / "cliff.png").stat().st_size > 10_000
    assert f"policies: {folder / 'figures' / 'cliff.png'}" in lines


def test_the_table_names_the_radius_it_is_of(tmp_path: Path) -> None:
    study = {**STUDY, "radii": [0.1, 0.2], "methods": {"nominal-optimum": {"kind": "nominal"}}}
    run_study(read_plain(study), tmp_path, num_workers=1)
    results = read(tmp_path)
    _, head, row = cliff.table(results)
    assert "  paper, 0.2  exact, 0.2  " in head
    at = results.finished[0].returns.of("exact_radius")
    assert f"{at.returns[at.values == 0.2][0, 0]:.2f}" in row.split()


def test_seeds_are_counted_of_what_is_learned_and_not_of_optima(folder: Path) -> None:
    results = read(folder)
    assert list(cliff.table(results))[-2:] == [
        "means over seeds",
        "2 seeds: too few to tell methods apart",
    ]
    optima = tuple(trial for trial in results.finished if trial.method != "ewok")
    assert list(cliff.table(replace(results, finished=optima)))[-1].startswith("robust-optimum")


@pytest.mark.parametrize(
    ("changes", "place", "told"),
    [
        ({"methods": {"a": {"num_samples": 5}}}, "methods.a", "exactly one of kappa and radius"),
        ({"methods": {"a": {"kapa": 5}}}, "methods.a.kapa", "did you mean 'kappa'?"),
        ({"lerning": {}}, "lerning", "did you mean 'learning'?"),
        ({"learning": {"epsilon": 2.0}}, "learning.epsilon", "less than or equal to 1"),
    ],
)
def test_mistakes_are_told_like_any_other_studys(changes: dict[str, Any], place: str, told: str) -> None:
    with pytest.raises(StudyError) as caught:
        read_plain({**STUDY, **changes})
    assert told in caught.value.mistakes[place]


def test_the_shipped_study_is_the_papers() -> None:
    study, _ = read_file(Path(__file__).parent.parent.parent / "studies" / "cliff.toml", num_seeds=3)
    assert (study.learning.num_episodes, study.learning.learning_rate, study.learning.epsilon) == (20_000, 0.01, 0.2)
    assert (study.methods["ewok"].num_samples, study.methods["ewok"].kappa) == (5, 0.4)
    assert len(cliff.plan(study)) == 5 * 3 + 3

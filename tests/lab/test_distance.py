"""The study of the estimate: what is measured is what the formulas say, and its folder is like any other study's."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ewok.lab import distance
from ewok.lab import forecast as room
from ewok.lab.conclusion import conclude
from ewok.lab.distance import mistakes_of, plan, run_trial
from ewok.lab.figures import figures_of, style
from ewok.lab.findings import findings_of, tones_of
from ewok.lab.forecast import Cost, try_out
from ewok.lab.launch import run_study
from ewok.lab.page import page
from ewok.lab.plan import Trial
from ewok.lab.reading import StudyError, read_plain
from ewok.lab.store import DISTANCES, read
from ewok.lab.tables import distance_table

COIN = {"agent": "tests.lab.mine:coin", "num_steps": 60}
# The coin's value is minus the cart's distance from the middle, which noise of 0.01 moves: about 1 kappa, or 2.
STUDY: dict[str, Any] = {
    "name": "estimate",
    "kind": "estimate",
    "seeds": 2,
    "num_samples": [15, 2],
    "num_states": 12,
    "num_candidates": 1000,
    "worlds": {
        "cartpole": {"agent": COIN, "num_samples": 3, "kappa": 0.01},
        "colder": {"world": "cartpole", "agent": COIN, "num_samples": 3, "kappa": 0.005},
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("estimate")
    assert run_study(read_plain(STUDY), out, num_workers=1).num_failed == 0
    return out


@pytest.mark.parametrize(("world", "exact_kl", "distances"), [("cartpole", 0.5, (0.261, 0.057)), ("colder", 2.0, None)])
def test_a_value_that_noise_moves_has_the_distances_of_a_normal_one(
    folder: Path, world: str, exact_kl: float, distances: tuple[float, float] | None
) -> None:
    for trial in read(folder).of(world):
        told = trial.distances
        assert told is not None
        assert told["num_samples"].tolist() == [2.0, 15.0, np.inf]
        assert told["tv_median"][-1] == 0.0
        assert told["kl_upper"][-1] == pytest.approx(exact_kl, rel=0.25)
        for name in ("tv", "kl"):
            quartiles = [told[f"{name}_{part}"] for part in ("lower", "median", "upper")]
            assert (np.diff(quartiles, axis=0) >= 0.0).all()
        if distances is not None:
            np.testing.assert_allclose(told["tv_median"][:2], distances, rtol=0.25)


def test_the_same_meaning_gives_the_same_numbers_to_the_byte(tmp_path: Path) -> None:
    trial = plan(read_plain(STUDY))[0]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        run_trial(trial, tmp_path / name, lambda *told: None)
    assert (tmp_path / "one" / DISTANCES).read_bytes() == (tmp_path / "two" / DISTANCES).read_bytes()


def test_states_are_of_nominal_episodes_of_the_trials_own_seed(folder: Path) -> None:
    one, other = read(folder).of("cartpole")
    assert one.distances is not None
    assert other.distances is not None
    assert one.distances["kl_median"].tolist() != other.distances["kl_median"].tolist()
    assert one.meaning["distance"]["num_states"] == 12


def test_it_ends_with_a_table_and_a_report(folder: Path) -> None:
    lines = list(conclude(folder))
    assert [line.split()[:3] for line in lines[1:4]] == [["cartpole", "2", n] for n in ("2", "15", "exact")]
    assert lines[-1] == f"report: {folder / 'report.html'}"
    assert f"picture: {folder / 'figures' / 'distance.png'}" in lines
    assert (folder / "figures" / "distance.svg").is_file()


def test_panels_have_a_line_for_each_world_and_the_exact_kernel_as_a_level(folder: Path) -> None:
    found = findings_of(read(folder))
    tv, kl = found.distances
    assert tv.values.tolist() == [2.0, 15.0]
    assert [line.method for line in kl.levels] == [line.method for line in tv.lines] == ["cartpole", "colder"]
    assert tv.levels == ()
    for line, level in zip(kl.lines, kl.levels, strict=True):
        assert (line.scores < level.scores[:, None]).all()
    make = dict(figures_of(found, tones_of((found,))))["distance"]
    with style():
        across = [line for line in make().axes[1].lines if list(line.get_xdata()) == [0, 1]]
    assert [line.get_ydata()[0] for line in across] == [float(level.estimate.value) for level in kl.levels]


def test_the_page_has_what_was_measured_and_nothing_of_returns(folder: Path) -> None:
    found = findings_of(read(folder))
    text = page((found,), tones_of((found,)))
    assert "The estimated worst kernel" in text
    assert "Robust scores" not in text
    rows = distance_table(found).rows
    assert [(row.group, row.label) for row in rows[:3]] == [("cartpole", n) for n in ("N = 2", "N = 15", "exact")]
    assert len(rows) == 6


def test_what_it_will_take_is_told_from_a_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that ticks when it is looked at."""
    meaning, asked = plan(read_plain(STUDY))[0].meaning, list[int]()
    monkeypatch.setattr(distance, "time", SimpleNamespace(monotonic=partial(next, count(0.0))))
    monkeypatch.setattr(distance, "distances", lambda told, _: asked.append(told["distance"]["num_states"]))
    training: Any = None
    assert distance.cost(meaning, training) == (4.0, 3), "of twelve states, and rows for two N and the exact kernel"
    assert asked == [3]


def test_a_trial_is_tried_out_with_its_evaluation() -> None:
    cost = try_out(plan(read_plain(STUDY))[0].meaning, 0.1)
    assert cost.seconds > 0.0
    assert cost.num_bytes > 0.0


def test_worlds_and_lengths_are_tried_out_each_and_kappas_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def measured(trial: Trial) -> Cost:
        tried.append(trial.method)
        return Cost(1.0, 1.0)

    monkeypatch.setattr(room, "measured", measured)
    longer = {**STUDY["worlds"]["colder"], "agent": {**COIN, "num_steps": 90}}
    study = read_plain({**STUDY, "worlds": {**STUDY["worlds"], "longer": longer}})
    lines = list(room.forecast(study, tmp_path, 1))
    assert tried == ["cartpole", "longer"]
    assert lines[-1].startswith("about 6.0 s with 1 worker")


@pytest.mark.parametrize(
    ("changes", "place", "told"),
    [
        ({"worlds": {"cartpol": {**STUDY["worlds"]["cartpole"]}}}, "worlds.cartpol.world", "did you mean 'cartpole'?"),
        ({"worlds": {"cartpole": {"agent": COIN, "num_samples": 3}}}, "worlds.cartpole.kappa", "is missing"),
        ({"num_states": 0}, "num_states", "greater than or equal to 1"),
        ({"num_smples": [3]}, "num_smples", "did you mean 'num_samples'?"),
    ],
)
def test_mistakes_are_told_like_any_other_studys(changes: dict[str, Any], place: str, told: str) -> None:
    with pytest.raises(StudyError) as caught:
        read_plain({**STUDY, **changes})
    assert told in caught.value.mistakes[place]


def test_an_agents_mistakes_stand_in_its_worlds_table() -> None:
    wrong = {"cartpole": {**STUDY["worlds"]["cartpole"], "agent": {"recipe": "dqn"}}}
    [(place, told)] = mistakes_of({"worlds": wrong}).items()
    assert place == "worlds.cartpole.agent.recipe"
    assert "did you mean 'ddqn'?" in told

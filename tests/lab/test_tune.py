"""A search finds what is good, goes on where it was stopped, and says what cannot be."""

from __future__ import annotations

import csv
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("optuna", reason="needs the lab extra")

from ewok.errors import ArgumentError, EwokError
from ewok.lab import tune as room
from ewok.lab.folder import LockedError, locked
from ewok.lab.reading import read_file
from ewok.lab.stats import seed_means
from ewok.lab.study import LARGEST_SEED, Study
from ewok.lab.tune import Search, TuningError, told, tune
from ewok.lab.validation import Scores
from tests.lab.test_validation import study


class Training:
    """Stands for training: the nominal return is best at kappa 0.2, the worst one at 1, and both like N large."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[dict[str, float]] = []
        self.stop_at = self.fail_at = -1
        monkeypatch.setattr(room, "run_study", self.run)
        monkeypatch.setattr(room, "read", self.read)
        monkeypatch.setattr(room, "scores_of", lambda results, method: results.scores)

    def run(self, tried: Study, folder: Path, **_: Any) -> Any:
        (method,) = tried.methods.values()
        if len(self.asked) == self.stop_at:
            self.stop_at = -1
            raise KeyboardInterrupt
        temper = method.kappa if method.kappa is not None else method.radius
        assert temper is not None
        self.asked.append({"temper": temper, "num_samples": method.num_samples})
        failed = len(self.asked) - 1 == self.fail_at
        return SimpleNamespace(num_failed=int(failed))

    def read(self, folder: Path) -> Any:
        temper, samples = self.asked[-1].values()
        gain = 10.0 * math.log(samples)
        scores = Scores(gain - 100.0 * math.log(temper / 0.2) ** 2, gain - 100.0 * math.log(temper) ** 2)
        return SimpleNamespace(scores=scores, failed=[SimpleNamespace(error="it broke")], of=lambda method: [1])


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Training:
    return Training(monkeypatch)


@pytest.mark.parametrize("name", ["cliff", "estimate"])
def test_only_studies_of_agents_can_be_tuned(name: str, tmp_path: Path) -> None:
    for package in ("numba", "stable_baselines3", "sbx", "shimmy"):
        pytest.importorskip(package, reason=f"the study needs {package}: pip install 'ewok[all]'")
    other, _ = read_file(Path(__file__).parent.parent.parent / "studies" / f"{name}.toml")
    with pytest.raises(ArgumentError, match="`study` must be of kind"):
        tune(other, Search(), tmp_path)


def test_the_best_setting_is_found_and_the_studys_own_is_tried_first(training: Training, tmp_path: Path) -> None:
    tuned = tune(study(), Search(num_candidates=30, score="worst"), tmp_path)
    assert training.asked[0] == {"temper": 0.1, "num_samples": 15}
    assert len(training.asked) == 30
    (best,) = tuned.best
    assert 0.7 < best.settings["kappa"] < 1.4
    assert best.scores.worst == max(one.scores.worst for one in tuned.candidates)


def test_two_scores_make_a_front(training: Training, tmp_path: Path) -> None:
    tuned = tune(study(), Search(num_candidates=25, score="both"), tmp_path)
    assert len(tuned.best) > 1
    nominals, worsts = zip(*(one.scores for one in tuned.best), strict=True)
    assert list(nominals) == sorted(nominals, reverse=True)
    assert list(worsts) == sorted(worsts)
    for one in tuned.candidates:
        assert not any(one.scores.nominal > b.scores.nominal and one.scores.worst > b.scores.worst for b in tuned.best)
    assert told(tuned, "both")[-3:] == [
        "  [methods.ewok]",
        f"  kappa = {tuned.best[-1].settings['kappa']:g}",
        f"  num_samples = {tuned.best[-1].settings['num_samples']:g}",
    ]


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tune(study(), Search(num_candidates=9), tmp_path / "whole")
    parts = Training(monkeypatch)
    for stop in (0, 3, 7):
        parts.stop_at = stop
        with pytest.raises(KeyboardInterrupt):
            tune(study(), Search(num_candidates=9), tmp_path / "parts")
    again = tune(study(), Search(num_candidates=9), tmp_path / "parts")
    assert again == whole
    assert parts.asked == training.asked, "and nothing is trained twice"
    assert tune(study(), Search(num_candidates=9), tmp_path / "parts") == whole
    assert len(tune(study(), Search(num_candidates=11), tmp_path / "parts").candidates) == 11


def test_another_study_or_score_begins_anew_in_the_same_folder(training: Training, tmp_path: Path) -> None:
    tune(study(), Search(num_candidates=2), tmp_path)
    assert len(tune(study(), Search(num_candidates=2, score="nominal"), tmp_path).candidates) == 2
    assert len(tune(study(episodes=7), Search(num_candidates=3), tmp_path).candidates) == 3
    assert len(training.asked) == 7


def test_an_interrupted_write_leaves_the_scores_as_they_were(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(base: Any) -> Any:
        if len(training.asked) > 2:
            raise KeyboardInterrupt
        return complete(base)

    tune(study(), Search(num_candidates=2), tmp_path)
    before, complete = (tmp_path / "candidates.csv").read_bytes(), room._complete
    monkeypatch.setattr(room, "_complete", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(study(), Search(num_candidates=3), tmp_path)
    assert (tmp_path / "candidates.csv").read_bytes() == before


def test_a_radius_is_never_more_than_the_samples_can_carry(training: Training, tmp_path: Path) -> None:
    tuned = tune(study(), Search(num_candidates=12, temper="radius", tempers=(0.5, 9.0), samples=(2, 4)), tmp_path)
    for one in tuned.candidates:
        assert set(one.settings) == {"radius", "num_samples"}
        assert one.settings["radius"] < math.log(one.settings["num_samples"])


def test_candidates_are_written_down(training: Training, tmp_path: Path) -> None:
    tuned = tune(study(), Search(num_candidates=3), tmp_path)
    with (tmp_path / "candidates.csv").open() as file:
        head, *rows = csv.reader(file)
    assert head == ["kappa", "num_samples", "nominal", "worst"]
    assert [[float(cell) for cell in row] for row in rows] == [
        [*one.settings.values(), *one.scores] for one in tuned.candidates
    ]


def test_a_candidate_that_fails_is_passed_over_unless_it_is_the_first(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.fail_at = 2
    tuned = tune(study(), Search(num_candidates=5), tmp_path / "one")
    assert (len(tuned.candidates), tuned.num_failed) == (4, 1)
    assert told(tuned, "worst")[0] == "4 candidates, and 1 that failed"
    Training(monkeypatch).fail_at = 0
    with pytest.raises(EwokError, match="the first candidate .* cannot be: it broke"):
        tune(study(), Search(num_candidates=5), tmp_path / "two")


def test_a_search_of_which_all_failed_says_so_however_often_it_is_run(training: Training, tmp_path: Path) -> None:
    for number in range(4):
        training.fail_at = min(number, 1)
        with pytest.raises(TuningError, match="cannot be: it broke" if number < 2 else "all 2 candidates failed"):
            tune(study(), Search(num_candidates=2), tmp_path)
    assert len(training.asked) == 2


def test_a_candidate_whose_returns_are_no_numbers_failed(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scores_of(results: Any, method: str) -> Scores:
        returns = math.nan if len(training.asked) == 2 else results.scores.nominal
        return Scores(seed_means([[returns]]).item(), results.scores.worst)

    monkeypatch.setattr(room, "scores_of", scores_of)
    said: list[str] = []
    for _ in range(2):
        tuned = tune(study(), Search(num_candidates=3), tmp_path, say=said.append)
        assert (len(tuned.candidates), tuned.num_failed) == (2, 1)
    assert len(training.asked) == 3, "it is not tried again"
    assert any("failed: `returns` must be finite numbers" in line for line in said)


def test_a_database_that_cannot_be_used_is_named(training: Training, tmp_path: Path) -> None:
    tune(study(), Search(num_candidates=1), tmp_path)
    with closing(sqlite3.connect(tmp_path / "tune.db")) as base, base:
        base.execute("UPDATE alembic_version SET version_num = 'v0.9.0.a'")
    with pytest.raises(TuningError, match=r"tune\.db must be a search of Optuna's"):
        tune(study(), Search(num_candidates=2), tmp_path)
    (tmp_path / "other").mkdir()
    tune(study(), Search(num_candidates=1), tmp_path / "other")
    with closing(sqlite3.connect(tmp_path / "other" / "tune.db")) as base, base:
        base.execute("CREATE TRIGGER full BEFORE INSERT ON trials BEGIN SELECT RAISE(FAIL, 'disk full'); END")
    with pytest.raises(TuningError, match=r"tune\.db .*disk full"):
        tune(study(), Search(num_candidates=2), tmp_path / "other")


def test_two_searches_do_not_share_a_folder(training: Training, tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(LockedError, match="another command works on"):
        tune(study(), Search(), tmp_path)


def test_what_is_no_search_is_named(training: Training, tmp_path: Path) -> None:
    (tmp_path / "tune.db").write_text("this is no database, but it is long enough to be taken for one" * 20)
    with pytest.raises(EwokError, match=r"tune\.db must be a search of Optuna's"):
        tune(study(), Search(), tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "wrost"}, "Did you mean 'worst'"),
        ({"temper": "kapa"}, "Did you mean 'kappa'"),
        ({"tempers": (2.0, 0.1)}, "`range` must be two numbers above 0, rising"),
        ({"tempers": (0.0, 0.1)}, "`range` must be two numbers above 0, rising"),
        ({"samples": (1, 5)}, "`samples` must be two whole numbers of at least 2"),
        ({"num_candidates": 0}, "`candidates` must be at least 1"),
        ({"num_seeds": 0}, "`seeds` must be at least 1"),
    ],
)
def test_searches_with_mistakes_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Search(**options)


def test_a_study_must_have_something_to_tune(training: Training, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="must have a method of kind 'ewok', but s has baseline"):
        tune(study(methods={"baseline": {}}), Search(), tmp_path)
    with pytest.raises(ArgumentError, match="Did you mean 'ewok'"):
        tune(study(), Search(method="ewock"), tmp_path)


@pytest.mark.slow
def test_agents_are_really_trained(tmp_path: Path) -> None:
    small = study(agent={"recipe": "ddqn", "num_steps": 300}, episodes=2, perturbations={"gravity": [5.0, 20.0]})
    tuned = tune(small, Search(num_candidates=2, num_seeds=1), tmp_path, num_workers=1)
    assert all(9.0 <= one.scores.worst <= one.scores.nominal <= 500.0 for one in tuned.candidates)
    models = sorted(path.parent.name for path in tmp_path.glob("candidates/*/trials/*/model.zip"))
    assert len(models) == 2
    assert all(name.startswith(f"ewok-s{LARGEST_SEED}-") for name in models), "a seed that the study does not have"

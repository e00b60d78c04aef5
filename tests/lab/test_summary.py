"""A study's folder in a few lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ewok.lab.store import read
from ewok.lab.summary import failures, so_far, spoken, state, table
from tests.lab.made import made_study


def test_the_table_has_the_nominal_world_and_the_worst_of_every_grid(tmp_path: Path) -> None:
    """Levels of the baseline's seeds are 0, 1, 2; a grid's points add 0, 1, 2; episodes 0.015 on average."""
    _, head, baseline, ewok, *_ = table(read(made_study(tmp_path)))
    assert head.split() == ["method", "seeds", "nominal", "gravity", "noise"]
    assert baseline.split() == ["baseline", "3", "2.0", "1.0", "1.0"]
    assert ewok.split() == ["ewok", "2", "11.5", "10.5", "10.5"]


@pytest.mark.parametrize(
    ("num_seeds", "averages", "few"),
    [
        (1, "means", ["1 seed: too few to tell methods apart"]),
        (2, "means", ["1 to 2 seeds: too few to tell methods apart"]),
        (4, "interquartile means (means of fewer than 4)", ["3 to 4 seeds: too few to tell methods apart"]),
        (5, "interquartile means", ["4 seeds: too few to tell methods apart"]),
        (6, "interquartile means", []),
    ],
)
def test_below_the_table_stand_its_averages_and_whether_seeds_are_too_few(
    num_seeds: int, averages: str, few: list[str], tmp_path: Path
) -> None:
    """Of the second method one trial is missing."""
    lines = list(table(read(made_study(tmp_path, num_seeds=num_seeds))))
    below = lines[lines.index(next(line for line in lines if "over seeds" in line)) :]
    assert below == [f"{averages} over seeds of mean returns over episodes", *few]


def test_the_state_counts_what_is_there_what_failed_and_what_is_missing(tmp_path: Path) -> None:
    lines = list(state(read(made_study(tmp_path))))
    assert lines[0] == "made: 5 of 6 trials done, 3.5 s each"
    assert lines[1].split() == ["baseline", "3", "done", "0", "to", "run", "0", "failed"]
    assert lines[2].split() == ["ewok", "2", "done", "0", "to", "run", "1", "failed"]
    assert lines[3] == "failed: ewok-s002-00000000: ValueError: no"


def test_a_study_that_has_not_begun_has_no_table(tmp_path: Path) -> None:
    folder = made_study(tmp_path)
    for trial in read(folder).finished:
        trial.path.rename(tmp_path / f"away-{trial.id}")
    lines = list(so_far(folder))
    assert lines[0] == "made: 0 of 6 trials done"
    assert not any("nominal" in line for line in lines)
    assert list(table(read(folder))) == []


def test_a_strangers_words_do_not_move_the_cursor(tmp_path: Path) -> None:
    folder = made_study(tmp_path)
    path = next((folder / "failed").iterdir())
    path.write_text(path.read_text().replace("ValueError: no", "\\u001b[2Jgone"))
    assert any("?[2Jgone" in line for line in so_far(folder))
    assert not any("\x1b" in line for line in so_far(folder))


def test_of_many_failures_the_first_are_shown(tmp_path: Path) -> None:
    results = read(made_study(tmp_path))
    many = type(results)(**{**vars(results), "failed": results.failed * 9})
    assert list(failures(many))[-1].startswith("and 4 more: see")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.5, "9.5 s"), (59, "59 s"), (90, "2 min"), (5400, "1.5 h"), (200_000, "2.3 days")],
)
def test_times_are_told_as_people_do(seconds: float, text: str) -> None:
    assert spoken(seconds) == text

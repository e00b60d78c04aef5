"""A study's folder, read back: what is there, what failed, what is missing, and what is wrong with it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.lab.columns import StoreError, read_columns, write_columns
from ewok.lab.store import Curve, Returns, read
from tests.lab.made import GRIDS, made_returns, made_study, trial_id


def test_returns_come_back_however_their_rows_are_ordered(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shape = (3, 5)
    curve = Curve(
        np.array([-0.1, 0.1, 3.0]), rng.normal(size=shape), rng.integers(9, size=shape), rng.random(shape) < 0.5
    )
    Returns({"z": curve, "a": made_returns(1.0).of("noise")}).write(tmp_path / "r.csv.gz")
    with gzip.open(tmp_path / "r.csv.gz", "rt") as file:
        head, *lines = file.read().splitlines()
    shuffled = [lines[0], *rng.permutation(lines[1:]).tolist()]
    (tmp_path / "s.csv.gz").write_bytes(gzip.compress("\n".join([head, *shuffled]).encode()))
    for name in ("r.csv.gz", "s.csv.gz"):
        back = Returns.read(tmp_path / name)
        for one, other in zip(back.of("z"), curve, strict=True):
            assert np.array_equal(one, other)
            assert one.dtype == other.dtype
    assert list(Returns.read(tmp_path / "r.csv.gz").curves) == ["z", "a"]


def test_a_folder_is_read_by_method_and_seed(tmp_path: Path) -> None:
    results = read(made_study(tmp_path))
    assert results.methods == ("baseline", "ewok")
    assert [(t.method, t.seed) for t in results.finished] == [("baseline", s) for s in range(3)] + [
        ("ewok", s) for s in range(2)
    ]
    assert [one.id for one in results.failed] == [trial_id("ewok", 2)]
    assert results.missing == ()
    assert results.of("ewok")[1].returns.of("gravity").returns[:, 0].tolist() == [11.0, 12.0, 13.0]
    assert results.finished[0].diagnostics is None
    assert results.finished[-1].diagnostics is not None
    assert results.finished[-1].diagnostics["kl"].tolist() == [0.1, 0.2]
    assert results.world["parameters"]["gravity"]["grid"] == list(GRIDS["gravity"])


def test_what_an_earlier_version_of_the_study_left_is_not_mixed_in(tmp_path: Path) -> None:
    folder = made_study(tmp_path)
    study = json.loads((folder / "study.json").read_text())
    study["trials"][0]["id"] = "baseline-s000-11111111"
    (folder / "study.json").write_text(json.dumps(study))
    results = read(folder)
    assert results.missing == ("baseline-s000-11111111",)
    assert len(results.finished) == 4


def test_names_of_methods_and_parameters_that_are_not_there_are_answered_by_the_nearest(tmp_path: Path) -> None:
    results = read(made_study(tmp_path))
    with pytest.raises(ArgumentError, match="Did you mean 'ewok'"):
        results.of("ewock")
    with pytest.raises(ArgumentError, match="Did you mean 'gravity'"):
        results.finished[0].returns.of("gravitty")


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (lambda f: (f / "study.json").unlink(), "has no study.json"),
        (lambda f: (f / "study.json").write_text("{"), "must be JSON"),
        (lambda f: (f / "study.json").write_text("{}"), "does not say name, study, world, methods, trials"),
        (lambda f: (f / "study.json").write_bytes(b"\xff\xfe\x00"), "must be JSON"),
        (lambda f: (f / "trials" / trial_id("ewok", 0) / "trial.json").unlink(), "trial.json is missing"),
        (lambda f: (f / "trials" / trial_id("ewok", 0) / "returns.csv.gz").write_bytes(b"no"), "packed by gzip"),
        (lambda f: cut(f / "trials" / trial_id("ewok", 0) / "returns.csv.gz"), "packed by gzip"),
        (lambda f: cut(f / "trials" / trial_id("ewok", 0) / "training.csv.gz"), "packed by gzip"),
    ],
)
def test_a_broken_folder_is_told_by_the_file(tmp_path: Path, break_it, told: str) -> None:
    folder = made_study(tmp_path)
    break_it(folder)
    with pytest.raises(StoreError, match=told):
        read(folder)


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("study.json", "methods", 3),
        ("study.json", "trials", ["a"]),
        ("study.json", "world", {"parameters": {"gravity": {}}}),
        ("study.json", "world", []),
        ("trials/baseline-s000-00000000/trial.json", "seconds", {}),
        ("trials/baseline-s000-00000000/trial.json", "seconds", 3),
        ("failed/ewok-s002-00000000.json", "error", None),
    ],
)
def test_a_folder_of_another_shape_is_told(tmp_path: Path, file: str, key: str, value: object) -> None:
    folder = made_study(tmp_path)
    told = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps({**told, key: value}))
    with pytest.raises(StoreError):
        read(folder)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-12])


def test_what_is_no_folder_of_a_study_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is nothing there"):
        read(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="It is a file"):
        read(tmp_path / "file")


@pytest.mark.parametrize("name", ["../../etc", "/etc", "a/b", "", ".", "..", None])
def test_an_id_cannot_lead_out_of_the_folder(tmp_path: Path, name) -> None:
    folder = made_study(tmp_path)
    study = json.loads((folder / "study.json").read_text())
    study["trials"][0]["id"] = name
    (folder / "study.json").write_text(json.dumps(study))
    with pytest.raises(StoreError, match="whose id is none"):
        read(folder)


@pytest.mark.parametrize("name", ["x/../../../escaped", "/etc", "a\n", "", ".."])
@pytest.mark.parametrize(
    "put",
    [
        lambda told, name: told.update(name=name),
        lambda told, name: told["study"].update(name=name),
        lambda told, name: told["methods"].append(name),
        lambda told, name: told["study"].update(sweeps={"s": {"base": name, "kappa": [1.0]}}),
        lambda told, name: told["study"].update(sweeps={"s": {"base": "ewok", name: [1.0]}}),
    ],
)
def test_no_name_that_files_have_can_lead_out_of_the_folder(tmp_path: Path, put, name: str) -> None:
    folder = made_study(tmp_path, ("ewok",), 1)
    study = json.loads((folder / "study.json").read_text())
    put(study, name)
    (folder / "study.json").write_text(json.dumps(study))
    with pytest.raises(StoreError, match=r"must name .* by letters"):
        read(folder)


@pytest.mark.parametrize(
    ("file", "column"),
    [("returns", "return"), ("returns", "value"), ("training", "step"), ("training", "return"), ("diagnostics", "kl")],
)
def test_text_where_numbers_belong_is_told_by_the_file(tmp_path: Path, file: str, column: str) -> None:
    path = made_study(tmp_path) / "trials" / trial_id("ewok", 0) / f"{file}.csv.gz"
    table = read_columns(path)
    table[column] = table[column].astype(object)
    table[column][1] = "seven"
    write_columns(path, table)
    with pytest.raises(StoreError, match=rf"{file}.csv.gz must have numbers in its column {column}"):
        read(tmp_path)

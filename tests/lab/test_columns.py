"""Tables as gzipped CSV: what goes in comes out, to the last bit."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ewok.lab.columns import StoreError, read_columns, write_columns

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(finite, st.integers(-(2**53), 2**53)), max_size=20))
def test_columns_come_back_to_the_last_bit(tmp_path_factory: pytest.TempPathFactory, rows: list) -> None:
    path = tmp_path_factory.mktemp("columns") / "t.csv.gz"
    columns = {"a": np.array([r[0] for r in rows]), "b": np.array([r[1] for r in rows], dtype=np.int64)}
    write_columns(path, columns)
    back = read_columns(path)
    assert list(back) == ["a", "b"]
    assert np.array_equal(back["a"], columns["a"])
    assert np.array_equal(back["b"], columns["b"])


def test_the_same_columns_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_columns(tmp_path / name, {"a": np.array([0.1, 0.2])})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_text_stays_text_and_truth_is_a_number(tmp_path: Path) -> None:
    write_columns(tmp_path / "t", {"name": np.array(["a,b", 'c"d']), "so": np.array([True, False])})
    back = read_columns(tmp_path / "t")
    assert back["name"].tolist() == ["a,b", 'c"d']
    assert back["so"].tolist() == [1.0, 0.0]


def test_columns_have_one_length(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        write_columns(tmp_path / "t", {"a": np.zeros(2), "b": np.zeros(1)})
    (tmp_path / "u").write_bytes(gzip.compress(b"a,b\n1,2\n3\n"))
    with pytest.raises(StoreError, match="CSV table"):
        read_columns(tmp_path / "u")


def test_what_is_needed_is_asked_for(tmp_path: Path) -> None:
    write_columns(tmp_path / "t", {"a": np.zeros(2)})
    with pytest.raises(StoreError, match="has no b"):
        read_columns(tmp_path / "t", ("a", "b"))

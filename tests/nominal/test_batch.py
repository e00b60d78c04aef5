"""Batches of observations: into one, and back, without sharing memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from ewok.nominal.batch import copied, leaves, same, stack, take, take_rows

SPACES = [
    spaces.Discrete(4),
    spaces.Box(-1, 1, ()),
    spaces.Box(-1, 1, (2, 3)),
    spaces.MultiBinary(3),
    spaces.Text(4),
    spaces.Dict(a=spaces.Discrete(2), b=spaces.Tuple((spaces.Box(0, 1, (2,)), spaces.Discrete(3)))),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_rows_go_in_and_come_out(space: Any) -> None:
    rows = [space.sample() for _ in range(4)]
    batch = stack(rows)
    assert {len(leaf) for leaf in leaves(batch)} == {4}
    for index, row in enumerate(rows):
        assert same(take(batch, index), row)
        assert space.contains(take(batch, index))
    assert same(take(take_rows(batch, np.array([3, 0])), 1), rows[0])


def test_nothing_is_shared() -> None:
    row = {"a": np.zeros(2), "b": (np.zeros(3),)}
    batch, own = stack([row, row]), copied(row)
    out = take(batch, 0)
    for leaf in (*leaves(row), *leaves(batch)):
        leaf += 1.0
    assert same(out, own)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), True),
        (np.zeros(2), np.zeros(3), False),
        ({"a": 1}, {"b": 1}, False),
        ((1, "x"), (1, "x"), True),
        ([1], [2], False),
        (1.0, np.float64(1.0), True),
        ("1", 1, False),
        (None, None, True),
    ],
)
def test_same(one: Any, other: Any, expected: bool) -> None:
    assert same(one, other) is expected

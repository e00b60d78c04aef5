"""Observations as one batch: arrays with the batch first, inside dicts and tuples where the space has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def stack(rows: Sequence[Any]) -> Any:
    """One batch from single observations. Always copies: simulators reuse their buffers."""
    first = rows[0]
    if isinstance(first, dict):
        return {key: stack([row[key] for row in rows]) for key in first}
    if isinstance(first, tuple) and all(len(row) == len(first) for row in rows):
        return tuple(stack([row[i] for row in rows]) for i in range(len(first)))
    if isinstance(first, np.ndarray | np.generic | int | float | bool):
        return np.array(rows)
    objects = np.empty(len(rows), dtype=object)  # text, graphs: whatever else a space may hold
    objects[:] = rows
    return objects


def copied(observation: Any) -> Any:
    """The observation, in arrays of its own."""
    if isinstance(observation, dict):
        return {key: copied(value) for key, value in observation.items()}
    if isinstance(observation, tuple):
        return tuple(copied(value) for value in observation)
    return observation.copy() if isinstance(observation, np.ndarray) else observation


def take(batch: Any, index: int) -> Any:
    """The single observation at `index`, sharing no memory with the batch."""
    if isinstance(batch, dict):
        return {key: take(value, index) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(take(value, index) for value in batch)
    kind = batch.dtype.kind
    if kind == "O":
        return batch[index]
    if batch.ndim == 1 and kind in "iu":
        return batch[index].item()
    return batch[index, ...].copy()  # an array even where it has no axes, as a Box of shape () asks


def take_rows(batch: Any, indices: NDArray[np.intp]) -> Any:
    """The batch made of these rows, in this order."""
    if isinstance(batch, dict):
        return {key: take_rows(value, indices) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(take_rows(value, indices) for value in batch)
    return batch[indices]


def num_rows(batch: Any) -> int:
    """How many observations a batch holds; `len` of a dict or a tuple counts its parts instead."""
    return len(leaves(batch)[0])


def rows_of(batch: Any) -> list[Any]:
    """The single observations of a batch."""
    return [take(batch, index) for index in range(num_rows(batch))]


def leaves(batch: Any) -> list[NDArray[Any]]:
    """The arrays a batch is made of."""
    if isinstance(batch, dict):
        return [leaf for value in batch.values() for leaf in leaves(value)]
    if isinstance(batch, tuple):
        return [leaf for value in batch for leaf in leaves(value)]
    return [batch]


def same(one: Any, other: Any) -> bool:
    """Whether two observations or infos are equal bit for bit (NaN equals NaN)."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    if isinstance(one, np.ndarray | np.generic | float | int):
        a, b = np.asarray(one), np.asarray(other)
        if a.shape != b.shape or b.dtype == object:
            return False
        return bool(np.array_equal(a, b, equal_nan=np.issubdtype(a.dtype, np.inexact)))
    return bool(one == other)

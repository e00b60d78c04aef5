"""Tables as gzipped CSV: one name and one array per column, numbers to the last bit."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ewok.errors import EwokError
from ewok.whole import written

Columns = Mapping[str, NDArray[Any]]


class StoreError(EwokError):
    """A folder does not hold what a study leaves behind, or cannot be used as one."""


def write_columns(path: Path, columns: Columns) -> None:
    """Columns of equal lengths as CSV. Same columns, same bytes: the archive carries no time."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(_plain(column) for column in columns.values()), strict=True))
    written(path, gzip.compress(text.getvalue().encode(), mtime=0))


def read_columns(path: Path, needed: tuple[str, ...] = ()) -> dict[str, NDArray[Any]]:
    """The columns of a file that `write_columns` wrote: text where one is not all numbers."""
    try:
        with gzip.open(path, "rt", newline="") as file:
            head, *rows = list(csv.reader(file))
        columns = dict(zip(head, zip(*rows, strict=True) if rows else [()] * len(head), strict=True))
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing. Delete {path.parent} and run the study again.") from error
    except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
        raise StoreError(f"{path} must be a CSV table packed by gzip: {error}.") from error
    missing = [name for name in needed if name not in columns]
    if missing:
        raise StoreError(f"{path} must have columns {', '.join(needed)}, but has no {', '.join(missing)}.")
    return {name: _array(column) for name, column in columns.items()}


def read_numbers(path: Path, needed: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> dict[str, NDArray[Any]]:
    """Likewise, where all columns but `texts` must be numbers."""
    columns = read_columns(path, needed)
    for name, column in columns.items():
        if name not in texts and column.dtype.kind != "f":
            raise StoreError(
                f"{path} must have numbers in its column {name}. Delete {path.parent} and run the study again."
            )
    return columns


def _plain(column: NDArray[Any]) -> list[Any]:
    column = np.asarray(column)
    return (column.astype(int) if column.dtype == bool else column).tolist()  # type: ignore[no-any-return]


def _array(column: tuple[str, ...]) -> NDArray[Any]:
    texts = np.array(column, dtype=str)
    try:
        return texts.astype(np.float64)
    except ValueError:
        return texts

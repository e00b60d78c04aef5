"""Files that are there as they were, or as they are now, and never between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path, aside: Path | None = None) -> Iterator[Path]:
    """Where to write what becomes the file `path` at the end of the block; an error leaves the old one.

    Args:
        path: of the file.
        aside: the place, on the same disk; by default beside the file, hidden, with the same ending.
    """
    place = aside or path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield place
        place.replace(path)
    finally:
        place.unlink(missing_ok=True)


def written(path: Path, data: bytes) -> Path:
    """The file with this in it."""
    with whole(path) as place:
        place.write_bytes(data)
    return path

"""A file is as it was, or as it is now: whoever reads it meanwhile, and whatever interrupts."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from ewok.whole import whole, written


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_an_interrupted_write_leaves_the_old_file(error: BaseException, tmp_path: Path) -> None:
    path = written(tmp_path / "page.html", b"old")
    with pytest.raises(type(error)), whole(path) as place:
        place.write_bytes(b"ne")
        raise error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path], "and nothing beside it"


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "film.mp4", b"old")
    with whole(path) as place:
        place.write_bytes(b"new")
        assert path.read_bytes() == b"old"
        assert place.suffix == ".mp4", "by which some writers tell what to write"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_be_made_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "partial").mkdir()
    with whole(tmp_path / "study.json", tmp_path / "partial" / "study.json") as place:
        assert place.parent.name == "partial"
        place.write_text("{}")
    assert (tmp_path / "study.json").read_text() == "{}"

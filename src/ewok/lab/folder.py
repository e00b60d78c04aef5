"""Writing into a study's folder: each trial whole or not at all, by one command at a time."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, final

from ewok.lab.columns import StoreError
from ewok.lab.store import DISTANCES, Failed
from ewok.whole import whole

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
_HELD = re.compile(r"(process \d+ on .*)?")  # what a lock says
_MARKS = ("study.json", "tune.db")
# What `Folder` writes aside: trials, and files that are put in their place when they are whole.
_ASIDE = re.compile(r"(\w[\w.-]*-s\d{3,}-[0-9a-f]{8}(\.json)?|study\.(json|toml))\.\d+")


class LockedError(StoreError):
    """Another command works on the folder."""


def is_disk_full(error: BaseException) -> bool:
    """Whether there is nowhere left to write: no other trial would fare better."""
    return isinstance(error, OSError) and error.errno in _FULL


@final
class Folder:
    """A study's folder, while this process holds its lock. Made by `held`.

    Attributes:
        path: of the folder.
        leftovers: names of half-written things of commands that were killed; they have been removed.
    """

    def __init__(self, path: Path, leftovers: tuple[str, ...] = ()) -> None:
        self.path, self.leftovers = path, leftovers
        for name in ("trials", "partial", "failed"):
            (path / name).mkdir(exist_ok=True)

    def has(self, trial_id: str) -> bool:
        """Whether this trial is there, and so whole."""
        return (self.path / "trials" / trial_id).is_dir()

    def workplace(self, trial_id: str) -> Path:
        """An empty folder to write a trial in."""
        place = self.path / "partial" / f"{trial_id}.{os.getpid()}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return place

    def keep(self, trial_id: str, place: Path) -> None:
        """Make what was written in `place` the trial: on disk first, then named, so that nothing half is ever there."""
        found = DISTANCES if (place / DISTANCES).is_file() else "returns.csv.gz"
        needed = ("trial.json", found, "training.csv.gz")
        missing = [name for name in needed if not (place / name).is_file()]
        if missing:
            raise StoreError(
                f"the trial {trial_id} must have written {', '.join(needed)}, but {', '.join(missing)} is missing."
            )
        for file in sorted(place.rglob("*"), reverse=True):  # what is in a folder before the folder itself
            _flush(file)
        _flush(place)
        place.rename(self.path / "trials" / trial_id)
        _flush(self.path / "trials")
        (self.path / "failed" / f"{trial_id}.json").unlink(missing_ok=True)

    def drop(self, place: Path | None) -> None:
        """Remove what a trial wrote before it stopped."""
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)

    def note_failure(self, failed: Failed) -> None:
        """Write down that a trial raised, and what."""
        self.write(f"failed/{failed.id}.json", as_json(vars(failed)))

    def write(self, name: str, text: str) -> None:
        """A file of the folder, whole and on disk."""
        aside = self.path / "partial" / f"{Path(name).name}.{os.getpid()}"
        with whole(self.path / name, aside):
            aside.write_text(text, encoding="utf-8")
            _flush(aside)
        _flush((self.path / name).parent)


@contextmanager
def held(path: Path | str) -> Iterator[Folder]:
    """The folder, made if need be, cleared of half-written leftovers and locked until the end of the block."""
    with locked(Path(path)):
        yield Folder(Path(path), _without_leftovers(Path(path)))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """The folder, made if need be, is this process's alone until the end of the block.

    One that has files, but none that tells it for a study's or a search's, is somebody's own: nothing is touched.
    The lock goes with the process, however it ends: there is none to remove by hand.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        _require_ours(path)
        file = (path / "lock").open("a+")
    except (FileExistsError, NotADirectoryError) as error:
        raise StoreError(f"`out` must be a folder, but {str(path)!r} is a file, or lies in one.") from error
    except OSError as error:
        raise StoreError(f"`out` must be a folder to write to, but {str(path)!r} cannot be: {error}.") from error
    with file:
        _lock(file, path)
        try:
            yield
        finally:
            _without_leftovers(path)
            file.truncate(0)


def as_json(told: Any) -> str:
    """As the files of a folder have it."""
    return json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _require_ours(path: Path) -> None:
    others = sorted(one.name for one in path.iterdir() if not one.name.startswith("."))
    if others and not any((path / mark).exists() for mark in _MARKS) and not _is_lock(path / "lock"):
        raise StoreError(
            f"`out` must be a new or empty folder, or one that `ewok run` or `ewok tune` wrote to, but {str(path)!r} "
            f"holds {others[0]!r}{' and more' * (len(others) > 1)}. Give another: --out DIR."
        )


def _is_lock(path: Path) -> bool:
    try:
        return _HELD.fullmatch(path.read_text(encoding="utf-8")) is not None
    except (OSError, UnicodeDecodeError):
        return False


def _lock(file: IO[str], path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise StoreError(f"{str(path)!r} cannot be locked, as its file system has no locks: {error}.") from error
        file.seek(0)
        holder = file.read().strip() or "another process"
        raise LockedError(
            f"another command works on {str(path)!r}: {holder}. Wait for it, or give another folder: --out DIR."
        ) from error
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}")
    file.flush()


def _without_leftovers(path: Path) -> tuple[str, ...]:
    """Remove what commands that were killed left half-written. Whoever holds the lock knows it for that."""
    found = sorted(one for one in (path / "partial").glob("*") if _ASIDE.fullmatch(one.name))
    for leftover in found:
        if leftover.is_dir() and not leftover.is_symlink():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
    return tuple(leftover.name for leftover in found)


def _flush(path: Path) -> None:
    """Make sure that the disk has it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

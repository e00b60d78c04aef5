"""`ewok report`: one page and its figures, of one study or several."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from ewok.errors import require
from ewok.lab.columns import StoreError
from ewok.lab.figures import save_figures
from ewok.lab.findings import findings_of, tones_of
from ewok.lab.numbers import numbers_of
from ewok.lab.page import page
from ewok.lab.store import read
from ewok.whole import written

_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOENT, errno.EEXIST}


def write_report(
    folders: Sequence[Path | str] | Path | str, out: Path | str | None = None, against: str | None = None
) -> Path:
    """Write `report.html`, `figures/` and the numbers as CSV, and return where the page is.

    Args:
        folders: of studies, as `ewok run` wrote them; with several, a method has one colour in all of them.
        out: where to write; by default the study's own folder, or `report` in this one for several.
        against: the method that others are compared with, in the baseline's place.
    """
    given = [folders] if isinstance(folders, Path | str) else list(folders)
    require(len(given) > 0, "folders", "one or more folders of studies", given, "Give what `ewok run` wrote to.")
    paths = list({Path(folder).resolve(): Path(folder) for folder in given}.values())
    studies = tuple(findings_of(read(path), against=against) for path in paths)
    place = Path(out) if out is not None else paths[0] if len(paths) == 1 else Path("report")
    tones = tones_of(studies)
    text = page(studies, tones)
    try:
        for index, found in enumerate(studies):
            prefix = f"{index + 1}-{found.name}-" if len(studies) > 1 else ""
            save_figures(found, tones, place / "figures", prefix)
            for name, told in numbers_of(found).items():
                written(place / f"{prefix}{name}", told.encode())
        return written(place / "report.html", text.encode())
    except OSError as error:
        if error.errno not in _CLOSED:
            raise OSError(error.errno, error.strerror, str(place)) from error
        told = f"`out` must be a folder to write to, but {str(place)!r} cannot be: {error.strerror}."
        raise StoreError(f"{told} Give another: --out DIR.") from error

"""What a study came to: a table to read at once, and the pages and pictures to look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ewok.lab.cliff_figure import draw
from ewok.lab.kinds import kind_of, planner
from ewok.lab.report import write_report
from ewok.lab.store import read
from ewok.lab.summary import failures, table_of


def conclude(folder: Path) -> Iterator[str]:
    """Write the report of a study's folder; its table, what failed, and where the report is, in lines."""
    results = read(folder)
    yield from table_of(results)
    yield from failures(results)
    if not results.finished:
        return
    if kind_of(results.study) == "tabular":
        yield f"policies: {draw(planner('tabular').pictured(results), folder / 'figures')}"
    page = write_report([folder])
    for name in ("robustness", "distance"):
        picture = folder / "figures" / f"{name}.png"
        if picture.is_file():
            yield f"picture: {picture}"
    yield f"report: {page}"

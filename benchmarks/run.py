"""Ratios, each measured in one run against a peer or the physical limit; writes RESULTS.md beside this file.

    python benchmarks/run.py [ROOM ...]

A room is a file here with a function `rows`; without one, all are measured. The figures of rooms
that are not measured stay as they are.
"""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
ROOMS = ("nominal", "tabular", "worlds", "agents", "values", "lab")
HEAD = (
    "# Benchmarks\n\nWritten by `make bench`: one thread unless said, medians of both sides timed in turn in one run. "
    "Absolute times are this machine's; the ratio carries over.\n"
)
TABLE = "| work | ours | peer | ratio | bar |\n|---|---|---|---|---|\n"


def measured(room: str) -> str:
    """The section of one room, printed line by line as it comes."""
    module = importlib.import_module(room)
    lines = []
    for row in module.rows():
        lines.append(str(row))
        print(lines[-1], flush=True)
    about = " ".join(str(module.__doc__).split())
    return f"{about}\n\n{TABLE}" + "\n".join(lines) + "\n"


def main(rooms: list[str]) -> None:
    unknown = sorted(set(rooms) - set(ROOMS))
    if unknown:
        sys.exit(f"no room {', '.join(unknown)}; there are {', '.join(ROOMS)}")
    warnings.simplefilter("ignore")
    for room in rooms or ROOMS:
        before = RESULTS.read_text() if RESULTS.exists() else ""
        sections = dict(re.findall(r"^## (\w+)\n\n(.*?)(?=^## |\Z)", before, flags=re.DOTALL | re.MULTILINE))
        sections[room] = measured(room)
        kept = [f"## {name}\n\n{sections[name].strip()}\n" for name in ROOMS if name in sections]
        RESULTS.write_text("\n".join([HEAD, *kept]))


if __name__ == "__main__":
    main(sys.argv[1:])

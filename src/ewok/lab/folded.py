"""What stands folded away at the end of a study: every point, its configuration, versions, and what failed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape

from ewok.lab.findings import Findings
from ewok.lab.store import Finished
from ewok.lab.tables import Cell, Row, Table, point_table
from ewok.lab.tabulated import Swatches, table_html


def folded(found: Findings, swatches: Swatches) -> str:
    """All of it."""
    results = found.results
    trials = [trial for own in found.trials.values() for trial in own]
    parts = [
        _details("Every point", "", table_html(point_table(found), swatches)) if found.panels else "",
        _details("Configuration", "", _configuration(found)),
        _details("Versions and machines", "", _versions(trials)),
        _details("Trials", f"{len(trials)} finished", _trials(trials)),
    ]
    if results.failed:
        parts.append(_details("Failed trials", str(len(results.failed)), _failed(found)))
    if found.left_out:
        parts.append(_details("Left out", str(len(found.left_out)), _left_out(found)))
    if results.missing:
        missing = "\n".join(results.missing)
        parts.append(_details("Not run", str(len(results.missing)), f"<pre>{escape(missing)}</pre>"))
    return f'<div class="folded">{"".join(parts)}</div>'


def _details(name: str, note: str, inside: str) -> str:
    small = f"<small>{escape(note)}</small>" if note else ""
    return f"<details><summary>{escape(name)}{small}</summary>{inside}</details>"


def _configuration(found: Findings) -> str:
    """The study's file, and what it came to."""
    file = found.results.folder / "study.toml"
    given = f"<pre>{escape(file.read_text(encoding='utf-8', errors='replace'))}</pre>" if file.is_file() else ""
    settings = escape(json.dumps(found.results.study, indent=2, ensure_ascii=False))
    return f"{given}<p>With all its settings, as it was run:</p><pre>{settings}</pre>"


def _versions(trials: Iterable[Finished]) -> str:
    """Each package, machine and commit, with how many trials had it."""
    counts: dict[tuple[str, str], int] = {}
    for trial in trials:
        machine = ", ".join(f"{key} {value}" for key, value in sorted(trial.machine.items()))
        told = [*sorted(trial.versions.items()), ("machine", machine), ("commit", trial.git or "not known")]
        for name, value in told:
            counts[name, str(value)] = counts.get((name, str(value)), 0) + 1
    rows = [Row(name, (Cell(value), Cell(str(count)))) for (name, value), count in sorted(counts.items())]
    return table_html(Table(("", "version", "trials"), tuple(rows)), {})


def _trials(trials: Iterable[Finished]) -> str:
    rows = [Row(trial.id, (Cell(str(trial.seed)), Cell(str(trial.steps)))) for trial in trials]
    return table_html(Table(("", "seed", "steps"), tuple(rows)), {})


def _failed(found: Findings) -> str:
    return "".join(
        f"<p><code>{escape(one.id)}</code> {escape(one.error)}</p><pre>{escape(one.traceback)}</pre>"
        for one in found.results.failed
    )


def _left_out(found: Findings) -> str:
    return "".join(f"<p><code>{escape(one.trial.id)}</code> {escape(one.reason)}</p>" for one in found.left_out)

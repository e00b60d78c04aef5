"""What stress did to one model or several, into a folder: a page, its figures, and the numbers behind them."""

from __future__ import annotations

import html
import io
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ewok.errors import require
from ewok.lab.bootstrap import Bootstrap
from ewok.lab.drawing import style
from ewok.lab.figures import images, row, single
from ewok.lab.palette import METHODS, Tone
from ewok.lab.panel import Line, Panel
from ewok.lab.stats import mean
from ewok.lab.store import Curve, Returns
from ewok.lab.stress import Plan, Stress
from ewok.lab.verdict import comparison, findings, is_skilled, verdict

PAGE = "stress.html"
_RADIUS = "radius"


def writable(folder: Path) -> Path:
    """The folder, made if need be: what cannot be written there is better known before hours of work than after."""
    require(not folder.is_file(), "out", "a folder", str(folder), "There is a file of that name: choose another.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        return folder


def write_sheet(stresses: Sequence[Stress], plan: Plan, folder: Path) -> Path:
    """Write everything, and return the page.

    Args:
        stresses: one for each model, the first compared with the others; their names differ.
        plan: that they went through.
        folder: where.
    """
    panels = panels_of(stresses)
    tones = dict(zip((stress.model for stress in stresses), METHODS, strict=False))
    (folder / "figures").mkdir(exist_ok=True)
    for kind, data in images(lambda: row(panels, tones), "stress").items():
        (folder / "figures" / f"stress.{kind}").write_bytes(data)
    for stress in stresses:
        curves = dict(stress.curves.curves) | ({} if stress.radius is None else {_RADIUS: stress.radius})
        Returns(curves).write(folder / f"returns-{_slug(stress.model)}.csv.gz")
    (folder / "stress.json").write_text(json.dumps(_plain(stresses, plan), indent=1) + "\n", encoding="utf-8")
    page = folder / PAGE
    page.write_text(_page(stresses, plan, [_svg(panel, tones, panels) for panel in panels]), encoding="utf-8")
    return page


def panels_of(stresses: Sequence[Stress]) -> tuple[Panel, ...]:
    """Return against each parameter, and against the KL radius, a line for each model."""
    world, panels = stresses[0].world, []
    for name, curve in stresses[0].curves.curves.items():
        p = world.perturbation(name)
        lines = tuple(_line(stress.model, stress.curves.of(name)) for stress in stresses)
        label, scale = name.replace("_", " "), "log" if p.log else "linear"
        panels.append(Panel(name, label, p.unit, "return", curve.values, scale, p.nominal, lines))  # type: ignore[arg-type]
    opposed = [(stress, stress.radius) for stress in stresses if stress.radius is not None]
    if opposed:
        lines = tuple(_line(stress.model, curve) for stress, curve in opposed)
        label, values = "KL radius of the worst kernel", opposed[0][1].values
        panels.append(Panel(_RADIUS, label, "", "return", values, "linear", 0.0, lines))
    return tuple(panels)


def _line(model: str, curve: Curve) -> Line:
    """Over episodes, not over seeds: there is one model, and nothing is said of others trained like it."""
    rows = curve.returns.T
    return Line(model, tuple(range(len(rows))), rows, Bootstrap().estimate(rows, aggregate=mean))


def _svg(panel: Panel, tones: Mapping[str, Tone], together: Sequence[Panel]) -> str:
    buffer = io.StringIO()
    with style(**{"svg.hashsalt": panel.name}):
        single(panel, tones, together=together).savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _plain(stresses: Sequence[Stress], plan: Plan) -> dict[str, Any]:
    return {
        "world": stresses[0].world.name,
        "plan": {**vars(plan), "parameters": plan.moved(stresses[0].world)},
        "models": [
            {
                "model": stress.model,
                "algorithm": stress.algorithm,
                "nominal": stress.nominal.tolist(),
                "random": stress.random.tolist(),
                "verdict": verdict(stress),
                "findings": [vars(one) for one in findings(stress)] if is_skilled(stress) else [],
                "pairs": [{"point": one.point, "returns": one.returns.tolist()} for one in stress.pairs],
                "cloud": [{"point": one.point, "returns": one.returns.tolist()} for one in stress.cloud],
            }
            for stress in stresses
        ],
        "comparison": [comparison(stresses[0], other) for other in stresses[1:]],
    }


_STYLE = """
:root { color-scheme: light dark; --ink: #1c2128; --page: #fff; --line: #d5dae1; --soft: #68707d }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --page: #14171c; --line: #39404a; --soft: #9ea5ae } }
body { margin: 0 auto; max-width: 66rem; padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--page) }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
ul { padding-left: 1.2rem } li { margin: .2rem 0 }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: .75rem }
.panels figure { margin: 0; background: #fff; border: 1px solid var(--line); border-radius: .4rem }
.panels svg { display: block; width: 100%; height: auto }
.table { overflow-x: auto } table { border-collapse: collapse; white-space: nowrap }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right }
th:first-child, td:first-child { text-align: left } .soft { color: var(--soft) }
.key { display: inline-block; width: .8em; height: .8em; border-radius: .2em; margin-right: .4em }
@media print { body { max-width: none } figure, tr { break-inside: avoid } }
"""


def _page(stresses: Sequence[Stress], plan: Plan, figures: Sequence[str]) -> str:
    names = " and ".join(stress.model for stress in stresses)
    title = html.escape(f"{names} under stress in {stresses[0].world.name}")
    told = [part for stress, tone in zip(stresses, METHODS, strict=False) for part in _told(stress, tone)]
    for other in stresses[1:]:
        told += [f"<h2>{html.escape(stresses[0].model)} compared with {html.escape(other.model)}</h2>"]
        told += [_listed(comparison(stresses[0], other))]
    how = (
        f"Lines are means over {plan.episodes} episodes at each value of a parameter, and over a third as many against "
        "the worst kernel, whose candidates are scored by r + gamma v(s') of the model itself. Shaded: 95% bootstrap "
        "intervals over episodes; they speak of this very model, not of others trained like it. All values meet the "
        "same random numbers. Kept: of what it gains over random actions in the nominal world."
    )
    panels = "".join(f"<figure>{figure}</figure>" for figure in figures)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f'{"".join(told)}<h2>Returns</h2><div class="panels">{panels}</div><p class="soft">{how}</p></body></html>\n'
    )


def _told(stress: Stress, tone: Tone) -> list[str]:
    first, *rest = verdict(stress)
    key = f'<span class="key" style="background:{tone.light}"></span>'
    parts = [f"<h2>{key}{html.escape(first)}</h2>", _listed(rest)]
    return [*parts, _table(stress)] if is_skilled(stress) else parts


def _listed(sentences: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(sentence)}</li>' for sentence in sentences)}</ul>"


def _table(stress: Stress) -> str:
    head = ("", "nominal", "tested", "keeps 80% in", "worst at", "return there", "kept")
    rows = [
        (one.name, f"{one.nominal:g}", _range(one.tested), _range(one.kept), f"{one.worst:g}", f"{one.least:.4g}")
        + (f"{max(one.share, 0.0):.0%}",)
        for one in findings(stress)
    ]
    cells = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    heads = "".join(f"<th>{cell}</th>" for cell in head)
    return f'<div class="table"><table><tr>{heads}</tr>{cells}</table></div>'


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}" if ends[0] != ends[1] else f"{ends[0]:g} only"


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name) or "model"

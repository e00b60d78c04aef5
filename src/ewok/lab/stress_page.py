"""The page of what stress did to models: the verdict first, then returns, then how it was found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ewok.lab.inline import swatches
from ewok.lab.page import document
from ewok.lab.palette import Tone
from ewok.lab.panel import Panel
from ewok.lab.sections import box, caption_html, drawn_panels
from ewok.lab.stress import Plan, Stress
from ewok.lab.tables import Cell, Row, Table
from ewok.lab.tabulated import legend_html, table_html
from ewok.lab.verdict import HOLDS, comparison, findings, is_skilled, verdict

_HEAD = ("", "nominal", "tested", f"keeps {HOLDS:.0%} in", "least at", "return there", "kept")


def stress_page(stresses: Sequence[Stress], plan: Plan, panels: Sequence[Panel], tones: Mapping[str, Tone]) -> str:
    """The whole page, as text.

    Args:
        stresses: one for each model, the first compared with the others.
        plan: that they went through.
        panels: of their returns.
        tones: of the models.
    """
    symbols, marks = swatches(tones)
    title = f"{' and '.join(stress.model for stress in stresses)} under stress"
    facts = " \N{MIDDLE DOT} ".join([f"world {stresses[0].world.name}", f"{plan.episodes} episodes at each value"])
    parts = [symbols, f'<header><h1>{escape(title)}</h1><p class="facts">{escape(facts)}</p></header>', "<main>"]
    parts += [_told(stress) for stress in stresses]
    for other in stresses[1:]:
        parts += [
            f"<h3>{escape(stresses[0].model)} and {escape(other.model)}</h3>",
            box("short", comparison(stresses[0], other)),
        ]
    parts += ["<h2>Returns</h2>", caption_html(_how(plan))]
    parts += [legend_html({name: name for name in tones}, marks, {}, sticky=True)]
    parts += [drawn_panels(panels, tones, "stress", panels)]
    graded = [stress for stress in stresses if is_skilled(stress)]
    if graded:
        parts += ["<h3>What is kept</h3>", table_html(_table(graded), marks)]
    return document(title, "\n".join([*parts, "</main>"]), tones)


def _told(stress: Stress) -> str:
    first, *rest = verdict(stress)
    return f"<h2>{escape(first)}</h2>{box('short' if is_skilled(stress) else 'notice', rest)}"


def _how(plan: Plan) -> str:
    return (
        f"Means over {plan.episodes} episodes at each value of a parameter, all others nominal; over a third as many "
        "against the worst kernel, whose candidates are scored by r + gamma v(s') of the model itself. Shaded: 95% "
        "bootstrap intervals over episodes, which speak of this very model, and not of others trained like it. All "
        "values meet the same random numbers. Kept is of what the model gains over random actions in the nominal "
        "world; bold: less than half."
    )


def _table(stresses: Sequence[Stress]) -> Table:
    rows = []
    for stress in stresses:
        for one in findings(stress):
            texts = (f"{one.nominal:g}", _range(one.tested), _range(one.kept), f"{one.worst:g}", f"{one.least:.4g}")
            kept = Cell(f"{max(one.share, 0.0):.0%}", strong=one.grade == "breaks")
            group = stress.model if len(stresses) > 1 else ""
            rows.append(Row(one.name.replace("_", " "), (*map(Cell, texts), kept), group))
    return Table(_HEAD, tuple(rows))


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}" if ends[0] != ends[1] else f"{ends[0]:g} only"

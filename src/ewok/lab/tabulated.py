"""Tables and legends as HTML. Whatever text they are given is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import groupby

from ewok.lab.tables import Cell, Row, Table

Swatches = Mapping[str, str]


def table_html(table: Table, swatches: Swatches) -> str:
    """A table that scrolls by itself where the page is narrow."""
    width = len(table.head)
    head = "".join(f'<th scope="col">{_named(text, swatches)}</th>' for text in table.head)
    bodies = "".join(
        _body(group, list(rows), width, swatches) for group, rows in groupby(table.rows, lambda row: row.group)
    )
    over = "".join(f'<th colspan="{span}" scope="colgroup">{_named(text, swatches)}</th>' for text, span in table.over)
    heads = (f"<tr>{over}</tr>" if over else "") + f"<tr>{head}</tr>"
    return f'<div class="scroll" tabindex="0"><table><thead>{heads}</thead>{bodies}</table></div>'


def legend_html(names: Mapping[str, str], swatches: Swatches, notes: Mapping[str, str], *, sticky: bool = False) -> str:
    """What each line is: method -> what it is called here, with a note for some."""
    small = {method: f" <small>{escape(note)}</small>" for method, note in notes.items()}
    items = "".join(f"<li>{swatches[one]}{escape(name)}{small.get(one, '')}</li>" for one, name in names.items())
    return f'<ul class="legend{" sticky" if sticky else ""}">{items}</ul>'


def _body(group: str, rows: list[Row], width: int, swatches: Swatches) -> str:
    head = f'<tr class="group"><th colspan="{width}" scope="rowgroup">{escape(group)}</th></tr>' if group else ""
    lines = "".join(
        f'<tr><th scope="row">{_named(row.label, swatches)}</th>{"".join(map(_cell, row.cells))}</tr>' for row in rows
    )
    return f"<tbody>{head}{lines}</tbody>"


def _cell(cell: Cell) -> str:
    text = f"<b>{escape(cell.text)}</b>" if cell.strong else escape(cell.text)
    return f"<td>{text}{f'<small>{escape(cell.note)}</small>' if cell.note else ''}</td>"


def _named(text: str, swatches: Swatches) -> str:
    """A method's name with its colour; other text as it is."""
    if text in swatches:
        return f'<span class="method">{swatches[text]}{escape(text)}</span>'
    return escape(text)

"""The page of a report: plain HTML and CSS, no scripts, and nothing that is fetched from anywhere."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
from collections.abc import Mapping, Sequence
from html import escape

from ewok.lab.findings import Findings
from ewok.lab.inline import page_colours, swatches
from ewok.lab.palette import Tone
from ewok.lab.sections import facts, study_section
from ewok.lab.tables import times_table
from ewok.lab.tabulated import table_html

# The page itself forbids what it does not need: even text that got through could load and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(studies: Sequence[Findings], tones: Mapping[str, Tone]) -> str:
    """The whole page, as text. The same studies make the same page."""
    symbols, marks = swatches(tones)
    several = len(studies) > 1
    title = f"{len(studies)} studies" if several else studies[0].title
    parts = [symbols, _header(title, studies), "<main>"]
    if several:
        parts.append(f"<section><h2>Training time</h2>{table_html(times_table(studies), marks)}</section>")
    parts += [study_section(found, tones, marks, index if several else None) for index, found in enumerate(studies)]
    return document(title, "\n".join([*parts, "</main>"]), tones)


def document(title: str, body: str, tones: Mapping[str, Tone]) -> str:
    """A page of its own around `body`: nothing is fetched from anywhere, and nothing that could be is let through.

    Args:
        title: as text.
        body: as HTML.
        tones: whose colours it has.
    """
    files = "Beside this page, in <code>figures/</code>, lie its figures as SVG, PNG and PDF."
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{_css(tones)}</style>
</head>
<body>
{body}
<footer><p>Made by ewok {escape(_version())}. {files}</p></footer>
</body>
</html>
"""


def _header(title: str, studies: Sequence[Findings]) -> str:
    """The title, and what the study is; or where to find which study."""
    if len(studies) == 1:
        return f"<header><h1>{escape(title)}</h1>{facts(studies[0])}</header>"
    links = "".join(f'<li><a href="#study-{index}">{escape(one.title)}</a></li>' for index, one in enumerate(studies))
    return f"<header><h1>{escape(title)}</h1><nav><ul>{links}</ul></nav></header>"


def _version() -> str:
    try:
        return importlib.metadata.version("ewok")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _css(tones: Mapping[str, Tone]) -> str:
    """The style sheet and the colours of the methods; printed pages are light."""
    sheet = importlib.resources.files("ewok.lab").joinpath("page.css").read_text(encoding="utf-8")
    light, dark = page_colours(tones, dark=False), page_colours(tones, dark=True)
    screen = f"@media screen and (prefers-color-scheme: dark) {{ :root {{{dark}}} }}"
    return f"{sheet}\n:root {{{light}}}\n{screen}\n"

"""Figures as part of a page: their text is text, and their colours are the page's, light or dark."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Mapping
from functools import partial

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ewok.lab.drawing import GRID, INK, MUTED, style
from ewok.lab.figures import Make
from ewok.lab.palette import Tone

_INKS = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--line)"}


def inline(make: Make, salt: str, told: str) -> str:
    """An <svg> element.

    Args:
        make: draws the figure.
        salt: keeps the ids of its parts apart from those of the page's other figures.
        told: what it shows, for those who do not see it.
    """
    buffer = io.StringIO()
    with style(**{"svg.hashsalt": salt, "svg.fonttype": "none"}):
        make().savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)
    text = text[text.index("<svg") :].replace("xlink:href", "href")
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)  # it would style the page; ours says the same
    used = set(re.findall(r"[\"(]#([\w.-]+)[\")]", text))
    text = re.sub(r' id="([\w.-]+)"', lambda found: found[0] if found[1] in used else "", text)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda found: _INKS.get(found[0], f"var(--{variable(found[0])})"), text)
    text = re.sub(r"font-family: [^;\"]*", "font-family: var(--face)", text)
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--face)", text)  # as older versions write it
    size = re.search(r'viewBox="([\d. ]+)"', text)
    box = size[1] if size else ""
    start = f'<svg viewBox="{box}" role="img" aria-label="{html.escape(told)}">'
    return re.sub(r"<svg [^>]*>", lambda _: start, text, count=1)  # as it is: labels may have backslashes


def variable(colour: str) -> str:
    """The name of the page's colour that stands for this one."""
    return f"c{colour[1:]}"


def page_colours(tones: Mapping[str, Tone], *, dark: bool) -> str:
    """CSS declarations of all methods' colours."""
    shades = {variable(tone.light): tone.dark if dark else tone.light for tone in tones.values()}
    return "".join(f"--{name}:{shade};" for name, shade in shades.items())


def swatches(tones: Mapping[str, Tone]) -> tuple[str, dict[str, str]]:
    """Each method's line and marker, to stand before its name: what the page has once, and what refers to it."""
    symbols, found = [], {}
    for index, (name, tone) in enumerate(tones.items()):
        drawn = inline(partial(_swatch, tone), f"swatch-{index}", "")
        box, inside = re.findall(r'^<svg viewBox="([^"]*)"[^>]*>(.*)</svg>', drawn.strip(), flags=re.DOTALL)[0]
        symbols.append(f'<symbol id="swatch-{index}" viewBox="{box}">{inside}</symbol>')
        found[name] = f'<svg viewBox="{box}" aria-hidden="true"><use href="#swatch-{index}"/></svg>'
    return f'<svg width="0" height="0" style="position: absolute" aria-hidden="true">{"".join(symbols)}</svg>', found


def _swatch(tone: Tone) -> Figure:
    figure = Figure(figsize=(0.36, 0.16))
    figure.add_artist(Line2D([0.05, 0.5, 0.95], [0.5] * 3, color=tone.light, marker=tone.marker, markevery=[1]))
    return figure

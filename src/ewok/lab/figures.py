"""The figures of a study, from its results alone: the same results make the same files, byte for byte.

Files hold what a paper needs: all panels side by side with a legend. Pages have the panels one by one, so that they
fit a phone.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ewok.lab.drawing import draw_improvements, draw_panel, draw_zero, share_heights, style
from ewok.lab.findings import Findings, findings_of, tones_of
from ewok.lab.palette import Tone
from ewok.lab.panel import Panel
from ewok.lab.scores import AREA, WORST, Comparison
from ewok.lab.store import Results
from ewok.whole import written

FORMATS = ("svg", "png", "pdf")
_WIDTH, _HEIGHT = 3.3, 2.55  # inches, of a panel
_LEGEND_ROW = 0.2  # inches
_MOST_COLUMNS = 3
# What files say of themselves: nothing that changes from day to day.
_METADATA: Mapping[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "ewok"},
    "png": {"Software": "ewok"},
    "pdf": {"CreationDate": None, "Creator": "ewok", "Producer": "ewok"},
}

Tones = Mapping[str, Tone]
Make = Callable[[], Figure]


def draw_figures(results: Results, out: Path | str) -> tuple[Path, ...]:
    """Every figure of a study as SVG, PNG and PDF into the folder `out`; returns the files."""
    found = findings_of(results)
    return save_figures(found, tones_of((found,)), Path(out))


def save_figures(found: Findings, tones: Tones, out: Path, prefix: str = "") -> tuple[Path, ...]:
    """Likewise, of results that were worked out."""
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for name, make in figures_of(found, tones):
        for kind, data in images(make, prefix + name).items():
            files.append(written(out / f"{prefix}{name}.{kind}", data))
    return tuple(files)


def figures_of(found: Findings, tones: Tones) -> Iterator[tuple[str, Make]]:
    """Names of a study's figures, and what makes each."""
    if found.panels:
        yield "robustness", lambda: row(found.panels, tones)
    differences = found.differences(found.panels)
    if differences:
        yield "difference", lambda: row(differences, tones, zero=True)
    if by_kind(found.comparisons):
        yield "improvement", lambda: improvements(found.comparisons, tones)
    for ablated in found.ablated:
        name, labels, panels = ablated.name, ablated.labels, ablated.panels
        yield name, lambda panels=panels, labels=labels: row(panels, tones, labels)  # type: ignore[misc]
        less = found.differences(panels)
        if less:
            yield f"{name}-difference", lambda less=less, labels=labels: row(less, tones, labels, zero=True)  # type: ignore[misc]
        if ablated.settings:
            settings = ablated.settings
            yield f"{name}-scores", lambda settings=settings: row(settings, tones, apart=True)  # type: ignore[misc]
    if found.distances:
        yield "distance", lambda: row(found.distances, tones, apart=True)
    if found.learning is not None:
        learning = found.learning
        yield "learning", lambda: row([learning], tones, apart=True)
    if found.diagnostics:
        yield "diagnostics", lambda: row(found.diagnostics, tones, apart=True)


def images(make: Make, salt: str) -> dict[str, bytes]:
    """A figure in every format. The salt keeps the ids of its parts apart from those of other figures on one page."""
    found = {}
    with style(**{"svg.hashsalt": salt}):
        figure = make()
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # it is laid out now, once for all formats
        for kind in FORMATS:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=_METADATA[kind])
            found[kind] = buffer.getvalue()
    return found


def row(
    panels: Sequence[Panel],
    tones: Tones,
    labels: Mapping[str, str] | None = None,
    *,
    zero: bool = False,
    apart: bool = False,
) -> Figure:
    """Panels side by side, with one legend.

    Args:
        panels: what to draw, one of them or more.
        tones: of the methods.
        labels: what the legend calls them, where that is not their name.
        zero: mark the height at which a method is as good as the baseline.
        apart: panels are not of one quantity: each has its own heights and its own label.
    """
    columns = 2 if len(panels) == 4 else min(len(panels), _MOST_COLUMNS)
    rows = -(-len(panels) // columns)
    figure, all_axes = _figure(columns, rows, len(panels), _WIDTH * columns, _HEIGHT * rows + 0.35)
    for index, (axes, panel) in enumerate(zip(all_axes, panels, strict=True)):
        draw_panel(axes, panel, tones, labels)
        if zero:
            draw_zero(axes)
        if apart or index % columns == 0:
            axes.set_ylabel(panel.height)
    if not apart:
        share_heights(all_axes, panels, zero=zero)
    _legend(figure, all_axes)
    return figure


def single(panel: Panel, tones: Tones, *, zero: bool = False, together: Sequence[Panel] = ()) -> Figure:
    """One panel without a legend, its heights those of all that it stands together with."""
    figure, [axes] = _figure(1, 1, 1, 3.8, 2.75)
    draw_panel(axes, panel, tones)
    if zero:
        draw_zero(axes)
    if together:
        share_heights([axes], together, zero=zero)
    axes.set_ylabel(panel.height)
    return figure


def improvements(comparisons: Sequence[Comparison], tones: Tones) -> Figure:
    """How probably a seed of each method beats one of the baseline: over the range, and at the worst."""
    parts = by_kind(comparisons)
    most = max(_height(part) for part in parts.values())
    figure, all_axes = _figure(len(parts), 1, len(parts), 4.1 * len(parts), most + 0.35)
    for axes, (kind, part) in zip(all_axes, parts.items(), strict=True):
        draw_improvements(axes, part, tones)
        axes.set_title(kind, fontsize=9.0, loc="left")
    names = list(dict.fromkeys(one.method for one in comparisons))
    handles = {name: Line2D([], [], color=tones[name].light, marker=tones[name].marker) for name in names}
    _fitted_legend(figure, handles, _MOST_COLUMNS * 2)
    return figure


def improvement(kind: str, comparisons: Sequence[Comparison], tones: Tones) -> Figure:
    """The same for one kind of score, without a legend."""
    figure, [axes] = _figure(1, 1, 1, 4.1, _height(comparisons))
    draw_improvements(axes, comparisons, tones)
    axes.set_title(kind, fontsize=9.0, loc="left")
    return figure


def by_kind(comparisons: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    """Those over a range, and those at the worst."""
    parts = {kind: [one for one in comparisons if one.score.kind == kind] for kind in (AREA, WORST)}
    return {kind: part for kind, part in parts.items() if part}


def _height(comparisons: Sequence[Comparison]) -> float:
    return 0.75 + 0.24 * len(comparisons)


def _figure(columns: int, rows: int, num: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, [figure.add_subplot(rows, columns, index + 1) for index in range(num)]


def _legend(figure: Figure, all_axes: Sequence[Axes]) -> None:
    """Every method that any panel has, once, in the order they come."""
    found: dict[str, Any] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    _fitted_legend(figure, found, 2 + 2 * len(all_axes))


def _fitted_legend(figure: Figure, handles: Mapping[str, Any], most: int) -> None:
    """In as many columns as the figure is wide enough for; what more than one row takes is added to its height."""
    for columns in range(min(len(handles), most), 0, -1):
        legend = figure.legend(list(handles.values()), list(handles), loc="outside upper left", ncols=columns)
        width = legend.get_window_extent().width
        if width <= figure.bbox.width or columns == 1:
            break
        legend.remove()
    rows = -(-len(handles) // columns)
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW * (rows - 1))

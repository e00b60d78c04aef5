"""Panels onto matplotlib's axes, in one style, whatever style the reader's own configuration has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from ewok.lab.bootstrap import Estimate
from ewok.lab.palette import Tone
from ewok.lab.panel import Line, Panel
from ewok.lab.scores import Comparison
from ewok.lab.stats import positions

INK, MUTED, GRID, PAPER = "#1c2128", "#68707d", "#e2e6eb", "#ffffff"
_MOST_MARKERS = 25
_SHADE, _CROWD, _CROWDED_SHADE = 0.16, 3, 0.09
_ROUND = [1, 2, 5, 10]  # what ticks are multiples of

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.8,
    "ytick.major.width": 0.8,
    "xtick.minor.size": 0.0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.2,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
    "savefig.dpi": 200.0,
    "pdf.fonttype": 42,
    "text.parse_math": False,  # text comes from files
}


@contextmanager
def style(**more: Any) -> Iterator[None]:
    """Our style and no other, to the end of the block."""
    with mpl.rc_context():
        mpl.rcdefaults()
        own: Any = {**_STYLE, **more}
        mpl.rcParams.update(own)
        yield


def draw_panel(axes: Axes, panel: Panel, tones: Mapping[str, Tone], labels: Mapping[str, str] | None = None) -> None:
    """Every line with what is known of its seeds: an interval, or below five seeds each of them."""
    axes.set_xscale(panel.scale)
    axes.set_xlim(*_width(panel))
    if panel.nominal is not None:
        axes.axvline(panel.nominal, color=MUTED, linewidth=1.0, linestyle=(0, (2, 2)), zorder=1)
        axes.text(
            panel.nominal, 1.01, "nominal", transform=axes.get_xaxis_transform(), color=MUTED, ha="center", fontsize=7
        )
    shade = _SHADE if len(panel.lines) <= _CROWD else _CROWDED_SHADE
    for line in panel.lines:
        tone, estimate = tones[line.method], line.estimate
        if estimate.low is None or estimate.high is None:
            axes.plot(panel.values, line.scores.T, color=tone.light, linewidth=0.7, alpha=0.45, zorder=2)
        else:
            low, high = estimate.low, estimate.high
            axes.fill_between(panel.values, low, high, color=tone.light, alpha=shade, linewidth=0, zorder=2)
        marker = tone.marker if len(panel.values) <= _MOST_MARKERS else None
        label = (labels or {}).get(line.method, line.method)
        axes.plot(panel.values, estimate.value, color=tone.light, marker=marker, label=label, zorder=3)
    for level in panel.levels:
        _draw_level(axes, level, tones[level.method])
    axes.set_xlabel(panel.axis)
    _ticks(axes, panel)


def _draw_level(axes: Axes, level: Line, tone: Tone) -> None:
    """A line across, dotted, and its interval if there is one."""
    estimate = level.estimate
    if estimate.low is not None and estimate.high is not None:
        axes.axhspan(float(estimate.low), float(estimate.high), color=tone.light, alpha=_CROWDED_SHADE, linewidth=0)
    look: dict[str, Any] = {"linewidth": 1.4, "linestyle": (0, (1, 1.2))}
    axes.axhline(float(estimate.value), color=tone.light, label=level.method, zorder=2, **look)


def draw_zero(axes: Axes) -> None:
    """Where a method is as good as the baseline."""
    axes.axhline(0.0, color=INK, linewidth=0.9, zorder=1.5)


def share_heights(all_axes: Sequence[Axes], panels: Sequence[Panel], *, zero: bool = False) -> None:
    """One range of heights for all, so that panels can be compared; it holds every interval, and every seed shown."""
    low, high = heights(panels)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    margin = 0.04 * (high - low) or 1.0
    for axes in all_axes:
        axes.set_ylim(low - margin, high + margin)


def heights(panels: Sequence[Panel]) -> tuple[float, float]:
    """The least and the greatest that these panels draw."""
    lines = [line for panel in panels for line in (*panel.lines, *panel.levels)]
    ends = [end for line in lines for end in _ends(line.estimate, line.scores)]
    return min(ends), max(ends)


def draw_improvements(axes: Axes, comparisons: Sequence[Comparison], tones: Mapping[str, Tone]) -> None:
    """Probabilities of improvement from 0 to 1: a row for each label, its methods below each other."""
    labels = list(dict.fromkeys(one.score.label for one in comparisons))
    axes.axvline(0.5, color=INK, linewidth=0.9, zorder=1.5)
    for place, label in enumerate(labels):
        own = [one for one in comparisons if one.score.label == label]
        for one, offset in zip(own, _offsets(len(own)), strict=True):
            estimate, tone = one.improvement, tones[one.method]
            if estimate.low is not None and estimate.high is not None:
                ends = [float(estimate.low), float(estimate.high)]
                axes.plot(ends, [place + offset] * 2, color=tone.light, linewidth=1.6)
            axes.plot([float(estimate.value)], [place + offset], color=tone.light, marker=tone.marker, linestyle="none")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("probability of improvement")
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def _width(panel: Panel) -> tuple[float, float]:
    """Ends of the axis, with some air at both."""
    at = positions(panel.values, panel.scale)
    margin = 0.04 * float(at[-1] - at[0]) or 0.1 * abs(float(at[0])) or 1.0
    low, high = float(at[0]) - margin, float(at[-1]) + margin
    return (10.0**low, 10.0**high) if panel.scale == "log" else (low, high)


def _offsets(num: int) -> list[float]:
    return [0.0] if num == 1 else np.linspace(-0.26, 0.26, num).tolist()


def _ends(estimate: Estimate, scores: Any) -> tuple[float, float]:
    if estimate.low is None or estimate.high is None:
        return float(np.min(scores)), float(np.max(scores))
    return float(np.min(estimate.low)), float(np.max(estimate.high))


def _ticks(axes: Axes, panel: Panel) -> None:
    if panel.scale == "log":
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        if panel.nominal is None:  # a setting's few values, each worth its number
            axes.set_xticks(panel.values)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=_ROUND))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value)))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=_ROUND))


def thousands(value: float) -> str:
    """50000 as 50k, 1000000 as 1M; below 10k only whole thousands are."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= 10.0 * size or (abs(value) >= size and value % size == 0.0):
            return f"{value / size:g}{letter}"
    return f"{value:g}"

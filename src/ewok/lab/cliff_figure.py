"""The cliff's figure: what each learner does in every state, and what it believes that is worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from ewok.lab.drawing import style
from ewok.lab.figures import images
from ewok.whole import written

ROWS, COLUMNS, GOAL = 4, 12, 47
_MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])  # up, right, down, left
_TICKS = (-10, -5, 0, 5, 10, 25, 50, 100)
_CLIFF = np.arange((ROWS - 1) * COLUMNS + 1, GOAL)
_STANDING = np.setdiff1d(np.arange(ROWS * COLUMNS), [*_CLIFF, GOAL])

Answers = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]


def draw(answers: Answers, out: Path) -> Path:
    """One panel for each policy (S,) and value (S,), as `cliff.svg`, `.png` and `.pdf` in `out`; returns the PNG."""
    out.mkdir(parents=True, exist_ok=True)
    files = {
        kind: written(out / f"cliff.{kind}", data) for kind, data in images(lambda: _figure(answers), "cliff").items()
    }
    return files["png"]


def _figure(answers: Answers) -> Figure:
    with style():
        num_rows = -(-len(answers) // 2)
        figure = Figure(figsize=(9.5, 2.0 * num_rows), layout="constrained")
        axes: Any = figure.subplots(num_rows, 2, squeeze=False)
        norm = SymLogNorm(linthresh=5.0, vmin=-12.0, vmax=100.0)
        for axis in axes.flat[len(answers) :]:
            axis.set_visible(False)
        for axis, (name, (policy, value)) in zip(axes.flat, answers.items(), strict=False):
            axis.set_title(name)
            image = _grid(axis, value, norm)
            _arrows(axis, policy, norm(value))
        bar = figure.colorbar(image, ax=axes, shrink=0.6, pad=0.02, label="value, as learned or exact")
        bar.set_ticks(_TICKS, labels=[str(tick) for tick in _TICKS])
        return figure


def _grid(axis: Axes, value: NDArray[np.float64], norm: SymLogNorm) -> Any:
    """Colours of the states; the cliff dark, the goal named."""
    cells = np.full(ROWS * COLUMNS, np.nan)
    cells[_STANDING] = value[_STANDING]
    image = axis.imshow(cells.reshape(ROWS, COLUMNS), cmap="cividis", norm=norm)
    for state in _CLIFF:
        axis.add_patch(Rectangle((state % COLUMNS - 0.5, ROWS - 1.5), 1, 1, color="#404040"))
    axis.text(COLUMNS / 2 - 0.5, ROWS - 1, "cliff", color="white", ha="center", va="center")
    axis.text(COLUMNS - 1, ROWS - 1, "goal", ha="center", va="center", fontsize="small")
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(visible=False)
    return image


def _arrows(axis: Axes, policy: NDArray[np.int64], shade: NDArray[np.float64]) -> None:
    """Where each state's action is meant to go."""
    rows, columns = np.divmod(_STANDING, COLUMNS)
    down, right = 0.6 * _MOVES[policy[_STANDING]].T
    colours = np.where(np.asarray(shade)[_STANDING] < 0.55, "white", "black")
    options: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "pivot": "mid", "width": 0.006}
    axis.quiver(columns, rows, right, down, color=colours, **options)

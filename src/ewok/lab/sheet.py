"""What stress did to one model or several, into a folder: a page, its figures, and the numbers behind them."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ewok.errors import require
from ewok.lab.bootstrap import Bootstrap
from ewok.lab.figures import images, row
from ewok.lab.palette import METHODS
from ewok.lab.panel import Line, Panel
from ewok.lab.stats import mean
from ewok.lab.store import Curve, Returns
from ewok.lab.stress import Plan, Stress
from ewok.lab.stress_page import stress_page
from ewok.lab.verdict import comparison, findings, is_skilled, verdict
from ewok.whole import written

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
        written(folder / "figures" / f"stress.{kind}", data)
    for stress in stresses:
        curves = dict(stress.curves.curves) | ({} if stress.radius is None else {_RADIUS: stress.radius})
        Returns(curves).write(folder / f"returns-{_slug(stress.model)}.csv.gz")
    written(folder / "stress.json", (json.dumps(_plain(stresses, plan), indent=1) + "\n").encode())
    return written(folder / PAGE, stress_page(stresses, plan, panels, tones).encode())


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


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name) or "model"

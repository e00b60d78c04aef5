"""Sweeps: scores against the setting that is moved, beside the methods that do without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ewok.lab.ablated import Ablated
from ewok.lab.figures import row, style
from ewok.lab.findings import Findings, findings_of, tones_of
from ewok.lab.scores import AREA, NOMINAL
from ewok.lab.store import read
from tests.lab.finished import EWOK, METHODS, SWEPT, write_study

RADIUS: dict[str, Any] = {"kind": "ewok", "num_samples": 15, "radius": 0.3}
TARGET: dict[str, Any] = {**EWOK, "target": True}
METHODS_AND_RIVALS = {**{n: METHODS[n] for n in ("baseline", "ewok")}, "fixed": RADIUS, "target": TARGET, **SWEPT}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("swept") / "s"
    missing = [("ewok-kappa-0.2", 3)]
    return findings_of(
        read(write_study(folder, METHODS_AND_RIVALS, 6, parameters=("noise", "damping"), missing=missing))
    )


@pytest.fixture(scope="module")
def swept(found: Findings) -> Ablated:
    [one] = found.ablated
    return one


def test_scores_stand_against_the_values_of_the_setting(swept: Ablated) -> None:
    assert [panel.height for panel in swept.settings] == [
        "return in the nominal world",
        "mean return over noise",
        "mean return over damping",
    ]
    for panel in swept.settings:
        assert panel.axis == "kappa"
        assert panel.values.tolist() == [0.05, 0.1, 0.2, 1.0]
        assert panel.scale == "log"
        [line] = panel.lines
        assert line.method == "ewok"
        assert line.seeds == (0, 1, 2, 4, 5), "a point is of the seeds that all have"


def test_a_point_is_the_score_of_the_method_that_has_that_value(found: Findings, swept: Ablated) -> None:
    nominal, noise, _ = swept.settings
    panel = found.panels[0]
    line = panel.line("ewok")
    assert line is not None
    seeds = list(noise.lines[0].seeds)
    np.testing.assert_array_equal(nominal.lines[0].scores[:, 1], line.scores[seeds, list(panel.values).index(0.01)])
    score = next(one for one in swept.scores if (one.kind, one.label) == (AREA, "noise"))
    far = score.line("ewok-kappa-1")
    assert far is not None
    np.testing.assert_array_equal(noise.lines[0].scores[:, 3], far.scores[seeds])


def test_levels_are_what_has_no_such_temper(found: Findings, swept: Ablated) -> None:
    """The target network's own kappa is one of the sweep's: it is no level."""
    for panel in swept.settings:
        assert [level.method for level in panel.levels] == ["baseline", "fixed"]
    score = next(one for one in found.scores if one.kind == NOMINAL)
    [baseline, fixed] = swept.settings[0].levels
    for level, name in ((baseline, "baseline"), (fixed, "fixed")):
        np.testing.assert_array_equal(level.scores, score.line(name).scores)  # type: ignore[union-attr]


def test_levels_are_drawn_across_with_their_intervals(found: Findings, swept: Ablated) -> None:
    with style():
        figure = row(swept.settings, tones_of((found,)), apart=True)
        for axes, panel in zip(figure.axes, swept.settings, strict=True):
            heights = [line.get_ydata()[0] for line in axes.lines if list(line.get_xdata()) == [0, 1]]
            assert heights == [float(level.estimate.value) for level in panel.levels]
            assert [(p.get_y(), p.get_y() + p.get_height()) for p in axes.patches] == [
                (pytest.approx(float(level.estimate.low)), pytest.approx(float(level.estimate.high)))  # type: ignore[arg-type]
                for level in panel.levels
            ]
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ewok", "baseline", "fixed"]


def test_values_that_are_no_numbers_have_no_axis(tmp_path: Path) -> None:
    methods = {**METHODS, "ewok": {**EWOK, "terminal_value": 0.0}}
    methods["ewok-terminal_value-critic"] = {**EWOK, "terminal_value": None}
    sweeps = {"terminal": {"base": "ewok", "terminal_value": [0.0, "critic"]}}
    folder = write_study(tmp_path / "s", methods, 5, parameters=("noise",), sweeps=sweeps)
    [one] = findings_of(read(folder)).ablated
    assert one.settings == ()
    assert list(one.labels.values()) == ["baseline", "terminal_value = 0", "terminal_value = critic"]

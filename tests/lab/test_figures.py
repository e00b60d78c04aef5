"""Figures: from data alone, the same bytes from the same data, and everything in them that the paper's have."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from ewok.lab import figures
from ewok.lab.drawing import thousands
from ewok.lab.findings import Findings, findings_of, tones_of
from ewok.lab.store import read
from tests.lab.finished import METHODS, PARAMETERS, write_study

BASIC = {"robustness", "difference", "improvement", "learning", "diagnostics"}
SWEEPS = {"ablation-ewok-kappa", "ablation-ewok-kappa-difference", "ablation-ewok-kappa-scores"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("small") / "s", parameters=("noise", "damping"), seeds=5)


@pytest.fixture(scope="module")
def drawn(small: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    return figures.draw_figures(read(small), tmp_path_factory.mktemp("drawn"))


def test_the_same_results_make_the_same_files(small: Path, drawn: tuple[Path, ...], tmp_path: Path) -> None:
    with mpl.rc_context({"lines.linewidth": 9.0, "font.size": 30.0, "svg.fonttype": "none"}):  # the reader's own style
        again = figures.draw_figures(read(small), tmp_path)
    assert [path.name for path in drawn] == [path.name for path in again]
    assert {path.stem for path in drawn} == BASIC
    for left, right in zip(drawn, again, strict=True):
        assert left.read_bytes() == right.read_bytes(), left.name


def test_files_are_what_they_are_called(drawn: tuple[Path, ...]) -> None:
    for path in drawn:
        start = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[path.suffix]
        assert path.read_bytes().startswith(start)
        assert path.stat().st_size > 3000


def test_ids_of_two_figures_never_meet(drawn: tuple[Path, ...]) -> None:
    """Two figures on one page must not clip each other's lines."""
    used = [set(re.findall(r"url\(#(\w+)\)", path.read_text())) for path in drawn if path.suffix == ".svg"]
    assert all(used)
    assert len(set.union(*used)) == sum(len(ids) for ids in used)


def test_a_study_with_sweeps_has_its_ablations(found: Findings) -> None:
    assert {name for name, _ in figures.figures_of(found, tones_of((found,)))} == BASIC | SWEEPS


def test_panels_show_lines_intervals_and_the_nominal_value(found: Findings) -> None:
    tones = tones_of((found,))
    panel = found.panels[0]
    with figures.style():
        [axes] = figures.single(panel, tones).axes
    assert [line.get_xdata()[0] for line in axes.lines if line.get_label().startswith("_")] == [panel.nominal]
    drawn = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    assert list(drawn) == ["baseline", "ewok", "randomized"]
    for line in panel.lines:
        np.testing.assert_array_equal(drawn[line.method].get_ydata(), line.estimate.value)
        assert drawn[line.method].get_color() == tones[line.method].light
    assert len(axes.collections) == 3


def test_a_method_has_its_colour_in_every_figure(found: Findings) -> None:
    tones = tones_of((found,))
    with figures.style():
        for name, make in figures.figures_of(found, tones):
            for axes in make().axes:
                for line in axes.lines:
                    if line.get_label() in tones:
                        assert line.get_color() == tones[line.get_label()].light, name


def test_below_five_seeds_each_is_shown_and_no_interval(tmp_path: Path) -> None:
    found = findings_of(read(write_study(tmp_path / "s", METHODS, {"baseline": 5, "ewok": 3})))
    assert found.few == ("ewok",)
    panel = found.panels[0]
    with figures.style():
        [axes] = figures.single(panel, tones_of((found,))).axes
    assert len(axes.collections) == 1  # the baseline's interval
    heights = [np.asarray(line.get_ydata()) for line in axes.lines]
    for row in panel.lines[1].scores:
        assert any(np.array_equal(row, height) for height in heights)


def test_a_log_axis_is_one_where_the_world_says_so(found: Findings) -> None:
    with figures.style():
        scales = {panel.name: figures.single(panel, tones_of((found,))).axes[0].get_xscale() for panel in found.panels}
    assert scales == {"noise": "linear", "pole_length": "linear", "gravity": "linear", "damping": "log"}


def test_a_grid_of_one_value_is_drawn_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARAMETERS, "damping", {"nominal": 0.1, "grid": [0.1], "scale": "log"})
    monkeypatch.setitem(PARAMETERS, "noise", {"nominal": 0.0, "grid": [0.0]})
    found = findings_of(read(write_study(tmp_path / "s", parameters=("noise", "damping"))))
    with figures.style():
        assert len(figures.row(found.panels, tones_of((found,))).axes) == 2


def test_panels_have_the_same_heights_and_hold_all(found: Findings) -> None:
    with figures.style():
        limits = {axes.get_ylim() for axes in figures.row(found.panels, tones_of((found,))).axes}
    assert len(limits) == 1
    low, high = limits.pop()
    for panel in found.panels:
        for line in panel.lines:
            assert line.estimate.low is not None
            assert line.estimate.high is not None
            assert low < line.estimate.low.min()
            assert line.estimate.high.max() < high


def test_differences_hold_zero(found: Findings) -> None:
    with figures.style():
        for axes in figures.row(found.differences(found.panels), tones_of((found,)), zero=True).axes:
            assert axes.get_ylim()[0] < 0.0 < axes.get_ylim()[1]


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.25, "0.25"), (1500, "1500"), (2000, "2k"), (15_000, "15k"), (1e6, "1M")]
)
def test_thousands(value: float, text: str) -> None:
    assert thousands(value) == text


def test_legends_of_many_methods_stay_within_the_figure(tmp_path: Path) -> None:
    methods = METHODS | {f"ewok-of-quite-another-kind-{number}": METHODS["ewok"] for number in range(6)}
    found = findings_of(read(write_study(tmp_path / "s", methods, 1, parameters=("noise", "damping"))))
    tones = tones_of((found,))
    with figures.style():
        for name, make in figures.figures_of(found, tones):
            figure = make()
            figure.draw_without_rendering()
            [legend] = figure.legends
            around, within = figure.bbox.extents, legend.get_window_extent().extents
            assert (within[:2] >= around[:2] - 1.0).all(), name
            assert (within[2:] <= around[2:] + 1.0).all(), name
            assert min(axes.get_window_extent().height for axes in figure.axes) > 0.5 * figure.dpi, name

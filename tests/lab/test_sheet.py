"""What is written beside the page is what came, whatever the models are called."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the lab extra")

from ewok.errors import ArgumentError
from ewok.lab.sheet import panels_of, writable, write_sheet
from ewok.lab.store import Returns
from ewok.lab.verdict import verdict
from tests.lab.test_stress_page import ONE, OTHER, PLAN


def test_what_is_written_is_what_came(tmp_path: Path) -> None:
    write_sheet([ONE, OTHER], PLAN, tmp_path)
    kept = Returns.read(tmp_path / "returns--b-one-b-.csv.gz")
    np.testing.assert_array_equal(kept.of("gravity").returns, ONE.curves.of("gravity").returns)
    assert ONE.radius is not None
    np.testing.assert_array_equal(kept.of("radius").returns, ONE.radius.returns)
    told = json.loads((tmp_path / "stress.json").read_text())
    assert told["models"][0]["verdict"] == verdict(ONE)
    assert told["models"][1]["findings"][0]["share"] == pytest.approx(0.6)
    assert told["plan"]["parameters"] == ["gravity"]
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".png", ".pdf"}


@pytest.mark.parametrize("name", ["stress.svg", "returns-other.csv.gz", "stress.json", "stress.html"])
def test_an_interrupted_write_leaves_the_file_as_it_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(path: Path, data: bytes) -> int:
        if name in path.name:
            write(path, data[:10])
            raise KeyboardInterrupt
        return write(path, data)

    write_sheet([ONE, OTHER], PLAN, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    write = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_sheet([ONE, OTHER], PLAN, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_the_same_stress_makes_the_same_page(tmp_path: Path) -> None:
    first, second = (write_sheet([ONE], PLAN, writable(tmp_path / name)).read_bytes() for name in "ab")
    assert first == second


def test_a_panel_for_each_parameter_and_one_for_the_radius() -> None:
    panels = panels_of([ONE, OTHER])
    assert [panel.name for panel in panels] == ["gravity", "radius"]
    assert panels[0].methods == ("<b>one</b>", "other")
    assert panels[1].methods == ("<b>one</b>",), "the other has no critic"


def test_a_folder_that_cannot_be_written_is_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="`out` must be a folder"):
        writable(tmp_path / "file")
    assert writable(tmp_path / "new" / "deep").is_dir()

    def refuse(dir: Path) -> None:  # noqa: A002
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(PermissionError):
        writable(tmp_path)

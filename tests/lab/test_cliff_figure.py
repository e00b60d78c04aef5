"""The cliff's figure: a panel for each answer, in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ewok.lab.cliff_figure import COLUMNS, GOAL, ROWS, draw


@pytest.mark.parametrize("num", [1, 3])
def test_every_answer_has_a_panel(tmp_path: Path, num: int) -> None:
    answers = {f"method {i}": (np.arange(48) % 4, np.linspace(-10.0, 100.0, 48)) for i in range(num)}
    path = draw(answers, tmp_path)
    assert path == tmp_path / "cliff.png"
    text = (tmp_path / "cliff.svg").read_text()
    assert text.count("<!-- cliff -->") == num
    assert all(f"<!-- {name} -->" in text for name in answers)


def test_its_cliff_is_the_worlds() -> None:
    cliff = pytest.importorskip("ewok.tabular.cliff")
    assert (ROWS, COLUMNS, GOAL) == (cliff.ROWS, cliff.COLUMNS, cliff.GOAL)

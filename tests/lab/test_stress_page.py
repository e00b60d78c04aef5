"""The page of a stress test stands alone, and shows text as text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the lab extra")

from ewok.lab.sheet import writable, write_sheet
from ewok.lab.stress import Plan
from tests.lab.browser import browser
from tests.lab.test_verdict import curve, stress

PLAN = Plan(parameters=("gravity",))
ONE = stress({"gravity": [99.0, 100.0, 30.0]}, radius=curve([0.0, 0.1], [100.0, 60.0]), name="<b>one</b>")
OTHER = stress({"gravity": [99.0, 100.0, 60.0]}, name="other")


def test_the_page_asks_for_nothing_and_escapes_what_it_is_given(tmp_path: Path) -> None:
    page = write_sheet([ONE, OTHER], PLAN, tmp_path).read_text()
    assert "<b>one" not in page
    assert "&lt;b&gt;one" in page
    assert not re.findall(r"(?:src|href)=[\"'](?!#|data:,)", page), "it links to nothing outside"
    assert "<script" not in page
    assert len(re.findall(r'<svg [^>]*role="img"', page)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1200])
def test_a_browser_shows_it_and_has_nothing_to_complain_of(width: int, tmp_path: Path) -> None:
    page = write_sheet([ONE, OTHER], PLAN, writable(tmp_path / "sheet"))
    with browser(tmp_path / "profile") as tab:
        visit = tab.open(page, width=width, dark=width < 600)
        assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
        assert visit.complaints == []
        assert tab.ask("document.documentElement.scrollWidth") <= width
        ids = "[...document.querySelectorAll('[id]')].map(part => part.id)"
        assert tab.ask(f"{ids}.length - new Set({ids}).size") == 0, "figures on one page do not share ids"


def test_models_without_skill_have_no_table(tmp_path: Path) -> None:
    lost = replace(OTHER, nominal=np.ones(5), random=np.ones(5))
    assert "<table>" not in write_sheet([lost], PLAN, tmp_path).read_text()

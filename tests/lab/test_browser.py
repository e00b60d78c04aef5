"""A report as a browser sees it: nothing is fetched, nothing is complained of, and it fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ewok.lab import report
from tests.lab.browser import Browser, browser
from tests.lab.finished import HOSTILE, METHODS, SPECIALISTS, SWEPT, write_study

PARAMETERS = ("noise", "damping")
CASES = {**METHODS, "randomized-noise": SPECIALISTS["randomized-noise"], "ewok-kappa-0.2": SWEPT["ewok-kappa-0.2"]}


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "s"
    write_study(folder, CASES, 5, parameters=PARAMETERS, title=HOSTILE, failed=[("ewok", 4)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "save_figures", lambda *_: ())  # the files beside the page
        return report.write_report(folder)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_fetched_and_nothing_goes_wrong(
    tab: Browser, page: Path, width: int, dark: bool, tmp_path: Path
) -> None:
    visit = tab.open(page, width=width, dark=dark)
    assert [url for url in visit.requests if not url.startswith("data:")] == [page.as_uri()]
    assert visit.complaints == []
    assert tab.picture(tmp_path / "page.png").stat().st_size > 50_000


def test_a_page_that_fetches_or_fails_would_be_noticed(tab: Browser, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    path.write_text('<img src="http://127.0.0.1:9/a.png"><script>console.error("no"); fall()</script>')
    visit = tab.open(path, width=800)
    assert "http://127.0.0.1:9/a.png" in visit.requests
    assert any("'no'" in complaint for complaint in visit.complaints)
    assert any("fall is not defined" in complaint for complaint in visit.complaints)


@pytest.mark.parametrize("width", [320, 390, 820, 1280])
def test_it_fits_the_screen(tab: Browser, page: Path, width: int) -> None:
    """Tables scroll by themselves; the page never does sideways."""
    tab.open(page, width=width)
    tab.ask("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert tab.ask("document.documentElement.scrollWidth") <= width
    assert tab.ask("Math.min(...[...document.querySelectorAll('figure svg')].map(one => one.clientWidth))") >= 250


def test_labels_of_rows_stay_words_on_a_phone(tab: Browser, page: Path) -> None:
    tab.open(page, width=390)
    labels = "[...document.querySelectorAll('tbody th[scope=row]')].map(one => one.clientWidth)"
    assert tab.ask(f"Math.min(...{labels}.filter(width => width > 0))") >= 80


def test_text_in_figures_can_be_read_on_a_phone(tab: Browser, page: Path) -> None:
    tab.open(page, width=390)
    heights = "[...document.querySelectorAll('figure svg text')].map(one => one.getBoundingClientRect().height)"
    assert tab.ask(f"Math.min(...{heights})") >= 8


def test_colours_are_those_of_the_theme(tab: Browser, page: Path) -> None:
    def colours() -> tuple[str, str]:
        line = "document.querySelector('symbol path[style*=stroke]')"
        return tab.ask("getComputedStyle(document.body).backgroundColor"), tab.ask(f"getComputedStyle({line}).stroke")

    tab.open(page, width=800)
    assert colours() == ("rgb(255, 255, 255)", "rgb(108, 114, 123)")
    tab.open(page, width=800, dark=True)
    assert colours() == ("rgb(20, 23, 28)", "rgb(158, 165, 174)")


def test_text_from_files_is_text(tab: Browser, page: Path) -> None:
    tab.open(page, width=800)
    assert tab.ask("document.querySelector('h1').textContent") == HOSTILE
    assert tab.ask("document.title") == HOSTILE
    assert tab.ask("document.scripts.length") == 0


def test_no_two_parts_of_the_page_have_the_same_id(tab: Browser, page: Path) -> None:
    tab.open(page, width=800)
    ids = tab.ask("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) > 10
    assert len(ids) == len(set(ids))

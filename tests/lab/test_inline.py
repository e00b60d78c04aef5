"""Figures within a page: their text is text, and the page says what their colours are."""

from __future__ import annotations

import re
from functools import partial
from xml.etree import ElementTree

import pytest

from ewok.lab.figures import single
from ewok.lab.findings import Findings, tones_of
from ewok.lab.inline import inline, page_colours, swatches, variable


@pytest.fixture(scope="module")
def drawn(found: Findings) -> str:
    return inline(partial(single, found.panels[0], tones_of((found,))), "salt", 'return <against> "noise"')


def test_it_is_one_element_that_says_what_it_shows(drawn: str) -> None:
    element = ElementTree.fromstring(drawn)
    assert element.tag == "svg"
    assert element.attrib["aria-label"] == 'return <against> "noise"'
    assert "width" not in element.attrib  # it takes the width there is


def test_a_backslash_is_a_character_like_any_other(found: Findings) -> None:
    svg = inline(partial(single, found.panels[0], tones_of((found,))), "salt", r"C:\Users \1 \g<0>")
    assert ElementTree.fromstring(svg).attrib["aria-label"] == r"C:\Users \1 \g<0>"


def test_text_is_text_in_the_pages_own_face(drawn: str) -> None:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert {"noise (m)", "return", "nominal"} <= set(texts)
    assert drawn.count("var(--face)") == drawn.count("<text")
    assert "DejaVu" not in drawn


def test_every_colour_is_one_that_the_page_says(drawn: str, found: Findings) -> None:
    tones = tones_of((found,))
    said = set(re.findall(r"--(c\w{6}):", page_colours(tones, dark=False)))
    assert said == set(re.findall(r"--(c\w{6}):", page_colours(tones, dark=True)))
    used = set(re.findall(r"var\(--(\w+)\)", drawn))
    assert used - {"ink", "muted", "line", "face"} <= said
    assert variable(tones["ewok"].light) in used
    assert not re.findall(r"#[0-9a-f]{6}\b", drawn)


def test_only_what_is_referred_to_has_an_id(drawn: str) -> None:
    ids = re.findall(r'id="([^"]+)"', drawn)
    assert ids
    assert all(drawn.count(f"#{one}") > 0 for one in ids)


def test_swatches_are_on_the_page_once(found: Findings) -> None:
    symbols, marks = swatches(tones_of((found,)))
    for index, mark in enumerate(marks.values()):
        assert symbols.count(f'id="swatch-{index}"') == 1
        assert f'href="#swatch-{index}"' in mark
        assert "id=" not in mark

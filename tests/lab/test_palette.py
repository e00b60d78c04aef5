"""Methods look different to everybody, on white and on the dark page."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ewok.lab import palette
from ewok.lab.palette import BASELINE, DARK_PAGE, LIGHT_PAGE, METHODS, linear, oklab, ramp, tones

# Machado, Oliveira and Fernandes (2009), severity 1: what light becomes without one kind of cone.
SIGHTS = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
RAMPS = [ramp(stops, 5) for pair in palette._RAMPS for stops in pair]


def seen(colour: str, sight: str) -> np.ndarray:
    return oklab(np.clip(np.array(SIGHTS[sight]) @ linear(colour), 0.0, 1.0))


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("page", ["light", "dark"])
def test_methods_can_be_told_apart(page: str, sight: str) -> None:
    """Oklab distances of 0.08 and more; 0.02 is what one just notices."""
    colours = [getattr(tone, page) for tone in (BASELINE, *METHODS)]
    assert min(np.linalg.norm(seen(a, sight) - seen(b, sight)) for a, b in combinations(colours, 2)) > 0.08


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", RAMPS, ids=["purple on light", "purple on dark", "green on light", "green on dark"])
def test_values_of_a_sweep_can_be_told_apart_and_are_in_order(colours: list[str], sight: str) -> None:
    distances = [np.linalg.norm(seen(a, sight) - seen(b, sight)) for a, b in combinations(colours, 2)]
    assert min(distances) > 0.04
    assert np.all(np.diff([oklab(colour)[0] for colour in colours]) > 0.0)


def test_colours_stand_out_from_the_page() -> None:
    for tone in (BASELINE, *METHODS):
        assert contrast(tone.light, LIGHT_PAGE) >= 3.0
        assert contrast(tone.dark, DARK_PAGE) >= 4.0
    for (light, dark), number in zip(palette._RAMPS, (2, 3), strict=True):
        assert min(contrast(colour, LIGHT_PAGE) for colour in ramp(light, number)) >= 2.9
        assert min(contrast(colour, DARK_PAGE) for colour in ramp(dark, number)) >= 4.0


def test_a_method_has_one_tone_and_methods_have_different_ones() -> None:
    names = [f"m{index}" for index in range(12)]
    found = tones(["baseline"], ["baseline", *names], [["m0", "swept-1", "swept-2"], ["swept-3"]])
    assert found["baseline"] == BASELINE
    assert found["m0"] == METHODS[0]
    assert len({(tone.light, tone.marker) for tone in found.values()}) == len(found) == 16


def test_ramps_end_where_they_should() -> None:
    assert ramp(["#2b1263", "#a8267f", "#e8762c"], 3) == ["#2b1263", "#a8267f", "#e8762c"]
    assert ramp(["#2b1263", "#a8267f", "#e8762c"], 1) == ["#a8267f"]
    assert ramp(["#2b1263", "#a8267f", "#e8762c"], 0) == []

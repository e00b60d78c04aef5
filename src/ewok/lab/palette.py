"""A colour and a marker for each method, the same wherever it appears.

Colours of methods can be told apart with each kind of colour blindness, on white and on the dark page, and stand out
from both by at least 3:1; tests measure it. Methods of one sweep lie on a ramp whose lightness rises with the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

LIGHT_PAGE, DARK_PAGE = "#ffffff", "#14171c"


@final
@dataclass(frozen=True)
class Tone:
    """How a method looks.

    Attributes:
        light: its colour on white, as #rrggbb; figures that are files have this one.
        dark: its colour on a dark page.
        marker: its marker, as matplotlib names them.
    """

    light: str
    dark: str
    marker: str


BASELINE = Tone("#6c727b", "#9ea5ae", "o")
METHODS = (
    Tone("#0b54d6", "#5b93ff", "s"),
    Tone("#b0350a", "#e05a12", "^"),
    Tone("#3f9e78", "#6be08a", "D"),
    Tone("#d94fbd", "#f5b5ea", "v"),
    Tone("#9c7c0b", "#d6a92c", "P"),
    Tone("#36108a", "#8b74b8", "X"),
    Tone("#5f0418", "#e6fed5", "p"),
)
_RAMPS = (
    (("#2b1263", "#a8267f", "#e8762c"), ("#7d6cf0", "#e06fb8", "#ffd08a")),
    (("#0b3547", "#0f7f86", "#6aa51e"), ("#3a86a8", "#35c0a0", "#d8f08a")),
)
_MARKERS = "<>dhH*8"


def tones(baselines: Sequence[str], others: Sequence[str], sweeps: Sequence[Sequence[str]]) -> Mapping[str, Tone]:
    """A tone for each name.

    Args:
        baselines: what others are compared with: grey.
        others: methods on their own, in order. From the eighth on colours come again, with other markers.
        sweeps: groups of methods that differ by one setting, each in the order of its values.
    """
    found = dict.fromkeys(baselines, BASELINE)
    for index, name in enumerate(name for name in others if name not in found):
        again, place = divmod(index, len(METHODS))
        tone = METHODS[place]
        found[name] = tone if again == 0 else Tone(tone.light, tone.dark, _MARKERS[(index - 1) % len(_MARKERS)])
    for number, group in enumerate(sweeps):
        light, dark = _RAMPS[number % len(_RAMPS)]
        new = [name for name in group if name not in found]
        shades = zip(new, ramp(light, len(new)), ramp(dark, len(new)), strict=True)
        for index, (name, on_white, on_dark) in enumerate(shades):
            found[name] = Tone(on_white, on_dark, _MARKERS[index % len(_MARKERS)])
    return found


def ramp(stops: Sequence[str], num: int) -> list[str]:
    """Colours evenly spaced between three, as an eye sees distance."""
    at = np.linspace(0.0, len(stops) - 1.0, num) if num > 1 else np.array([1.0] * num)
    points = np.array([oklab(stop) for stop in stops])
    mixed = np.array([np.interp(at, np.arange(len(stops)), column) for column in points.T]).T
    return [_from_oklab(colour) for colour in mixed.reshape(-1, 3)]


# Ottosson's Oklab: distances in it are roughly those that people see.
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(colour: str) -> NDArray[np.float64]:
    """#rrggbb as amounts of light, red, green and blue."""
    encoded = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def oklab(colour: str | NDArray[np.float64]) -> NDArray[np.float64]:
    """Lightness, and two axes of hue."""
    light = linear(colour) if isinstance(colour, str) else colour
    return np.asarray(_TO_LAB @ np.cbrt(_TO_CONES @ light))


def _from_oklab(lab: NDArray[np.float64]) -> str:
    light = np.clip(np.linalg.solve(_TO_CONES, np.linalg.solve(_TO_LAB, lab) ** 3), 0.0, 1.0)
    encoded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1.0 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255.0 * value):02x}" for value in encoded.tolist())

"""One parameter of a world that can be moved on purpose, and the values it is tested at."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ewok.errors import require, require_several

_NUM_VALUES = 9


@final
@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """A parameter of a world: where it nominally stands, and the range it is tested over.

    Attributes:
        name: what people type.
        nominal: where it stands in the nominal world.
        low: lower end of the tested range.
        high: upper end of the tested range.
        unit: of all these numbers; empty where they have none.
        above: a value must be greater than this to be physical.
        least: the least physical value.
        most: the greatest physical value.
        log: whether the range spans decades, so that values are spaced by their logarithm.
        whole: whether values are whole numbers.
        live: whether it can move in the middle of an episode, and not only between two.
        values: what to test; evenly spaced between the ends by default.
        note: what a reader of the range should know.

    Example:
        >>> import ewok
        >>> ewok.worlds.Perturbation(name="gravity", nominal=10.0, low=5.0, high=20.0, values=[15.0]).grid
        (5.0, 10.0, 15.0, 20.0)
    """

    name: str
    nominal: float
    low: float
    high: float
    unit: str = ""
    above: float = -math.inf
    least: float = -math.inf
    most: float = math.inf
    log: bool = False
    whole: bool = False
    live: bool = True
    values: Sequence[float] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for end in ("nominal", "low", "high"):
            object.__setattr__(self, end, self.checked(getattr(self, end), end))
        require(self.low <= self.high, "low", f"at most `high`, {self.high:g}", self.low, "Swap the two.")
        require(not self.log or self.low > 0.0, "low", "positive with `log`", self.low, "Leave `log` out.")
        if self.values is not None:
            require_several(self.values, "values", "one or more values to test", "Leave it out.")
            object.__setattr__(self, "values", tuple(self.checked(value, "values") for value in self.values))

    @property
    def grid(self) -> tuple[float, ...]:
        """The values to test, in order: both ends and the nominal value are always among them."""
        between = self.values if self.values is not None else self._spaced()
        return tuple(sorted({self.low, *between, self.high, self.nominal}))

    def checked(self, value: Any, argument: str | None = None) -> float:
        """`value` as a number, if it is one that the physics can have."""
        real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        number = float(value) if real else math.nan
        valid = math.isfinite(number) and self.least <= number <= self.most and number > self.above
        valid = valid and (not self.whole or number.is_integer())
        remedy = f"`{self.name}` is tested from {self.low} to {self.high}."
        require(valid, argument or self.name, self._requirement(), value, remedy)
        return number

    def place(self, fraction: float, log: bool | None = None) -> float:
        """The value at a fraction of the tested range, from 0 to 1: evenly, or by the logarithm."""
        if self.log if log is None else log:
            value = math.exp(math.log(self.low) + fraction * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + fraction * (self.high - self.low)
        value = min(max(value, self.low), self.high)  # rounding may step over an end
        return float(round(value)) if self.whole else value

    def fraction(self, value: float) -> float:
        """Where in the tested range a value is; the nearest end for one outside."""
        if self.low == self.high:
            return 0.0
        scale: Callable[[float], float] = math.log if self.log else float
        low, high, inside = scale(self.low), scale(self.high), min(max(value, self.low), self.high)
        return (scale(inside) - low) / (high - low)

    def _spaced(self) -> list[float]:
        """Between the ends, to three digits: nobody wants to read or type more."""
        return [float(f"{self.place(index / (_NUM_VALUES - 1)):.3g}") for index in range(1, _NUM_VALUES - 1)]

    def _requirement(self) -> str:
        bounds = [f"greater than {self.above:g}"] if self.above > -math.inf else []
        bounds += [f"at least {self.least:g}"] if self.least > -math.inf else []
        bounds += [f"at most {self.most:g}"] if self.most < math.inf else []
        kind = "a whole number" if self.whole else "a finite number"
        return f"{kind} {' and '.join(bounds)}".strip()

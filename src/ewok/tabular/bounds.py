"""What a sweep proves: lower and upper bounds of the fixed point, from how far one application of T moved v."""

from __future__ import annotations

from typing import Protocol, final

import numpy as np

from ewok.tabular.compiled import borrowing
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP

_ROUNDING = 4.0 * np.finfo(np.float64).eps


class Bounds(Protocol):
    """(v, T v as computed, how far from the true T v that may be, bounds so far) -> how far the new ones are apart.

    The bounds so far are narrowed in place.
    """

    def __call__(self, value: Floats, new: Floats, slack: float, lower: Floats, upper: Floats, /) -> float: ...


@final
class MacQueen:
    """For a discount below 1: T is monotone and T(v + c) = T v + gamma c, so with d = T v - v

        T v + gamma / (1 - gamma) min d  <=  v*  <=  T v + gamma / (1 - gamma) max d.

    Terminal states do not move with c: where there are any, d counts them as 0. What rounding may
    have added to T v, and the slack, count in both.
    """

    def __init__(self, mdp: TabularMDP, optimistic: bool = False) -> None:
        self._terminal = mdp.terminal
        self._discount = mdp.discount
        self._optimistic = optimistic

    def __call__(self, value: Floats, new: Floats, slack: float, lower: Floats, upper: Floats, /) -> float:
        apart: float = _macqueen(value, new, self._terminal, self._discount, slack, self._optimistic, lower, upper)
        return apart


@borrowing
def _macqueen(value, new, terminal, discount, slack, optimistic, lower, upper):  # type: ignore[no-untyped-def]
    least, most, largest = np.inf, -np.inf, 0.0
    for s in range(len(new)):
        d = 0.0 if terminal[s] else new[s] - value[s]
        least, most, largest = min(least, d), max(most, d), max(largest, abs(new[s]))
    rounding = _ROUNDING * largest / (1.0 - discount)
    loose = slack / (1.0 - discount)
    below = discount / (1.0 - discount) * least - rounding - (loose if optimistic else 0.0)
    above = discount / (1.0 - discount) * most + rounding + (0.0 if optimistic else loose)
    for s in range(len(new)):
        lower[s] = 0.0 if terminal[s] else max(lower[s], new[s] + below)
        upper[s] = 0.0 if terminal[s] else min(upper[s], new[s] + above)
    return above - below

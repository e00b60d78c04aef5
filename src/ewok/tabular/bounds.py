"""What a sweep proves: lower and upper bounds of the fixed point, from how far one application of T moved v."""

from __future__ import annotations

from typing import Protocol, final

import numpy as np

from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP

_ROUNDING = 4.0 * np.finfo(np.float64).eps


class Bounds(Protocol):
    """(T v as computed, T v - v, how far from the true T v that may be) -> (lower, upper) bounds of v*."""

    def __call__(self, new: Floats, change: Floats, slack: float, /) -> tuple[Floats, Floats]: ...


@final
class MacQueen:
    """For a discount below 1: T is monotone and T(v + c) = T v + gamma c, so with d = T v - v

        T v + gamma / (1 - gamma) min d  <=  v*  <=  T v + gamma / (1 - gamma) max d.

    Terminal states do not move with c: where there are any, d counts them as 0. What rounding may
    have added to T v, and the slack, count in both.
    """

    def __init__(self, mdp: TabularMDP, optimistic: bool = False) -> None:
        self._living = ~mdp.terminal
        self._discount = mdp.discount
        self._optimistic = optimistic

    def __call__(self, new: Floats, change: Floats, slack: float, /) -> tuple[Floats, Floats]:
        d = change[self._living]
        least, most = float(d.min()), float(d.max())
        if not self._living.all():
            least, most = min(least, 0.0), max(most, 0.0)
        factor = self._discount / (1.0 - self._discount)
        rounding = _ROUNDING * float(np.abs(new).max()) / (1.0 - self._discount)
        above = rounding + (0.0 if self._optimistic else slack / (1.0 - self._discount))
        below = rounding + (slack / (1.0 - self._discount) if self._optimistic else 0.0)
        lower = np.where(self._living, new + factor * least - below, 0.0)
        return lower, np.where(self._living, new + factor * most + above, 0.0)

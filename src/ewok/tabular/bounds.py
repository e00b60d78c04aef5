"""What a sweep proves: lower and upper bounds of the fixed point, from how far one application of T moved v."""

from __future__ import annotations

from typing import NamedTuple, Protocol, final

import numpy as np

from ewok.tabular.compiled import borrowing
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import UncertaintySet

_EPS = float(np.finfo(np.float64).eps)
_INNER = 1e-13  # of a row's scores, relative to their span: how exact its worst row is


class Narrowing(NamedTuple):
    """What one sweep did.

    Attributes:
        least: the least change of a value.
        most: the largest.
        left: how far the bounds it proves are apart at most.
        gap: the same of the best bounds so far.
        rounding: the part of `left` that no further sweep takes away.
    """

    least: float
    most: float
    left: float
    gap: float
    rounding: float


class Bounds(Protocol):
    """(v, T v as computed, how far from the true T v that may be, bounds so far) -> what that did.

    The bounds so far are narrowed in place.
    """

    def __call__(self, value: Floats, new: Floats, slack: float, lower: Floats, upper: Floats, /) -> Narrowing: ...


@final
class Rounding:
    """How far T v as computed may be from T v, for rounding alone: a per |v| + b max v - min v + c.

    The sum over a row of n outcomes is off by n eps / 2 of its largest term at most, and so is the sum
    of its probabilities, which may miss one by as much again; so it is over a state's actions where they are
    mixed. Rewards that are one for all outcomes count only where they make the value; others enter every sum.
    """

    def __init__(self, mdp: TabularMDP, uncertainty: UncertaintySet | None, mixed: bool) -> None:
        longest = int(np.diff(mdp.row_ptr).max())
        terms = longest + (int(np.diff(mdp.state_ptr).max()) if mixed else 0)
        self.per_size = (1.5 * terms + 8.0) * _EPS
        self.per_span = 0.0 if uncertainty is None else _INNER
        differ = len(mdp.rewards) == mdp.num_entries and longest > 1
        low, high = (float(mdp.rewards.min()), float(mdp.rewards.max())) if differ else (0.0, 0.0)
        self.constant = self.per_size * max(-low, high) + self.per_span * (high - low)

    def __call__(self, value: Floats, new: Floats) -> float:
        size = max(float(np.abs(value).max()), float(np.abs(new).max()))
        return self.per_size * size + self.per_span * float(np.ptp(value)) + self.constant


@final
class MacQueen:
    """For a discount below 1: T is monotone and T(v + c) = T v + gamma c, so with d = T v - v

        T v + gamma / (1 - gamma) min d  <=  v*  <=  T v + gamma / (1 - gamma) max d.

    Terminal states do not move with c: where there are any, d counts them as 0. What rounding may
    have added to T v, and the slack, count in both.
    """

    def __init__(self, mdp: TabularMDP, rounding: Rounding, *, optimistic: bool = False) -> None:
        self._terminal = mdp.terminal
        self._discount = mdp.discount
        self._rounding = (rounding.per_size, rounding.per_span, rounding.constant)
        self._optimistic = optimistic

    def __call__(self, value: Floats, new: Floats, slack: float, lower: Floats, upper: Floats, /) -> Narrowing:
        known = (self._terminal, self._discount, self._rounding, self._optimistic)
        return Narrowing(*_macqueen(value, new, slack, known, lower, upper))


@borrowing
def _macqueen(value, new, slack, known, lower, upper):  # type: ignore[no-untyped-def]
    terminal, discount, (per_size, per_span, constant), optimistic = known
    least, most, low, high = np.inf, -np.inf, np.inf, -np.inf
    for s in range(len(new)):
        d = 0.0 if terminal[s] else new[s] - value[s]
        least, most = min(least, d), max(most, d)
        low, high = min(low, new[s]), max(high, new[s])
    # Those of v itself are no further away than the largest change.
    moved = max(most, -least)
    size, span = max(high, -low) + moved, high - low + 2.0 * moved
    rounding = (per_size * size + per_span * span + constant) / (1.0 - discount)
    loose = slack / (1.0 - discount)
    below = discount / (1.0 - discount) * least - rounding - (loose if optimistic else 0.0)
    above = discount / (1.0 - discount) * most + rounding + (0.0 if optimistic else loose)
    gap = -np.inf
    for s in range(len(new)):
        lower[s] = 0.0 if terminal[s] else max(lower[s], new[s] + below)
        upper[s] = 0.0 if terminal[s] else min(upper[s], new[s] + above)
        gap = max(gap, upper[s] - lower[s])
    return least, most, above - below, gap, 2.0 * rounding

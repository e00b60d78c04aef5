"""The search for a fixed point, whoever makes the sweeps: what is proved so far, and whether it is enough."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import require
from ewok.tabular.compiled import borrowing
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import UncertaintySet
from ewok.tabular.solution import NotConvergedError, Solution
from ewok.tabular.undiscounted import bounds_of

LAXITY = 0.05  # how exact the next sweep is, as a part of how much the last one changed


@final
class Search:
    """What has been proved so far, and whether it is enough."""

    def __init__(
        self,
        mdp: TabularMDP,
        uncertainty: UncertaintySet | None,
        shares: Floats | None,
        tolerance: float,
        max_iterations: int,
    ) -> None:
        require(tolerance > 0.0, "tolerance", "greater than 0", tolerance, "Try 1e-6.")
        require(max_iterations >= 1, "max_iterations", "at least 1", max_iterations, "Try 100_000.")
        self._mdp, self._set, self._shares = mdp, uncertainty, shares
        self._tolerance, self._most = tolerance, max_iterations
        self._bounds = bounds_of(mdp, uncertainty, shares)
        self._lower = np.full(mdp.num_states, -np.inf)
        self._upper = np.full(mdp.num_states, np.inf)
        self._iterations, self._residual = 0, np.inf
        self.slack = 0.0
        self.done = False

    def swept(self, value: Floats, new: Floats, slack: float) -> float:
        """Take in one sweep, from v to T v; returns how far its bounds are apart."""
        left = self._bounds(value, new, slack, self._lower, self._upper)
        least, most, gap = _extents(value, new, self._lower, self._upper)
        self._iterations += 1
        self._residual = max(most, -least)
        self.slack = LAXITY * min(most - least, self._residual)
        self.done = gap <= self._tolerance
        if not self.done and self._iterations == self._most:
            self._give_up()
        return left

    def solution(self, policy: NDArray[np.int64] | Floats) -> Solution:
        low, high = self._in_sense()
        sweeps = (self._iterations, self._residual)
        return Solution(0.5 * (low + high), policy, low, high, *sweeps, self._mdp, self._set, self._shares)

    def _give_up(self) -> None:
        low, high = self._in_sense()
        raise NotConvergedError(
            f"`max_iterations` must be larger than {self._most} to bring the bounds within {self._tolerance:g} of "
            f"each other; they are {float((high - low).max()):.3g} apart, with values up to "
            f"{float(np.abs(0.5 * (low + high)).max()):.3g}. Raise it, or `tolerance`; the bounds are in this error.",
            low,
            high,
        )

    def _in_sense(self) -> tuple[Floats, Floats]:
        """The bounds, of costs where the MDP has costs."""
        if self._mdp.sense == "maximise":
            return self._lower, self._upper
        return -self._upper, -self._lower


@borrowing
def _extents(value, new, lower, upper):  # type: ignore[no-untyped-def]
    """The least and the largest change of a value, and how far bounds are apart at most."""
    least, most, gap = np.inf, -np.inf, -np.inf
    for s in range(len(new)):
        d = new[s] - value[s]
        least, most, gap = min(least, d), max(most, d), max(gap, upper[s] - lower[s])
    return least, most, gap

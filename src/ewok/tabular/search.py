"""The search for a fixed point, whoever makes the sweeps: what is proved so far, and whether it is enough."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import require
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import UncertaintySet
from ewok.tabular.solution import NotConvergedError, Solution
from ewok.tabular.undiscounted import bounds_of

_HOPELESS = 1.5  # times what rounding takes: bounds so close come no closer
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
        least, most, left, gap, rounding = self._bounds(value, new, slack, self._lower, self._upper)
        self._iterations += 1
        self._residual = max(most, -least)
        self.slack = LAXITY * min(most - least, self._residual)
        self.done = gap <= self._tolerance
        if not self.done and self._tolerance < rounding and left < _HOPELESS * rounding:
            self._give_up("tolerance", f"at least {2.0 * rounding:.1g}", "for rounding alone keeps the bounds")
        if not self.done and self._iterations == self._most:
            self._give_up("max_iterations", f"larger than {self._most}", "for the bounds are still")
        return left

    def solution(self, policy: NDArray[np.int64] | Floats) -> Solution:
        low, high = self._in_sense()
        sweeps = (self._iterations, self._residual)
        return Solution(0.5 * (low + high), policy, low, high, *sweeps, self._mdp, self._set, self._shares)

    def _give_up(self, argument: str, requirement: str, reason: str) -> None:
        low, high = self._in_sense()
        apart, largest = float((high - low).max()), float(np.abs(0.5 * (low + high)).max())
        remedy = "Raise it" if argument == "tolerance" else "Raise it, or `tolerance`"
        raise NotConvergedError(
            f"`{argument}` must be {requirement} here, {reason} {apart:.3g} apart where {self._tolerance:g} is asked "
            f"for, with values up to {largest:.3g}. {remedy}; the bounds are in this error.",
            low,
            high,
        )

    def _in_sense(self) -> tuple[Floats, Floats]:
        """The bounds, of costs where the MDP has costs."""
        if self._mdp.sense == "maximise":
            return self._lower, self._upper
        return -self._upper, -self._lower

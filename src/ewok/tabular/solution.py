"""What a solver returns, and what it raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import EwokError
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.per_state import operator_of
from ewok.tabular.sets import UncertaintySet


class NotConvergedError(EwokError, RuntimeError):
    """The iteration limit was reached. Carries the bounds reached so far.

    Attributes:
        lower: (S,) proved lower bound of the value.
        upper: (S,) proved upper bound.
    """

    def __init__(self, message: str, lower: Floats, upper: Floats) -> None:
        super().__init__(message)
        self.lower, self.upper = lower, upper


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """A value with proved bounds, and the policy that goes with it.

    Attributes:
        value: (S,) halfway between the bounds, in the MDP's own sense: costs stay costs.
        policy: (S,) the action each state takes, -1 where the episode has ended; where it has to be
            randomised, (K,) the probability of each state-action pair.
        lower: (S,) proved lower bound of the value.
        upper: (S,) proved upper bound.
        iterations: sweeps made over all states.
        residual: largest change of the last sweep.
        mdp: what was solved.
        uncertainty: under which set; None for the nominal kernel.
    """

    value: Floats
    policy: NDArray[np.int64] | Floats
    lower: Floats
    upper: Floats
    iterations: int
    residual: float
    mdp: TabularMDP
    uncertainty: UncertaintySet | None
    _shares: Floats | None  # of the policy that was evaluated; None where the best was sought

    def __repr__(self) -> str:
        return f"Solution(robust_return={self.robust_return:.6g}, gap={self.gap:.1e}, {self.iterations:,} iterations)"

    @property
    def robust_return(self) -> float:
        """The value from the initial distribution."""
        return float(self.mdp.initial @ self.value)

    def kernel(self) -> TabularMDP:
        """The worst kernel at this value, as an MDP that can be solved or sampled again."""
        sign = 1.0 if self.mdp.sense == "maximise" else -1.0
        operator = operator_of(self.mdp, self.uncertainty, self._shares)
        return self.mdp.with_kernel(operator.rows(sign * self.value))

    @property
    def gap(self) -> float:
        """How far the bounds are apart at most."""
        return float((self.upper - self.lower).max())

"""Finite horizons: a value and a policy for each number of steps left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import require
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.per_state import operator_of
from ewok.tabular.sets import UncertaintySet


@final
@dataclass(frozen=True, eq=False)
class FiniteHorizonSolution:
    """The exact solution for T steps.

    Attributes:
        values: (T + 1, S) the value from step t on, in the MDP's own sense; the last row is `final`.
        policies: (T, S) the action at step t, -1 where the episode has ended; for a set per state
            (T, K), the probability of each pair.
        mdp: what was solved.
    """

    values: Floats
    policies: NDArray[np.int64] | Floats
    mdp: TabularMDP

    def __repr__(self) -> str:
        steps = len(self.policies)
        return f"FiniteHorizonSolution(robust_return={self.robust_return:.6g}, {steps:,} step{'s' * (steps > 1)})"

    @property
    def robust_return(self) -> float:
        """The value of all T steps from the initial distribution."""
        return float(self.mdp.initial @ self.values[0])


def finite_horizon(
    mdp: TabularMDP,
    horizon: int,
    uncertainty: UncertaintySet | None = None,
    *,
    final_value: Floats | None = None,
) -> FiniteHorizonSolution:
    """The optimal value over T steps when the kernel may be the worst in its set at each; any discount up to 1.

    Args:
        mdp: the nominal MDP.
        horizon: T.
        uncertainty: the set; None for the nominal kernel.
        final_value: (S,) what each state is worth after the last step, terminal ones 0; 0 by default.
    """
    require(horizon >= 1, "horizon", "at least 1", horizon, "It is the number of steps.")
    sign = 1.0 if mdp.sense == "maximise" else -1.0
    last = np.zeros(mdp.num_states) if final_value is None else np.asarray(final_value, dtype=np.float64)
    got = f"of shape {last.shape}"
    require(last.shape == (mdp.num_states,), "final_value", f"of shape ({mdp.num_states},)", got, "One per state.")
    operator = operator_of(mdp, uncertainty)
    value: Floats = sign * np.where(mdp.terminal, 0.0, last)
    values, policies = [sign * value], []
    for _ in range(horizon):
        value = operator(value, 0.0)
        values.append(sign * value)
        policies.append(operator.policy())
    chosen: Any = np.array(policies[::-1])
    return FiniteHorizonSolution(np.array(values[::-1]), chosen, mdp)

"""What robustness costs where the world turns out to be nominal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import UncertaintySet
from ewok.tabular.solve import robust_policy_evaluation, robust_value_iteration


@final
@dataclass(frozen=True, eq=False)
class PriceOfRobustness:
    """Returns of robust policies against the radius they were made for.

    Attributes:
        radii: (R,).
        robust: (R,) return of the robust policy under its own worst kernel.
        nominal: (R,) return of the same policy under the nominal kernel.
    """

    radii: Floats
    robust: Floats
    nominal: Floats


def price_of_robustness(
    mdp: TabularMDP, make_set: Callable[[float], UncertaintySet], radii: Iterable[float], *, tolerance: float = 1e-6
) -> PriceOfRobustness:
    """Solve for every radius, and see what the robust policy earns where nothing goes wrong.

    Args:
        mdp: the nominal MDP.
        make_set: from a radius to a set; `KL`, or `lambda radius: L1(radius, weights=w)`.
        radii: the radii.
        tolerance: of each solution.

    Example:
        >>> from ewok import tabular
        >>> lake = tabular.TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95)
        >>> price = tabular.price_of_robustness(lake, tabular.KL, [0.0, 0.1, 0.3])
        >>> bool((price.robust <= price.nominal + 1e-6).all())
        True
    """
    sizes = [float(radius) for radius in radii]
    robust, nominal = [], []
    for radius in sizes:
        solution = robust_value_iteration(mdp, make_set(radius), tolerance=tolerance)
        robust.append(solution.robust_return)
        nominal.append(robust_policy_evaluation(mdp, solution.policy, tolerance=tolerance).robust_return)
    return PriceOfRobustness(np.array(sizes), np.array(robust), np.array(nominal))

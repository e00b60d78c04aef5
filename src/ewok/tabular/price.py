"""What robustness costs where the world turns out to be nominal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import KL, UncertaintySet
from ewok.tabular.solve import robust_policy_evaluation, robust_value_iteration
from ewok.tabular.soundness import require_set


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
    mdp: TabularMDP,
    uncertainty: UncertaintySet | Callable[[float], UncertaintySet],
    radii: Iterable[float],
    *,
    tolerance: float = 1e-6,
) -> PriceOfRobustness:
    """Solve for every radius, and see what the robust policy earns where nothing goes wrong.

    Args:
        mdp: the nominal MDP.
        uncertainty: a set, whose radius is replaced, or what makes one of a radius: `KL`.
        radii: the radii.
        tolerance: of each solution.

    Example:
        >>> from ewok import tabular
        >>> lake = tabular.TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95)
        >>> price = tabular.price_of_robustness(lake, tabular.KL, [0.0, 0.1, 0.3])
        >>> bool((price.robust <= price.nominal + 1e-6).all())
        True
    """
    make_set = _maker_of(uncertainty)
    sizes = [float(radius) for radius in radii]
    robust, nominal = [], []
    for radius in sizes:
        solution = robust_value_iteration(mdp, make_set(radius), tolerance=tolerance)
        robust.append(solution.robust_return)
        nominal.append(robust_policy_evaluation(mdp, solution.policy, tolerance=tolerance).robust_return)
    return PriceOfRobustness(np.array(sizes), np.array(robust), np.array(nominal))


def _maker_of(uncertainty: Any) -> Callable[[float], UncertaintySet]:
    """From a radius to a set."""
    if callable(uncertainty):
        make: Callable[[float], UncertaintySet] = uncertainty
        return make
    require_set(uncertainty)
    given: Any = uncertainty
    name = "beta" if isinstance(given, KL) else "radius"
    return lambda radius: replace(given, **{name: radius})

"""Pearson's chi-square distance: the Euclidean one, weighted by 1 / p."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from ewok.tabular.compiled import owning
from ewok.tabular.sets import l2
from ewok.tabular.sets.radius import require_radius

KIND = 5


@final
@dataclass(frozen=True)
class ChiSquare:
    """sum (q - p)^2 / p <= radius.

    While no outcome is ruled out, the worst mean is the nominal one minus sqrt(radius Var).

    Args:
        radius: one for all pairs, or one each; 1 / p - 1 of the unlikeliest outcome and more are all alike.
        optimistic: the best kernel in the set instead of the worst.
    """

    radius: ArrayLike
    optimistic: bool = field(default=False, kw_only=True)
    kind: ClassVar[int] = KIND
    weights: ClassVar[None] = None
    per_state: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_radius(self.radius, "radius")


@owning
def worst_row(z, p, radius, u, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>; u is scratch of the same length."""
    return l2.worst_row(z, p, np.reciprocal(p), math.sqrt(max(radius, 0.0)), u, q)

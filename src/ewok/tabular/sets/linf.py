"""The largest change of any one probability, with or without weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from ewok.tabular.compiled import owning
from ewok.tabular.sets.radius import require_radius
from ewok.tabular.sets.row import expectation, weight

KIND = 4


@final
@dataclass(frozen=True)
class LInf:
    """max w |q - p| <= radius.

    Args:
        radius: one for all pairs, or one each; without weights, 1 and more are all alike.
        optimistic: the best kernel in the set instead of the worst.
        weights: (S,) positive w of next states; 1 by default.
    """

    radius: ArrayLike
    optimistic: bool = field(default=False, kw_only=True)
    weights: ArrayLike | None = field(default=None, kw_only=True)
    kind: ClassVar[int] = KIND
    per_state: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_radius(self.radius, "radius")


@owning
def worst_row(z, p, w, radius, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>: every outcome at its least, then the lowest ones filled up."""
    left = 1.0
    for i in range(len(z)):
        q[i] = max(0.0, p[i] - radius / weight(w, i))
        left -= q[i]
    for i in np.argsort(z):
        added = min(left, min(1.0, p[i] + radius / weight(w, i)) - q[i])
        q[i] += added
        left -= added
    return expectation(z, q)

"""The Euclidean distance, with or without weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, final

from numpy.typing import ArrayLike

from ewok.tabular.compiled import borrowing
from ewok.tabular.sets.radius import require_radius
from ewok.tabular.sets.row import TIES, expectation, nominal, relative, weight

KIND = 3


@final
@dataclass(frozen=True)
class L2:
    """sqrt(sum w (q - p)^2) <= radius.

    Args:
        radius: one for all pairs, or one each; without weights, sqrt(2) and more are all alike.
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


@borrowing
def worst_row(z, p, w, radius, u, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>; u is scratch of the same length.

    On the outcomes A that keep any mass, q = p - (t (u - mean) - m / W) / w, where m is the mass of the
    others, W = sum 1 / w and mean = sum u / w / W over A. Then the squared distance is t^2 V + m^2 / W
    + D, V = sum (u - mean)^2 / w over A, D = sum w p^2 over the others, which gives t. What would be
    negative leaves A, never to return: q is concave in t.
    """
    if relative(z, u) == 0.0 or radius <= 0.0:
        return nominal(z, p, q)
    for i in range(len(z)):
        q[i] = 1.0  # where positive, the outcome is in A
    while True:
        inverse, mean, gone, distance = 0.0, 0.0, 0.0, 0.0
        for i in range(len(z)):
            if q[i] > 0.0:
                inverse += 1.0 / weight(w, i)
                mean += u[i] / weight(w, i)
            else:
                gone += p[i]
                distance += weight(w, i) * p[i] ** 2
        mean /= inverse
        variance = 0.0
        for i in range(len(z)):
            variance += (u[i] - mean) ** 2 / weight(w, i) if q[i] > 0.0 else 0.0
        left = radius**2 - distance - gone**2 / inverse
        t = math.sqrt(max(left, 0.0) / variance) if variance > TIES**2 * inverse else 0.0
        shrunk = False
        for i in range(len(z)):
            if q[i] > 0.0:
                q[i] = p[i] - (t * (u[i] - mean) - gone / inverse) / weight(w, i)
                shrunk = shrunk or q[i] <= 0.0
        if not shrunk:
            return _normalised(z, q)


@borrowing
def _normalised(z, q):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(q)):
        q[i] = max(q[i], 0.0)
        total += q[i]
    for i in range(len(q)):
        q[i] /= total
    return expectation(z, q)

"""L1 and total variation, with or without weights: mass moves from high scores to low ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from ewok.tabular.compiled import owning
from ewok.tabular.sets.radius import require_radius
from ewok.tabular.sets.row import expectation, nominal, weight

KIND_L1 = 1
KIND_TV = 2


@final
@dataclass(frozen=True)
class L1:
    """sum w |q - p| <= radius.

    Args:
        radius: one for all pairs, or one each; without weights, 2 and more are all alike, unless shared.
        optimistic: the best kernel in the set instead of the worst.
        weights: (S,) positive w of next states; 1 by default.
        per_state: the radius is shared by all actions of a state (s-rectangular).
    """

    radius: ArrayLike
    optimistic: bool = field(default=False, kw_only=True)
    weights: ArrayLike | None = field(default=None, kw_only=True)
    per_state: bool = field(default=False, kw_only=True)
    kind: ClassVar[int] = KIND_L1

    def __post_init__(self) -> None:
        require_radius(self.radius, "radius")


@final
@dataclass(frozen=True)
class TV:
    """sum w |q - p| / 2 <= radius: total variation.

    Args:
        radius: one for all pairs, or one each; without weights, 1 and more are all alike.
        optimistic: the best kernel in the set instead of the worst.
        weights: (S,) positive w of next states; 1 by default.
    """

    radius: ArrayLike
    optimistic: bool = field(default=False, kw_only=True)
    weights: ArrayLike | None = field(default=None, kw_only=True)
    kind: ClassVar[int] = KIND_TV
    per_state: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_radius(self.radius, "radius")


@owning
def worst_row(z, p, w, radius, u, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>; u is scratch of the same length."""
    if len(w) > 0:
        return _worst_weighted_row(z, p, w, radius, u, q)
    order = np.argsort(z)
    nominal(z, p, q)
    left = 0.5 * radius
    if left >= 1.0 - p[order[0]]:  # what rounding would leave to the others could count in another set
        q[:] = 0.0
        q[order[0]] = 1.0
        return z[order[0]]
    q[order[0]] += left
    for place in range(len(z) - 1, 0, -1):
        if left <= 0.0:
            break
        taken = min(left, p[order[place]])
        q[order[place]] -= taken
        left -= taken
    return expectation(z, q)


@owning
def _worst_weighted_row(z, p, w, radius, u, q):  # type: ignore[no-untyped-def]
    """At a price for each unit of distance, mass moves to the lowest z + price w from all dearer z - price w.

    The distance falls as the price grows. Where it jumps over the radius, the rows on both sides are
    equally good at that price, and so are their mixtures.
    """
    low, high = 0.0, 0.0
    for i in range(len(z)):
        high = max(high, (z[i] - z.min()) / w[i])
    near, far = 0.0, _at_price(z, p, w, 0.0, q)
    if far <= radius or high == 0.0:
        return expectation(z, q)
    u[:] = q
    nominal(z, p, q)
    for _ in range(200):
        price = 0.5 * (low + high)
        distance = _at_price(z, p, w, price, q)
        if distance > radius:
            low, far = price, distance
            u[:] = q
        else:
            high, near = price, distance
        if high - low <= 1e-16 * high:
            break
    near = _at_price(z, p, w, high, q)
    share = min(1.0, (radius - near) / (far - near))
    for i in range(len(z)):
        q[i] += share * (u[i] - q[i])
    return expectation(z, q)


@owning
def _at_price(z, p, w, price, q):  # type: ignore[no-untyped-def]
    """Fill q with the best row where distance has this price; return its distance from p."""
    to = 0
    for i in range(len(z)):
        if z[i] + price * weight(w, i) < z[to] + price * weight(w, to):
            to = i
    distance, moved = 0.0, 0.0
    for i in range(len(z)):
        leaves = i != to and z[i] - price * w[i] > z[to] + price * w[to]
        q[i] = 0.0 if leaves else p[i]
        moved += p[i] if leaves else 0.0
        distance += w[i] * p[i] if leaves else 0.0
    q[to] += moved
    return distance + w[to] * moved

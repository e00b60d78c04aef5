"""Burg entropy: the KL divergence the other way round."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, final

from numpy.typing import ArrayLike

from ewok.tabular.compiled import borrowing
from ewok.tabular.sets.kl import newton
from ewok.tabular.sets.radius import require_radius
from ewok.tabular.sets.row import expectation, nominal, relative

KIND = 6
_MOST_PASSES = 200


@final
@dataclass(frozen=True)
class Burg:
    """KL(p || q) <= radius. No outcome is ruled out, whatever the radius.

    With p counted from n samples, this is the set of kernels under which the sample is not too unlikely.

    Args:
        radius: one for all pairs, or one each.
        optimistic: the best kernel in the set instead of the worst.
    """

    radius: ArrayLike
    optimistic: bool = field(default=False, kw_only=True)
    kind: ClassVar[int] = KIND
    weights: ClassVar[None] = None
    per_state: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_radius(self.radius, "radius")


@borrowing
def worst_row(z, p, radius, u, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>; u is scratch of the same length.

    q is proportional to p / (1 + tau u), for which KL(p || q) = E log(1 + tau u) + log E 1 / (1 + tau u)
    grows with tau.
    """
    if relative(z, u) == 0.0 or radius <= 0.0:
        return nominal(z, p, q)
    tau, low, high = math.sqrt(2.0 * radius), 0.0, math.inf
    for _ in range(_MOST_PASSES):
        kl, slope, total = _tempered(p, u, tau, q)
        if abs(kl - radius) <= 1e-13 * radius or high - low <= 4e-16 * low or tau > 1e280:
            break
        low, high = (tau, high) if kl < radius else (low, tau)
        step = newton(tau, kl, slope, radius)
        if not low < step < high:
            step = math.sqrt(low * high) if low > 0.0 and high < math.inf else 0.5 * (low + min(high, 8.0 * tau))
        tau = step
    for i in range(len(p)):
        q[i] /= total
    return expectation(z, q)


@borrowing
def _tempered(p, u, tau, q):  # type: ignore[no-untyped-def]
    """Fill q with p / (1 + tau u), not yet normalised; return KL(p || q), its slope, and the sum of q."""
    logs, total, lost, square = 0.0, 0.0, 0.0, 0.0
    for i in range(len(p)):
        kept = 1.0 / (1.0 + tau * u[i])
        q[i] = p[i] * kept
        total += q[i]
        logs += p[i] * math.log1p(tau * u[i])
        lost += q[i] * tau * u[i]
        square += q[i] * tau * u[i] * kept
    log_total = math.log1p(-lost) if lost < 0.5 else math.log(total)
    return logs + log_total, (lost - square / total) / tau, total

"""R-contamination: with probability R, anything may happen that the nominal row allows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

from numpy.typing import ArrayLike

from ewok.tabular.compiled import borrowing
from ewok.tabular.sets.radius import require_radius
from ewok.tabular.sets.row import expectation

KIND = 7


@final
@dataclass(frozen=True)
class Contamination:
    """q = (1 - R) p + R times any distribution over the support of p.

    Some authors let the adversary choose any state at all; give those a positive nominal probability.

    Args:
        radius: R, one for all pairs, or one each; 1 and more are all alike.
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
def worst_row(z, p, radius, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>."""
    share = min(radius, 1.0)
    worst = 0
    for i in range(len(z)):
        q[i] = (1.0 - share) * p[i]
        if z[i] < z[worst]:
            worst = i
    q[worst] += share
    return expectation(z, q)

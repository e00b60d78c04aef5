"""The paper's set: kernels whose KL from the nominal one is at most beta (Theorem 3.2).

    min <q, z>  over  q << p,  KL(q || p) <= beta

is reached by q = p exp(-tau z) / Z, tau = 1 / kappa, where K(tau) = KL(q || p) = beta. K grows from
0 to -log p(argmin z), with slope K' = tau Var_q(z). Any tau at all proves a lower bound of the
minimum, D(tau) = -(log Z + beta) / tau, and any q within the set an upper one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, final

from numpy.typing import ArrayLike

from ewok.tabular.compiled import borrowing, summing
from ewok.tabular.sets.exponential import exponential
from ewok.tabular.sets.radius import require_radius
from ewok.tabular.sets.row import expectation, extent, mass_of_lowest, nominal, on_lowest, relative

KIND = 0
_SMALL = 1e-2  # tau times span below which exp - 1 is used, for what is left of 1 would be rounding
_LARGEST = 1e15  # tau times span above which there is nothing left but the lowest score
_ROUNDING = 1e-15  # of scores, relative
_MOST_PASSES = 200


@final
@dataclass(frozen=True)
class KL:
    """KL(q || p) <= beta, q absolutely continuous to p.

    Args:
        beta: the radius: one for all pairs, or one each; -log p of the unlikeliest outcome and
            more are all alike, unless shared.
        optimistic: the best kernel in the set instead of the worst.
        per_state: the radius is shared by all actions of a state (s-rectangular).
    """

    beta: ArrayLike
    optimistic: bool = field(default=False, kw_only=True)
    per_state: bool = field(default=False, kw_only=True)
    kind: ClassVar[int] = KIND
    weights: ClassVar[None] = None

    def __post_init__(self) -> None:
        require_radius(self.beta, "beta")

    @property
    def radius(self) -> ArrayLike:
        return self.beta


@borrowing
def worst_row(z, p, beta, u, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>; u is scratch of the same length."""
    if tilted_row(z, p, beta, u, q) == 0.0:
        return nominal(z, p, q)
    return expectation(z, q)


@borrowing
def tilted_row(z, p, beta, u, q):  # type: ignore[no-untyped-def]
    """Fill q with p exp(-tau z) / Z at KL beta and return tau = 1 / kappa.

    It is 0 for the nominal row, infinite where only the lowest scores are left.
    """
    span = relative(z, u)
    if beta <= 0.0 or span <= _ROUNDING * abs(z[0]):  # alike, as far as one can tell
        nominal(z, p, q)
        return 0.0
    mass = mass_of_lowest(p, u)
    if beta >= -math.log(mass):
        on_lowest(z, p, u, mass, q)
        return math.inf
    mean, variance = _mean_and_variance(u, p)
    tau, low, high, total = math.sqrt(2.0 * beta / variance), 0.0, math.inf, 1.0
    for _ in range(_MOST_PASSES):
        kl, slope, _, total = tilt(u, p, 0.0, mean, 1.0, tau, q)
        if abs(kl - beta) <= 1e-13 * beta or high - low <= 4e-16 * low:
            break
        low, high = (tau, high) if kl < beta else (low, tau)
        step = newton(tau, kl, slope, beta)
        if not low < step < high:
            step = 0.5 * (low + high) if high < math.inf else 4.0 * tau
        tau = step
    for i in range(len(u)):
        q[i] /= total
    return tau / span


@borrowing
def bounded_row(z, p, mean, beta, tau, slack, q):  # type: ignore[no-untyped-def]
    """A proved lower bound of the minimum, no more than slack below it, and the tau for the next call.

    Starts from the tau given (0: none is known), which between sweeps over slowly moving scores is
    so close that a single pass of exponentials is enough. z and q may be longer than p: see `tilt`.
    """
    low, high = extent(z, len(p))
    span = high - low
    if beta <= 0.0 or span == 0.0:
        return mean, 0.0
    if not 0.0 < tau < math.inf:
        variance = _mean_and_variance(z, p)[1]
        tau = math.sqrt(2.0 * beta / variance) if variance > 0.0 else 1.0 / span
    bound, least, most = low, 0.0, math.inf
    for _ in range(_MOST_PASSES):
        kl, slope, score, _ = tilt(z, p, low, mean, span, tau, q)
        missed = beta - kl
        bound = max(low, score - missed / tau)  # D(tau), as <q, z> = -(log Z + K) / tau
        # Within the set is the tilted row or, where that is too far, its mixture with the nominal one.
        reached = score if missed >= 0.0 else mean + (score - mean) * (beta / kl)
        near = abs(missed) < 0.5 * beta and abs(missed) < 0.5 * tau * slope
        step = tau + missed / slope if near else newton(tau, kl, slope, beta)
        if reached - bound <= max(slack, _ROUNDING * (abs(low) + span)):
            return bound, min(step, _LARGEST / span)
        least, most = (tau, most) if missed > 0.0 else (least, tau)
        tau = step if least < step < most else 0.5 * (least + min(most, 8.0 * tau))
    return bound, tau


@borrowing
def tilted_by(z, p, tau, q):  # type: ignore[no-untyped-def]
    """Fill q with p exp(-tau z) / Z; with p where tau is 0."""
    if tau == 0.0:
        nominal(z, p, q)
        return
    low, high = extent(z, len(z))
    total = tilt(z, p, low, expectation(z, p), high - low, tau, q)[3]
    for i in range(len(z)):
        q[i] /= total


@summing
def tilt(z, p, low, mean, span, tau, q):  # type: ignore[no-untyped-def]
    """Fill q with p exp(-tau z), not yet normalised.

    Returns KL(q || p), its slope tau Var_q(z), and <q, z>, all of the normalised q, and the sum of q.
    Where z and q are long enough for whole vectors of eight, what is beyond p is written over.
    """
    if tau * span < _SMALL:
        return _tilt_around(z, p, mean, tau, q)
    whole = ((len(p) + 7) >> 3) << 3
    if whole <= len(z) and whole <= len(q):
        for i in range(whole):  # nothing is left over that would have to be done one by one
            q[i] = exponential(-tau * (z[i] - low))
    else:
        for i in range(len(p)):
            q[i] = exponential(-tau * (z[i] - low))
    total, first, second = 0.0, 0.0, 0.0
    for i in range(len(p)):
        u = z[i] - low
        q[i] *= p[i]
        total += q[i]
        first += q[i] * u
        second += q[i] * u * u
    first /= total
    return -tau * first - math.log(total), tau * (second / total - first * first), low + first, total


@summing
def _tilt_around(z, p, mean, tau, q):  # type: ignore[no-untyped-def]
    """The same for weights close to p, counted from the mean: nothing is lost to rounding at a tiny radius."""
    more, first, second = 0.0, 0.0, 0.0
    for i in range(len(p)):
        c = tau * (mean - z[i])
        grown = math.expm1(c)
        q[i] = p[i] * (1.0 + grown)
        more += p[i] * grown
        first += p[i] * grown * c  # the mean of c under p is 0
        second += q[i] * c * c
    total = 1.0 + more
    first /= total
    return first - math.log1p(more), (second / total - first * first) / tau, mean - first / tau, total


@borrowing
def newton(tau, kl, slope, beta):  # type: ignore[no-untyped-def]
    """Newton's step for log K = log beta over log tau, on which K is close to a line; at most fourfold."""
    if kl <= 0.0 or slope <= 0.0:
        return 4.0 * tau if kl < beta else 0.25 * tau
    step = math.log(beta / kl) * kl / (slope * tau)
    return tau * math.exp(min(max(step, -1.4), 1.4))


@summing
def _mean_and_variance(z, p):  # type: ignore[no-untyped-def]
    mean = expectation(z, p)
    variance = 0.0
    for i in range(len(p)):
        variance += p[i] * (z[i] - mean) ** 2
    return mean, variance

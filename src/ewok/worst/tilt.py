"""From values to weights: the tilt that turns nominal samples into samples of the worst kernel.

Symbols are the paper's: v values of the drawn next states, kappa the temperature, beta the KL
radius, omega the threshold. Over N draws from the nominal kernel, P-bar is uniform and the worst
kernel within radius beta of it is (Theorem 3.2)

    P(i) = 1/N exp(-(v_i - omega) / kappa),   KL(P || P-bar) = beta.

The paper's omega-hat, the mean of v, cancels when the weights are normalised.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TIES = 1e-13  # values closer than this, relative to their span, count as equally bad
_LARGE = 1e300  # so many kappas of span are still a number


class Tilted(NamedTuple):
    """Weights over N draws, and what they imply.

    Attributes:
        weights: (N,), positive or zero, summing to one.
        kl: KL(P || P-bar), the radius actually used; at most log N.
        ess: effective sample size 1 / sum p^2: how many equally weighted draws these are worth.
    """

    weights: Array
    kl: float
    ess: float

    def draw(self, chance: float) -> int:
        """The draw that a uniform number in [0, 1) falls on."""
        ends = np.add.accumulate(self.weights).tolist()
        return min(bisect_right(ends, chance * ends[-1]), len(ends) - 1)


def tilt(values: Array, kappa: float) -> Tilted:
    """Weights proportional to exp(-v / kappa), at any scale of the values.

    Args:
        values: (N,), finite.
        kappa: temperature; 0 puts all weight on the worst values, infinity on all alike.
    """
    num = len(values)
    if kappa == math.inf:
        return Tilted(np.full(num, 1.0 / num), 0.0, float(num))
    if kappa == 0.0:
        weights = _on_worst(values)
        return Tilted(weights, kl_from_uniform(weights), effective_sample_size(weights))
    numbers = values.tolist()
    lowest = min(numbers)
    if max(numbers) - lowest < kappa * _LARGE:
        return _tilted(values, lowest, kappa)
    with np.errstate(over="ignore", invalid="ignore"):  # takes as long as three exponentials of a few numbers
        return _tilted(values, lowest, kappa)


def _tilted(values: Array, lowest: float, kappa: float) -> Tilted:
    exponents = (lowest - values) / kappa
    weights = np.exp(exponents)
    total = _sum(weights)
    weights /= total
    # Proposition 3.3, beta = (omega - <P, v>) / kappa, with v counted from the worst value.
    kl = math.log(len(values) / total) + float(weights.dot(exponents))
    if not kl >= 0.0:  # rounding, or 0 * infinity
        kl = kl_from_uniform(weights)
    return Tilted(weights, kl, effective_sample_size(weights))


def kappa_of_radius(values: Array, radius: float) -> float:
    """The kappa for which the tilted weights are at KL `radius` from uniform (Theorem 3.2).

    Where that kappa would be larger than any number, which takes values beyond 1e300, it is infinite.

    Newton's method on sqrt(-log(1 - KL / KL_max)), which is close to a straight line in 1 / kappa,
    inside a shrinking bracket.

    Args:
        values: (N,), finite.
        radius: beta, not negative.

    Returns:
        kappa; infinity where the weights are uniform (radius 0, or all values equal), 0 where the
        radius is large enough for all weight to be on the worst values.
    """
    u, quarter_span = _from_worst_to_best(values)
    if radius == 0.0 or quarter_span == 0.0:
        return math.inf
    largest = math.log(len(u) / np.count_nonzero(u <= _TIES))
    if radius >= largest:
        return 0.0
    goal = math.sqrt(-math.log1p(-radius / largest))
    tau, low, high = math.sqrt(2.0 * radius / float(u.var())), 0.0, math.inf
    for _ in range(100):
        kl, slope = _kl_and_slope(u, tau)
        if abs(kl - radius) <= 1e-12 * radius or high - low <= 1e-15 * low:
            break
        low, high = (tau, high) if kl < radius else (low, tau)
        tau = _newton(tau, kl / largest, slope / largest, goal, low, high)
    return 4.0 * (quarter_span / tau)


def kl_from_uniform(weights: Array) -> float:
    """KL(P || P-bar) for weights P over N draws; at most log N, where one draw has all the weight."""
    return _kl(weights * len(weights))


def effective_sample_size(weights: Array) -> float:
    """How many equally weighted draws are worth these weighted ones: 1 / sum p^2."""
    return 1.0 / float(weights.dot(weights))


def spread(values: Array) -> float:
    """Standard deviation of the values: what there is for the worst kernel to choose from."""
    from_mean = values - _sum(values) / len(values)
    return math.sqrt(float(from_mean.dot(from_mean)) / len(values))


def omega(values: Array, kappa: float) -> float:
    """The threshold below which next states are encouraged: -kappa log mean exp(-v / kappa).

    It satisfies omega = <P, v> + beta kappa (Proposition 3.3) and lies between <P, v> and the mean
    of v (Proposition 3.4). It needs no part in choosing: it normalises the weights.
    """
    if kappa == math.inf:
        return float(values.mean())
    lowest = float(values.min())
    if kappa == 0.0:
        return lowest
    with np.errstate(over="ignore", under="ignore"):
        return lowest - kappa * math.log(float(np.exp((lowest - values) / kappa).mean()))


def _sum(numbers: Array) -> float:
    """A list of a few numbers is added up in a quarter of the time that an array takes to set up."""
    return float(sum(numbers.tolist()))


def _from_worst_to_best(values: Array) -> tuple[Array, float]:
    """Where each value lies, 0 the worst and 1 the best, and a quarter of the span between them."""
    quarter = values * 0.25  # so that the span of the largest numbers is a number
    lowest, span = quarter.min(), float(quarter.max() - quarter.min())
    return (quarter - lowest) / (span or 1.0), span


def _on_worst(values: Array) -> Array:
    worst = _from_worst_to_best(values)[0] <= _TIES
    return worst / np.count_nonzero(worst)


def _kl(ratios: Array) -> float:
    """Mean of r log r - r + 1 over r = P / P-bar: every term is small where r is close to 1."""
    num = len(ratios)
    none = num - np.count_nonzero(ratios)
    some = ratios if none == 0 else ratios[ratios > 0.0]
    return float(some.dot(np.log(some)) - _sum(some - 1.0) + none) / num


def _kl_and_slope(u: Array, tau: float) -> tuple[float, float]:
    """KL of the weights exp(-tau u) from uniform, and its derivative tau Var(u)."""
    weights = np.exp(-tau * u)
    weights /= weights.sum()
    from_mean = u - weights.dot(u)
    return _kl(weights * len(u)), tau * float(weights.dot(from_mean * from_mean))


def _newton(tau: float, kl: float, slope: float, goal: float, low: float, high: float) -> float:
    """The next tau from KL and its slope as parts of the largest KL: a Newton step, or bisection."""
    if 0.0 < kl < 1.0 and slope > 0.0:
        reached = math.sqrt(-math.log1p(-kl))
        step = tau + (goal - reached) * 2.0 * reached * (1.0 - kl) / slope
        if low < step < high:
            return step
    return 0.5 * (low + high) if high < math.inf else 4.0 * tau

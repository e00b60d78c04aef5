"""How close the estimated worst kernel comes to the exact one, both as density ratios to the nominal kernel.

Symbols are the paper's: v the scores of next states, kappa the temperature, N the number of draws. With
e(v) = exp(-v / kappa), the exact worst kernel has the density e(v) / E[e(V)] with respect to the nominal one.
Drawing N next states and keeping one of them amounts, in expectation over the draws, to another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_STEP = 0.4  # between nodes of the integral: its error is 2 |Gamma(1 + 2 pi i / step)|, some 1e-10
_LOW, _HIGH = -26.0, 4.0  # log t e(v) beyond which nothing is left to integrate
_WIDE = 60.0
_BLOCK = 1 << 20  # numbers in memory at once


def exact_ratio(scores: Array, kappa: float, probabilities: Array | None = None) -> Array:
    """Of the exact worst kernel: e(v) / E[e(V)] (Theorem 3.2), at each score.

    Args:
        scores: (n,) of the next states that the nominal kernel has.
        kappa: temperature.
        probabilities: (n,) theirs; all alike by default, as where they were drawn.
    """
    p, weights = _uniform(scores, probabilities), np.exp(_exponents(scores, kappa))
    return np.asarray(weights / p.dot(weights))


def estimated_ratios(
    scores: Array, num_samples: Sequence[int], kappa: float, probabilities: Array | None = None
) -> Array:
    """Of the kernel that N draws and one choice amount to, for each N: shape (len(num_samples), n).

        w_N(v) = E[N e(v) / (e(v) + e(V_2) + ... + e(V_N))],   V_i drawn from the nominal kernel.

    No draws are needed. Since 1 / a is the integral of exp(-t a), and the V_i are independent,

        w_N(v) = N e(v) * integral of exp(-t e(v)) L(t)^(N - 1) dt,   L(t) = E[exp(-t e(V))],

    taken over log t by the trapezoidal rule, which for these integrands is exact to some ten digits.

    Args:
        scores: (n,) of the next states that the nominal kernel has.
        num_samples: each N.
        kappa: temperature.
        probabilities: (n,) of the next states; all alike by default.
    """
    p, exponents = _uniform(scores, probabilities), _exponents(scores, kappa)
    nodes = np.arange(_LOW - math.log(max(num_samples)), _HIGH - exponents.min() + _STEP, _STEP)
    found = np.zeros((len(num_samples), len(exponents)))
    for part in np.array_split(nodes, max(1, len(nodes) * len(exponents) // _BLOCK)):
        rates = np.exp(np.minimum(exponents[:, None] + part, 2.0 * _HIGH))  # t e(v)
        survived = np.exp(-rates)
        transform = p @ survived  # L(t)
        rates *= survived
        for row, num in zip(found, num_samples, strict=True):
            row += num * _STEP * (rates @ transform ** (num - 1))
    return found


def total_variation(ratio: Array, other: Array, probabilities: Array | None = None) -> float:
    """Between two kernels by their ratios to the nominal one: E|w - w'| / 2, from 0 to 1."""
    return 0.5 * float(_uniform(ratio, probabilities).dot(np.abs(ratio - other)))


def kl_from_nominal(ratio: Array, probabilities: Array | None = None) -> float:
    """KL of a kernel from the nominal one, by its ratio to it: E[w log w]."""
    logs = np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0.0)
    return max(0.0, float(_uniform(ratio, probabilities).dot(ratio * logs)))


def _exponents(scores: Array, kappa: float) -> Array:
    """-v / kappa, with v counted from the worst score. Gaps that leave no weight at all are cut to where they do."""
    order = np.argsort(scores)
    exponents = np.zeros(len(scores))
    exponents[order[1:]] = -np.cumsum(np.minimum(np.diff(scores[order]) / kappa, _WIDE))
    return exponents


def _uniform(values: Array, probabilities: Array | None) -> Array:
    return np.full(len(values), 1.0 / len(values)) if probabilities is None else probabilities

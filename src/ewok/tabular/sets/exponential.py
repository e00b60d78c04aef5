"""exp, so written that a loop over it becomes vector instructions, as one over a library's exp does not."""

from __future__ import annotations

import math

import numpy as np

from ewok.tabular.compiled import fusing

_LEAST = -708.0  # below it exp(x) is smaller than any normal number
_ROUND = 1.5 * 2.0**52  # a number so large that adding it leaves only whole numbers, in its last bits
_LOG2_HIGH, _LOG2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # the first times k is exact
_TAYLOR = tuple(1.0 / math.factorial(i) for i in range(13, -1, -1))  # enough for half a log 2


@fusing
def exponential(x):  # type: ignore[no-untyped-def]
    """exp(x) of x <= 0 to within two units in the last place; at least exp(-708): exp(x) = 2^k exp(x - k log 2)."""
    x = max(x, _LEAST)
    shifted = x / math.log(2.0) + _ROUND
    k = shifted - _ROUND
    rest = (x - k * _LOG2_HIGH) - k * _LOG2_LOW
    power = 0.0
    for coefficient in _TAYLOR:
        power = power * rest + coefficient
    bits = np.float64(power).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    return np.int64(bits).view(np.float64)

"""The kernel that N-sample tilting simulates, summed over all draws of N from K outcomes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np


def expected_kernel(
    probabilities: np.ndarray, scores: np.ndarray, num_samples: int, kappa_of: Callable[[np.ndarray], float]
) -> np.ndarray:
    """P(k) = sum over counts n of Multinomial(n; N, p) n_k exp(-v_k / kappa) / sum_j n_j exp(-v_j / kappa)."""
    kernel = np.zeros(len(probabilities))
    for counts in itertools.product(range(num_samples + 1), repeat=len(probabilities)):
        if sum(counts) != num_samples:
            continue
        n = np.array(counts)
        chance = math.factorial(num_samples) / np.prod([math.factorial(c) for c in counts]) * np.prod(probabilities**n)
        drawn = n > 0
        kappa = max(kappa_of(np.repeat(scores, n)), 1e-12)
        weights = n[drawn] * np.exp((scores[drawn].min() - scores[drawn]) / kappa)
        kernel[drawn] += chance * weights / weights.sum()
    return kernel

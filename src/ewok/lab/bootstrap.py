"""Percentile bootstrap intervals over training seeds.

A seed is resampled with its whole row: the returns of one agent over a grid belong together, and points resampled
one by one would make the intervals of scores over the grid several times too narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ewok.errors import require
from ewok.lab.stats import Aggregate, finite, iqm, wins

LEAST_SEEDS = 5
_BLOCK = 1 << 22  # numbers in memory at once: 32 MiB

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Estimate:
    """A value over seeds, and the interval it is given with.

    Attributes:
        value: shape (...), whatever the points are.
        low: lower end of the interval; None below five seeds, for then none is claimed.
        high: its upper end.
        num_seeds: how many seeds it rests on.
    """

    value: Array
    low: Array | None
    high: Array | None
    num_seeds: int


@final
@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """How intervals are drawn; the same one always draws the same.

    Estimates over equally many seeds meet the same resampled seeds, at every point. So what differs between two of them
    is the data, and differences between methods are paired.

    Attributes:
        num_resamples: how many times the seeds are drawn anew.
        confidence: how much of what comes out lies within the interval.
        seed: of the generator.

    Example:
        >>> import numpy as np
        >>> scores = np.random.default_rng(0).normal(size=(40, 9))  # 40 seeds, 9 points
        >>> Bootstrap(seed=1).estimate(scores).low.shape
        (9,)
    """

    num_resamples: int = 2000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.num_resamples >= 100, "num_resamples", "at least 100", self.num_resamples, "2000 is usual.")
        require(0.0 < self.confidence < 1.0, "confidence", "between 0 and 1", self.confidence, "0.95 is usual.")

    def draws(self, num_seeds: int, stream: int = 0) -> NDArray[np.int64]:
        """Which seeds each resample has, shape (resamples, seeds). Other streams are drawn independently."""
        generator = np.random.default_rng([self.seed, stream] if stream else self.seed)
        return generator.integers(num_seeds, size=(self.num_resamples, num_seeds))

    def estimate(self, scores: ArrayLike, aggregate: Aggregate = iqm) -> Estimate:
        """An aggregate over seeds: scores of shape (seeds, ...) -> values of shape (...)."""
        array = _rows(scores, "scores")
        return self._estimate(aggregate(array, axis=0), len(array), lambda draws: _resampled(array, draws, aggregate))

    def difference(self, ours: ArrayLike, theirs: ArrayLike, aggregate: Aggregate = iqm) -> Estimate:
        """The aggregate of ours less that of theirs, row by row the same seeds: both are resampled alike."""
        left, right = _rows(ours, "ours"), _rows(theirs, "theirs")
        same = left.shape == right.shape
        require(same, "theirs", f"of shape {left.shape}, as ours", right.shape, "Keep the seeds that both have.")
        value = aggregate(left, axis=0) - aggregate(right, axis=0)
        return self._estimate(
            value,
            len(left),
            lambda draws: _resampled(left, draws, aggregate) - _resampled(right, draws, aggregate),
        )

    def improvement(self, ours: ArrayLike, theirs: ArrayLike, *, paired: bool = False) -> Estimate:
        """Probability of improvement at each point.

        Args:
            ours: scores of shape (seeds, ...).
            theirs: likewise; their seeds may be others, and more or fewer.
            paired: whether they are row by row the same seeds, and so resampled alike.
        """
        won = wins(_rows(ours, "ours"), _rows(theirs, "theirs"))
        flat = won.reshape(*won.shape[:2], -1)
        shape, (n, m) = won.shape[2:], won.shape[:2]
        require(n == m or not paired, "theirs", "as many as ours, if they are paired", m, f"Give {n}, or do not pair.")

        def resampled(draws: NDArray[np.int64]) -> Array:
            left = _counts(draws, n)
            right = left if paired else _counts(self.draws(m, stream=1), m)
            sums = np.einsum("bn,nmp,bm->bp", left, flat, right, optimize=True)
            return np.asarray(sums / (n * m)).reshape(len(draws), *shape)

        least = min(n, m)
        return self._estimate(won.mean(axis=(0, 1)), least, resampled, draws=self.draws(n))

    def _estimate(
        self,
        value: Array,
        num_seeds: int,
        resampled: Callable[[NDArray[np.int64]], Array],
        draws: NDArray[np.int64] | None = None,
    ) -> Estimate:
        if num_seeds < LEAST_SEEDS:
            return Estimate(np.asarray(value), None, None, num_seeds)
        tail = 0.5 * (1.0 - self.confidence)
        values = resampled(self.draws(num_seeds) if draws is None else draws)
        low, high = np.quantile(values, [tail, 1.0 - tail], axis=0)
        return Estimate(np.asarray(value), np.asarray(low), np.asarray(high), num_seeds)


def _rows(scores: ArrayLike, argument: str) -> Array:
    array = finite(scores, argument)
    require(
        array.ndim > 0 and array.size > 0, argument, "scores of one or more seeds", array.shape, "Give one row each."
    )
    return array


def _resampled(scores: Array, draws: NDArray[np.int64], aggregate: Aggregate) -> Array:
    """The aggregate of each resample, shape (resamples, ...), some points at a time to spare memory."""
    points = np.ascontiguousarray(scores.reshape(len(scores), -1).T)  # seeds last: rows that sort fast
    out = np.empty((len(points), len(draws)))
    step = max(1, _BLOCK // draws.size)
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        out[part] = aggregate(points[part][:, draws], axis=-1)
    return out.T.reshape(len(draws), *scores.shape[1:])


def _counts(draws: NDArray[np.int64], num: int) -> NDArray[Any]:
    """How often each seed is in each resample, shape (resamples, num)."""
    counts = np.zeros((len(draws), num))
    np.add.at(counts, (np.arange(len(draws))[:, None], draws), 1.0)
    return counts

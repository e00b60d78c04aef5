"""What intervals over training seeds cost, over rliable's, as its documentation uses it for curves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rliable import library, metrics

from ewok.lab.bootstrap import Bootstrap
from ratio import Row, in_turn

SEEDS, POINTS, RESAMPLES = 40, 50, 2000


def intervals() -> Row:
    """The IQM of each point and its 95% interval; both sides come to the same values."""
    scores = np.random.default_rng(0).normal(size=(SEEDS, POINTS))
    frames = scores[:, None, :]  # runs, tasks, frames

    def each(resampled: np.ndarray) -> np.ndarray:
        return np.array([metrics.aggregate_iqm(resampled[..., frame]) for frame in range(POINTS)])

    def theirs() -> object:
        return library.get_interval_estimates({"ours": frames}, each, reps=RESAMPLES)

    bootstrap = Bootstrap(num_resamples=RESAMPLES)
    np.testing.assert_allclose(bootstrap.estimate(scores).value, each(frames), rtol=1e-12)
    ours, peer = in_turn(lambda: bootstrap.estimate(scores), theirs, rounds=3)
    work = f"intervals of {SEEDS} seeds x {POINTS} points x {RESAMPLES} resamples: rliable over ours"
    return Row(work, ours, peer, ">= 30", f"{peer / ours:.0f}")


def rows() -> Iterator[Row]:
    yield intervals()

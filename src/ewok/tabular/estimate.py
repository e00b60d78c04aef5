"""The kernel that N-sample tilting really simulates: the expectation of EWoK's choice over its own draws."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ewok.errors import require
from ewok.tabular.compiled import owning
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets.kl import tilted_by, tilted_row
from ewok.tabular.worst import scores_of

_MOST_DRAWS = 20_000  # above this many different draws they are sampled, not enumerated


@final
@dataclass(frozen=True, eq=False)
class EstimatedKernel:
    """What N draws and one choice amount to.

    Attributes:
        kernel: the expected kernel, as an MDP.
        rows: (E,) its probabilities.
        errors: (E,) standard errors; 0 where every draw was counted.
    """

    kernel: TabularMDP
    rows: Floats = field(repr=False)
    errors: Floats = field(repr=False)


def estimated_kernel(
    mdp: TabularMDP,
    value: ArrayLike,
    num_samples: int,
    *,
    kappa: float | None = None,
    radius: float | None = None,
    rng: np.random.Generator | None = None,
    num_draws: int = 20_000,
) -> EstimatedKernel:
    """The kernel of drawing N next states and keeping one with probability proportional to exp(-z / kappa).

    Args:
        mdp: the nominal MDP.
        value: (S,), in the MDP's own sense; candidates are scored by z = r + gamma v.
        num_samples: N.
        kappa: the temperature, or
        radius: the KL radius, for which kappa is solved on every draw.
        rng: for rows with too many different draws to enumerate; needed only for those.
        num_draws: how many draws to sample for such a row.

    Example:
        >>> from ewok import tabular
        >>> lake = tabular.TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95)
        >>> value = tabular.value_iteration(lake).value
        >>> estimate = tabular.estimated_kernel(lake, value, 10, kappa=0.1)
        >>> bool((estimate.errors == 0.0).all())
        True
    """
    require(num_samples >= 1, "num_samples", "at least 1", num_samples, "The paper uses 5 to 15.")
    require(num_draws >= 2, "num_draws", "at least 2", num_draws, "Try 20_000.")
    require_one(kappa, radius)
    scores = scores_of(mdp, value)
    rows, errors = np.empty(mdp.num_entries), np.zeros(mdp.num_entries)
    for pair in range(mdp.num_pairs):
        entries = mdp.entries(pair)
        p, z = mdp.probabilities[entries], scores[entries]
        enumerable = math.comb(num_samples + len(p) - 1, num_samples) <= _MOST_DRAWS
        if enumerable:
            counts, chances = _draws(p, num_samples)
        else:
            remedy = "Pass np.random.default_rng(0)."
            require(rng is not None, "rng", "a Generator, for rows too large to enumerate", rng, remedy)
            assert rng is not None
            counts = rng.multinomial(num_samples, p, size=num_draws)
            chances = np.full(num_draws, 1.0 / num_draws)
        kept = _kept(counts, z, math.nan if kappa is None else kappa, math.nan if radius is None else radius)
        mean = chances @ kept
        rows[entries] = mean / mean.sum()
        errors[entries] = 0.0 if enumerable else np.std(kept, axis=0) / math.sqrt(num_draws)
    return EstimatedKernel(mdp.with_kernel(rows), rows, errors)


def require_one(kappa: float | None, radius: float | None) -> None:
    """Exactly one of the two, with a value that makes sense."""
    given = "neither" if kappa is None else f"kappa={kappa!r} and radius={radius!r}"
    remedy = "Try kappa=0.2 or radius=0.3."
    require((kappa is None) != (radius is None), "kappa` or `radius", "given, exactly one of the two", given, remedy)
    require(kappa is None or kappa > 0.0, "kappa", "greater than 0", kappa, "The smaller, the more robust: try 0.2.")
    require(radius is None or radius >= 0.0, "radius", "at least 0", radius, "The larger, the more robust: try 0.3.")


def _draws(p: Floats, num: int) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], Floats]:
    """Every way N draws can fall on the outcomes, (D, n) counts, and the probability of each."""
    bars = np.array(list(itertools.combinations(range(num + len(p) - 1), len(p) - 1)), dtype=np.int64)
    ends = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), num + len(p) - 1)])
    counts = np.diff(ends, axis=1) - 1
    logs = gammaln(num + 1.0) - gammaln(counts + 1.0).sum(axis=1) + counts @ np.log(p)
    return counts, np.exp(logs)


@owning
def _kept(counts, z, kappa, radius):  # type: ignore[no-untyped-def]
    """(D, n) which outcome is kept of each draw: the tilt of the draw's own shares."""
    kept = np.zeros(counts.shape)
    shares, scores = np.empty(len(z)), np.empty(len(z))
    u, q = np.empty(len(z)), np.empty(len(z))
    for d in range(len(counts)):
        num, total = 0, counts[d].sum()
        for i in range(len(z)):
            if counts[d, i] > 0:
                shares[num], scores[num] = counts[d, i] / total, z[i]
                num += 1
        if math.isnan(radius):
            tilted_by(scores[:num], shares[:num], 1.0 / kappa, q[:num])
        else:
            tilted_row(scores[:num], shares[:num], radius, u[:num], q[:num])
        num = 0
        for i in range(len(z)):
            if counts[d, i] > 0:
                kept[d, i] = q[num]
                num += 1
    return kept

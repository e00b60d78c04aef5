"""From the counts of transitions seen to a set of kernels that holds the true one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2

from ewok.errors import ArgumentError, require
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import KL, L1, TV, Burg, ChiSquare

Kind = TypeVar("Kind", KL, L1, TV, Burg, ChiSquare)


def confidence_set(kind: type[Kind], mdp: TabularMDP, confidence: float = 0.95) -> Kind:
    """A set that holds all rows of the true kernel at once with this confidence, from the MDP's counts.

    Each of the K pairs errs with probability (1 - confidence) / K at most (a union bound). With n
    samples and b different outcomes seen, delta = (1 - confidence) / K, the radius is

    - `L1`: sqrt(2 / n log((2^b - 2) / delta)) (Weissman et al. 2003), for every n; `TV`: half of it;
    - `Burg`: log(C(n + b - 1, b - 1) / delta) / n (the method of types, Csiszar and Koerner), for every n;
    - `KL` and `ChiSquare`: the quantile of a chi-square law over 2 n, and over n (Ben-Tal et al. 2013),
      for large n only.

    All of it presumes that every possible outcome was seen at least once.

    Args:
        kind: which set.
        mdp: made by `TabularMDP.from_samples`.
        confidence: of holding the true kernel.
    """
    require(0.0 < confidence < 1.0, "confidence", "between 0 and 1", confidence, "Try 0.95.")
    if mdp.counts is None:
        raise ArgumentError("`mdp` must have counts, but it has none. Make it with TabularMDP.from_samples.")
    if kind not in _RADII:
        names = ", ".join(known.__name__ for known in _RADII)
        raise ArgumentError(f"`kind` must be one of {names}, but it is {kind!r}. Give a radius of your own instead.")
    n, b = mdp.counts.astype(np.float64), np.diff(mdp.row_ptr).astype(np.float64)
    radii = _RADII[kind](n, b, (1.0 - confidence) / mdp.num_pairs)
    return kind(np.where(b > 1, radii, 0.0))


def _weissman(n: Floats, b: Floats, delta: float) -> Floats:
    # log(2^b - 2) = b log 2 + log(1 - 2^(1 - b)); one outcome has no error
    logs = b * np.log(2.0) + np.log1p(-np.exp2(1.0 - np.maximum(b, 2.0)))
    radii: Floats = np.sqrt(2.0 / n * (logs - np.log(delta)))
    return radii


def _types(n: Floats, b: Floats, delta: float) -> Floats:
    number = gammaln(n + b) - gammaln(n + 1.0) - gammaln(b)
    radii: Floats = (number - np.log(delta)) / n
    return radii


def _chi_square(n: Floats, b: Floats, delta: float) -> Floats:
    radii: Floats = chi2.isf(delta, np.maximum(b - 1.0, 1.0)) / n
    return radii


_RADII: dict[Any, Callable[[Floats, Floats, float], Floats]] = {
    L1: _weissman,
    TV: lambda n, b, delta: 0.5 * _weissman(n, b, delta),
    Burg: _types,
    KL: lambda n, b, delta: 0.5 * _chi_square(n, b, delta),
    ChiSquare: _chi_square,
}

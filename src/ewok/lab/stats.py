"""What the returns of several training seeds come to: over seeds, over a grid of perturbations, and against each other.

Scores are arrays of shape (seeds, points): one row for each training seed, one column for each point of a grid, each
number the mean over the evaluation episodes. Nothing here draws at random; intervals are in `ewok.lab.bootstrap`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ewok.errors import require

Scores = NDArray[np.float64]
Scale = Literal["linear", "log"]
Aggregate = Callable[..., NDArray[np.float64]]

_TRIM = 0.25
LEAST_TO_CUT = 4  # scores, of which a quarter is one


def seed_means(returns: ArrayLike) -> Scores:
    """Episodes averaged out: (seeds, points, episodes) -> (seeds, points); two axes are means already.

    Returns that are not finite are an error that says where: a mean that silently left them out would be flattering.
    """
    array = np.asarray(returns, dtype=np.float64)
    axes = "of shape (seeds, points) or (seeds, points, episodes), with none of them zero"
    require(array.ndim in (2, 3) and array.size > 0, "returns", axes, array.shape, "Give one row for each seed.")
    finite(array, "returns")
    return array if array.ndim == 2 else array.mean(axis=2)


def finite(scores: ArrayLike, argument: str = "scores") -> Scores:
    """`scores` as they are, if each of them is a finite number."""
    array = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(array).all():
        wrong = np.argwhere(~np.isfinite(array))
        where = "[" + ", ".join(str(index) for index in wrong[0]) + "]"
        found = f"{len(wrong)} of {array.size} are not, the first at {where}"
        remedy = "Leave the seeds out in which the simulator diverged, and say so."
        require(False, argument, "finite numbers", found, remedy)
    return array


def iqm(scores: ArrayLike, axis: int = 0) -> NDArray[np.float64]:
    """Interquartile mean: without the lowest and the highest quarter, rounded down, as Agarwal et al. (2021) cut.

    Below `LEAST_TO_CUT` scores nothing is cut, and it is the mean.
    """
    ordered = np.sort(finite(scores), axis=axis)
    num = ordered.shape[axis]
    cut = int(_TRIM * num)
    return np.asarray(np.moveaxis(ordered, axis, -1)[..., cut : num - cut].mean(axis=-1))


def mean(scores: ArrayLike, axis: int = 0) -> NDArray[np.float64]:
    return np.asarray(np.mean(finite(scores), axis=axis))


def median(scores: ArrayLike, axis: int = 0) -> NDArray[np.float64]:
    return np.asarray(np.median(finite(scores), axis=axis))


def worst(scores: ArrayLike) -> NDArray[np.float64]:
    """The least return over the grid, of each seed: (seeds, points) -> (seeds,)."""
    return np.asarray(np.min(finite(scores), axis=-1))


def positions(values: Sequence[float] | NDArray[Any], scale: Scale) -> NDArray[np.float64]:
    """Where the values of a parameter stand on its axis: the one place that decides what `log` means.

    The scale is the world's own word for each of its parameters: `log` where the range spans decades. Panels
    are drawn, and areas are taken, over these positions.
    """
    array = np.asarray(values, dtype=np.float64)
    require(scale in ("linear", "log"), "scale", "'linear' or 'log'", scale, "A world's parameters have one each.")
    positive = scale == "linear" or bool(np.all(array > 0.0))
    require(positive, "values", "positive on a log axis", array.min(initial=np.inf), "Say 'linear', or leave it out.")
    return array if scale == "linear" else np.log10(array)


def area(scores: ArrayLike, values: Sequence[float] | NDArray[Any], scale: Scale) -> NDArray[np.float64]:
    """Area under the robustness curve of each seed over the width of the grid: (seeds, points) -> (seeds,).

    By the trapezoidal rule over `positions`, so that it does not depend on where a grid is finer. It has the unit
    of a return: the mean over the range. A grid of one point has the return there.
    """
    array = finite(scores)
    at = positions(values, scale)
    matching = array.shape[-1:] == at.shape
    require(matching, "values", f"as many as the scores have points, {array.shape[-1]}", len(at), "Give the grid.")
    require(bool(np.all(np.diff(at) > 0.0)), "values", "in ascending order, each once", list(values), "Sort them.")
    if len(at) == 1:
        return array[..., 0]
    return np.asarray(np.trapezoid(array, at, axis=-1) / (at[-1] - at[0]))


def wins(ours: ArrayLike, theirs: ArrayLike) -> NDArray[np.float64]:
    """Each seed of ours against each of theirs: 1 for higher, 1/2 for a tie. (n, ...), (m, ...) -> (n, m, ...)"""
    ours, theirs = finite(ours, "ours")[:, None], finite(theirs, "theirs")[None]
    return np.asarray((ours > theirs) + 0.5 * (ours == theirs))


def probability_of_improvement(ours: ArrayLike, theirs: ArrayLike) -> NDArray[np.float64]:
    """P(X > Y) + P(X = Y) / 2 for a seed of each, at each point: (n, ...), (m, ...) -> (...). Mann-Whitney's U / nm."""
    return np.asarray(wins(ours, theirs).mean(axis=(0, 1)))

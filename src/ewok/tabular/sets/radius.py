"""What every set asks of its radius."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ewok.errors import require
from ewok.tabular.entries import Floats


def require_radius(radius: ArrayLike, argument: str) -> Floats:
    """A radius, or several, as an array; raise `ArgumentError` unless all are finite and at least 0."""
    try:
        given = np.asarray(radius, dtype=np.float64)
    except (TypeError, ValueError):
        require(False, argument, "a number, or one for each pair", radius, "Use 0 for the nominal kernel.")
    sound = (given >= 0.0) & np.isfinite(given)
    shown = float(given) if given.ndim == 0 else [float(r) for r in given[~sound][:1]]
    require(bool(sound.all()), argument, "finite and at least 0", shown, "Use 0 for the nominal kernel.")
    return given

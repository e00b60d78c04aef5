"""A radius that cannot be meant is told where it is given; one beyond the largest distance means every distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.tabular import KL, L1, L2, TV, Burg, ChiSquare, Contamination, LInf, robust_value_iteration

from ..worlds import garnet

KINDS = [KL, L1, TV, L2, LInf, ChiSquare, Burg, Contamination]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("radius", "shown"),
    [
        (-1, "-1.0"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        ([0.1, -3.0], r"\[-3.0\]"),
        ("wide", "'wide'"),
        (None, "nan"),
    ],
)
def test_no_set_is_made_of_a_radius_that_is_none(kind: Any, radius: Any, shown: str) -> None:
    """The message has the name that the argument has."""
    name = "beta" if kind is KL else "radius"
    with pytest.raises(ArgumentError, match=f"`{name}` must be .* but it is {shown}"):
        kind(radius)


@pytest.mark.parametrize("kind", KINDS)
def test_a_radius_is_kept_as_it_is_given(kind: Any) -> None:
    each = np.array([0.0, 0.1])
    assert kind(each).radius is each
    assert kind(0).radius == 0


@pytest.mark.parametrize(
    ("kind", "largest"),
    [(L1, 2.0), (TV, 1.0), (L2, math.sqrt(2.0)), (LInf, 1.0), (Contamination, 1.0), (KL, None), (ChiSquare, None)],
)
def test_beyond_the_largest_distance_all_radii_are_alike(kind: Any, largest: float | None) -> None:
    """The worst next state for certain, as each set's docstring says."""
    mdp = garnet(6, 2, 3)
    least = float(mdp.probabilities.min())
    if largest is None:
        largest = -math.log(least) if kind is KL else 1.0 / least - 1.0
    at, beyond = (robust_value_iteration(mdp, kind(radius)) for radius in (largest, 50.0 * largest))
    worst = robust_value_iteration(mdp, Contamination(1.0))
    np.testing.assert_allclose(at.value, worst.value, atol=1e-6)
    np.testing.assert_allclose(beyond.value, worst.value, atol=1e-6)

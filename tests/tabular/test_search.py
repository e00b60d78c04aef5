"""When a search ends: proved as near as asked for, or with all that was proved in the error."""

from __future__ import annotations

import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    NotConvergedError,
    robust_value_iteration,
    value_iteration,
)

from .worlds import garnet


def test_no_convergence_says_how_far_it_got() -> None:
    mdp = garnet(5, 2, 3, discount=0.99)
    with pytest.raises(NotConvergedError, match="`max_iterations` must be larger than 3") as caught:
        robust_value_iteration(mdp, KL(0.1), max_iterations=3)
    exact = robust_value_iteration(mdp, KL(0.1)).value
    assert np.all(caught.value.lower <= exact)
    assert np.all(exact <= caught.value.upper)
    with pytest.raises(ArgumentError, match="`tolerance` must be greater than 0"):
        value_iteration(mdp, tolerance=0.0)
    with pytest.raises(ArgumentError, match="`num_threads` must be at least 1"):
        value_iteration(mdp, num_threads=0)


def test_more_than_rounding_allows_is_refused_at_once() -> None:
    """In place of a hundred thousand sweeps in vain; and what is said to be enough is."""
    mdp = garnet(6, 3, 3, discount=0.999)
    with pytest.raises(NotConvergedError, match="`tolerance` must be at least .* for rounding alone") as caught:
        robust_value_iteration(mdp, KL(0.1), tolerance=1e-14)
    enough = float(str(caught.value).split("at least ")[1].split(" ")[0])
    assert 1e-14 < enough < 1e-8
    assert robust_value_iteration(mdp, KL(0.1), tolerance=enough).gap <= enough

"""What robustness costs where nothing goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.tabular import KL, L1, cliff_walking, price_of_robustness, value_iteration

from .worlds import garnet, machine

RADII = [0.0, 0.05, 0.2, 0.8]


@pytest.mark.parametrize("make", [KL, L1])
def test_a_larger_set_promises_less_and_no_policy_beats_the_nominal_optimum_where_it_was_made_for(make: type) -> None:
    mdp = garnet(8, 3, 4, seed=2)
    price = price_of_robustness(mdp, make, RADII)
    best = value_iteration(mdp).robust_return
    assert price.radii.tolist() == RADII
    assert price.nominal[0] == pytest.approx(best, abs=2e-6)
    assert price.robust[0] == pytest.approx(best, abs=2e-6)
    assert np.all(np.diff(price.robust) < 0.0)
    assert np.all(price.nominal <= best + 2e-6)
    assert np.all(price.robust <= price.nominal + 2e-6)


def test_on_the_cliff_caution_has_a_price() -> None:
    price = price_of_robustness(cliff_walking(), KL, [0.0, 0.4])
    assert price.nominal[1] < price.nominal[0] - 1.0


def test_costs_stay_costs_and_rise() -> None:
    price = price_of_robustness(machine(0.9), KL, RADII)
    assert np.all(np.diff(price.robust) > 0.0)
    assert np.all(price.robust >= price.nominal - 2e-6)


def test_a_set_keeps_all_but_its_radius() -> None:
    mdp = garnet(6, 3, 4, seed=2)
    given = price_of_robustness(mdp, L1(9.0, weights=np.arange(1.0, 7.0)), RADII)
    made = price_of_robustness(mdp, lambda radius: L1(radius, weights=np.arange(1.0, 7.0)), RADII)
    np.testing.assert_array_equal(given.robust, made.robust)
    assert price_of_robustness(mdp, KL(9.0), [0.0]).robust == price_of_robustness(mdp, KL, [0.0]).robust
    with pytest.raises(ArgumentError, match="`uncertainty` must be a set of ewok.tabular with its radius"):
        price_of_robustness(mdp, "kl", RADII)  # type: ignore[arg-type]


def test_a_radius_that_is_none_is_refused() -> None:
    with pytest.raises(ArgumentError, match="`beta` must be finite and at least 0, but it is -0.1"):
        price_of_robustness(garnet(4, 2, 2), KL, [0.1, -0.1])

"""Finite horizons: as by looking at every step, with any discount, in every kind of set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.tabular import KL, L1, Burg, TabularMDP, finite_horizon, robust_value_iteration

from .worlds import gambler, garnet, machine


def test_two_steps_by_hand() -> None:
    """A coin for 1 at each step, once more for each head: 1/2 + 1/2 * 1/2; at KL 0.1 with 0.280205373839."""
    mdp = TabularMDP.from_entries([0, 0], [0, 0], [0, 1], [0.5, 0.5], [1.0, 0.0], discount=1.0, initial=[1.0, 0.0])
    assert finite_horizon(mdp, 2).values[:, 0].tolist() == [0.75, 0.5, 0.0]
    q = 0.280205373839
    robust = finite_horizon(mdp, 2, KL(0.1))
    # The worth of a head is 1 at the last step and 1 + q before; the worst of two outcomes is the same q.
    assert robust.values[:, 0] == pytest.approx([q * (1.0 + q), q, 0.0], abs=1e-10)
    assert robust.robust_return == pytest.approx(q * (1.0 + q), abs=1e-10)


@pytest.mark.parametrize("uncertainty", [None, KL(0.1), L1(0.3), Burg(0.1), KL(0.1, optimistic=True)], ids=str)
def test_each_step_is_one_backup_of_the_next(uncertainty: Any) -> None:
    mdp = garnet(6, 3, 3, discount=1.0)
    solution = finite_horizon(mdp, 4, uncertainty)
    for t in range(4):
        one = finite_horizon(mdp, 1, uncertainty, final_value=solution.values[t + 1])
        np.testing.assert_allclose(one.values[0], solution.values[t], atol=1e-12)
        np.testing.assert_array_equal(one.policies[0], solution.policies[t])
    assert solution.values.shape == (5, 6)
    assert solution.policies.shape == (4, 6)


def test_a_long_horizon_comes_to_the_discounted_value() -> None:
    mdp = garnet(6, 3, 3, discount=0.8)
    robust = robust_value_iteration(mdp, KL(0.1), tolerance=1e-9)
    np.testing.assert_allclose(finite_horizon(mdp, 120, KL(0.1)).values[0], robust.value, atol=1e-8)


def test_costs_stay_costs_and_an_adversary_makes_them_larger() -> None:
    nominal, robust = finite_horizon(machine(1.0), 30), finite_horizon(machine(1.0), 30, KL(0.2))
    assert np.all(nominal.values >= 0.0)
    assert np.all(robust.values >= nominal.values - 1e-9)
    assert robust.values[0].max() > nominal.values[0].max() + 1.0


def test_what_is_left_at_the_end_counts_but_not_where_the_episode_has_ended() -> None:
    mdp = gambler(goal=10)
    worth = finite_horizon(mdp, 1, final_value=np.full(11, 5.0))
    assert worth.values[1].tolist() == [0.0, *[5.0] * 9, 0.0]
    assert worth.policies[0][[0, 10]].tolist() == [-1, -1]


def test_one_radius_for_all_actions_has_randomised_policies() -> None:
    mdp = garnet(5, 3, 3)
    shared = finite_horizon(mdp, 3, KL(0.2, per_state=True))
    assert shared.policies.shape == (3, mdp.num_pairs)
    sums = np.add.reduceat(shared.policies, mdp.state_ptr[:-1], axis=1)
    np.testing.assert_allclose(sums, 1.0)
    each = finite_horizon(mdp, 3, KL(0.2))
    assert np.all(shared.values >= each.values - 1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"horizon": 0}, "`horizon` must be at least 1, but it is 0"),
        ({"final_value": np.zeros(3)}, r"`final_value` must be of shape \(5,\)"),
    ],
)
def test_what_is_wrong_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        finite_horizon(garnet(5, 2, 2), **({"horizon": 2} | options))

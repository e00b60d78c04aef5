"""The Bellman operator: monotone, moved by constants as gamma says, and the same whatever it remembers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    L1,
    L2,
    Burg,
    ChiSquare,
    robust_value_iteration,
)
from ewok.tabular.operator import Operator

from .worlds import garnet

SETS: list[Any] = [None, KL(0.2), KL(0.2, optimistic=True), L1(0.3), Burg(0.1), ChiSquare(0.2)]


def values(seed: int, num: int, size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(scale=10.0 ** rng.integers(-2, 3), size=size) for _ in range(num)]


@pytest.mark.parametrize("uncertainty", SETS, ids=repr)
@given(seed=st.integers(0, 10_000), constant=st.floats(-100.0, 100.0))
@settings(max_examples=30, deadline=None)
def test_it_is_monotone_and_moves_with_constants(uncertainty: Any, seed: int, constant: float) -> None:
    """T v <= T w for v <= w, and T(v + c) = T v + gamma c: all that the bounds rest on."""
    mdp = garnet(6, 3, 3, seed=seed)
    v, higher = values(seed, 2, 6)
    new = Operator(mdp, uncertainty)(v)
    scale = 1e-11 * (abs(v).max() + abs(higher).max() + abs(constant) + 1.0)
    assert np.all(Operator(mdp, uncertainty)(v + abs(higher)) >= new - scale)
    np.testing.assert_allclose(Operator(mdp, uncertainty)(v + constant), new + 0.9 * constant, atol=scale, rtol=0.0)


@pytest.mark.parametrize("uncertainty", SETS, ids=repr)
@given(seed=st.integers(0, 10_000), slack=st.sampled_from([0.0, 1e-3]))
@settings(max_examples=30, deadline=None)
def test_what_it_remembers_changes_nothing_but_time(uncertainty: Any, seed: int, slack: float) -> None:
    """Asked of values near and far, up and down, in turn: each answer is as if it were the first, to the slack."""
    mdp = garnet(6, 4, 3, seed=seed)
    old = Operator(mdp, uncertainty)
    start = values(seed, 1, 6)[0]
    for value in [start, start + 1e-3, start - 1e-6, *values(seed + 1, 3, 6), start]:
        given_back, fresh = old(value, slack), Operator(mdp, uncertainty)(value)
        np.testing.assert_allclose(given_back, fresh, atol=slack + 1e-11 * abs(value).max(), rtol=0.0)
        sign = -1.0 if uncertainty is not None and uncertainty.optimistic else 1.0
        assert np.all(sign * (given_back - fresh) <= 1e-11 * (1.0 + abs(value).max())), "on the side that is proved"


@pytest.mark.parametrize("uncertainty", SETS, ids=repr)
def test_rows_are_what_the_value_is_made_of(uncertainty: Any) -> None:
    """The best pair's <q, r + gamma v> is T v; and rows of chosen pairs are those among all."""
    mdp = garnet(6, 3, 3, seed=4)
    value = values(1, 1, 6)[0]
    operator = Operator(mdp, uncertainty)
    new, rows = operator(value), operator.rows(value)
    worth = np.add.reduceat(rows * (mdp.entry_rewards + 0.9 * value[mdp.next_states]), mdp.row_ptr[:-1])
    np.testing.assert_allclose(np.maximum.reduceat(worth, mdp.state_ptr[:-1]), new, rtol=1e-10)
    np.testing.assert_allclose(worth[operator.taken], new, rtol=1e-10)
    chosen = np.array([7, 2, 2])
    np.testing.assert_array_equal(operator.rows(value, chosen), np.concatenate([rows[mdp.entries(k)] for k in chosen]))


def test_pairs_that_are_not_considered_are_not_taken() -> None:
    mdp = garnet(5, 3, 2)
    considered = np.arange(mdp.num_pairs) % 3 == 1
    operator = Operator(mdp, KL(0.1), considered=considered)
    for value in values(0, 3, 5):
        operator(value)
        assert operator.policy().tolist() == [1] * 5


def test_threads_change_nothing() -> None:
    mdp = garnet(300, 3, 5)
    one = robust_value_iteration(mdp, KL(0.1))
    two = robust_value_iteration(mdp, KL(0.1), num_threads=2)
    np.testing.assert_array_equal(one.lower, two.lower)
    np.testing.assert_array_equal(one.policy, two.policy)


def _own(radius: float) -> Any:
    """A set of one's own, which does not look at its radius."""
    return SimpleNamespace(kind=KL.kind, radius=radius, weights=None, optimistic=False, per_state=False)


@pytest.mark.parametrize(
    ("uncertainty", "message"),
    [
        (L1([0.1, 0.2]), "`radius` must be one number or 15, one per pair"),
        (_own(-0.1), "`radius` must be finite and at least 0, but it is -0.1"),
        (L2(0.1, weights=[1.0]), "`weights` must be of shape"),
        (KL, "`uncertainty` must be a set of ewok.tabular with its radius, but it is <class"),
        ("kl", "`uncertainty` must be a set of ewok.tabular with its radius, but it is 'kl'"),
        (L2(0.1, weights=np.zeros(5)), "`weights` must be finite and greater than 0"),
    ],
)
def test_sets_that_do_not_fit(uncertainty: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        robust_value_iteration(garnet(5, 3, 2), uncertainty)

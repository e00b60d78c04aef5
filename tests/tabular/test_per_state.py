"""One radius for all actions of a state: randomising helps, and the value is the saddle point's."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    L1,
    TabularMDP,
    policy_value,
    robust_policy_evaluation,
    robust_value_iteration,
    value_iteration,
)

from .worlds import garnet


def one_state(z: np.ndarray, p: np.ndarray) -> TabularMDP:
    """State 0 with the outcomes (A, n) of its actions as rewards on the way to the end."""
    actions, _ = np.indices(z.shape)
    zeros = np.zeros(z.size, dtype=int)
    return TabularMDP.from_entries(
        zeros, actions.ravel(), zeros + 1, p.ravel(), z.ravel(), discount=0.9, initial=[1.0, 0.0]
    )


def by_cvxpy(z: np.ndarray, p: np.ndarray, radius: float, kind: Any) -> float:
    """min over q of max over a of <q_a, z_a>, which by minimax is the value."""
    q, u = cp.Variable(z.shape), cp.Variable()
    spent = cp.sum(cp.kl_div(q, p)) if kind is KL else cp.sum(cp.abs(q - p))
    problem = cp.Problem(
        cp.Minimize(u),
        [q >= 0, cp.sum(q, axis=1) == 1, spent <= radius, cp.sum(cp.multiply(q, z), axis=1) <= u],
    )
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@pytest.mark.parametrize("kind", [KL, L1])
def test_one_state_meets_a_general_solver(kind: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(25):
        shape = (int(rng.integers(1, 4)), int(rng.integers(2, 5)))
        z, p = rng.normal(size=shape), rng.dirichlet(np.ones(shape[1]), shape[0])
        radius = float(rng.choice([0.02, 0.2, 0.7]))
        solution = robust_value_iteration(one_state(z, p), kind(radius, per_state=True), tolerance=1e-9)
        assert solution.value[0] == pytest.approx(by_cvxpy(z, p, radius, kind), abs=2e-6)


@pytest.mark.parametrize("kind", [KL, L1])
@given(seed=st.integers(0, 10_000), radius=st.floats(0.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_policy_and_kernel_are_a_saddle_point(kind: Any, seed: int, radius: float) -> None:
    mdp = garnet(5, 3, 3, seed=seed)
    uncertainty = kind(radius, per_state=True)
    solution = robust_value_iteration(mdp, uncertainty, tolerance=1e-8)
    worth = robust_policy_evaluation(mdp, solution.policy, uncertainty, tolerance=1e-8)
    np.testing.assert_allclose(worth.value, solution.value, atol=1e-6)
    best_response = value_iteration(solution.kernel(), tolerance=1e-8)
    np.testing.assert_allclose(best_response.value, solution.value, atol=1e-6)
    np.testing.assert_allclose(policy_value(worth.kernel(), solution.policy), worth.value, atol=1e-6)


@pytest.mark.parametrize("kind", [KL, L1])
def test_randomising_beats_every_fixed_action_and_sharing_helps_the_agent(kind: Any) -> None:
    z, p = np.array([[0.0, 1.0], [1.0, 0.0]]), np.full((2, 2), 0.5)
    mdp = one_state(z, p)
    shared = robust_value_iteration(mdp, kind(0.2, per_state=True), tolerance=1e-9)
    np.testing.assert_allclose(shared.policy, 0.5, atol=1e-6)
    each = robust_value_iteration(mdp, kind(0.2), tolerance=1e-9)
    assert shared.value[0] > each.value[0] + 0.01


def test_zero_radius_is_nominal_and_a_large_one_leaves_the_worst() -> None:
    mdp = garnet(5, 3, 3)
    nominal = value_iteration(mdp, tolerance=1e-9).value
    for kind in (KL, L1):
        solution = robust_value_iteration(mdp, kind(0.0, per_state=True), tolerance=1e-9)
        np.testing.assert_allclose(solution.value, nominal, atol=1e-8)
        most = robust_value_iteration(mdp, kind(50.0, per_state=True), tolerance=1e-9)
        np.testing.assert_allclose(most.value, robust_value_iteration(mdp, kind(50.0), tolerance=1e-9).value, atol=1e-7)


def test_an_optimist_gives_the_whole_radius_to_one_action() -> None:
    mdp = garnet(5, 3, 3)
    for kind in (KL, L1):
        shared = robust_value_iteration(mdp, kind(0.2, per_state=True, optimistic=True), tolerance=1e-9)
        each = robust_value_iteration(mdp, kind(0.2, optimistic=True), tolerance=1e-9)
        np.testing.assert_allclose(shared.value, each.value, atol=1e-8)
        worth = robust_policy_evaluation(mdp, shared.policy, kind(0.2, per_state=True, optimistic=True), tolerance=1e-9)
        np.testing.assert_allclose(worth.value, shared.value, atol=1e-7)


def test_what_does_not_fit_is_refused() -> None:
    mdp = garnet(5, 3, 3)
    with pytest.raises(ArgumentError, match="`weights` must be None"):
        robust_value_iteration(mdp, L1(0.1, per_state=True, weights=np.ones(5)))
    with pytest.raises(ArgumentError, match="one number or 5, one per state"):
        robust_value_iteration(mdp, KL(np.full(15, 0.1), per_state=True))
    with pytest.raises(ArgumentError, match="must be below 1 for a set with per_state=True"):
        robust_value_iteration(mdp.with_discount(1.0), KL(0.1, per_state=True))

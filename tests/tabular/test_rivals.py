"""The related work's methods come to the fixed points they are known for, and need more to get there."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    L1,
    L2,
    Contamination,
    LInf,
    NotConvergedError,
    TabularMDP,
    kernel_iterates,
    robust_policy_evaluation,
    robust_value_iteration,
)
from ewok.tabular.rivals import (
    contamination_q_learning,
    lp_q_learning,
    project_onto_kl,
    projected_gradient_kernel,
    seminorm,
)

from .worlds import garnet, machine


def dense(num_states: int = 6, discount: float = 0.8) -> TabularMDP:
    """Every state can follow every other, by about as much, so that an L_p ball stays among kernels."""
    rng = np.random.default_rng(0)
    kernel = rng.dirichlet(np.full(num_states, 20.0), (num_states, 2))
    return TabularMDP.from_arrays(kernel, rng.random((num_states, 2)), discount=discount)


def best(mdp: TabularMDP, q: np.ndarray) -> np.ndarray:
    return np.maximum.reduceat(q, mdp.state_ptr[:-1])


def test_contamination_q_learning_comes_to_the_robust_value() -> None:
    """Where all states can follow, the state of the adversary's choice is one of the support."""
    mdp = dense()
    exact = robust_value_iteration(mdp, Contamination(0.2)).value
    learned = contamination_q_learning(mdp, 0.2, num_steps=1_000_000, learning_rate=0.002)
    np.testing.assert_allclose(best(mdp, learned), exact, atol=0.03)


@pytest.mark.parametrize(("p", "kind", "radius"), [(1, L1, 0.15), (2, L2, 0.08), (math.inf, LInf, 0.03)])
def test_lp_q_learning_comes_to_the_robust_value(p: float, kind: Any, radius: float) -> None:
    """In so small a ball no probability becomes negative, so leaving the signs out changes nothing."""
    mdp = dense()
    exact = robust_value_iteration(mdp, kind(radius)).value
    learned = lp_q_learning(mdp, radius, p, num_steps=1_000_000, learning_rate=0.002)
    np.testing.assert_allclose(best(mdp, learned), exact, atol=0.03)
    nominal = robust_value_iteration(mdp, kind(0.0)).value
    assert np.all(nominal - exact > 0.06), "and that is not the nominal value"


@pytest.mark.parametrize(("p", "norm"), [(1.0, math.inf), (2.0, 2), (math.inf, 1)])
def test_the_seminorm_is_the_distance_from_the_nearest_constant(p: float, norm: float) -> None:
    v = np.random.default_rng(0).normal(size=7)
    c = cp.Variable()
    nearest = cp.Problem(cp.Minimize(cp.norm(v - c, "inf" if norm == math.inf else norm))).solve(solver=cp.CLARABEL)
    assert seminorm(v, p) == pytest.approx(nearest, abs=1e-6)


def test_projection_onto_a_kl_ball_is_the_nearest_point() -> None:
    rng = np.random.default_rng(0)
    for _ in range(8):
        p, y = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4)) + 0.3 * rng.normal(size=4)
        beta = float(rng.choice([0.01, 0.1, 0.5]))
        q = cp.Variable(4)
        inside = [cp.sum(q) == 1, cp.sum(cp.rel_entr(q, p)) <= beta]
        cp.Problem(cp.Minimize(cp.sum_squares(q - y)), inside).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(project_onto_kl(y, p, beta), q.value, atol=2e-4)


def test_projection_at_the_edges() -> None:
    p = np.array([0.2, 0.3, 0.5])
    np.testing.assert_array_equal(project_onto_kl(np.array([1.0, 0.0, 0.0]), p, 0.0), p)
    np.testing.assert_array_equal(project_onto_kl(np.array([5.0]), np.array([1.0]), 0.3), [1.0])
    inside = np.array([0.21, 0.3, 0.49])
    np.testing.assert_allclose(project_onto_kl(inside, p, 0.4), inside, atol=1e-6)


def test_projected_gradient_finds_the_worst_kernel_in_more_iterations_than_the_papers_updates() -> None:
    mdp = garnet(5, 2, 3, seed=1, discount=0.8)
    policy = robust_value_iteration(mdp, KL(0.1)).policy
    robust = robust_policy_evaluation(mdp, policy, KL(0.1), tolerance=1e-9).robust_return
    descent = projected_gradient_kernel(mdp, policy, KL(0.1), tolerance=1e-4)
    assert descent.values[-1] == pytest.approx(robust, abs=1e-4)
    assert np.all(np.diff(descent.values) < 0.0)
    assert len(descent.values) == descent.iterations + 1
    iterates = [float(mdp.initial @ value) for value in kernel_iterates(mdp, policy, KL(0.1), 10)]
    needed = next(n for n, worth in enumerate(iterates) if worth - robust <= 1e-4)
    assert needed < descent.iterations


def test_not_getting_there_raises_with_what_was_reached() -> None:
    mdp = garnet(5, 2, 3, seed=1, discount=0.8)
    policy = robust_value_iteration(mdp, KL(0.1)).policy
    with pytest.raises(NotConvergedError, match="`max_iterations` must be larger than 1 ") as caught:
        projected_gradient_kernel(mdp, policy, KL(0.1), max_iterations=1, step_size=1e-3)
    assert np.all(caught.value.lower <= caught.value.upper + 1e-9)


def test_what_is_wrong_is_named() -> None:
    mdp = dense()
    with pytest.raises(ArgumentError, match="`contamination` must be between 0 and 1"):
        contamination_q_learning(mdp, 1.5, num_steps=10)
    with pytest.raises(ArgumentError, match="`p` must be 1, 2 or infinity, but it is 3"):
        lp_q_learning(mdp, 0.1, 3, num_steps=10)
    with pytest.raises(ArgumentError, match="`radius` must be at least 0"):
        lp_q_learning(mdp, -0.1, 2, num_steps=10)
    with pytest.raises(ArgumentError, match="`num_steps` must be at least 1"):
        lp_q_learning(mdp, 0.1, 2, num_steps=0)
    with pytest.raises(ArgumentError, match="rewards to be maximised"):
        contamination_q_learning(machine(0.9), 0.1, num_steps=10)
    with pytest.raises(ArgumentError, match="be a robust KL set per pair"):
        projected_gradient_kernel(mdp, np.zeros(6, dtype=int), KL(0.1, optimistic=True))

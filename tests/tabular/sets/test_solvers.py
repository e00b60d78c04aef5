"""Worst rows against scipy and cvxpy, on random rows and on the edges where closed forms go wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar

from ewok.tabular import KL, L1, L2, TV, Burg, ChiSquare, Contamination, LInf

from .test_rows import KINDS, NONE, WEIGHTED, by_cvxpy, distance, rows, solve

POLYHEDRAL = [L1, TV, LInf, Contamination]
RADII = st.one_of(st.floats(1e-3, 2.0), st.sampled_from([1e-3, 0.5, 5.0]))

# Probabilities and scores that have gone wrong somewhere: ties at both ends, nearly no mass where it matters, nearly
# all of it there, scores one rounding apart, and a radius that leaves exactly the lowest.
EDGES: dict[str, tuple[list[float], list[float], float]] = {
    "one outcome": ([2.0], [1.0], 0.3),
    "all alike": ([1.0, 1.0, 1.0], [0.2, 0.3, 0.5], 0.3),
    "ties below": ([0.0, 0.0, 1.0], [0.2, 0.3, 0.5], 0.2),
    "ties above": ([0.0, 1.0, 1.0], [0.2, 0.3, 0.5], 0.2),
    "rare worst": ([0.0, 1.0, 1.1], [1e-6, 0.4, 0.599999], 0.2),
    "common worst": ([0.0, 1.0], [0.999, 0.001], 0.05),
    "apart by rounding": ([0.0, 1e-15, 1.0], [0.2, 0.3, 0.5], 0.2),
    "just not saturated": ([0.0, 1.0], [0.5, 0.5], math.log(2.0) - 1e-6),
    "just saturated": ([0.0, 1.0], [0.5, 0.5], math.log(2.0)),
    "far beyond": ([0.0, 0.5, 1.0], [0.2, 0.3, 0.5], 30.0),
    "one apart from many": ([1.0, 1.0, 1.0, 1.0, -1.0], [0.24, 0.24, 0.24, 0.24, 0.04], 0.1),
}


def relative(z: np.ndarray) -> np.ndarray:
    """Scores between 0 and 1, as general solvers like them."""
    span = np.ptp(z)
    return (z - z.min()) / span if span > 0.0 else np.zeros(len(z))


def by_linprog(kind: Any, z: np.ndarray, p: np.ndarray, radius: float, w: np.ndarray) -> float:
    """Over q, and the distances t >= w |q - p|."""
    n, w = len(p), w if len(w) else np.ones(len(p))
    eye, zero = np.eye(n), np.zeros((n, n))
    if kind is Contamination:
        least = (1.0 - min(radius, 1.0)) * p
        return float(linprog(z, A_eq=np.ones((1, n)), b_eq=[1.0], bounds=list(zip(least, np.ones(n), strict=True))).fun)
    above = np.vstack([np.hstack([np.diag(w), -eye]), np.hstack([-np.diag(w), -eye])])
    limits = np.concatenate([w * p, -w * p])
    if kind is LInf:
        above = np.vstack([above, np.hstack([zero, eye])])
        limits = np.concatenate([limits, np.full(n, radius)])
    else:
        above = np.vstack([above, np.concatenate([np.zeros(n), np.ones(n)])])
        limits = np.append(limits, radius * (2.0 if kind is TV else 1.0))
    one = np.concatenate([np.ones(n), np.zeros(n)])[None]
    found = linprog(np.concatenate([z, np.zeros(n)]), A_ub=above, b_ub=limits, A_eq=one, b_eq=[1.0])
    return float(found.fun)


def by_dual(kind: Any, z: np.ndarray, p: np.ndarray, radius: float) -> float:
    """max over the price of distance of min over q, for the sets that are no polyhedra; the inner one by bisection."""

    def priced(price: float) -> np.ndarray:
        """The q that is best where distance costs so much: its sum falls in the multiplier nu."""
        weight = {ChiSquare: 1.0 / p, L2: np.ones(len(p))}.get(kind)

        def at(nu: float) -> np.ndarray:
            if kind is KL:
                return p * np.exp(np.minimum(-(z + nu) / price, 700.0))
            if kind is Burg:
                return price * p / (z + nu)
            return np.maximum(0.0, p - (z + nu) / (2.0 * price * weight))

        low = 1e-300 if kind is Burg else -2.0 - 800.0 * price
        high = 1.0 + 1e3 * price if kind is not KL else 800.0 * price
        for _ in range(200):
            nu = 0.5 * (low + high)
            low, high = (nu, high) if at(nu).sum() > 1.0 else (low, nu)
        q = at(high)
        return q / q.sum()

    def loss(log_price: float) -> float:
        price = math.exp(log_price)
        q = priced(price)
        far = distance(kind, p, q)
        return -float(z @ q + price * ((far**2 - radius**2) if kind is L2 else (far - radius)))

    found = minimize_scalar(loss, bounds=(-9.0, 12.0), method="bounded", options={"xatol": 1e-7})
    return max(-float(found.fun), 0.0)


@pytest.mark.parametrize("kind", POLYHEDRAL)
@given(row=rows(), radius=RADII, seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_polyhedra_meet_linear_programs(kind: Any, row: Any, radius: float, seed: int) -> None:
    z, p = relative(row[0]), row[1]
    choices = [NONE, np.random.default_rng(seed).uniform(0.3, 3.0, len(p))] if kind in WEIGHTED else [NONE]
    for w in choices:
        assert solve(kind, z, p, radius, w)[0] == pytest.approx(by_linprog(kind, z, p, radius, w), abs=1e-7)


@pytest.mark.parametrize("kind", [KL, L2, ChiSquare, Burg])
@given(row=rows(), radius=RADII)
@settings(max_examples=15, deadline=None)
def test_the_others_meet_scipys_dual(kind: Any, row: Any, radius: float) -> None:
    """A dual value is never above the worst mean, and the best of them reaches it."""
    z, p = relative(row[0]), row[1]
    if np.ptp(z) == 0.0:
        return
    value, q = solve(kind, z, p, radius)
    dual = by_dual(kind, z, p, radius)
    assert dual <= value + 1e-6
    assert value <= dual + 1e-3
    assert distance(kind, p, q) <= radius * (1.0 + 1e-6) + 1e-9


@pytest.mark.parametrize("kind", KINDS)
@given(row=rows(), radius=st.floats(0.01, 1.5))
@settings(max_examples=12, deadline=None)
def test_all_meet_cvxpy(kind: Any, row: Any, radius: float) -> None:
    z, p = relative(row[0]), np.maximum(row[1], 1e-3)
    p /= p.sum()
    assert solve(kind, z, p, radius)[0] == pytest.approx(by_cvxpy(kind, z, p, min(radius, 1.0), NONE)
        if kind is Contamination else by_cvxpy(kind, z, p, radius, NONE), abs=2e-5)  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("kind", KINDS)
def test_edges_meet_cvxpy(kind: Any, name: str) -> None:
    z, p, radius = (np.array(numbers) for numbers in EDGES[name])
    value, q = solve(kind, z, p, float(radius))
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    assert q.min() >= 0.0
    allowed = min(float(radius), 1.0) if kind is Contamination else float(radius)
    assert value == pytest.approx(by_cvxpy(kind, z, p, allowed, NONE), abs=1e-4 if kind is Burg else 2e-5)

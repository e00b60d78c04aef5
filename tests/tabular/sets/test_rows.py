"""Worst rows: within the set, as bad as a general solver's, and right at every edge."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from ewok.tabular import KL, L1, L2, TV, Burg, ChiSquare, Contamination, LInf
from ewok.tabular.sets import kl
from ewok.tabular.sets.worst_row import worst_row

KINDS = [KL, L1, TV, L2, LInf, ChiSquare, Burg, Contamination]
WEIGHTED = [L1, TV, L2, LInf]
NONE = np.zeros(0)


def solve(kind: Any, z: Any, p: Any, radius: float, w: Any = NONE) -> tuple[float, np.ndarray]:
    z, p, q = np.array(z, dtype=float), np.array(p, dtype=float), np.empty(len(z))
    value = worst_row(kind.kind, z, p, np.asarray(w), radius, np.empty(len(z)), q)
    return float(value), q


def distance(kind: Any, p: np.ndarray, q: np.ndarray, w: np.ndarray = NONE) -> float:
    w = w if len(w) else np.ones(len(p))
    some = q > 0.0
    with np.errstate(divide="ignore"):
        return float(
            {
                KL: lambda: np.sum(q[some] * np.log(q[some] / p[some])),
                L1: lambda: np.sum(w * abs(q - p)),
                TV: lambda: 0.5 * np.sum(w * abs(q - p)),
                L2: lambda: math.sqrt(np.sum(w * (q - p) ** 2)),
                LInf: lambda: np.max(w * abs(q - p)),
                ChiSquare: lambda: np.sum((q - p) ** 2 / p),
                Burg: lambda: np.sum(p * np.log(p / q)),
                Contamination: lambda: np.max(1.0 - q / p),
            }[kind]()
        )


def constraint(kind: Any, q: Any, p: np.ndarray, radius: float, w: np.ndarray) -> Any:
    w = w if len(w) else np.ones(len(p))
    return {
        KL: lambda: cp.sum(cp.kl_div(q, p)) <= radius,
        L1: lambda: cp.sum(cp.multiply(w, cp.abs(q - p))) <= radius,
        TV: lambda: cp.sum(cp.multiply(w, cp.abs(q - p))) <= 2.0 * radius,
        L2: lambda: cp.norm(cp.multiply(np.sqrt(w), q - p)) <= radius,
        LInf: lambda: cp.max(cp.multiply(w, cp.abs(q - p))) <= radius,
        ChiSquare: lambda: cp.sum(cp.multiply(1.0 / p, cp.square(q - p))) <= radius,
        Burg: lambda: cp.sum(cp.kl_div(p, q)) <= radius,
        Contamination: lambda: q >= (1.0 - radius) * p,
    }[kind]()


def by_cvxpy(kind: Any, z: np.ndarray, p: np.ndarray, radius: float, w: np.ndarray) -> float:
    q = cp.Variable(len(p))
    problem = cp.Problem(cp.Minimize(z @ q), [q >= 0, cp.sum(q) == 1, constraint(kind, q, p, radius, w)])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@st.composite
def rows(draw: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray]:
    """Scores at any scale, some of them equal, and probabilities, some of them tiny."""
    size = draw(st.integers(1, 7))
    scale = 10.0 ** draw(st.integers(-3, 6))
    z = scale * np.array(
        draw(st.lists(st.sampled_from([-1.0, -0.3, 0.0, 0.2, 0.21, 1.0]), min_size=size, max_size=size))
    )
    p = np.array(draw(st.lists(st.floats(1e-6, 1.0), min_size=size, max_size=size)))
    return z, p / p.sum()


RADII = st.one_of(st.floats(1e-6, 3.0), st.sampled_from([0.0, 1e-12, 1e-9, 10.0, 1e3]))


@pytest.mark.parametrize("kind", KINDS)
@given(row=rows(), radius=RADII)
@settings(max_examples=150, deadline=None)
def test_the_worst_row_is_a_distribution_within_the_set(kind: Any, row: Any, radius: float) -> None:
    z, p = row
    value, q = solve(kind, z, p, radius)
    assert q.min() >= 0.0
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    assert value == pytest.approx(float(q @ z), abs=1e-12 * (1.0 + abs(z).max()))
    if radius > 0.0 and math.isfinite(distance(kind, p, q)):
        assert distance(kind, p, q) <= radius * (1.0 + 1e-6) + 1e-9
    assert z.min() - 1e-9 * abs(z).max() <= value <= float(p @ z) + 1e-9 * abs(z).max()


@pytest.mark.parametrize("kind", KINDS)
@given(row=rows(), radii=st.tuples(RADII, RADII))
@settings(max_examples=100, deadline=None)
def test_a_larger_set_has_no_better_worst_row(kind: Any, row: Any, radii: tuple[float, float]) -> None:
    z, p = row
    small, large = (solve(kind, z, p, radius)[0] for radius in sorted(radii))
    assert large <= small + 1e-9 * (1.0 + abs(z).max())


@pytest.mark.parametrize("kind", KINDS)
@given(row=rows())
@settings(max_examples=50, deadline=None)
def test_radius_zero_is_nominal_and_a_large_one_leaves_the_worst(kind: Any, row: Any) -> None:
    z, p = row
    _, q = solve(kind, z, p, 0.0)
    np.testing.assert_allclose(q, p, atol=1e-15)
    # No radius of Burg's rules anything out, and how large is large depends on the smallest probability.
    large = 700.0 if kind is Burg else 1e9
    assert solve(kind, z, p, large)[0] == pytest.approx(
        z.min(), abs=2e-3 * (np.ptp(z) if kind is Burg else 1e-6) + 1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_as_bad_as_a_general_solver_finds(kind: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(12):
        size = int(rng.integers(2, 7))
        p, z = rng.dirichlet(np.ones(size)), rng.normal(size=size)
        for w in (NONE, rng.uniform(0.5, 2.0, size)) if kind in WEIGHTED else (NONE,):
            radius = float(rng.choice([0.01, 0.1, 0.3, 0.8]))
            value, q = solve(kind, z, p, radius, w)
            assert distance(kind, p, q, w) <= radius + 1e-9
            assert value == pytest.approx(by_cvxpy(kind, z, p, radius, w), abs=2e-6)


@pytest.mark.parametrize("kind", WEIGHTED)
@given(row=rows(), radius=st.floats(1e-4, 2.0), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_weights_of_one_change_nothing_and_others_stay_within(kind: Any, row: Any, radius: float, seed: int) -> None:
    z, p = row
    plain, _ = solve(kind, z, p, radius)
    ones, _ = solve(kind, z, p, radius, np.ones(len(p)))
    assert ones == pytest.approx(plain, abs=1e-9 * (1.0 + abs(z).max()))
    w = np.random.default_rng(seed).uniform(0.2, 5.0, len(p))
    _, q = solve(kind, z, p, radius, w)
    assert distance(kind, p, q, w) <= radius * (1.0 + 1e-9) + 1e-9


@pytest.mark.parametrize(
    ("beta", "worst"), [(0.01, 0.429407429727), (0.1, 0.280205373839), (0.4, 0.085984308301), (math.log(2.0), 0.0)]
)
def test_kl_of_two_even_outcomes(beta: float, worst: float) -> None:
    """p = (1/2, 1/2), z = (0, 1): the root of log 2 + q log q + (1 - q) log(1 - q) = beta."""
    value, _ = solve(KL, [0.0, 1.0], [0.5, 0.5], beta)
    assert value == pytest.approx(worst, abs=1e-12)
    if worst > 0.0:
        entropy = -sum(x * math.log(x) for x in (worst, 1.0 - worst))
        assert math.log(2.0) - entropy == pytest.approx(beta, abs=1e-11)


def test_two_outcomes_by_hand() -> None:
    """p = (1/2, 1/2), z = (0, 1): every set moves mass d to the first outcome; d follows from its definition."""
    z, p = [0.0, 1.0], [0.5, 0.5]
    assert solve(L1, z, p, 0.2)[0] == pytest.approx(0.4)  # 2 d = 0.2
    assert solve(TV, z, p, 0.2)[0] == pytest.approx(0.3)  # d = 0.2
    assert solve(L2, z, p, 0.2)[0] == pytest.approx(0.5 - 0.2 / math.sqrt(2.0))  # sqrt(2) d = 0.2
    assert solve(LInf, z, p, 0.2)[0] == pytest.approx(0.3)  # d = 0.2
    assert solve(ChiSquare, z, p, 0.16)[0] == pytest.approx(0.3)  # 4 d^2 = 0.16
    assert solve(Contamination, z, p, 0.2)[0] == pytest.approx(0.4)  # (1 - 0.2) / 2
    half_log = -0.5 * math.log(1.0 - 4.0 * 0.2**2)  # KL(p || q) = -log(1 - 4 d^2) / 2
    assert solve(Burg, z, p, half_log)[0] == pytest.approx(0.3)


def test_chi_square_is_mean_minus_root_of_variance_while_nothing_is_ruled_out() -> None:
    z, p = np.array([1.0, 2.0, 4.0]), np.array([0.2, 0.5, 0.3])
    mean = p @ z
    value, _ = solve(ChiSquare, z, p, 0.01)
    assert value == pytest.approx(mean - math.sqrt(0.01 * (p @ (z - mean) ** 2)), abs=1e-12)


@given(row=rows(), beta=st.floats(1e-8, 2.0))
@settings(max_examples=100, deadline=None)
def test_kl_meets_scipys_dual(row: Any, beta: float) -> None:
    """min <q, z> = max over tau of -(log sum p exp(-tau z) + beta) / tau."""
    z, p = row
    if np.ptp(z) == 0.0:
        return
    u = (z - z.min()) / np.ptp(z)

    def loss(log_tau: float) -> float:
        tau = math.exp(log_tau)
        return (math.log(np.sum(p * np.exp(-tau * u))) + beta) / tau

    dual = -minimize_scalar(loss, bounds=(-12.0, 18.0), method="bounded", options={"xatol": 1e-10}).fun
    value = (solve(KL, z, p, beta)[0] - z.min()) / np.ptp(z)
    assert value >= max(dual, 0.0) - 1e-7
    assert value == pytest.approx(max(dual, 0.0), abs=2e-5)


@given(row=rows(), beta=RADII, start=st.sampled_from([0.0, 1e-6, 1.0, 1e6, 1e16, math.inf]), slack=st.floats(0.0, 0.1))
@settings(max_examples=300, deadline=None)
def test_the_quick_bound_is_one_and_close_from_wherever_it_starts(
    row: Any, beta: float, start: float, slack: float
) -> None:
    z, p = row
    exact, _ = solve(KL, z, p, beta)
    bound, tau = kl.bounded_row(z, p, float(p @ z), beta, start, slack, np.empty(len(z)))
    rounding = 1e-12 * (1.0 + abs(z).max())
    assert exact - slack - rounding <= bound <= exact + rounding
    assert 0.0 <= tau < math.inf


def test_kl_keeps_its_precision_at_a_tiny_radius() -> None:
    """To first order the worst mean is the nominal one minus sqrt(2 beta Var)."""
    z, p = np.array([0.0, 1.0, 3.0]), np.array([0.3, 0.5, 0.2])
    mean = float(p @ z)
    slope = math.sqrt(2.0 * float(p @ (z - mean) ** 2))
    for beta in (1e-14, 1e-12, 1e-10):
        value, _ = solve(KL, z, p, beta)
        assert (mean - value) / math.sqrt(beta) == pytest.approx(slope, rel=1e-3)


def test_ties_share_what_is_left_as_nominal_and_duplicates_count_once() -> None:
    value, q = solve(KL, [0.0, 0.0, 1.0], [0.1, 0.3, 0.6], 5.0)
    np.testing.assert_allclose(q, [0.25, 0.75, 0.0])
    split, _ = solve(KL, [0.0, 1.0, 1.0], [0.4, 0.5, 0.1], 0.1)
    whole, _ = solve(KL, [0.0, 1.0], [0.4, 0.6], 0.1)
    assert split == pytest.approx(whole, abs=1e-13)
    assert value == 0.0

"""One KL radius for all actions of a state: the adversary spends it where it hurts most, the agent randomises.

    max over pi  min over q  sum_a pi_a <q_a, z_a>,   sum_a KL(q_a || p_a) <= beta

is the least u for which every action can be brought down to u within the budget. With tau_a the tilt
that brings action a there, pi_a is proportional to tau_a, and any tilts at all prove the lower bound
-(beta + sum_a log Z_a(tau_a)) / sum_a tau_a.
"""

from __future__ import annotations

import math

import numpy as np

from ewok.tabular.compiled import owning
from ewok.tabular.sets.kl import newton, tilt
from ewok.tabular.sets.row import expectation, nominal

_MOST_PASSES = 200


@owning
def best_policy(z, p, starts, beta, shares, q):  # type: ignore[no-untyped-def]
    """Fill shares with the policy, q with rows to which there is no better, and return a proved lower bound.

    z and p hold the outcomes of all actions, those of action a from starts[a] to starts[a + 1].
    """
    num = len(shares)
    floor, ceiling, safest = -math.inf, -math.inf, 0
    for a in range(num):
        rows = slice(starts[a], starts[a + 1])
        lowest = z[rows].min()
        if lowest > floor:
            floor, safest = lowest, a
        ceiling = max(ceiling, expectation(z[rows], p[rows]))
    low, high = floor, ceiling
    bound, u, taus = floor, 0.5 * (low + high), np.zeros(num)
    shares[:] = 0.0
    shares[safest] = 1.0
    for _ in range(_MOST_PASSES):
        if high - low <= 1e-15 * (abs(high) + abs(low)) or beta <= 0.0:
            break
        spent, total, base = 0.0, 0.0, 0.0
        for a in range(num):
            rows = slice(starts[a], starts[a + 1])
            taus[a], kl = _tau_for(z[rows], p[rows], u, q[rows])
            spent, total, base = spent + kl, total + taus[a], base + kl + taus[a] * u  # kl + tau u = -log Z
        low, high = (u, high) if spent > beta else (low, u)
        proved = (base - beta) / total if total > 0.0 else floor
        if proved > bound:
            bound = proved
            shares[:] = taus / total
        step = u + (spent - beta) / total if total > 0.0 else high  # the budget needed is convex in u
        u = step if low < step < high else 0.5 * (low + high)
    for a in range(num):
        rows = slice(starts[a], starts[a + 1])
        nominal(z[rows], p[rows], q[rows])
        if beta > 0.0 and expectation(z[rows], p[rows]) > bound:
            tau, _ = _tau_for(z[rows], p[rows], max(bound, z[rows].min()), q[rows])
            _tilted(z[rows], p[rows], tau, q[rows])
    return _best_nominal(z, p, starts, shares) if beta <= 0.0 else bound


@owning
def worst_rows(z, p, starts, shares, beta, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst rows for a policy and return its value under them: q_a = p_a exp(-tau pi_a z_a) / Z_a."""
    tau, low, high = 0.0, 0.0, math.inf
    for _ in range(_MOST_PASSES):
        kl, slope = 0.0, 0.0
        for a in range(len(shares)):
            rows = slice(starts[a], starts[a + 1])
            nominal(z[rows], p[rows], q[rows])
            if shares[a] * tau > 0.0:
                k, s = _tilted(z[rows], p[rows], shares[a] * tau, q[rows])
                kl, slope = kl + k, slope + s * shares[a]
        if tau > 0.0 and (abs(kl - beta) <= 1e-13 * beta or high - low <= 4e-16 * low or tau > 1e18):
            break
        if beta <= 0.0:
            break
        low, high = (tau, high) if kl < beta else (low, tau)
        step = newton(tau, kl, slope, beta) if tau > 0.0 else 1.0
        if not low < step < high:
            step = 0.5 * (low + high) if high < math.inf else 4.0 * tau
        tau = step
    value = 0.0
    for a in range(len(shares)):
        rows = slice(starts[a], starts[a + 1])
        value += shares[a] * expectation(z[rows], q[rows])
    return value


@owning
def _best_nominal(z, p, starts, shares):  # type: ignore[no-untyped-def]
    best, value = 0, -math.inf
    for a in range(len(shares)):
        mean = expectation(z[starts[a] : starts[a + 1]], p[starts[a] : starts[a + 1]])
        if mean > value:
            best, value = a, mean
    shares[:] = 0.0
    shares[best] = 1.0
    return value


@owning
def _tilted(z, p, tau, q):  # type: ignore[no-untyped-def]
    """Fill q with the normalised tilt; return its KL and the slope of that in tau."""
    low, high = z.min(), z.max()
    if high == low:
        nominal(z, p, q)
        return 0.0, 0.0
    kl, slope, _, total = tilt(z, p, low, expectation(z, p), high - low, tau, q)
    for i in range(len(z)):
        q[i] /= total
    return kl, slope


@owning
def _tau_for(z, p, goal, q):  # type: ignore[no-untyped-def]
    """The tau for which the tilted mean is the goal, and the KL of that: 0 where the nominal mean is no higher."""
    mean, lowest, highest = expectation(z, p), z.min(), z.max()
    if mean <= goal:
        return 0.0, 0.0
    tau, low, high = 1.0 / (highest - lowest), 0.0, math.inf
    kl = 0.0
    for _ in range(_MOST_PASSES):
        kl, slope, score, _ = tilt(z, p, lowest, mean, highest - lowest, tau, q)
        if abs(score - goal) <= 1e-15 * (highest - lowest) or high - low <= 4e-16 * low:
            break
        low, high = (tau, high) if score > goal else (low, tau)
        step = tau + (score - goal) * tau / slope if slope > 0.0 else math.inf  # the mean falls by Var = slope / tau
        if not low < step < high or step > 8.0 * tau:
            step = 0.5 * (low + high) if high < math.inf else 4.0 * tau
        tau = step
    return tau, kl

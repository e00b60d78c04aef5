"""One L1 radius for all actions of a state: the adversary spends it where it hurts most, the agent randomises.

The distance needed to bring an action down to u is convex and piecewise linear in u; the least u for
which the needs of all actions fit the budget is the value, and pi_a is proportional to the slopes there.
"""

from __future__ import annotations

import math

import numpy as np

from ewok.tabular.compiled import owning
from ewok.tabular.sets.row import expectation

_MOST_PASSES = 200


@owning
def best_policy(z, p, starts, radius, shares, q):  # type: ignore[no-untyped-def]
    """Fill shares with the policy, q with rows to which there is no better, and return a proved lower bound.

    z and p hold the outcomes of all actions, those of action a from starts[a] to starts[a + 1].
    """
    num = len(shares)
    floor, ceiling, safest, dearest = -math.inf, -math.inf, 0, 0
    for a in range(num):
        rows = slice(starts[a], starts[a + 1])
        if z[rows].min() > floor:
            floor, safest = z[rows].min(), a
        mean = expectation(z[rows], p[rows])
        if mean > ceiling:
            ceiling, dearest = mean, a
    shares[:] = 0.0
    shares[safest if radius > 0.0 else dearest] = 1.0
    if radius <= 0.0:
        q[:] = p
        return ceiling
    bound, low, high, u = floor, floor, ceiling, floor
    slopes = np.zeros(num)
    for _ in range(_MOST_PASSES):
        spent, total = 0.0, 0.0
        for a in range(num):
            rows = slice(starts[a], starts[a + 1])
            need, slopes[a] = _bring_down(z[rows], p[rows], u, q[rows])
            spent, total = spent + need, total + slopes[a]
        low, high = (u, high) if spent > radius else (low, u)
        if total == 0.0:
            break
        proved = u + (spent - radius) / total  # Newton's step: the needs are convex, so it is no more than the value
        if proved > bound:
            bound = proved
            shares[:] = slopes / total
        if high - low <= 1e-15 * (abs(high) + abs(low)) or abs(proved - u) <= 1e-15 * (abs(u) + ceiling - floor):
            break
        u = proved if low < proved < high else 0.5 * (low + high)
    for a in range(num):
        rows = slice(starts[a], starts[a + 1])
        _bring_down(z[rows], p[rows], bound, q[rows])
    return bound


@owning
def worst_rows(z, p, starts, shares, radius, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst rows for a policy and return its value under them: the best bargains first."""
    num = len(z)
    gains, lowest = np.zeros(num), np.zeros(num, dtype=np.int64)
    value = 0.0
    for a in range(len(shares)):
        worst = starts[a] + np.argmin(z[starts[a] : starts[a + 1]])
        for i in range(starts[a], starts[a + 1]):
            gains[i] = shares[a] * (z[i] - z[worst])
            lowest[i] = worst
            q[i] = p[i]
            value += shares[a] * p[i] * z[i]
    left = 0.5 * radius
    for i in np.argsort(-gains):
        moved = min(left, p[i]) if gains[i] > 0.0 else 0.0
        q[i] -= moved
        q[lowest[i]] += moved
        value -= moved * gains[i]
        left -= moved
    return value


@owning
def _bring_down(z, p, goal, q):  # type: ignore[no-untyped-def]
    """Fill q with the nearest row whose mean is the goal; return its distance, and how fast that grows further down."""
    mean, lowest = expectation(z, p), z.min()
    q[:] = p
    if mean <= goal:
        return 0.0, 0.0
    moved, slope, worst = 0.0, 0.0, np.argmin(z)
    for i in np.argsort(-z):
        if z[i] <= lowest or mean <= goal:
            break
        part = min(p[i], (mean - goal) / (z[i] - lowest))
        slope = 2.0 / (z[i] - lowest)
        q[i] -= part
        moved += part
        mean -= part * (z[i] - lowest)
    q[worst] += moved
    return 2.0 * moved, slope

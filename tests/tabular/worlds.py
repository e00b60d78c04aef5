"""Small MDPs of the literature, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ewok.tabular import TabularMDP


def entries(**changes: Any) -> TabularMDP:
    """Two states, the first with two outcomes; some of its lines changed."""
    given: dict[str, Any] = {
        "states": [0, 0, 1],
        "actions": [0, 0, 0],
        "next_states": [0, 1, 0],
        "probabilities": [0.5, 0.5, 1.0],
        "rewards": [1.0, 2.0, 3.0],
        "discount": 0.9,
    }
    return TabularMDP.from_entries(**(given | changes))


def garnet(
    num_states: int, num_actions: int, num_successors: int, *, seed: int = 0, discount: float = 0.9
) -> TabularMDP:
    """A random MDP (Archibald, McKinnon and Thomas 1995), rewards on the transition."""
    rng = np.random.default_rng(seed)
    pairs = num_states * num_actions
    following = np.concatenate([rng.choice(num_states, num_successors, replace=False) for _ in range(pairs)])
    states = np.repeat(np.arange(num_states), num_actions * num_successors)
    actions = np.tile(np.repeat(np.arange(num_actions), num_successors), num_states)
    probabilities = rng.dirichlet(np.ones(num_successors), pairs).ravel()
    return TabularMDP.from_entries(
        states, actions, following, probabilities, rng.random(len(states)), discount=discount, num_states=num_states
    )


def gambler(chance: float = 0.4, discount: float = 1.0, goal: int = 100) -> TabularMDP:
    """Sutton and Barto, Example 4.3: stake some of the capital on a coin; 1 for reaching the goal."""
    lines = [
        (capital, stake, after, p, float(after == goal))
        for capital in range(1, goal)
        for stake in range(1, min(capital, goal - capital) + 1)
        for p, after in ((chance, capital + stake), (1.0 - chance, capital - stake))
    ]
    return TabularMDP.from_entries(*zip(*lines, strict=True), discount=discount)  # type: ignore[arg-type]


def river_swim(discount: float, length: int = 6) -> TabularMDP:
    """Strehl and Littman 2008: swim up against the current for 10,000, or stay on the bank for 5."""
    lines: list[tuple[int, int, int, float, float]] = []
    for s in range(length):
        lines.append((s, 0, max(s - 1, 0), 1.0, 5.0 if s == 0 else 0.0))
        up = {min(s + 1, length - 1): 0.35, s: 0.6, max(s - 1, 0): 0.05}
        if s == 0:
            up = {0: 0.4, 1: 0.6}
        if s == length - 1:
            up = {s: 0.6, s - 1: 0.4}
        lines += [(s, 1, after, p, 10_000.0 if s == length - 1 else 0.0) for after, p in up.items()]
    return TabularMDP.from_entries(*zip(*lines, strict=True), discount=discount)  # type: ignore[arg-type]


def machine(discount: float, ages: int = 10) -> TabularMDP:
    """Machine replacement (as in Delage and Mannor 2010), costs: let it age, or repair it for 130."""
    lines: list[tuple[int, int, int, float, float]] = []
    for s in range(ages):
        wear = 20.0 if s >= ages - 2 else 0.0
        lines += [(s, 0, min(s + 1, ages - 1), 0.8, wear), (s, 0, s, 0.2, wear)]
        lines += [(s, 1, 0, 0.9, 130.0), (s, 1, s, 0.1, 130.0)]
    return TabularMDP.from_entries(*zip(*lines, strict=True), discount=discount, sense="minimise")  # type: ignore[arg-type]

"""The MDPs that are solved: random ones, and a long river."""

from __future__ import annotations

from typing import Any

import numpy as np

from ewok.tabular import TabularMDP


def garnet(num_states: int, num_actions: int, num_successors: int, discount: float = 0.95, seed: int = 0) -> TabularMDP:
    """Rewards on state and action; next states drawn with replacement, which hardly shows."""
    rng = np.random.default_rng(seed)
    pairs = num_states * num_actions
    return TabularMDP(
        state_ptr=np.arange(0, pairs + 1, num_actions),
        row_ptr=np.arange(0, pairs * num_successors + 1, num_successors),
        next_states=rng.integers(num_states, size=pairs * num_successors, dtype=np.uint32),
        probabilities=simplex(rng, pairs, num_successors),
        rewards=rng.random(pairs),
        discount=discount,
        initial=np.full(num_states, 1.0 / num_states),
        actions=np.tile(np.arange(num_actions), num_states),
    )


def simplex(rng: np.random.Generator, num: int, size: int) -> np.ndarray:
    """Uniform over the simplex, one after the other."""
    drawn = rng.standard_exponential((num, size))
    drawn /= drawn.sum(axis=1, keepdims=True)
    return drawn.ravel()


def chain(length: int = 1_000, discount: float = 0.99) -> TabularMDP:
    """River swim (Strehl and Littman 2008), long: swim up against the current, or stay on the bank for little."""
    lines: list[tuple[int, int, int, float, float]] = []
    for s in range(length):
        up, down = min(s + 1, length - 1), max(s - 1, 0)
        lines.append((s, 0, down, 1.0, 0.005 if s == 0 else 0.0))
        lines += [(s, 1, after, p, float(s == length - 1)) for after, p in ((up, 0.35), (s, 0.6), (down, 0.05))]
    columns: Any = zip(*lines, strict=True)
    return TabularMDP.from_entries(*columns, discount=discount)


def named(size: tuple[int, int, int]) -> str:
    return "Garnet " + " x ".join(f"{n:,}" for n in size)


def machines(ages: int = 1_000, discount: float = 0.99) -> TabularMDP:
    """Machine replacement (as in Delage and Mannor 2010), costs: age on, dearer and dearer, or be repaired for 130."""
    lines: list[tuple[int, int, int, float, float]] = []
    for s in range(ages):
        wear = 40.0 * s / ages
        lines += [(s, 0, min(s + 1, ages - 1), 0.8, wear), (s, 0, s, 0.2, wear)]
        lines += [(s, 1, 0, 0.9, 130.0), (s, 1, s, 0.1, 130.0)]
    columns: Any = zip(*lines, strict=True)
    return TabularMDP.from_entries(*columns, discount=discount, sense="minimise")

"""From counts to sets: radii as the literature has them, and the true kernel inside as often as promised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from ewok.errors import ArgumentError
from ewok.tabular import KL, L1, L2, TV, Burg, ChiSquare, TabularMDP, confidence_set, robust_value_iteration

from .worlds import garnet

TRUTH = np.array([0.5, 0.3, 0.2])


def sampled(num: int, rng: np.random.Generator) -> TabularMDP:
    """One pair, seen so many times."""
    after = rng.choice(3, size=num, p=TRUTH)
    zeros = np.zeros(num, dtype=int)
    return TabularMDP.from_samples(zeros, zeros, after, after == 1, discount=0.9)


def distance(kind: Any, p: np.ndarray, q: np.ndarray) -> float:
    """Of the truth q from the estimate p."""
    return float(
        {
            L1: lambda: np.sum(abs(q - p)),
            TV: lambda: 0.5 * np.sum(abs(q - p)),
            KL: lambda: np.sum(q * np.log(q / p)),
            Burg: lambda: np.sum(p * np.log(p / q)),
            ChiSquare: lambda: np.sum((q - p) ** 2 / p),
        }[kind]()
    )


def test_probabilities_are_shares_and_different_rewards_stay_apart() -> None:
    mdp = TabularMDP.from_samples([0, 0, 0, 0, 1], [0, 0, 0, 2, 0], [1, 1, 0, 1, 1], [1, 2, 1, 0, 5], discount=0.9)
    assert mdp.counts is not None
    assert mdp.counts.tolist() == [3, 1, 1]
    assert mdp.actions.tolist() == [0, 2, 0]
    np.testing.assert_allclose(mdp.probabilities, [1 / 3, 1 / 3, 1 / 3, 1.0, 1.0])
    assert sorted(mdp.entry_rewards[:3].tolist()) == [1.0, 1.0, 2.0]


def test_radii_are_the_literatures() -> None:
    """For 3 outcomes, n = 100, and 0.05 for one pair."""
    mdp = TabularMDP.from_samples([0] * 100, [0] * 100, [0] * 50 + [1] * 30 + [2] * 20, [0] * 100, discount=0.9)
    weissman = math.sqrt(2.0 / 100 * math.log((2**3 - 2) / 0.05))
    assert np.asarray(confidence_set(L1, mdp).radius) == pytest.approx([weissman])
    assert np.asarray(confidence_set(TV, mdp).radius) == pytest.approx([weissman / 2])
    assert np.asarray(confidence_set(Burg, mdp).radius) == pytest.approx([math.log(math.comb(102, 2) / 0.05) / 100])
    assert np.asarray(confidence_set(KL, mdp).radius) == pytest.approx([chi2.ppf(0.95, 2) / 200])
    assert np.asarray(confidence_set(ChiSquare, mdp).radius) == pytest.approx([chi2.ppf(0.95, 2) / 100])


@pytest.mark.parametrize("kind", [L1, TV, Burg, KL, ChiSquare])
def test_the_true_kernel_is_inside_as_often_as_promised(kind: Any) -> None:
    """400 draws of 200 samples at 0.8; three standard deviations are 0.06. Some are known to be wide."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        mdp = sampled(200, rng)
        entries = np.zeros(3)
        np.add.at(entries, mdp.next_states, mdp.probabilities)
        inside += distance(kind, entries, TRUTH) <= np.asarray(confidence_set(kind, mdp, 0.8).radius)[0]
    assert inside / 400 > 0.8 - 0.06
    if kind in (KL, ChiSquare):
        assert inside / 400 < 0.8 + 0.06, "these are meant to be exact for many samples"


def test_radii_shrink_with_samples_and_grow_with_confidence_and_pairs() -> None:
    rng = np.random.default_rng(0)
    few, many = sampled(50, rng), sampled(5_000, rng)
    for kind in (L1, TV, Burg, KL, ChiSquare):
        radius = float(np.asarray(confidence_set(kind, few).radius)[0])
        assert float(np.asarray(confidence_set(kind, many).radius)[0]) < radius
        assert float(np.asarray(confidence_set(kind, few, 0.99).radius)[0]) > radius


def test_a_solution_holds_for_the_true_kernel() -> None:
    """The robust value from samples is below the true optimum, which it comes to with more of them."""
    truth = garnet(5, 2, 3, seed=3)
    best = robust_value_iteration(truth, KL(0.0)).robust_return
    gaps = []
    for num in (200, 20_000):
        rng = np.random.default_rng(1)
        lines = []
        for k in range(truth.num_pairs):
            e = truth.entries(k)
            drawn = rng.choice(np.arange(e.start, e.stop), size=num, p=truth.probabilities[e])
            lines += [(truth.states[k], truth.actions[k], truth.next_states[i], truth.rewards[i]) for i in drawn]
        mdp = TabularMDP.from_samples(*zip(*lines, strict=True), discount=0.9)  # type: ignore[arg-type]
        gaps.append(best - robust_value_iteration(mdp, confidence_set(L1, mdp)).robust_return)
    assert gaps[0] > gaps[1] > 0.0
    assert gaps[1] < 0.2 * gaps[0]


def test_a_pair_with_one_outcome_seen_is_taken_to_be_sure_of_it() -> None:
    mdp = TabularMDP.from_samples([0, 0], [0, 0], [1, 1], [0, 0], discount=0.9)
    for kind in (L1, TV, Burg, KL, ChiSquare):
        assert np.asarray(confidence_set(kind, mdp).radius).tolist() == [0.0]


def test_what_is_wrong_is_named() -> None:
    mdp = TabularMDP.from_samples([0, 0], [0, 0], [1, 0], [0, 0], discount=0.9)
    with pytest.raises(ArgumentError, match="`confidence` must be between 0 and 1, but it is 1.0"):
        confidence_set(L1, mdp, 1.0)
    with pytest.raises(ArgumentError, match="`mdp` must have counts"):
        confidence_set(L1, garnet(4, 2, 2))
    unknown: Any = L2
    with pytest.raises(ArgumentError, match="`kind` must be one of L1, TV, Burg, KL, ChiSquare"):
        confidence_set(unknown, mdp)
    with pytest.raises(ArgumentError, match="columns of one length"):
        TabularMDP.from_samples([0, 0], [0, 0], [1], [0, 0], discount=0.9)
    with pytest.raises(ArgumentError, match="`rewards` must be finite"):
        TabularMDP.from_samples([0], [0], [1], [np.nan], discount=0.9)

"""What the paper proves of the worst kernel, number by number; and that EWoK's samples come to it."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ewok
from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    L1,
    TabularMDP,
    estimated_kernel,
    kernel_iterates,
    policy_value,
    robust_policy_evaluation,
    robust_value_iteration,
    worst_kernel,
)

from .worlds import garnet, machine, river_swim

WORLDS = {"garnet": garnet(12, 3, 5, seed=4), "costs": machine(0.9), "river": river_swim(0.9)}


def by_pair(mdp: TabularMDP, numbers: np.ndarray) -> np.ndarray:
    """(K,) sums over each pair's entries."""
    return np.array([numbers[mdp.entries(k)].sum() for k in range(mdp.num_pairs)])


def each(mdp: TabularMDP, numbers: np.ndarray) -> np.ndarray:
    """(E,) the number of each entry's pair."""
    return np.repeat(numbers, np.diff(mdp.row_ptr))


def at_random(mdp: TabularMDP) -> np.ndarray:
    """(K,) every action of a state as often."""
    return 1.0 / np.diff(mdp.state_ptr)[mdp.states]


# --- Theorem 3.2: its form, and the two propositions -----------------------------------------------------


@pytest.mark.parametrize("beta", [1e-6, 0.01, 0.1])
@pytest.mark.parametrize("name", WORLDS)
def test_the_worst_kernel_is_the_nominal_one_tilted(name: str, beta: float) -> None:
    """P = P-bar exp(-delta), delta = (z - omega) / kappa, with sum P = 1 and sum P (-delta) = beta."""
    mdp = WORLDS[name]
    worst = worst_kernel(mdp, robust_value_iteration(mdp, KL(beta)).value, KL(beta))
    tilted = np.isfinite(worst.kappa) & (worst.kappa > 0.0)
    assert tilted.any()
    inside = each(mdp, tilted)
    delta = (worst.scores - each(mdp, worst.omega))[inside] / each(mdp, worst.kappa)[inside]
    np.testing.assert_allclose(worst.delta[inside], delta, atol=1e-6)
    np.testing.assert_allclose(worst.rows, mdp.probabilities * np.exp(-worst.delta), rtol=1e-12)
    np.testing.assert_allclose(by_pair(mdp, worst.rows), 1.0, atol=1e-12)
    np.testing.assert_allclose(by_pair(mdp, -worst.rows * worst.delta)[tilted], beta, rtol=1e-6)


@given(seed=st.integers(0, 10_000), beta=st.floats(1e-6, 5.0), optimistic=st.booleans())
@settings(max_examples=100, deadline=None)
def test_omega_is_the_worst_mean_plus_beta_kappa_and_below_the_nominal_one(
    seed: int, beta: float, optimistic: bool
) -> None:
    """Propositions 3.3 and 3.4; for the best kernel in the set with all signs turned."""
    mdp = garnet(4, 2, 4, seed=seed)
    value = np.random.default_rng(seed).normal(size=4)
    worst = worst_kernel(mdp, value, KL(beta, optimistic=optimistic))
    sign = -1.0 if optimistic else 1.0
    mean, nominal = by_pair(mdp, worst.rows * worst.scores), by_pair(mdp, mdp.probabilities * worst.scores)
    np.testing.assert_allclose(worst.omega, mean + sign * beta * worst.kappa, atol=1e-9)
    assert np.all(sign * mean <= sign * worst.omega + 1e-9)
    assert np.all(sign * worst.omega <= sign * nominal + 1e-9)
    more, less = worst.rows > mdp.probabilities * (1 + 1e-9), worst.rows < mdp.probabilities * (1 - 1e-9)
    gap = sign * (worst.scores - each(mdp, worst.omega))
    saturated = each(mdp, worst.kappa == 0.0)
    assert np.all(gap[more & ~saturated] < 1e-9), "a threshold: worse outcomes become more likely"
    assert np.all(gap[less & ~saturated] > -1e-9), "and better ones less"


@given(seed=st.integers(0, 10_000), beta=st.floats(1e-6, 2.0))
@settings(max_examples=50, deadline=None)
def test_no_kernel_of_the_set_is_worse(seed: int, beta: float) -> None:
    mdp = garnet(4, 2, 4, seed=seed)
    rng = np.random.default_rng(seed)
    worst = worst_kernel(mdp, rng.normal(size=4), KL(beta))
    least = by_pair(mdp, worst.rows * worst.scores)
    for _ in range(20):
        other = mdp.probabilities * np.exp(rng.normal(size=mdp.num_entries) * 10.0 ** rng.uniform(-2, 1))
        other /= each(mdp, by_pair(mdp, other))
        kl = by_pair(mdp, other * np.log(other / mdp.probabilities))
        allowed = kl <= beta
        assert np.all(least[allowed] <= by_pair(mdp, other * worst.scores)[allowed] + 1e-9)


# --- edges ------------------------------------------------------------------------------------------------


def lottery(rewards: Any, probabilities: Any) -> TabularMDP:
    """From state 0 to the end, by outcomes that pay differently."""
    zeros = [0] * len(rewards)
    return TabularMDP.from_entries(zeros, zeros, [1] * len(rewards), probabilities, rewards, discount=0.9)


def test_without_a_radius_kappa_is_infinite_and_omega_the_nominal_mean() -> None:
    mdp = lottery([0.0, 1.0, 4.0], [0.2, 0.3, 0.5])
    worst = worst_kernel(mdp, [0.0, 0.0], KL(0.0))
    assert worst.kappa.tolist() == [math.inf]
    assert worst.omega == pytest.approx([2.3])
    np.testing.assert_array_equal(worst.rows, mdp.probabilities)
    np.testing.assert_array_equal(worst.delta, 0.0)


def test_where_all_outcomes_are_alike_there_is_nothing_to_tilt() -> None:
    worst = worst_kernel(lottery([2.0, 2.0], [0.2, 0.8]), [0.0, 0.0], KL(1.0))
    assert worst.kappa.tolist() == [math.inf]
    assert worst.omega == pytest.approx([2.0])
    assert worst.rows.tolist() == pytest.approx([0.2, 0.8])


@pytest.mark.parametrize("beta", [-math.log(0.3), 1.5, 100.0])
def test_a_radius_that_leaves_only_the_worst_outcomes_has_kappa_0(beta: float) -> None:
    """From -log of their probability on; they keep their shares among themselves."""
    mdp = lottery([1.0, 1.0, 4.0], [0.1, 0.2, 0.7])
    worst = worst_kernel(mdp, [0.0, 0.0], KL(beta))
    assert worst.kappa.tolist() == [0.0]
    assert worst.omega == pytest.approx([1.0])
    assert worst.rows.tolist() == pytest.approx([1 / 3, 2 / 3, 0.0])
    assert worst.delta.tolist() == pytest.approx([math.log(0.3), math.log(0.3), math.inf])
    assert worst.kernel.num_entries == 2
    below = worst_kernel(mdp, [0.0, 0.0], KL(-math.log(0.3) - 1e-6))
    assert 0.0 < below.kappa[0] < 1.0


def test_two_even_outcomes_by_hand() -> None:
    """q = e^-tau / (1 + e^-tau) of the better one, so kappa = 1 / log((1 - q) / q)."""
    q = 0.280205373839
    worst = worst_kernel(lottery([0.0, 1.0], [0.5, 0.5]), [0.0, 0.0], KL(0.1))
    assert worst.rows == pytest.approx([1.0 - q, q], abs=1e-10)
    assert worst.kappa[0] == pytest.approx(1.0 / math.log((1.0 - q) / q), abs=1e-9)
    assert worst.omega[0] == pytest.approx(-worst.kappa[0] * math.log(0.5 + 0.5 * math.exp(-1.0 / worst.kappa[0])))


def test_only_kl_sets_per_state_and_action_have_this_form() -> None:
    mdp = garnet(4, 2, 3)
    sets: list[Any] = [L1(0.1), KL(0.1, per_state=True)]
    for uncertainty in sets:
        with pytest.raises(ArgumentError, match="`uncertainty` must be a KL set per state and action"):
            worst_kernel(mdp, np.zeros(4), uncertainty)
    with pytest.raises(ArgumentError, match=r"`value` must be of shape \(4,\)"):
        worst_kernel(mdp, np.zeros(5), KL(0.1))


# --- the value of a policy, and Theorem 3.5 ---------------------------------------------------------------


def test_what_cannot_be_is_refused() -> None:
    mdp = garnet(4, 2, 2)
    with pytest.raises(ArgumentError, match=r"`value` must be finite, but it is \[nan\]"):
        worst_kernel(mdp, [0.0, 1.0, np.nan, 2.0], KL(0.1))
    with pytest.raises(ArgumentError, match="`num` must be at least 0, but it is -1"):
        kernel_iterates(mdp, np.zeros(4, dtype=int), KL(0.1), -1)


def test_policy_value_solves_bellmans_equation() -> None:
    for mdp in WORLDS.values():
        policy = at_random(mdp)
        value = policy_value(mdp, policy)
        evaluated = robust_policy_evaluation(mdp, policy, tolerance=1e-8)
        assert np.all(evaluated.lower <= value + 1e-8)
        assert np.all(value <= evaluated.upper + 1e-8)


def test_policy_value_without_discount_needs_an_end() -> None:
    walk = TabularMDP.from_entries([0, 0], [0, 1], [0, 1], [1.0, 1.0], [-1.0, -1.0], discount=1.0)
    assert policy_value(walk, [1, -1]).tolist() == [-1.0, 0.0]
    with pytest.raises(ArgumentError, match="`discount` must be below 1 where a policy need not reach"):
        policy_value(walk, [0, -1])


@pytest.mark.parametrize("uncertainty", [KL(0.05), KL(0.5), L1(0.3), KL(0.1, per_state=True)], ids=str)
@pytest.mark.parametrize("name", WORLDS)
def test_kernel_iterates_close_in_by_gamma_at_each_step(name: str, uncertainty: Any) -> None:
    """||v_n - v|| <= gamma^n ||v_0 - v||, falling all the way; costs rise."""
    mdp = WORLDS[name]
    policy = at_random(mdp)
    scale = float(abs(mdp.rewards).max())
    robust = robust_policy_evaluation(mdp, policy, uncertainty, tolerance=1e-10 * scale)
    values = kernel_iterates(mdp, policy, uncertainty, 12)
    np.testing.assert_allclose(values[0], policy_value(mdp, policy))
    sign = 1.0 if mdp.sense == "maximise" else -1.0
    first = abs(values[0] - robust.value).max()
    assert first > 1e-3 * scale, "there is something to converge to"
    for n in range(1, 13):
        assert np.all(sign * values[n] <= sign * values[n - 1] + 1e-9 * scale)
        assert np.all(sign * values[n] >= sign * robust.value - 1e-9 * scale)
        assert abs(values[n] - robust.value).max() <= mdp.discount**n * first + 1e-9 * scale
    np.testing.assert_allclose(values[-1], robust.value, atol=1e-8 * scale)


# --- sampled and exact meet -------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [6, 14])
def test_the_sampled_worst_kernel_is_the_exact_one_at_many_samples(state: int) -> None:
    """FrozenLake, whose reward depends on the next state: next to a hole, and next to the goal."""
    radius, num_samples, num_steps = 0.2, 150, 2_500
    lake = TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.95)
    solution = robust_value_iteration(lake, KL(radius))
    env = ewok.WorstKernel(
        gym.make("FrozenLake-v1", max_episode_steps=None),
        num_samples=num_samples,
        radius=radius,
        discount=0.95,
        value=lambda states: solution.value[states],
    )
    action = 2
    pair = int(lake.state_ptr[state]) + action
    following: Any = env.unwrapped
    counts: dict[tuple[int, float], int] = {}
    for step in range(num_steps):
        env.reset(seed=0 if step == 0 else None)
        following.s = state
        after, reward, terminated, *_ = env.step(action)
        outcome = (16 if terminated else int(after), float(reward))
        counts[outcome] = counts.get(outcome, 0) + 1
    entries = lake.entries(pair)
    outcomes = list(zip(lake.next_states[entries].tolist(), lake.rewards[entries].tolist(), strict=True))
    observed = np.array([counts[outcome] for outcome in outcomes])
    assert observed.sum() == num_steps
    exact = worst_kernel(lake, solution.value, KL(radius)).rows[entries]
    assert stats.chisquare(observed, exact * num_steps).pvalue > 0.001
    assert stats.chisquare(observed, lake.probabilities[entries] * num_steps).pvalue < 1e-6, "not the nominal one"
    estimate = estimated_kernel(lake, solution.value, num_samples, radius=radius).rows[entries]
    assert stats.chisquare(observed, estimate * num_steps).pvalue > 0.001

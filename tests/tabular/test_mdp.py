"""Tables: every way in gives the same MDP, and what is wrong is named."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy import sparse

from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    L1,
    L2,
    Burg,
    ChiSquare,
    Contamination,
    LInf,
    TabularMDP,
    robust_value_iteration,
    value_iteration,
)

from .worlds import entries, garnet

KERNEL = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.2, 0.8]]])  # (S, A, S)
REWARDS = np.array([[1.0, 2.0], [3.0, 4.0]])


def test_dense_sparse_and_lines_are_the_same_mdp() -> None:
    dense = TabularMDP.from_arrays(KERNEL, REWARDS, discount=0.9)
    blocks = [sparse.csr_array(KERNEL[:, a]) for a in range(2)]
    thin = TabularMDP.from_arrays(blocks, REWARDS, discount=0.9)
    s, a, n = np.nonzero(KERNEL)
    lines = TabularMDP.from_entries(s[::-1], a[::-1], n[::-1], KERNEL[s, a, n][::-1], REWARDS[s, a][::-1], discount=0.9)
    by_action = TabularMDP.from_arrays([KERNEL[:, a] for a in range(2)], REWARDS, discount=0.9)
    for other in (thin, lines, by_action):
        for name in ("state_ptr", "row_ptr", "next_states", "probabilities", "actions"):
            np.testing.assert_array_equal(getattr(other, name), getattr(dense, name))
        np.testing.assert_array_equal(other.entry_rewards, dense.entry_rewards)


def test_rewards_on_states_pairs_and_transitions() -> None:
    expected = np.array([[1.0, 1.0], [2.0, 2.0]])
    one = TabularMDP.from_arrays(KERNEL, [1.0, 2.0], discount=0.9)
    two = TabularMDP.from_arrays(KERNEL, expected, discount=0.9)
    three = TabularMDP.from_arrays(KERNEL, np.repeat(expected[:, :, None], 2, axis=2), discount=0.9)
    values = [value_iteration(mdp).value for mdp in (one, two, three)]
    np.testing.assert_allclose(values[1], values[0])
    np.testing.assert_allclose(values[2], values[0])


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"])
def test_gymnasiums_tables(name: str) -> None:
    env: Any = gym.make(name).unwrapped
    mdp = TabularMDP.from_gymnasium(env, discount=0.9)
    assert mdp.num_states == env.observation_space.n + 1
    assert mdp.terminal.sum() == 1
    np.testing.assert_allclose(np.add.reduceat(mdp.probabilities, mdp.row_ptr[:-1]), 1.0)
    pair = mdp.state_ptr[3] + 1
    reward = sum(p * r for p, _, r, _ in env.P[3][1])
    assert mdp.pair_rewards[pair] == pytest.approx(reward)


def test_states_may_have_different_numbers_of_actions_and_names() -> None:
    mdp = TabularMDP.from_entries(
        [0, 0, 1], [0, 4, 2], [1, 2, 2], [1, 1, 1], [0, 5, 1], discount=0.5, state_names=("a", "b", "end")
    )
    assert mdp.actions.tolist() == [0, 4, 2]
    assert mdp.terminal.tolist() == [False, False, True]
    assert value_iteration(mdp).policy.tolist() == [4, 2, -1]
    assert mdp.pair_name(1) == "state a, action 4"


def test_one_next_state_with_different_rewards_stays_two_outcomes() -> None:
    mdp = TabularMDP.from_entries([0, 0], [0, 0], [1, 1], [0.5, 0.5], [0.0, 10.0], discount=0.9)
    assert mdp.num_entries == 2
    assert sorted(mdp.rewards.tolist()) == [0.0, 10.0]


def test_next_states_of_probability_zero_are_left_out() -> None:
    assert entries(states=[0, 0, 0, 1], actions=[0] * 4, next_states=[0, 1, 1, 0], probabilities=[0.5, 0.5, 0.0, 1.0],
                   rewards=[1, 2, 9, 3]).num_entries == 3  # fmt: skip


def test_memory_is_stated_beforehand() -> None:
    """A reward that is the same whatever the next state is kept once."""
    rng = np.random.default_rng(0)
    kernel = rng.dirichlet(np.ones(30), (30, 4))
    mdp = TabularMDP.from_arrays(kernel, rng.random((30, 4)), discount=0.9)
    assert mdp.num_bytes == TabularMDP.bytes_needed(30, 4, 30)
    mdp = TabularMDP.from_arrays(kernel, rng.random((30, 4, 30)), discount=0.9)
    assert mdp.num_bytes == TabularMDP.bytes_needed(30, 4, 30, per_entry_rewards=True)


def test_another_kernel_leaves_out_what_it_rules_out() -> None:
    mdp = entries()
    certain = mdp.with_kernel([0.0, 1.0, 1.0])
    assert certain.next_states.tolist() == [1, 0]
    assert certain.entry_rewards.tolist() == [2.0, 3.0]
    assert certain.row_ptr.tolist() == [0, 1, 2]
    by_pair = TabularMDP.from_arrays(KERNEL, REWARDS, discount=0.9).with_kernel([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    assert by_pair.entry_rewards.tolist() == [1.0, 2.0, 3.0, 4.0]
    for wrong, message in (([0.5, 0.5], "one number per entry"), ([0.5, -0.5, 1.0], "greater than 0, but it is -0.5")):
        with pytest.raises(ArgumentError, match=message):
            mdp.with_kernel(wrong)


def test_a_worst_kernel_that_rules_outcomes_out_can_be_solved_again() -> None:
    """Nothing that has no probability left comes back, in whichever set."""
    mdp = garnet(6, 2, 3)
    for uncertainty in (KL(50.0), L1(2.0), Contamination(1.0)):
        worst = robust_value_iteration(mdp, uncertainty).kernel()
        assert worst.num_entries == mdp.num_pairs, "only the worst outcome of each row is left"
        nominal = value_iteration(worst).value
        for again in (KL(1.0), L1(1.0), Contamination(0.5), Burg(1.0), LInf(0.5), ChiSquare(1.0), L2(0.5)):
            np.testing.assert_allclose(robust_value_iteration(worst, again).value, nominal, atol=2e-6)

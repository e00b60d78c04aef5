"""Tables: every way in gives the same MDP, and what is wrong is named."""

from __future__ import annotations

from pathlib import Path
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

from .worlds import garnet

KERNEL = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.2, 0.8]]])  # (S, A, S)
REWARDS = np.array([[1.0, 2.0], [3.0, 4.0]])


def entries(**changes: Any) -> TabularMDP:
    given: dict[str, Any] = {
        "states": [0, 0, 1],
        "actions": [0, 0, 0],
        "next_states": [0, 1, 0],
        "probabilities": [0.5, 0.5, 1.0],
        "rewards": [1.0, 2.0, 3.0],
        "discount": 0.9,
    }
    return TabularMDP.from_entries(**(given | changes))


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probabilities": [0.5, 0.4, 1.0]}, "must sum to one .* state 0, action 0 they sum to 0.9"),
        ({"probabilities": [1.5, -0.5, 1.0]}, "`probabilities` must be finite and at least 0, but it is -0.5"),
        ({"probabilities": [np.nan, 0.5, 1.0]}, "`probabilities` must be finite"),
        ({"rewards": [np.inf, 0, 0]}, "`rewards` must be finite"),
        ({"next_states": [0, -1, 0]}, "`next_states` must be whole numbers, at least 0, but it is -1"),
        ({"next_states": [0, 1.5, 0]}, "`next_states` must be whole numbers"),
        ({"next_states": [0, 5, 0], "num_states": 2}, "`next_states` must be from 0 to 1, but it is 5"),
        ({"next_states": [0, 2**40, 0]}, "Number them without gaps"),
        ({"actions": [0, 0]}, "columns of one length"),
        ({"actions": ["up", "up", "up"]}, "`actions` must be numbers, but could not convert string to float: 'up'"),
        ({"rewards": [[1.0, 2.0, 3.0]]}, "`rewards` must be one number per transition"),
        ({"actions": [0, 0, 2], "action_names": ("a", "b")}, "`action_names` must have one name per action, 3, but"),
        ({"discount": 1.2}, "`discount` must be between 0 and 1"),
        ({"discount": float("nan")}, "`discount` must be between 0 and 1"),
        ({"sense": "minimize"}, "`sense` must be"),
        ({"initial": [0.5, 0.6]}, "`initial` must be a distribution"),
        ({"initial": [1.0]}, "`initial` must have one number per state"),
        ({"num_states": 4}, "state 2 has no actions and nothing leads to it"),
        ({"terminal": [7]}, "`terminal` must be states from 0 to 1, but it is 7"),
        ({"terminal": [-1]}, "`terminal` must be states from 0 to 1, but it is -1"),
        ({"next_states": [0, 4_000_000_000, 0]}, "below 6 with 3 transitions, but it is 4000000000"),
        ({"state_names": ("a",)}, "`state_names` must have one name per state, 2, but it has 1"),
        ({"terminal": [1]}, "state 1 must have actions or be in `terminal`, not both"),
        ({"states": [], "actions": [], "next_states": [], "probabilities": [], "rewards": []}, "needs transitions"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        entries(**changes)


@pytest.mark.parametrize(
    ("kernel", "rewards", "message"),
    [
        (np.ones((2, 3)), [1.0], "`kernel` must be of shape"),
        (KERNEL, np.ones(3), "`rewards` must be of shape"),
        (KERNEL * 0.9, REWARDS, "must sum to one"),
        (sparse.csr_array(KERNEL[:, 0]), REWARDS, "a list of one sparse matrix per action"),
        ([np.eye(2), np.eye(3)], REWARDS, "`kernel` must be of matrices of one shape"),
        ([sparse.eye_array(2, 3)], REWARDS, "`kernel` must be of matrices of one shape"),
    ],
)
def test_arrays_of_the_wrong_shape(kernel: Any, rewards: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        TabularMDP.from_arrays(kernel, rewards, discount=0.9)


def test_arrays_that_do_not_fit_each_other() -> None:
    good = entries()
    parts = {name: getattr(good, name) for name in TabularMDP.__dataclass_fields__}
    with pytest.raises(ArgumentError, match="`rewards` must have one number per entry, or per pair, 3, but it has 1"):
        TabularMDP(**(parts | {"rewards": np.ones(1)}))
    with pytest.raises(ArgumentError, match="`row_ptr` must end with"):
        TabularMDP(**(parts | {"row_ptr": np.array([0, 2, 4])}))
    with pytest.raises(ArgumentError, match="has none"):
        TabularMDP(**(parts | {"row_ptr": np.array([0, 3, 3])}))
    with pytest.raises(ArgumentError, match="leave out next states of probability 0"):
        TabularMDP(**(parts | {"probabilities": np.array([1.0, 0.0, 1.0])}))
    with pytest.raises(ArgumentError, match="`next_states` must be from 0 to 1"):
        TabularMDP(**(parts | {"next_states": np.array([0, 2, 0], dtype=np.uint32)}))


def test_a_digit_short_of_one_is_made_good() -> None:
    """A table printed with nine digits: bounds are of distributions."""
    mdp = entries(states=[0, 0, 0], next_states=[0, 1, 2], probabilities=[0.333333333] * 3, terminal=[1, 2])
    assert abs(mdp.probabilities.sum() - 1.0) < 1e-15


def test_environments_without_a_table_are_refused() -> None:
    with pytest.raises(ArgumentError, match="Blackjack"):
        TabularMDP.from_gymnasium("Blackjack-v1", discount=0.9)
    with pytest.raises(ArgumentError, match="fickle"):
        TabularMDP.from_gymnasium(gym.make("Taxi-v4", fickle_passenger=True), discount=0.9)


GOOD = "idstatefrom,idaction,idstateto,probability,reward\n0,0,1,1,2\n1,0,0,0.5,0\n1,0,1,0.5,1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("idstatefrom,idaction,idstateto,probability\n0,0,0,1\n", "lacks reward"),
        (GOOD + "\n", "line 5 of .* must have 5 numbers"),
        (GOOD + "0,1,x,1,1\n", "line 5 .* '0,1,x,1,1'"),
        (GOOD + "0,1,1\n", "line 5"),
        (GOOD + "0,1,1,0,5,2\n", "line 5 of .* must have 5 numbers, but it is '0,1,1,0,5,2'"),
        ("reward," + GOOD, "each column once"),
        (GOOD + '"0,1,1,1,2\n', "line 5"),
        (GOOD + '"0,1,1,1,2\n' + 100 * "1,1,0,1,0\n", "line 5 of .* but it is .{1,100} Take out"),
        (GOOD + "0,1,1,1,nan\n", "`rewards` must be finite, but it is nan. Look at line 5 of"),
        (GOOD + "0,1,1,-1,2\n", "`probabilities` must be finite and at least 0, but it is -1.0. Look at line 5 of"),
        (GOOD + "0,1,1.5,1,2\n", "`next_states` must be whole numbers, .* look at line 5 of"),
        (GOOD + "0,1,4000000000,1,2\n", "Number them without gaps"),
        ("idstatefrom,idaction,idstateto,probability,reward\n", "needs transitions"),
    ],
)
def test_a_file_with_a_mistake_names_the_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mdp.csv"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=message):
        TabularMDP.from_csv(path, discount=0.9)


def test_a_file_with_quotes_another_order_and_more_columns(tmp_path: Path) -> None:
    path = tmp_path / "mdp.csv"
    path.write_text(
        '\ufeff"idstateto","probability","reward","idstatefrom","idaction","note"\n1,1,2,0,0,"a, b"\n0,1,0,1,0,c\n'
    )  # as spreadsheets write it
    mdp = TabularMDP.from_csv(path, discount=0.9)
    assert mdp.next_states.tolist() == [1, 0]
    assert mdp.rewards.tolist() == [2.0, 0.0]
    path.write_text('idstatefrom,idaction,idstateto,probability,reward,note\n0,0,0,1,2,"two\nlines"\n0,1,0,x,2,\n')
    with pytest.raises(ArgumentError, match="line 4 of"):
        TabularMDP.from_csv(path, discount=0.9)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mdp.csv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ArgumentError, match="cannot be read"):
        TabularMDP.from_csv(path, discount=0.9)


def test_memory_is_stated_beforehand() -> None:
    rng = np.random.default_rng(0)
    kernel = rng.dirichlet(np.ones(30), (30, 4))
    mdp = TabularMDP.from_arrays(kernel, rng.random((30, 4)), discount=0.9)
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

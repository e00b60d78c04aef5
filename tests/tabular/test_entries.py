"""Where tables come from: arrays, environments, files; and what is wrong with one is named where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy import sparse

from ewok.errors import ArgumentError
from ewok.tabular import (
    TabularMDP,
)

KERNEL = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.2, 0.8]]])  # (S, A, S)
REWARDS = np.array([[1.0, 2.0], [3.0, 4.0]])


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

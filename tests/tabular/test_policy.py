"""Policies as people give them: an action per state, or a probability per pair."""

from __future__ import annotations

import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.tabular import TabularMDP
from ewok.tabular.policy import pairs_of, shares_of

MDP = TabularMDP.from_entries([0, 0, 1], [0, 4, 2], [1, 2, 2], [1, 1, 1], [0, 5, 1], discount=0.5)  # state 2 is an end


def test_an_action_per_state_is_a_pair_per_state() -> None:
    assert pairs_of(MDP, [4, 2, 99]).tolist() == [1, 2, -1], "anything where the episode has ended"
    assert shares_of(MDP, [4, 2, -1]).tolist() == [0.0, 1.0, 1.0]


def test_probabilities_are_taken_as_they_are() -> None:
    assert shares_of(MDP, [0.25, 0.75, 1.0]).tolist() == [0.25, 0.75, 1.0]
    assert shares_of(MDP, [0.333333333, 0.666666666, 1.0])[:2].sum() == pytest.approx(1.0, abs=1e-15), "made good"


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([1, 2, 0], r"one of the actions \[0, 4\] in state 0, but it is 1"),
        ([4, 2], r"whole numbers of shape \(3,\)"),
        ([0.5, 0.6, 1.0], r"sum to one in state 0, but it is \[0.5, 0.6\]"),
        ([1.5, -0.5, 1.0], "sum to one in state 0"),
        ([np.nan, 0.5, 1.0], "sum to one in state 0"),
    ],
)
def test_what_is_wrong_is_named(policy: list[float], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        shares_of(MDP, np.array(policy))

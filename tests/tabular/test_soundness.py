"""What makes an MDP one: whatever is not is named, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.tabular import TabularMDP

from .worlds import entries


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
        ({"next_states": [0, 4, 0], "terminal": None}, "run to 4, where transition 1 leads, and 2, 3 appear nowhere"),
        ({"terminal": [7]}, "`terminal` must be states from 0 to 1, but it is 7"),
        ({"terminal": [-1]}, "`terminal` must be states from 0 to 1, but it is -1"),
        ({"next_states": [0, 4_000_000_000, 0]}, "below 6 .* 4000000000. .*; look at transition 1"),
        ({"state_names": ("a",)}, "`state_names` must have one name per state, 2, but it has 1"),
        ({"terminal": [1]}, "state 1 must have actions or be in `terminal`, not both"),
        ({"states": [], "actions": [], "next_states": [], "probabilities": [], "rewards": []}, "needs transitions"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        entries(**changes)


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

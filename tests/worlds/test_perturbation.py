"""One parameter: its grid, its physical range, and places between its ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ewok.errors import ArgumentError
from ewok.worlds import Perturbation

finite = st.floats(-1e6, 1e6, allow_subnormal=False)


def gravity(**changes: Any) -> Perturbation:
    return Perturbation(**{"name": "gravity", "nominal": 9.8, "low": 1.0, "high": 30.0, "above": 0.0, **changes})


@given(st.lists(finite, min_size=3, max_size=3, unique=True))
def test_a_grid_has_both_ends_and_the_nominal_value_in_order(numbers: list[float]) -> None:
    low, nominal, high = sorted(numbers)
    grid = Perturbation(name="p", nominal=nominal, low=low, high=high).grid
    assert {low, nominal, high} <= set(grid)
    assert list(grid) == sorted(set(grid))


def test_a_nominal_value_outside_the_range_is_added() -> None:
    assert gravity(nominal=0.5).grid[:2] == (0.5, 1.0)
    assert gravity(nominal=40.0).grid[-2:] == (30.0, 40.0)


def test_values_can_be_chosen_and_are_spaced_by_their_logarithm_where_decades_are_spanned() -> None:
    assert gravity(values=[20.0, 5.0]).grid == (1.0, 5.0, 9.8, 20.0, 30.0)
    grid = np.log(gravity(nominal=1.0, low=0.01, high=100.0, log=True).grid)
    np.testing.assert_allclose(np.diff(grid), np.log(1e4) / 8, rtol=0.01)


@given(low=st.floats(0.01, 10.0), span=st.floats(0.01, 10.0), fraction=st.floats(0.0, 1.0), log=st.booleans())
def test_places_and_fractions_are_inverse(low: float, span: float, fraction: float, log: bool) -> None:
    parameter = Perturbation(name="p", nominal=low, low=low, high=low + span, log=log)
    value = parameter.place(fraction)
    assert low <= value <= low + span
    assert parameter.fraction(value) == pytest.approx(fraction, abs=1e-6)
    assert (parameter.fraction(low - 1.0) if not log else 0.0, parameter.fraction(low + span + 1.0)) == (0.0, 1.0)


def test_whole_numbers_stay_whole() -> None:
    delay = Perturbation(name="delay", nominal=0, low=0, high=8, least=0, whole=True)
    assert delay.place(0.4) == 3.0
    assert all(value == int(value) for value in delay.grid)
    with pytest.raises(ArgumentError, match="`delay` must be a whole number at least 0"):
        delay.checked(1.5)


@pytest.mark.parametrize("value", [-1.0, 0.0, float("nan"), float("inf"), "9.8", None, True, 1j, [9.8]])
def test_what_physics_cannot_have_is_refused_with_the_range_that_is_tested(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"`gravity` must be a finite number greater than 0.*from 1\.0 to 30\.0"):
        gravity().checked(value)


def test_numpy_numbers_are_numbers() -> None:
    assert gravity().checked(np.float32(2.5)) == gravity().checked(np.int64(2)) + 0.5 == 2.5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"low": 31.0}, "`low` must be at most `high`, 30"),
        ({"nominal": -1.0}, "`nominal` must be a finite number greater than 0"),
        ({"low": 0.0, "least": 0.0, "above": -1.0, "log": True}, "`low` must be positive with `log`"),
        ({"values": []}, "`values` must be one or more"),
        ({"values": [3.0, float("nan")]}, "`values` must be a finite number"),
        ({"high": float("inf")}, "`high` must be a finite number"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        gravity(**changes)

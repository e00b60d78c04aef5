"""Scores: what a value function may return, and what is said when it returns something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError, ValueFunctionError
from ewok.testing import Lottery


def step_with(value: Any, **options: Any) -> Any:
    env = ewok.WorstKernel(Lottery([0.5, 0.5]), kappa=0.5, num_samples=4, value=value, **options)
    env.reset(seed=0)
    return env.step(0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda s: np.zeros((len(s), 1)), r"shape \(4,\), but it returned shape \(4, 1\).*extra axis"),
        (lambda s: 0.0, r"returned shape \(\)"),
        (lambda s: np.zeros(3), r"returned shape \(3,\)"),
        (lambda s: np.array([0.0, np.nan, 0.0, 0.0]), "returned nan for candidate 1 of 4"),
        (lambda s: np.array([0.0, 0.0, 0.0, -np.inf]), "returned -inf for candidate 3 of 4"),
        (lambda s: "high", "but it returned a str"),
        (lambda s: [[1], [2, 3]], "but it returned a list"),
    ],
)
def test_wrong_values_are_named(value: Any, message: str) -> None:
    with pytest.raises(ValueFunctionError, match=message):
        step_with(value)


def test_a_value_function_that_raises_is_named() -> None:
    with pytest.raises(
        ValueFunctionError, match=r"take a batch.*int64\[4\].*raised ZeroDivisionError.*value_of"
    ) as caught:
        step_with(lambda s: 1 / 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_after_a_wrong_value_the_environment_is_where_it_was() -> None:
    env = ewok.WorstKernel(Lottery([0.5, 0.5]), kappa=0.5, value=lambda s: np.full(len(s), np.nan))
    env.reset(seed=0)
    before = env.np_random.bit_generator.state
    with pytest.raises(ValueFunctionError):
        env.step(0)
    assert env.unwrapped.state == 0  # type: ignore[attr-defined]
    assert env.np_random.bit_generator.state == before
    ewok.bind(lambda s: np.zeros(len(s)), env)
    env.step(0)


def test_lists_and_integers_will_do() -> None:
    step_with(lambda s: [1, 2, 3, 4])
    step_with(lambda s: np.arange(4, dtype=np.int8))


def test_nan_at_a_state_that_ends_the_episode_is_not_asked_for() -> None:
    world = Lottery([0.5, 0.5], ends=[False, True])
    env = ewok.WorstKernel(world, kappa=0.5, value=lambda s: np.where(s == 2, np.nan, 0.0))
    env.reset(seed=0)
    env.step(0)


def test_discount_of_the_agent() -> None:
    class Value:
        discount = 0.5

        def __call__(self, s: np.ndarray) -> np.ndarray:
            return s.astype(float)

    world = Lottery([0.5, 0.5], rewards=[3.0, 0.0])
    env = ewok.WorstKernel(world, radius=9.0, discount="agent", value=Value())
    env.reset(seed=0)
    assert [env.step(0)[0] for _ in range(20)].count(2) == 20  # 3 + 0.5 * 1 against 0 + 0.5 * 2
    with pytest.raises(ArgumentError, match="`discount` must be a number where the value function does not know"):
        ewok.WorstKernel(world, radius=9.0, discount="agent", value=lambda s: s)

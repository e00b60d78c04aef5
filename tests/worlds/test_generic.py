"""The perturbations that fit any environment, by their names."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.worlds import GENERIC, World

SWING = World(name="any", build=lambda: gym.make("Pendulum-v1"), parameters=[], settle=lambda env, values: None)
NAMES = [
    *("action_noise", "action_noise_mean", "action_delay", "observation_noise"),
    *("stuck_sensors", "dropped_sensors", "observation_delay", "action_repeat"),
]


def returns(**values: float) -> Any:
    vector = SWING.make_vector([values], episodes=3)
    return vector.run(lambda seen: np.clip(-5 * seen[:, 1:2] - seen[:, 2:3], -2, 2).astype(np.float32), seed=0)


def test_all_that_are_promised_are_there() -> None:
    assert list(GENERIC) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_does_nothing_at_its_nominal_value_and_something_at_the_ends_of_its_range(name: str) -> None:
    parameter = GENERIC[name].perturbation
    nominal = returns()
    np.testing.assert_array_equal(returns(**{name: parameter.nominal}).returns, nominal.returns)
    for end in {parameter.low, parameter.high} - {parameter.nominal}:
        assert (returns(**{name: end}).returns != nominal.returns).all()


def test_all_of_them_together_stand_in_one_order_whatever_order_they_are_named_in() -> None:
    values = {name: GENERIC[name].perturbation.high for name in NAMES}
    one, other = SWING.make(**values), SWING.make(**dict(reversed(values.items())))
    assert str(one) == str(other)
    assert SWING.values_of(one) == values
    assert str(one).startswith(
        "<ActionRepeat<ObservationDelay<DroppedSensors<StuckSensors<ObservationNoise<ActionDelay"
    )


@pytest.mark.parametrize("name", NAMES)
def test_they_can_be_randomised_and_moved_back(name: str) -> None:
    env = ewok.DomainRandomization(SWING.make(), SWING, name)
    drawn = {env.reset(seed=seed)[1]["world"][name] for seed in range(5)}
    assert len(drawn) > 1
    SWING.move(env)
    assert SWING.values_of(env)[name] == GENERIC[name].perturbation.nominal


def test_they_go_with_a_world_s_own_parameters() -> None:
    vector = ewok.worlds.get("cartpole").make_vector([{"gravity": 5.0, "observation_noise": 0.1}, {}], episodes=2)
    episodes = vector.run(lambda seen: (seen[:, 2] > 0).astype(int), seed=0)
    assert (episodes.returns[0] != episodes.returns[1]).any()

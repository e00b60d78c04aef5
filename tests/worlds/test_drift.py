"""Parameters that move while an episode goes on."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError
from ewok.testing import check_kernel, check_snapshot
from ewok.worlds import Drift

PENDULUM = ewok.worlds.get("pendulum")  # gravity nominally 10, tested in [2, 20]; episodes of 200 steps
GRAVITY = PENDULUM.perturbations["gravity"]


def drift(course: Any, parameter: str = "gravity", period: int = 100, **values: float) -> Any:
    return Drift(PENDULUM.make(**values), PENDULUM, parameter, course, period)


def path(env: Any, seed: int | None = 0, num_steps: int = 200) -> np.ndarray:
    """Where the parameter was in each step, of which the simulator knows."""
    env.reset(seed=seed)
    values = []
    for _ in range(num_steps):
        info = env.step(np.zeros(1, dtype=np.float32))[-1]
        values.append(info["world"]["gravity"])
        assert env.unwrapped.g == values[-1]
    return np.array(values)


def test_constant_stays_where_it_was_drawn() -> None:
    env = drift("constant")
    paths = np.array([path(env, seed) for seed in range(30)])
    assert (paths == paths[:, :1]).all()
    assert np.ptp(paths[:, 0]) > 10.0


def test_uniform_is_a_new_draw_at_every_step() -> None:
    values = path(drift("uniform"))
    assert len(set(values)) == 200
    assert values.mean() == pytest.approx(11.0, abs=1.0)
    assert np.ptp(values) > 16.0


def test_a_random_walk_begins_at_the_nominal_value_and_covers_the_range_in_a_period() -> None:
    env = drift("random-walk", period=100)
    paths = np.array([path(env, seed, 30) for seed in range(60)])
    np.testing.assert_allclose(paths[:, 0], 10.0)
    steps = np.diff(paths, axis=1)
    assert steps.std() == pytest.approx(18.0 / np.sqrt(100), rel=0.1)
    assert ((paths >= 2.0) & (paths <= 20.0)).all()
    wild = path(drift("random-walk", period=1))
    assert ((wild >= 2.0) & (wild <= 20.0)).all()


def test_cyclic_is_a_sine_from_end_to_end() -> None:
    values = path(drift("cyclic", period=50))
    assert (values[0], values.min(), values.max()) == pytest.approx((10.0, 2.0, 20.0), abs=0.1)
    np.testing.assert_allclose(values[:50], values[50:100])


@pytest.mark.parametrize(("course", "end"), [("up", 20.0), ("down", 2.0)])
def test_up_and_down_go_straight_to_that_end_and_stay(course: str, end: float) -> None:
    values = path(drift(course, period=100))
    np.testing.assert_allclose(values[:101], np.linspace(10.0, end, 101))
    np.testing.assert_allclose(values[100:], end)


@pytest.mark.parametrize("course", ["constant", "uniform", "random-walk", "cyclic"])
def test_a_seed_gives_the_same_path_and_each_episode_begins_anew(course: str) -> None:
    env = drift(course)
    first, second = path(env), path(env, None)
    np.testing.assert_array_equal(first, path(drift(course)))
    np.testing.assert_array_equal(second, path(env, None) if course == "cyclic" else second)
    assert np.array_equal(first, second) == (course == "cyclic")


def test_the_others_stay_where_they_were() -> None:
    env = drift("cyclic", mass=2.0)
    path(env, num_steps=30)
    assert env.unwrapped.m == 2.0


def test_domain_randomisation_of_another_parameter_lasts_the_episode() -> None:
    env: Any = Drift(ewok.DomainRandomization(PENDULUM.make(), PENDULUM, "mass"), PENDULUM, "gravity", "cyclic")
    _, info = env.reset(seed=0)
    assert set(info["world"]) == {"mass", "gravity"}
    for _ in range(20):
        env.step(np.zeros(1, dtype=np.float32))
        assert env.unwrapped.m == info["world"]["mass"]


def test_the_first_step_is_that_of_the_nominal_world() -> None:
    env, plain = drift("up"), PENDULUM.make()
    np.testing.assert_array_equal(env.reset(seed=0)[0], plain.reset(seed=0)[0])
    action = np.ones(1, dtype=np.float32)
    np.testing.assert_array_equal(env.step(action)[0], plain.step(action)[0])
    assert not np.array_equal(env.step(action)[0], plain.step(action)[0])


def test_parameters_that_fit_any_environment_drift_too() -> None:
    env = Drift(gym.make("CartPole-v1"), ewok.worlds.World(
        name="plain", build=lambda: gym.make("CartPole-v1"), parameters=[], settle=lambda env, values: None
    ), "observation_noise", "up", period=10)  # fmt: skip
    env.reset(seed=0)
    shown = [float(np.abs(env.step(1)[0] - env.unwrapped.state).max()) for _ in range(8)]  # type: ignore[attr-defined]
    assert shown[0] < 1e-6
    assert shown[5] > 1e-3


def test_mujoco_worlds_drift_in_mid_episode() -> None:
    pytest.importorskip("mujoco")
    env: Any = Drift(ewok.worlds.get("half-cheetah").make(), "half-cheetah", "mass_scale", "up", period=5)
    env.reset(seed=0)
    masses = []
    for _ in range(7):
        env.step(np.zeros(6, dtype=np.float32))
        masses.append(float(env.unwrapped.model.body_mass.sum()))
    assert masses[0] == pytest.approx(14.0)
    assert masses[-1] == pytest.approx(28.0)
    assert masses == sorted(masses)


def test_it_is_saved_and_stands_under_a_worst_kernel() -> None:
    check_snapshot(drift("random-walk"), twin=drift("random-walk"), num_steps=60)
    check_kernel(drift("cyclic"), twin=drift("cyclic"), num_steps=40)
    rebuilt: Any = gym.make(drift("cyclic", period=7).spec)
    np.testing.assert_array_equal(path(rebuilt), path(drift("cyclic", period=7)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"course": "sideways"}, "`course` must be the name of a course.*There are: constant"),
        ({"course": "up", "parameter": "gravty"}, "Did you mean 'gravity'"),
        ({"course": "up", "parameter": "action_delay"}, "`parameter` must be one that can move in mid-episode"),
        ({"course": "up", "period": 0}, "`period` must be a whole number at least 1"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        drift(**arguments)


def test_stacked_drifts_each_move_their_own() -> None:
    env: Any = Drift(drift("cyclic", "mass", period=20), PENDULUM, "gravity", "up", period=20)
    for seed in (0, None):  # the second episode begins where drifting left the first
        _, info = env.reset(seed=seed)
        assert info["world"] == {"gravity": 10.0, "mass": pytest.approx(1.0)}
        for _ in range(30):
            *_, info = env.step(np.zeros(1, dtype=np.float32))
            assert info["world"] == {"gravity": env.unwrapped.g, "mass": env.unwrapped.m}
        assert env.unwrapped.g == 20.0


def test_a_drift_beneath_domain_randomisation_and_one_above_it() -> None:
    between = ewok.DomainRandomization(drift("up", "mass", period=10), PENDULUM, "length")
    env: Any = Drift(between, PENDULUM, "gravity", "down", period=10)
    _, start = env.reset(seed=0)
    for _ in range(12):
        *_, info = env.step(np.zeros(1, dtype=np.float32))
    assert (env.unwrapped.m, env.unwrapped.g) == (4.0, 2.0)
    assert env.unwrapped.l == start["world"]["length"]
    assert info["world"] == {"mass": 4.0, "gravity": 2.0}

"""Gymnasium's vectors: one value call for all environments, and the trajectories of each alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import ewok
from ewok.errors import ArgumentError, EwokError, NotResetError, ValueFunctionError, WrapperError
from ewok.nominal.batch import same
from ewok.testing import Lottery

from ..worst.exact import expected_kernel

NUM_ENVS = 3


def nominal() -> gym.Env[Any, Any]:
    return gym.make("ewok/NoisyCartPole-v1", max_episode_steps=15)


def single(**options: Any) -> ewok.WorstKernel:
    return ewok.WorstKernel(nominal(), **({"kappa": 0.2, "num_samples": 6} | options))


def value(observations: Any) -> Any:
    return -np.abs(observations[:, 0].astype(np.float64))


@pytest.fixture
def apart() -> Iterator[Any]:
    """Makes vectors whose environments live in processes of their own, and ends these."""
    made: list[AsyncVectorEnv] = []

    def make(env: Any = single, num: int = NUM_ENVS, **options: Any) -> AsyncVectorEnv:
        made.append(AsyncVectorEnv([env] * num, context="fork", **options))
        return made[-1]

    yield make
    for vector in made:
        vector.close()


def trajectory(envs: Any, num_steps: int = 60, seed: int = 5) -> list[Any]:
    observations, _ = envs.reset(seed=seed)
    seen = [observations]
    rng = np.random.default_rng(seed)
    for _ in range(num_steps):
        *transition, infos = envs.step(rng.integers(2, size=envs.num_envs))
        seen += [*transition, infos.get("ewok", {}).get("index")]
    return seen


def each_alone(num_envs: int, **options: Any) -> SyncVectorEnv:
    envs = SyncVectorEnv([lambda: single(**options)] * num_envs)
    ewok.bind(value, envs)
    return envs


@settings(max_examples=8, deadline=None)
@given(num_envs=st.integers(1, 4), seed=st.integers(0, 10_000), radius=st.booleans())
def test_same_seeds_same_trajectories_as_each_alone(num_envs: int, seed: int, radius: bool) -> None:
    """Through ends of episodes, where some environments are reset and others step."""
    tempering: dict[str, Any] = {"kappa": None, "radius": 0.4} if radius else {"kappa": 0.2}
    envs = ewok.vector.WorstKernel(SyncVectorEnv([nominal] * num_envs), num_samples=6, **tempering)
    ewok.bind(value, envs)
    alone = each_alone(num_envs, **tempering)
    for one, other in zip(trajectory(envs, seed=seed), trajectory(alone, seed=seed), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_processes_give_the_same_trajectories(apart: Any, mode: AutoresetMode) -> None:
    envs = ewok.vector.WorstKernel(apart(autoreset_mode=mode))
    ewok.bind(value, envs)
    here = SyncVectorEnv([single] * NUM_ENVS, autoreset_mode=mode)
    ewok.bind(value, here)
    for one, other in zip(trajectory(envs), trajectory(here), strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_call_of_the_value_for_all_candidates(apart: Any) -> None:
    made = gym.make_vec("ewok/NoisyCartPole-v1", num_envs=NUM_ENVS, vectorization_mode="sync")
    for envs in (
        ewok.vector.WorstKernel(made, kappa=1.0),
        ewok.vector.WorstKernel(SyncVectorEnv([lambda: single(num_samples=10)] * NUM_ENVS)),
        ewok.vector.WorstKernel(apart(lambda: single(num_samples=10))),
    ):
        sizes: list[int] = []
        ewok.bind(lambda o, s=sizes: s.append(len(o)) or value(o), envs)
        envs.reset(seed=0)
        for _ in range(3):
            envs.step(np.zeros(NUM_ENVS, dtype=int))
        assert sizes == [10 * NUM_ENVS] * 3


def test_unbound_it_is_the_vector_it_wraps() -> None:
    plain = SyncVectorEnv([nominal] * NUM_ENVS)
    envs = ewok.vector.WorstKernel(SyncVectorEnv([nominal] * NUM_ENVS), kappa=0.2)
    for place, (one, other) in enumerate(zip(trajectory(envs), trajectory(plain), strict=True)):
        if place == 0 or place % 5:  # every fifth is what only a worst kernel tells
            np.testing.assert_array_equal(one, other)


def test_a_value_given_at_once_and_settings_changed_later() -> None:
    envs = ewok.vector.WorstKernel(SyncVectorEnv([nominal] * NUM_ENVS), kappa=0.2, value=value)
    envs.reset(seed=0)
    assert (envs.step(np.zeros(NUM_ENVS, dtype=int))[-1]["ewok"]["kappa"] == 0.2).all()
    for kernel in envs.kernels:
        kernel.kappa = 0.7  # type: ignore[union-attr]
    assert (envs.step(np.zeros(NUM_ENVS, dtype=int))[-1]["ewok"]["kappa"] == 0.7).all()


def test_the_bad_side_is_visited_as_often_as_theory_says() -> None:
    probabilities, scores = np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.0, 2.0])
    envs = ewok.vector.WorstKernel(SyncVectorEnv([lambda: Lottery(list(probabilities))] * 8), num_samples=4, kappa=0.6)
    ewok.bind(lambda states: scores[states - 1], envs)
    envs.reset(seed=0)
    actions = np.zeros(8, dtype=int)
    seen = np.concatenate([envs.step(actions)[0] for _ in range(600)])
    shares = np.bincount(seen, minlength=4)[1:] / len(seen)
    expected = expected_kernel(probabilities, scores, 4, lambda drawn: 0.6)
    np.testing.assert_allclose(shares, expected, atol=0.02)
    assert np.abs(expected - probabilities).max() > 0.1


def test_with_a_discount_rewards_are_scaled_as_the_wrappers_of_the_vector_scale_them() -> None:
    inner = SyncVectorEnv([lambda: Lottery([0.5, 0.5], rewards=[1.0, 3.0])] * 2)
    envs = ewok.vector.WorstKernel(inner, kappa=1.0, discount=1.0, num_samples=50)
    ewok.bind(lambda states: np.zeros(len(states)), envs)
    envs.reset(seed=0)
    assert envs.step(np.zeros(2, dtype=int))[-1]["ewok"]["spread"] == pytest.approx([1.0, 1.0], abs=0.1)
    clipped = gw.vector.ClipReward(envs, max_reward=2.0)
    ewok.bind(lambda states: np.zeros(len(states)), clipped)
    assert clipped.step(np.zeros(2, dtype=int))[-1]["ewok"]["spread"] == pytest.approx([0.5, 0.5], abs=0.05)
    normal = gw.vector.NormalizeReward(clipped)
    ewok.bind(lambda states: np.zeros(len(states)), normal)
    normal.return_rms.var = np.float64(0.01)
    assert normal.step(np.zeros(2, dtype=int))[-1]["ewok"]["spread"] == pytest.approx([5.0, 5.0], abs=0.5)
    with pytest.raises(WrapperError, match="`TransformReward` stands between"):
        ewok.bind(lambda states: np.zeros(len(states)), gw.vector.TransformReward(envs, lambda rewards: -rewards))


def test_observations_that_are_tuples_are_joined_part_by_part() -> None:
    seen: list[Any] = []
    tuples = ewok.vector.WorstKernel(SyncVectorEnv([lambda: gym.make("Blackjack-v1")] * 2), kappa=1.0, num_samples=4)
    ewok.bind(lambda o: seen.append(o) or np.zeros(len(o[0])), tuples)
    tuples.reset(seed=0)
    tuples.step(np.ones(2, dtype=int))
    assert isinstance(seen[0], tuple)
    assert [len(part) for part in seen[0]] == [8, 8, 8]


def test_an_error_leaves_every_environment_where_it_was() -> None:
    envs = ewok.vector.WorstKernel(SyncVectorEnv([nominal] * NUM_ENVS), kappa=0.2, num_samples=6)
    twin = ewok.vector.WorstKernel(SyncVectorEnv([nominal] * NUM_ENVS), kappa=0.2, num_samples=6)
    for vector in (envs, twin):
        ewok.bind(value, vector)
        vector.reset(seed=2)
    ewok.bind(lambda o: np.zeros(3), envs)
    with pytest.raises(ValueFunctionError, match="one value per observation"):
        envs.step(np.zeros(NUM_ENVS, dtype=int))
    ewok.bind(value, envs)
    actions = np.ones(NUM_ENVS, dtype=int)
    assert same(envs.step(actions)[0], twin.step(actions)[0])


def test_an_error_in_the_value_is_raised_here_and_the_workers_live_on(apart: Any) -> None:
    envs = ewok.vector.WorstKernel(apart())
    ewok.bind(lambda o: 1 / 0, envs)
    envs.reset(seed=2)
    with pytest.raises(ValueFunctionError, match="raised ZeroDivisionError"):
        envs.step(np.zeros(NUM_ENVS, dtype=int))
    ewok.bind(value, envs)
    assert envs.step(np.zeros(NUM_ENVS, dtype=int))[-1]["ewok"]["bound"].all()


def test_what_cannot_be_wrapped_is_refused(apart: Any) -> None:
    with pytest.raises(ArgumentError, match="exactly one of the two, but it is 'neither'"):
        ewok.vector.WorstKernel(SyncVectorEnv([nominal] * 2))
    with pytest.raises(WrapperError, match="already has a `WorstKernel` beneath"):
        ewok.vector.WorstKernel(SyncVectorEnv([single] * 2), kappa=0.2)
    with pytest.raises(WrapperError, match="must be a vector that holds its environments, such as a SyncVectorEnv"):
        ewok.vector.WorstKernel(gym.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point"), kappa=0.2)
    with pytest.raises(ArgumentError, match="given where the environments of an AsyncVectorEnv are made"):
        ewok.vector.WorstKernel(apart(), kappa=0.2)
    with pytest.raises(WrapperError, match="must have an ewok.WorstKernel outermost in every process"):
        ewok.vector.WorstKernel(apart(nominal))
    with pytest.raises(WrapperError, match=r"Wrap it: ewok.vector.WorstKernel\(envs\)"):
        ewok.bind(value, apart())
    envs = ewok.vector.WorstKernel(SyncVectorEnv([nominal] * 2), kappa=0.2, value=value)
    with pytest.raises((NotResetError, EwokError, gym.error.ResetNeeded)):
        envs.step(np.zeros(2, dtype=int))


def test_a_closed_vector_of_processes_says_so(apart: Any) -> None:
    processes = apart()
    envs = ewok.vector.WorstKernel(processes)
    processes.close()
    with pytest.raises(ArgumentError, match="`envs` must be open, but it is 'closed'. Its processes are gone"):
        ewok.bind(value, envs)
    with pytest.raises(gym.error.ClosedEnvironmentError):
        envs.step(np.zeros(NUM_ENVS, dtype=int))


@pytest.mark.parametrize("setting", [{"num_samples": 50}, {"discount": 0.9}, {"terminal_value": -5.0}])
def test_settings_that_would_do_nothing_are_refused(setting: dict[str, Any], apart: Any) -> None:
    (name,) = setting
    for vector in (SyncVectorEnv([single]), apart(num=1)):
        with pytest.raises(ArgumentError, match=f"`{name}` must be left out where the environments have worst kernels"):
            ewok.vector.WorstKernel(vector, **setting)

"""Wrappers around a vector: the value sees what the agent sees, or the wrapper is named."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw
from gymnasium.vector import SyncVectorEnv, VectorEnv, VectorObservationWrapper

import ewok
from ewok.errors import EwokError, WrapperError
from ewok.nominal.batch import same, take

NUM_ENVS, NUM_SAMPLES = 2, 5


def nominal() -> gym.Env[Any, Any]:
    return gym.make("ewok/NoisyCartPole-v1")


def worst() -> ewok.vector.WorstKernel:
    return ewok.vector.WorstKernel(SyncVectorEnv([nominal] * NUM_ENVS), num_samples=NUM_SAMPLES, kappa=0.2)


def settled(envs: Any) -> Any:
    """Statistics that are far from where they began, and stay there: else they would move between look and step."""
    normal = gw.vector.NormalizeObservation(envs)
    normal.update_running_mean = False
    normal.obs_rms.mean, normal.obs_rms.var = np.full(4, 0.2), np.full(4, 0.3)
    return normal


WRAPS: dict[str, Any] = {
    "nothing": lambda envs: envs,
    "statistics": gw.vector.RecordEpisodeStatistics,
    "normalize": settled,
    "flatten": gw.vector.FlattenObservation,
    "rescale": lambda envs: gw.vector.RescaleObservation(
        gw.vector.TransformObservation(
            envs,
            lambda o: np.clip(o, -9, 9),
            gym.spaces.Box(-9, 9, (NUM_ENVS, 4)),
            gym.spaces.Box(-9, 9, (4,)),
        ),
        np.float32(-1),
        np.float32(1),
    ),
    "dtype": lambda envs: gw.vector.DtypeObservation(envs, np.float64),
    "reshape": lambda envs: gw.vector.ReshapeObservation(envs, (2, 2)),
    "several": lambda envs: gw.vector.RecordEpisodeStatistics(gw.vector.ReshapeObservation(settled(envs), (2, 2))),
}


@pytest.mark.parametrize("name", WRAPS)
def test_the_value_sees_what_the_agent_sees(name: str) -> None:
    """The view of each chosen candidate is the observation that then comes out."""
    envs, seen = worst(), []

    def value(observations: Any) -> Any:
        seen.append(observations)
        return np.zeros(len(observations))

    if name == "rescale":
        with pytest.raises(WrapperError, match="`TransformObservation` stands between"):
            ewok.bind(value, WRAPS[name](envs))
        return
    outer = WRAPS[name](envs)
    ewok.bind(value, outer)
    outer.reset(seed=0)
    for _ in range(5):
        observations, *_, infos = outer.step(np.zeros(NUM_ENVS, dtype=int))
        batch = seen.pop()
        assert not seen, "asked more than once"
        for env in range(NUM_ENVS):
            viewed = take(batch, env * NUM_SAMPLES + infos["ewok"]["index"][env])
            assert same(viewed, observations[env])


def test_a_wrapper_that_is_not_known_is_named() -> None:
    class Odd(VectorObservationWrapper):
        def observations(self, observations: Any) -> Any:
            return 2 * observations

    with pytest.raises(WrapperError, match="`Odd` stands between the agent and its worst kernels"):
        ewok.bind(lambda o: np.zeros(len(o)), Odd(worst()))


def test_a_vector_that_hides_its_environments_is_refused() -> None:
    envs = gym.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point")
    assert isinstance(envs, VectorEnv)
    with pytest.raises(EwokError, match="must be a vector that holds its environments"):
        ewok.bind(lambda o: np.zeros(len(o)), envs)


def test_environments_without_a_worst_kernel_are_refused() -> None:
    with pytest.raises(WrapperError, match="must have a `WorstKernel` in it"):
        ewok.bind(lambda o: np.zeros(len(o)), SyncVectorEnv([nominal] * 2))


class Parts(gym.ObservationWrapper[Any, Any, Any]):
    """The same world, shown in two parts."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Dict(cart=gym.spaces.Box(-9, 9, (2,)), pole=gym.spaces.Box(-9, 9, (2,)))

    def observation(self, observation: Any) -> Any:
        return {"cart": observation[:2], "pole": observation[2:]}


@pytest.mark.parametrize("terminal_value", [None, 0.0])
def test_no_candidate_is_lost_where_observations_have_parts(terminal_value: float | None) -> None:
    inner = SyncVectorEnv([lambda: Parts(nominal())] * NUM_ENVS)
    worst = ewok.vector.WorstKernel(inner, num_samples=10, kappa=9.0, terminal_value=terminal_value)
    envs = gw.vector.FlattenObservation(worst)
    ewok.bind(lambda o: -np.abs(o[:, 2]), envs)
    envs.reset(seed=0)
    infos = [envs.step(np.ones(NUM_ENVS, dtype=int))[-1] for _ in range(60)]
    chosen = [info["ewok"]["index"] for info in infos if "ewok" in info]  # none where all are reset at once
    assert set(np.ravel(chosen)) == set(range(10))


def test_what_is_made_of_rewards_alone_matters_only_where_they_are_scored() -> None:
    def envs(discount: float | None) -> Any:
        inner = ewok.vector.WorstKernel(SyncVectorEnv([nominal] * NUM_ENVS), kappa=0.2, discount=discount)
        return gw.vector.TransformReward(inner, lambda rewards: 2 * rewards)

    def zeros(observations: Any) -> Any:
        return np.zeros(len(observations))

    ewok.bind(zeros, free := envs(None))
    free.reset(seed=0)
    assert free.step(np.zeros(NUM_ENVS, dtype=int))[-1]["ewok"]["bound"].all()
    with pytest.raises(WrapperError, match="`TransformReward` stands between .* of a single reward is not known"):
        ewok.bind(zeros, envs(0.9))

"""Toy text: candidates follow the transition table."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from scipy import stats

import ewok
from ewok.nominal.restore import RestoreKernel
from ewok.nominal.toy_text import TableKernel


def test_candidates_follow_the_table() -> None:
    env = gym.make("FrozenLake-v1", success_rate=0.6)
    env.reset(seed=0)
    env.unwrapped.s = 9  # type: ignore[attr-defined]
    candidates = ewok.kernel_of(env).draw(1, 20_000)
    counts = [np.count_nonzero(candidates.observations == state) for state in (8, 13, 10)]
    assert stats.chisquare(counts, np.array([0.2, 0.6, 0.2]) * 20_000).pvalue > 0.001
    assert {round(info["prob"], 12) for info in candidates.infos} == {0.6, 0.2}


def test_taxi_candidates_have_masks_of_their_own() -> None:
    env = gym.make("Taxi-v4", is_rainy=True)
    env.reset(seed=3)
    env.unwrapped.s = env.unwrapped.encode(2, 2, 0, 1)  # type: ignore[attr-defined]
    candidates = ewok.kernel_of(env).draw(0, 50)
    assert len(set(candidates.observations.tolist())) > 1
    for state, info in zip(candidates.observations, candidates.infos, strict=True):
        np.testing.assert_array_equal(info["action_mask"], env.unwrapped.action_mask(state))  # type: ignore[attr-defined]


def test_a_subclass_with_a_table_of_its_own_is_drawn_from_it_and_one_with_a_step_of_its_own_is_stepped() -> None:
    assert type(ewok.kernel_of(gym.make("ewok/CliffWalking-v0"))) is TableKernel

    class Generous(FrozenLakeEnv):
        def step(self, action: Any) -> Any:
            state, reward, *rest = super().step(action)
            return state, float(reward) + 1.0, *rest

    assert type(ewok.kernel_of(Generous())) is RestoreKernel

"""RecurrentPPO: the critic's memory of the episode is carried to the candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError

from .worlds import Spied, batch, cartpole, innermost, needs

torch = needs("torch", "sb3")
needs("stable_baselines3", "sb3")
contrib = needs("sb3_contrib", "sb3")

from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

torch.set_num_threads(1)

MEMORIES: dict[str, dict[str, Any]] = {
    "of its own": {},
    "the actor's": {"enable_critic_lstm": False, "shared_lstm": True},
    "none": {"enable_critic_lstm": False},
}


def recurrent(num_envs: int = 2, num_steps: int = 24, **memory: Any) -> Any:
    vector = VecNormalize(DummyVecEnv([cartpole] * num_envs), training=False)
    policy = {"lstm_hidden_size": 16, **memory}
    options = {"n_steps": num_steps, "batch_size": num_steps, "n_epochs": 1, "seed": 0, "device": "cpu"}
    return contrib.RecurrentPPO("MlpLstmPolicy", vector, policy_kwargs=policy, **options)


@pytest.mark.parametrize("memory", MEMORIES)
def test_the_value_of_a_candidate_is_what_the_critic_says_of_it_once_it_is_there(memory: str) -> None:
    """Through resets, and with a memory for each environment."""
    num_envs, num_steps = 2, 40
    model = recurrent(num_envs, num_steps, **MEMORIES[memory])
    ewok.bind(model)
    spied = Spied(model)
    model.learn(num_steps * num_envs)
    values = model.rollout_buffer.values.reshape(num_envs, num_steps).T
    starts = model.rollout_buffer.episode_starts.reshape(num_envs, num_steps).T
    said = np.array(spied.said).T
    lived = starts[1:] == 0.0
    assert 0 < lived.sum() < lived.size, "no episode ended"
    np.testing.assert_allclose(said[:-1][lived], values[1:][lived], atol=2e-5)
    assert np.std(said) > 1e-4


def test_asking_does_not_move_the_memory() -> None:
    model = recurrent()
    ewok.bind(model)
    model.learn(48)
    before = [part.clone() for state in model._last_lstm_states for part in state]
    value = ewok.value_of(model).of_member(1)  # type: ignore[attr-defined]
    once, twice = value(batch(model)), value(batch(model))
    np.testing.assert_array_equal(once, twice)
    after = [part for state in model._last_lstm_states for part in state]
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    other = ewok.value_of(model).of_member(0)(batch(model))  # type: ignore[attr-defined]
    assert not np.allclose(once, other), "both environments share a memory"


def test_what_is_missing_is_said() -> None:
    model = recurrent()
    with pytest.raises(ArgumentError, match=r"critic remembers the episode, but this value is of no environment"):
        ewok.value_of(model)(batch(model))
    with pytest.raises(ArgumentError, match="has not seen one yet. Bind the agent itself"):
        ewok.value_of(model).of_member(0)(batch(model))  # type: ignore[attr-defined]
    for option in ("soft", "target"):
        with pytest.raises(ArgumentError, match=f"`{option}` must be False for RecurrentPPO"):
            ewok.value_of(model, **{option: True})


def test_bound_elsewhere_it_does_not_remember_the_episode_of_its_own_environment() -> None:
    model = recurrent()
    model.learn(48)
    elsewhere = cartpole()
    ewok.bind(model, VecNormalize(DummyVecEnv([lambda: elsewhere]), training=False))
    elsewhere.reset(seed=0)
    with pytest.raises(ArgumentError, match="this value is of no environment. Bind the agent itself"):
        elsewhere.step(0)
    mine = innermost(model.get_env()).envs[1]
    ewok.bind(model, mine)  # named by itself, it still is the second of the agent's own
    assert mine.critic.value._index == 1

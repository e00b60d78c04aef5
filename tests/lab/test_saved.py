"""Loading models that somebody saved, and refusing those of another environment."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")

from gymnasium.spaces import Box, Dict, Discrete
from stable_baselines3 import DQN, SAC
from stable_baselines3.common.vec_env import VecNormalize

from ewok.errors import ArgumentError, EwokWarning
from ewok.lab.frames import ONE, Frames
from ewok.lab.saved import SavedModel, frames_for, load
from tests.lab.models import save_ppo, vector
from tests.lab.test_archive import rewritten


class Shell:
    """A model's spaces, without the model."""

    def __init__(self, observation_space: Any, action_space: Any = None) -> None:
        self.observation_space, self.action_space = observation_space, action_space or Discrete(2)


def frames(seen: Any, shown: Any, acts: Any = None, action_space: Any = None) -> Frames:
    return frames_for(SavedModel("m", "PPO", Shell(seen, acts)), shown, action_space or Discrete(2), "w")


def box(*shape: int, most: float = 1.0) -> Box:
    return Box(-most, most, shape)


@pytest.mark.parametrize(("kind", "env_id"), [(DQN, "CartPole-v1"), (SAC, "Pendulum-v1")])
def test_a_loaded_model_acts_as_the_one_that_was_saved(kind: Any, env_id: str, tmp_path: Path) -> None:
    model = kind("MlpPolicy", env_id, seed=0, buffer_size=2_000_000, policy_kwargs={"net_arch": [8]}, device="cpu")
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model.zip")
    assert (loaded.name, loaded.algorithm) == (tmp_path.name, kind.__name__)
    seen = np.random.default_rng(0).normal(size=(50, *model.observation_space.shape)).astype(np.float32)
    np.testing.assert_array_equal(
        loaded.agent.predict(seen, deterministic=True)[0], model.predict(seen, deterministic=True)[0]
    )
    assert loaded.agent.buffer_size == 1, "what only training needs takes no memory"


def test_a_normaliser_comes_back_and_no_longer_learns(tmp_path: Path) -> None:
    envs = VecNormalize(vector())
    envs.reset()
    for _ in range(20):
        envs.step([1])
    envs.save(str(tmp_path / "norm.pkl"))
    loaded = load(save_ppo(tmp_path), vecnormalize=tmp_path / "norm.pkl")
    seen = np.ones((3, 4), dtype=np.float32)
    np.testing.assert_array_equal(loaded.normaliser.normalize_obs(seen), envs.normalize_obs(seen))
    assert not loaded.normaliser.training


def test_files_that_are_no_normalisers_are_refused(tmp_path: Path) -> None:
    path = save_ppo(tmp_path)
    (tmp_path / "text.pkl").write_text("hello")
    (tmp_path / "list.pkl").write_bytes(pickle.dumps([1, 2]))
    for name, message in (
        ("text.pkl", "cannot be read"),
        ("list.pkl", "holds a list"),
        ("none.pkl", "there is none at"),
    ):
        with pytest.raises(ArgumentError, match=f"`vecnormalize` must be .*{message}"):
            load(path, vecnormalize=tmp_path / name)


@pytest.mark.filterwarnings("ignore:Could not deserialize")
def test_a_model_that_cannot_be_loaded_says_why_in_a_line(tmp_path: Path) -> None:
    path = rewritten(save_ppo(tmp_path), policy_kwargs={"net_arch": [99]})
    with pytest.raises(ArgumentError, match="that PPO can load, but .* cannot be: RuntimeError") as caught:
        load(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(ArgumentError, match="`algo` must be .*nowhere"):
        load(path, algo="nowhere:Own")


@pytest.mark.parametrize(
    ("seen", "shown", "expected"),
    [
        (box(4), box(4), Frames(1)),
        (box(12), box(4), Frames(3)),
        (box(2, 12), box(2, 4), Frames(3)),
        (Box(0, 255, (3, 84, 84), np.uint8), Box(0, 255, (84, 84, 3), np.uint8), Frames(1)),
        (Box(0, 255, (4, 84, 84), np.uint8), Box(0, 255, (84, 84, 1), np.uint8), Frames(4)),
        (Dict(a=box(8), b=box(2)), Dict(a=box(4), b=box(1)), Frames(2)),
        (Discrete(16), Discrete(16), Frames(1)),
        (box(3, 4), box(4), Frames(3, apart=True)),
        (box(1, 4), box(4), Frames(1, apart=True)),
        (Box(0, 255, (4, 84, 84), np.uint8), Box(0, 255, (84, 84), np.uint8), Frames(4, apart=True)),
        (Dict(a=box(2, 4), b=box(2, 1)), Dict(a=box(4), b=box(1)), Frames(2, apart=True)),
    ],
)
def test_a_model_may_see_several_of_a_worlds_observations(seen: Any, shown: Any, expected: Frames) -> None:
    assert frames(seen, shown) == expected


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        (box(4), box(6)),
        (box(6), box(4)),
        (box(2), box(4)),
        (box(4), Dict(a=box(4))),
        (Dict(a=box(4)), Dict(b=box(4))),
        (Dict(a=box(8), b=box(1)), Dict(a=box(4), b=box(1))),
        (Dict(a=box(2, 4), b=box(2)), Dict(a=box(4), b=box(1))),
        (box(2, 3, 4), box(4)),
        (Discrete(16), Discrete(8)),
    ],
)
def test_models_of_another_environment_are_refused_and_both_spaces_named(seen: Any, shown: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        frames(seen, shown)
    assert str(seen) in str(caught.value)
    assert str(shown) in str(caught.value)


@pytest.mark.parametrize(("acts", "action_space"), [(Discrete(2), Discrete(3)), (box(1, most=1.0), box(1, most=2.0))])
def test_actions_must_be_the_same_to_their_bounds(acts: gym.Space[Any], action_space: gym.Space[Any]) -> None:
    with pytest.raises(ArgumentError, match="its action space is"):
        frames(box(4), box(4), acts, action_space)


def test_observations_of_other_bounds_are_doubtful() -> None:
    with pytest.warns(EwokWarning, match="not their bounds"):
        assert frames(box(4, most=1.0), box(4, most=3.0)) == ONE

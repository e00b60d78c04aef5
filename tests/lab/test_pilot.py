"""A model in many episodes at once acts as it does in one, whatever it was trained behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium.wrappers as gw
import numpy as np
import pytest
import torch

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")

from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecFrameStack, VecNormalize

from ewok import worlds
from ewok.errors import ArgumentError
from ewok.lab.pilot import Pilot
from ewok.lab.saved import load
from tests.lab.models import CARTPOLE, Picture, returns_of, save_ppo, vector

EPISODES, SEED = 5, 70
PENDULUM = worlds.get("pendulum")


def normalised(envs: VecEnv) -> VecNormalize:
    """With statistics from elsewhere, so that it matters where it stands."""
    wrapped = VecNormalize(envs, norm_reward=False)
    shape = wrapped.observation_space.shape
    wrapped.obs_rms.mean = np.linspace(-0.1, 0.1, np.prod(shape)).reshape(shape)
    wrapped.obs_rms.var = np.linspace(0.01, 0.5, np.prod(shape)).reshape(shape)
    wrapped.training = False
    return wrapped


def frames_above(envs: VecEnv) -> VecEnv:
    return VecFrameStack(normalised(envs), 3)


def frames_below(envs: VecEnv) -> VecEnv:
    return normalised(VecFrameStack(envs, 3))


@pytest.mark.parametrize(
    "around", [lambda envs: envs, normalised, lambda e: VecFrameStack(e, 2), frames_above, frames_below]
)
@pytest.mark.parametrize("world", [CARTPOLE, PENDULUM], ids=["discrete", "continuous"])
def test_episodes_together_are_those_of_the_librarys_own_loop(around: Any, world: worlds.World, tmp_path: Path) -> None:
    envs = around(vector(EPISODES, world))
    path = save_ppo(tmp_path, envs, seed=3)
    normaliser = envs
    while normaliser is not None and not isinstance(normaliser, VecNormalize):
        normaliser = getattr(normaliser, "venv", None)
    if normaliser is not None:
        normaliser.save(str(tmp_path / "norm.pkl"))
    model = load(path, vecnormalize=None if normaliser is None else tmp_path / "norm.pkl")
    ours = Pilot(model, world).run([{}, {}], EPISODES, seed=SEED).returns
    np.testing.assert_allclose(ours[0], returns_of(model.agent, envs, SEED), rtol=1e-5)
    np.testing.assert_allclose(ours[0], ours[1], rtol=1e-6)  # not to the bit: matrix products are cut into blocks


@pytest.mark.parametrize("around", [lambda envs: envs, normalised])
def test_frames_of_gymnasiums_own_stack_are_met_as_in_training(around: Any, tmp_path: Path) -> None:
    stacks = [lambda: gw.FrameStackObservation(CARTPOLE.make(), 3) for _ in range(EPISODES)]
    envs = around(DummyVecEnv(stacks))  # type: ignore[arg-type]
    path, norm = save_ppo(tmp_path, envs, seed=3), None
    if isinstance(envs, VecNormalize):
        norm = tmp_path / "norm.pkl"
        envs.save(str(norm))
    pilot = Pilot(load(path, vecnormalize=norm), CARTPOLE)
    ours = pilot.run([{}], EPISODES, seed=SEED).returns
    np.testing.assert_allclose(ours[0], returns_of(pilot.model.agent, envs, SEED), rtol=1e-5)


def test_images_are_turned_as_in_training(tmp_path: Path) -> None:
    gallery = worlds.World(name="gallery", build=Picture, parameters=[], settle=lambda env, values: None)
    model = PPO("CnnPolicy", vector(1, gallery), seed=0, n_steps=8, batch_size=4, device="cpu")
    model.save(tmp_path / "model")
    assert model.observation_space.shape == (1, 36, 36)
    pilot = Pilot(load(tmp_path / "model.zip"), gallery)
    assert pilot.run([{}], 4, seed=0).returns.shape == (1, 4)
    pilot.require_critic()
    assert pilot.values(np.zeros((5, 36, 36, 1), np.uint8)).shape == (5,)


@pytest.mark.parametrize(
    ("envs", "stack"),
    [
        (lambda: VecFrameStack(vector(2), 3), np.concatenate),
        (lambda: DummyVecEnv([lambda: gw.FrameStackObservation(CARTPOLE.make(), 3)] * 2), np.stack),
    ],
    ids=["VecFrameStack", "FrameStackObservation"],
)
def test_values_of_stacked_frames_have_the_next_one_as_the_newest(envs: Any, stack: Any, tmp_path: Path) -> None:
    pilot = Pilot(load(save_ppo(tmp_path, envs())), CARTPOLE)
    seen = np.random.default_rng(0).normal(size=(4, 2, 4)).astype(np.float32)
    for step in seen[:3]:
        pilot(step)
    pilot.look_from(np.array([0, 1]))
    stacked = stack([seen[1], seen[2], seen[3]], axis=1)
    direct = pilot.model.agent.policy.predict_values(pilot.model.agent.policy.obs_to_tensor(stacked)[0])
    np.testing.assert_allclose(pilot.values(seen[3]), direct.detach().numpy()[:, 0], rtol=1e-5)


def test_a_model_of_another_world_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"must be a model of the world pendulum, .*Box.*Box"):
        Pilot(load(save_ppo(tmp_path)), PENDULUM)


def test_drawn_actions_are_the_seeds_and_leave_global_generators_alone(tmp_path: Path) -> None:
    pilot = Pilot(load(save_ppo(tmp_path)), CARTPOLE, deterministic=False)
    np.random.seed(1)
    expected = np.random.random()
    np.random.seed(1)
    before = torch.random.get_rng_state()
    first, again, other = (pilot.run([{}], 20, seed=seed).returns for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert np.random.random() == expected
    assert torch.equal(before, torch.random.get_rng_state())

"""A model against its own critic: together as alone, and nothing but the nominal world at radius 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")

from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize

from ewok.errors import EwokError
from ewok.lab.opposed import against
from ewok.lab.pilot import Pilot
from ewok.lab.saved import load
from ewok.value import value_of
from ewok.worlds.adversary import adversary
from tests.lab.models import CARTPOLE, save_ppo, vector

RADII = (0.0, 0.3, 2.0)


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: Any) -> Pilot:
    return Pilot(load(save_ppo(tmp_path_factory.mktemp("opposed"), seed=2)), CARTPOLE)


def test_episodes_together_are_those_of_the_world_that_is_turned_against_the_agent(pilot: Pilot) -> None:
    ours = against(pilot, CARTPOLE, 4, seed=9, radii=RADII)
    alone = adversary(CARTPOLE, value_of(pilot.model.agent), num_samples=15, radii=RADII, discount=pilot.discount)
    theirs = alone.make_vector([{"radius": radius} for radius in RADII], 4).run(pilot, seed=9)
    np.testing.assert_array_equal(ours.returns, theirs.returns)


def test_at_radius_zero_it_is_the_nominal_world(pilot: Pilot) -> None:
    ours = against(pilot, CARTPOLE, 6, seed=3, radii=(0.0,))
    np.testing.assert_array_equal(ours.returns, pilot.run([{}], 6, seed=3).returns)


def test_a_worst_kernel_that_sees_what_hurts_does_hurt() -> None:
    """The cart is lost where it leaves the track: a critic that knows it drives a still cart there."""
    import gymnasium as gym

    from ewok.lab.saved import SavedModel

    class Still:
        """Balances, and does not mind where."""

        policy = object()
        gamma = 1.0
        observation_space = gym.make("CartPole-v1").observation_space
        action_space = gym.make("CartPole-v1").action_space

        def predict(self, observations: Any, deterministic: bool) -> Any:
            return (observations @ np.array([0.0, 0.3, 2.0, 1.0]) > 0).astype(int), None

    value_of.register(Still)(lambda agent, **options: lambda observations: -np.abs(observations[:, 0]))
    still = Pilot(SavedModel("still", "mine", Still()), CARTPOLE)
    came = against(still, CARTPOLE, 10, seed=0, radii=(0.0, 2.0)).lengths.mean(axis=1)
    assert came[0] == 500.0
    assert came[1] < 0.95 * came[0]


@pytest.mark.parametrize("around", [lambda e: VecFrameStack(e, 2), lambda e: VecNormalize(e)])
def test_models_that_were_wrapped_in_training_can_be_opposed(around: Any, tmp_path: Path) -> None:
    envs = around(vector())
    path = save_ppo(tmp_path, envs)
    if isinstance(envs, VecNormalize):
        envs.save(str(tmp_path / "norm.pkl"))
    pilot = Pilot(load(path, vecnormalize=tmp_path / "norm.pkl" if isinstance(envs, VecNormalize) else None), CARTPOLE)
    nominal = pilot.run([{}], 3, seed=0).returns
    came = against(pilot, CARTPOLE, 3, seed=0, radii=(0.0, 0.5)).returns
    np.testing.assert_array_equal(came[0], nominal[0])


def test_a_model_without_a_critic_is_refused_in_words() -> None:
    contrib = pytest.importorskip("sb3_contrib")
    from ewok.lab.saved import SavedModel

    model = SavedModel("ars", "ARS", contrib.ARS("LinearPolicy", "CartPole-v1", seed=0))
    with pytest.raises(EwokError, match="has none"):
        against(Pilot(model, CARTPOLE), CARTPOLE, 2, seed=0)

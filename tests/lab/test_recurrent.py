"""A recurrent model in many episodes at once remembers each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")

from ewok.lab.pilot import Pilot
from ewok.lab.saved import load
from tests.lab.models import CARTPOLE, returns_of, vector

EPISODES, SEED = 5, 70


@pytest.fixture(scope="module")
def recurrent(tmp_path_factory: Any) -> Any:
    contrib = pytest.importorskip("sb3_contrib")
    folder = tmp_path_factory.mktemp("recurrent")
    options = {"lstm_hidden_size": 8, "net_arch": [8]}
    model = contrib.RecurrentPPO("MlpLstmPolicy", vector(), seed=0, n_steps=8, batch_size=8, policy_kwargs=options)
    model.save(folder / "model")
    return load(folder / "model.zip")


def test_a_recurrent_model_remembers_each_episode(recurrent: Any) -> None:
    pilot = Pilot(recurrent, CARTPOLE)
    assert pilot.remembers
    ours = pilot.run([{}], EPISODES, seed=SEED).returns[0]
    np.testing.assert_allclose(ours, returns_of(recurrent.agent, vector(EPISODES), SEED), rtol=1e-5)
    again = pilot.run([{}], EPISODES, seed=SEED).returns[0]
    np.testing.assert_array_equal(ours, again)


def test_a_recurrent_critic_judges_what_comes_next_by_what_it_has_seen(recurrent: Any) -> None:
    pilot, policy = Pilot(recurrent, CARTPOLE), recurrent.agent.policy
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(6, 2, 4)).astype(np.float32)  # six steps of two episodes
    for step in seen:
        pilot(step)
    rows = np.array([1, 0, 1])
    following = rng.normal(size=(3, 4)).astype(np.float32)
    pilot.look_from(rows)
    ours = pilot.values(following)
    for value, row, last in zip(ours, rows, following, strict=True):
        history = torch.as_tensor(np.concatenate([seen[:, row], last[None]]))
        zeros = torch.zeros(1, 1, 8)
        starts = torch.tensor([1.0] + [0.0] * 6)
        with torch.no_grad():
            whole = policy.predict_values(history, (zeros, zeros), starts)
        assert value == pytest.approx(float(whole[-1]), abs=1e-5)

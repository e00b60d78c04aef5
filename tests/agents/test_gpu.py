"""Agents on a GPU: observations go to the agent's device, values come back, and no numpy view is taken of its memory.

Runs alone where there is a GPU: pytest tests/agents/test_gpu.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok

from .worlds import assert_never_stale, batch, cartpole, needs, pendulum

torch = needs("torch", "sb3")
sb3 = needs("stable_baselines3", "sb3")

if not torch.cuda.is_available():
    pytest.skip("NOT TESTED: agents on a GPU, for this machine has none that torch sees", allow_module_level=True)

OFF_POLICY = {"learning_starts": 10, "buffer_size": 100, "batch_size": 16, "seed": 0, "device": "cuda"}
pytestmark = pytest.mark.filterwarnings("ignore:You are trying to run")  # that a GPU is slower for small networks


def agent(kind: str) -> Any:
    narrow = {"policy_kwargs": {"net_arch": [32, 32]}}
    if kind in ("PPO", "A2C"):
        steps = {"n_steps": 16} | ({"batch_size": 16} if kind == "PPO" else {})
        return getattr(sb3, kind)("MlpPolicy", cartpole(), seed=0, device="cuda", **steps, **narrow)
    env = cartpole() if kind == "DQN" else pendulum()
    return getattr(sb3, kind)("MlpPolicy", env, **narrow, **OFF_POLICY)


def by_the_library(model: Any, kind: str, observations: Any) -> Any:
    tensors = torch.as_tensor(observations).to(model.device)
    with torch.no_grad():
        if kind in ("PPO", "A2C"):
            return model.policy.predict_values(tensors)[:, 0].cpu().numpy()
        if kind == "DQN":
            return model.q_net(tensors).max(dim=1).values.cpu().numpy()
        actions = model.actor(tensors, deterministic=True) if kind == "SAC" else model.actor(tensors)
        return torch.cat(model.critic(tensors, actions), dim=1).min(dim=1).values.cpu().numpy()


@pytest.mark.parametrize("kind", ["PPO", "A2C", "DQN", "SAC", "TD3", "DDPG"])
def test_values_are_the_librarys_after_every_update(kind: str) -> None:
    model = agent(kind)
    assert next(model.policy.parameters()).device.type == "cuda"
    ewok.bind(model)
    model.learn(32)
    value = ewok.value_of(model)
    said = value(batch(model))
    assert isinstance(said, np.ndarray)
    updates = [lambda: model.learn(32, reset_num_timesteps=False)] * 3
    assert_never_stale(model, value, lambda o: by_the_library(model, kind, o), updates)


@pytest.mark.parametrize("kind", ["SAC"])
def test_soft_and_target_values(kind: str) -> None:
    model = agent(kind)
    ewok.bind(model, soft=True, target=True)
    model.learn(32)
    assert np.isfinite(ewok.value_of(model, soft=True)(batch(model))).all()


def test_an_agent_that_moves_to_the_gpu_is_to_be_bound_again() -> None:
    """Numpy views were taken while it was on the CPU."""
    model = sb3.PPO("MlpPolicy", cartpole(), n_steps=16, device="cpu")
    value = ewok.value_of(model)
    expected = value(batch(model))
    model.policy.to("cuda")
    with pytest.raises(ewok.errors.ArgumentError, match="it was on the CPU when it was bound. Bind it again"):
        value(batch(model))
    model.device = torch.device("cuda")
    np.testing.assert_allclose(ewok.value_of(model)(batch(model)), expected, atol=1e-4)


def test_recurrent_and_quantile_agents() -> None:
    contrib = needs("sb3_contrib", "sb3")
    recurrent = contrib.RecurrentPPO("MlpLstmPolicy", cartpole(), n_steps=16, batch_size=16, device="cuda")
    ewok.bind(recurrent)
    recurrent.learn(32)
    for kind, env in (("QRDQN", cartpole()), ("TQC", pendulum()), ("CrossQ", pendulum())):
        model = getattr(contrib, kind)("MlpPolicy", env, policy_kwargs={"net_arch": [16]}, **OFF_POLICY)
        ewok.bind(model)
        model.learn(16)
        assert np.isfinite(ewok.value_of(model)(batch(model))).all()

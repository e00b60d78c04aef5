"""Stable-Baselines3: the critic's values, through everything between it and the worst kernel."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError, WrapperError

torch = pytest.importorskip("torch", reason="needs SB3: pip install 'ewok[sb3]'")
sb3 = pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")

from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack, VecNormalize

torch.set_num_threads(1)


def worst(**options: Any) -> ewok.WorstKernel:
    return ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), **({"kappa": 0.2} | options))


@pytest.mark.parametrize("kind", ["PPO", "A2C"])
def test_actor_critics(kind: str) -> None:
    model = getattr(sb3, kind)("MlpPolicy", worst(), n_steps=64, seed=0, device="cpu")
    observations = np.random.default_rng(0).normal(size=(15, 4)).astype(np.float32)
    with torch.no_grad():
        expected = model.policy.predict_values(torch.as_tensor(observations))[:, 0].numpy()
    np.testing.assert_array_equal(ewok.value_of(model)(observations), expected)
    assert ewok.value_of(model).discount == model.gamma  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="`soft` must be False for"):
        ewok.value_of(model, soft=True)


def test_value_learners_and_target_networks() -> None:
    model = sb3.DQN("MlpPolicy", worst(), seed=0, device="cpu", learning_starts=10, buffer_size=100)
    observations = np.random.default_rng(0).normal(size=(15, 4)).astype(np.float32)
    with torch.no_grad():
        expected = model.q_net(torch.as_tensor(observations)).max(1).values.numpy()
    np.testing.assert_array_equal(ewok.value_of(model)(observations), expected)
    model.learn(60)
    assert not np.array_equal(ewok.value_of(model)(observations), expected)
    assert not np.array_equal(ewok.value_of(model, target=True)(observations), ewok.value_of(model)(observations))


def test_three_added_lines_and_never_stale() -> None:
    env = worst(num_samples=15)
    model = sb3.PPO("MlpPolicy", env, n_steps=64, batch_size=32, seed=0, device="cpu")
    assert ewok.bind(model) is model
    value = ewok.value_of(model)
    observations = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    before = value(observations)
    model.learn(128)
    with torch.no_grad():
        now = model.policy.predict_values(torch.as_tensor(observations))[:, 0].numpy()
    np.testing.assert_array_equal(value(observations), now)
    assert not np.array_equal(before, now)
    assert env.bound


def test_normalised_observations_and_rewards() -> None:
    """The value sees normalised observations, and with a discount rewards are scaled as the critic's are."""
    kernel = worst(num_samples=6, kappa=1.0, discount="agent")
    venv = VecNormalize(DummyVecEnv([lambda: kernel]))
    model = sb3.PPO("MlpPolicy", venv, n_steps=64, seed=0, device="cpu")
    ewok.bind(model)
    venv.obs_rms.mean, venv.obs_rms.var, venv.ret_rms.var = np.full(4, 0.3), np.full(4, 0.04), np.float64(16.0)
    seen: list[Any] = []
    critic = kernel._critic
    asked = critic._value  # type: ignore[union-attr]
    critic._value = lambda o: seen.append(o) or asked(o)  # type: ignore[union-attr,func-returns-value]
    kernel.reset(seed=0)
    observation, *_, info = kernel.step(0)
    index = info["ewok"]["index"]
    np.testing.assert_allclose(seen[0][index], venv.normalize_obs(observation), rtol=1e-6)
    assert critic._scale(np.array([2.0])) == pytest.approx(0.5, rel=1e-6)  # type: ignore[union-attr,misc]


def chosen_as_seen(kernel: ewok.WorstKernel) -> tuple[Any, Any]:
    """What the value saw of the candidate that came out, and what came out."""
    seen: list[Any] = []
    critic: Any = kernel._critic
    asked = critic._value
    critic._value = lambda o: seen.append(o) or asked(o)  # type: ignore[func-returns-value]
    kernel.reset(seed=0)
    observation, *_, info = kernel.step(0)
    return seen[0][info["ewok"]["index"]], observation


def test_an_environment_named_by_its_kernel_is_seen_as_the_agent_sees_it() -> None:
    """`ewok.bind(model, env)` leaves out what the model's own vector puts around `env`; the value must not."""
    kernel = worst()
    venv = VecNormalize(DummyVecEnv([lambda: gym.wrappers.TransformObservation(kernel, lambda o: 2 * o, None)]))
    model = sb3.PPO("MlpPolicy", venv, n_steps=64, seed=0, device="cpu")
    venv.obs_rms.mean, venv.obs_rms.var = np.full(4, 0.3), np.full(4, 0.04)
    for env in (kernel, venv.venv):
        ewok.bind(model, env)
        seen, observation = chosen_as_seen(kernel)
        np.testing.assert_allclose(seen, venv.normalize_obs(2 * observation), rtol=1e-5)
    with pytest.raises(WrapperError, match="`env` must show observations as PPO sees them"):
        ewok.bind(model, worst())
    other = worst()
    ewok.bind(model, VecNormalize(DummyVecEnv([lambda: other])))
    ewok.bind(ewok.value_of(model), worst())


def test_several_environments() -> None:
    kernels = [worst() for _ in range(3)]
    model = sb3.PPO(
        "MlpPolicy", DummyVecEnv([lambda k=k: k for k in kernels]), n_steps=16, batch_size=16, seed=0, device="cpu"
    )
    ewok.bind(model)
    assert all(kernel.bound for kernel in kernels)
    model.learn(96)


def test_what_is_in_the_way_is_named() -> None:
    stacked = VecFrameStack(DummyVecEnv([worst]), 2)
    with pytest.raises(WrapperError, match="`VecFrameStack` stands between"):
        ewok.bind(sb3.PPO("MlpPolicy", stacked, device="cpu"))
    apart = SubprocVecEnv([worst], start_method="fork")
    try:
        with pytest.raises(WrapperError, match="it is a SubprocVecEnv"):
            ewok.bind(sb3.PPO("MlpPolicy", apart, device="cpu"))
    finally:
        apart.close()


def test_a_bound_model_can_be_saved(tmp_path: Any) -> None:
    model = sb3.PPO("MlpPolicy", worst(), n_steps=16, batch_size=16, seed=0, device="cpu")
    ewok.bind(model)
    model.learn(16)
    model.save(tmp_path / "model")
    assert sb3.PPO.load(tmp_path / "model", device="cpu").gamma == model.gamma


def test_the_bound_agent_visits_the_bad_side_as_often_as_theory_says() -> None:
    """A network that values state 2 above state 1; the rest is arithmetic."""
    from ewok.testing import Lottery

    from ..worst.exact import expected_kernel

    env = ewok.WorstKernel(Lottery([0.5, 0.5]), num_samples=3, kappa=0.5)
    model = sb3.PPO("MlpPolicy", env, seed=3, device="cpu")
    ewok.bind(model)
    values = ewok.value_of(model)(np.array([1, 2]))
    expected = expected_kernel(np.array([0.5, 0.5]), values.astype(float), 3, lambda drawn: 0.5)
    env.reset(seed=0)
    share = np.mean([env.step(0)[0] == 1 for _ in range(5000)])
    assert share == pytest.approx(expected[0], abs=0.02)

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

from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnvWrapper, VecNormalize

from ewok.testing import Lottery

from ..worst.exact import expected_kernel

torch.set_num_threads(1)


def worst(**options: Any) -> ewok.WorstKernel:
    return ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), **({"kappa": 0.2} | options))


def pendulum(**options: Any) -> ewok.WorstKernel:
    env = ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2)
    return ewok.WorstKernel(env, **({"kappa": 0.2} | options))


def batch(model: Any, num: int = 15) -> Any:
    return np.random.default_rng(0).normal(size=(num, *model.observation_space.shape)).astype(np.float32)


@pytest.mark.parametrize("kind", ["PPO", "A2C"])
def test_actor_critics(kind: str) -> None:
    model = getattr(sb3, kind)("MlpPolicy", worst(), n_steps=64, seed=0, device="cpu")
    with torch.no_grad():
        expected = model.policy.predict_values(torch.as_tensor(batch(model)))[:, 0].numpy()
    np.testing.assert_allclose(ewok.value_of(model)(batch(model)), expected, atol=1e-5)
    assert ewok.value_of(model).discount == model.gamma  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="`soft` must be False for"):
        ewok.value_of(model, soft=True)


@pytest.mark.parametrize("width", [64, 512])
def test_value_learners_and_target_networks(width: int) -> None:
    """The same value whether numpy computes it, for narrow networks, or torch."""
    model = sb3.DQN("MlpPolicy", worst(), seed=0, device="cpu", learning_starts=10, buffer_size=100,
                    policy_kwargs={"net_arch": [width, width]})  # fmt: skip
    model.learn(60)
    with torch.no_grad():
        online = model.q_net(torch.as_tensor(batch(model))).max(1).values.numpy()
        target = model.q_net_target(torch.as_tensor(batch(model))).max(1).values.numpy()
    np.testing.assert_allclose(ewok.value_of(model)(batch(model)), online, atol=1e-5)
    np.testing.assert_allclose(ewok.value_of(model, target=True)(batch(model)), target, atol=1e-5)
    assert not np.allclose(online, target)


@pytest.mark.parametrize("kind", ["SAC", "TD3", "DDPG"])
@pytest.mark.parametrize("width", [32, 512])
def test_continuous_actions_are_valued_at_the_mean_action(kind: str, width: int) -> None:
    model = getattr(sb3, kind)("MlpPolicy", pendulum(), seed=0, device="cpu", learning_starts=10, buffer_size=100,
                               policy_kwargs={"net_arch": [width, width]})  # fmt: skip
    model.learn(14)
    tensors = torch.as_tensor(batch(model))
    for target in (False, True):
        critic = model.critic_target if target else model.critic
        actor = model.actor_target if target and kind != "SAC" else model.actor
        with torch.no_grad():
            actions = actor(tensors, deterministic=True) if kind == "SAC" else actor(tensors)
            expected = torch.cat(critic(tensors, actions), dim=1).min(dim=1).values.numpy()
        np.testing.assert_allclose(ewok.value_of(model, target=target)(batch(model)), expected, atol=1e-5)
    ewok.bind(model)
    model.learn(5)


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
    np.testing.assert_allclose(value(observations), now, atol=1e-5)
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
    asked = critic.value  # type: ignore[union-attr]
    critic.value = lambda o: seen.append(o) or asked(o)  # type: ignore[union-attr,func-returns-value]
    kernel.reset(seed=0)
    observation, *_, info = kernel.step(0)
    index = info["ewok"]["index"]
    np.testing.assert_allclose(seen[0][index], venv.normalize_obs(observation), rtol=1e-6)
    assert critic._scale(np.array([2.0])) == pytest.approx(0.5, rel=1e-6)  # type: ignore[union-attr,misc]


def chosen_as_seen(kernel: ewok.WorstKernel) -> tuple[Any, Any]:
    """What the value saw of the candidate that came out, and what came out."""
    seen: list[Any] = []
    critic: Any = kernel._critic
    asked = critic.value
    critic.value = lambda o: seen.append(o) or asked(o)  # type: ignore[func-returns-value]
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


def test_images_have_channels_where_the_policy_wants_them() -> None:
    """Candidates of an image simulator: transposed by the vector, scaled by the policy."""
    env = ewok.WorstKernel(ImageWalk(), kappa=0.2)
    model = sb3.PPO("CnnPolicy", env, n_steps=8, batch_size=8, seed=0, device="cpu")
    ewok.bind(model)
    model.learn(8)
    seen, observation = chosen_as_seen(env)
    np.testing.assert_array_equal(seen, observation.transpose(2, 0, 1))
    ewok.bind(model, env)
    images = np.stack([observation, observation // 2]).transpose(0, 3, 1, 2)
    with torch.no_grad():
        expected = model.policy.predict_values(torch.as_tensor(images))[:, 0].numpy()
    np.testing.assert_allclose(ewok.value_of(model)(images), expected, atol=1e-6)


class ImageWalk(gym.Env[Any, Any]):
    """A white column on a black picture that walks left or right, by chance."""

    observation_space = gym.spaces.Box(0, 255, (36, 36, 3), np.uint8)
    action_space = gym.spaces.Discrete(2)
    place = 18

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = 18
        return self.picture(), {}

    def picture(self) -> Any:
        shown = np.zeros((36, 36, 3), np.uint8)
        shown[:, self.place] = 255
        return shown

    def step(self, action: Any) -> Any:
        self.place = int((self.place + self.np_random.choice([-1, 1]) + action) % 36)
        return self.picture(), 1.0, False, False, {}


class DictWalk(gym.ObservationWrapper[Any, Any, Any]):
    """Observations as a dictionary, with a number of its own."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Dict(
            {"picture": env.observation_space, "column": gym.spaces.Discrete(36), "height": gym.spaces.Box(0, 1, (2,))}
        )

    def observation(self, observation: Any) -> Any:
        column = int(observation[0, :, 0].argmax())
        return {"picture": observation, "column": column, "height": np.full(2, column / 36, np.float32)}


def test_dictionaries_of_images_numbers_and_one_hot_codes() -> None:
    env = ewok.WorstKernel(DictWalk(ImageWalk()), kappa=0.2)
    model = sb3.DQN("MultiInputPolicy", env, seed=0, device="cpu", learning_starts=4, buffer_size=20)
    ewok.bind(model)
    model.learn(8)
    assert env._report["spread"] > 0.0


def test_discrete_observations_are_one_hot() -> None:
    env = ewok.WorstKernel(Lottery([0.5, 0.5]), kappa=0.5)
    model = sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=0, device="cpu")
    states = np.array([1, 2, 1])
    with torch.no_grad():
        expected = model.policy.predict_values(torch.as_tensor(states))[:, 0].numpy()
    np.testing.assert_allclose(ewok.value_of(model)(states), expected, atol=1e-6)


def test_what_is_in_the_way_is_named() -> None:
    class VecOdd(VecEnvWrapper):
        def reset(self) -> Any:
            return self.venv.reset()

        def step_wait(self) -> Any:
            return self.venv.step_wait()

    with pytest.raises(WrapperError, match="`VecOdd` stands between"):
        ewok.bind(sb3.PPO("MlpPolicy", VecOdd(DummyVecEnv([worst])), device="cpu"))
    apart = SubprocVecEnv([worst], start_method="fork")
    try:
        with pytest.raises(WrapperError, match="SubprocWorstKernel"):
            ewok.bind(sb3.PPO("MlpPolicy", apart, device="cpu"))
    finally:
        apart.close()


def test_an_agent_without_networks_is_refused() -> None:
    model = sb3.PPO("MlpPolicy", worst(), device="cpu", _init_setup_model=False)
    with pytest.raises(ArgumentError, match="`agent` must have its networks"):
        ewok.bind(model)


def test_an_agent_made_for_other_observations_is_refused() -> None:
    model = sb3.PPO("MlpPolicy", "Pendulum-v1", device="cpu")
    with pytest.raises(ArgumentError, match="`env` must be one that shows PPO what it was made for"):
        ewok.bind(model, worst())


def test_the_last_of_two_agents_is_followed_with_a_warning() -> None:
    env = worst()
    first, last = (sb3.PPO("MlpPolicy", env, seed=seed, device="cpu") for seed in (0, 1))
    ewok.bind(first)
    ewok.bind(first)
    with pytest.warns(ewok.EwokWarning, match="another PPO, and follows the one bound last"):
        ewok.bind(last)
    assert env.critic.owner is last  # type: ignore[union-attr]


def test_an_agent_that_moves_on_is_to_be_bound_again() -> None:
    model = sb3.PPO("MlpPolicy", worst(), n_steps=16, batch_size=16, device="cpu")
    ewok.bind(model)
    model.set_env(worst())
    with pytest.warns(ewok.EwokWarning, match=r"now learns in this one.*Call `ewok.bind\(agent\)` again"):
        model.learn(16)


def test_an_agent_loaded_in_place_of_the_bound_one_is_to_be_bound(tmp_path: Any) -> None:
    env = worst()
    model = sb3.PPO("MlpPolicy", env, n_steps=500, batch_size=500, n_epochs=1, device="cpu")
    ewok.bind(model)
    model.save(tmp_path / "model")
    loaded = sb3.PPO.load(tmp_path / "model", env=env, device="cpu")
    with pytest.warns(ewok.EwokWarning, match="that did not learn from them"):
        loaded.learn(2_500)


def test_learning_itself_warns_of_nothing() -> None:
    model = sb3.PPO("MlpPolicy", worst(), n_steps=500, batch_size=500, n_epochs=1, device="cpu")
    ewok.bind(model)
    model.learn(2_500)


def test_evaluation_stays_nominal() -> None:
    env, nominal = worst(), worst()
    model = sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=16, seed=0, device="cpu")
    ewok.bind(model)
    model.learn(
        32, callback=EvalCallback(DummyVecEnv([lambda: Monitor(nominal)]), eval_freq=16, n_eval_episodes=1, verbose=0)
    )
    assert env.bound
    assert not nominal.bound


def test_a_bound_model_can_be_saved(tmp_path: Any) -> None:
    model = sb3.PPO("MlpPolicy", worst(), n_steps=16, batch_size=16, seed=0, device="cpu")
    ewok.bind(model)
    model.learn(16)
    model.save(tmp_path / "model")
    loaded = sb3.PPO.load(tmp_path / "model", device="cpu")
    np.testing.assert_array_equal(ewok.value_of(loaded)(batch(model)), ewok.value_of(model)(batch(model)))


def test_the_bound_agent_visits_the_bad_side_as_often_as_theory_says() -> None:
    """A network that values state 2 above state 1; the rest is arithmetic."""
    env = ewok.WorstKernel(Lottery([0.5, 0.5]), num_samples=3, kappa=0.5)
    model = sb3.PPO("MlpPolicy", env, seed=3, device="cpu")
    ewok.bind(model)
    values = ewok.value_of(model)(np.array([1, 2]))
    expected = expected_kernel(np.array([0.5, 0.5]), values.astype(float), 3, lambda drawn: 0.5)
    env.reset(seed=0)
    share = np.mean([env.step(0)[0] == 1 for _ in range(5000)])
    assert share == pytest.approx(expected[0], abs=0.02)

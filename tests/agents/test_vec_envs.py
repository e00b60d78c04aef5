"""Stable-Baselines3's vectors: the value sees of a candidate exactly what the agent sees of it afterwards."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw

import ewok
from ewok.errors import WrapperError

from .worlds import DictWalk, ImageWalk, Spied, cartpole, needs

torch = needs("torch", "sb3")
sb3 = needs("stable_baselines3", "sb3")

from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecEnvWrapper,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
    VecTransposeImage,
)
from stable_baselines3.common.vec_env.vec_extract_dict_obs import VecExtractDictObs

from ewok.testing import Lottery

torch.set_num_threads(1)


def test_normalised_observations_and_rewards() -> None:
    """The value sees normalised observations, and with a discount rewards are scaled as the critic's are."""
    kernel = cartpole(num_samples=6, kappa=1.0, discount="agent")
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
    kernel = cartpole()
    venv = VecNormalize(DummyVecEnv([lambda: gym.wrappers.TransformObservation(kernel, lambda o: 2 * o, None)]))
    model = sb3.PPO("MlpPolicy", venv, n_steps=64, seed=0, device="cpu")
    venv.obs_rms.mean, venv.obs_rms.var = np.full(4, 0.3), np.full(4, 0.04)
    for env in (kernel, venv.venv):
        ewok.bind(model, env)
        seen, observation = chosen_as_seen(kernel)
        np.testing.assert_allclose(seen, venv.normalize_obs(2 * observation), rtol=1e-5)
    with pytest.raises(WrapperError, match="`env` must show observations as PPO sees them"):
        ewok.bind(model, cartpole())
    other = gym.wrappers.TransformObservation(cartpole(), lambda o: 2 * o, None)
    ewok.bind(model, VecNormalize(DummyVecEnv([lambda: other])))
    with pytest.raises(WrapperError, match="where it learns, through TransformObservation, but it has no such"):
        ewok.bind(model, VecNormalize(DummyVecEnv([cartpole])))
    ewok.bind(ewok.value_of(model), cartpole())


def test_an_agent_that_learned_in_other_processes_is_bound_elsewhere() -> None:
    """And never stands in the way of environments that have nothing to do with it."""
    apart = SubprocVecEnv([lambda: gym.make("CartPole-v1")], start_method="fork")
    try:
        model = sb3.PPO("MlpPolicy", apart, n_steps=8, batch_size=8, device="cpu")
        elsewhere = cartpole()
        ewok.bind(model, elsewhere)
        assert elsewhere.bound
        with pytest.raises(WrapperError, match="through VecNormalize, but it has no such wrapper"):
            ewok.bind(sb3.PPO("MlpPolicy", VecNormalize(apart), device="cpu"), cartpole())
        model.set_env(DummyVecEnv([cartpole]))
        ewok.bind(model)
        model.set_env(apart, force_reset=False)
        cartpole().reset(seed=0)
    finally:
        apart.close()


def test_an_agent_in_a_vector_that_nobody_knows_is_bound_by_its_value() -> None:
    model = sb3.PPO("MlpPolicy", VecOdd(DummyVecEnv([lambda: gym.make("CartPole-v1")])), device="cpu")
    with pytest.raises(WrapperError, match=r"not known. `VecOdd` stands .*: ewok.bind\(ewok.value_of\(agent\), env\)"):
        ewok.bind(model, cartpole())
    ewok.bind(ewok.value_of(model), cartpole())


def test_several_environments() -> None:
    kernels = [cartpole() for _ in range(3)]
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


def test_dictionaries_of_images_numbers_and_one_hot_codes() -> None:
    env = ewok.WorstKernel(DictWalk(ImageWalk()), kappa=0.2)
    model = sb3.DQN("MultiInputPolicy", env, seed=0, device="cpu", learning_starts=4, buffer_size=20)
    ewok.bind(model)
    model.learn(8)
    assert env._report["spread"] > 0.0


class VecOdd(VecEnvWrapper):
    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        return self.venv.step_wait()


def test_what_is_in_the_way_is_named() -> None:
    with pytest.raises(WrapperError, match="`VecOdd` stands between"):
        ewok.bind(sb3.PPO("MlpPolicy", VecOdd(DummyVecEnv([cartpole])), device="cpu"))
    apart = SubprocVecEnv([cartpole], start_method="fork")
    try:
        with pytest.raises(WrapperError, match="SubprocWorstKernel"):
            ewok.bind(sb3.PPO("MlpPolicy", apart, device="cpu"))
    finally:
        apart.close()


def settled(venv: Any) -> VecNormalize:
    """Statistics far from where they began, that do not move any more: else each step would be seen by later ones."""
    normal = VecNormalize(venv, training=False)
    if isinstance(normal.obs_rms, dict):
        for statistics in normal.obs_rms.values():
            statistics.mean, statistics.var = statistics.mean + 0.1, statistics.var * 0.3
    else:
        normal.obs_rms.mean, normal.obs_rms.var = normal.obs_rms.mean + 0.1, normal.obs_rms.var * 0.3
    return normal


def pictures() -> ewok.WorstKernel:
    return ewok.WorstKernel(ImageWalk(), kappa=0.2)


def dictionaries() -> ewok.WorstKernel:
    return ewok.WorstKernel(DictWalk(ImageWalk()), kappa=0.2)


def lottery() -> ewok.WorstKernel:
    return ewok.WorstKernel(Lottery([0.3, 0.3, 0.4]), kappa=0.2)


def above(wrap: Any) -> Any:
    return lambda: wrap(cartpole())


def below(wrap: Any) -> Any:
    return lambda: ewok.WorstKernel(wrap(gym.make("ewok/NoisyCartPole-v1")), kappa=0.2)


def same(venv: Any) -> Any:
    return venv


def bounded(env: Any) -> Any:
    inside = gw.TransformObservation(env, lambda o: np.clip(o, -9, 9), gym.spaces.Box(-9, 9, (4,)))
    return gw.RescaleObservation(inside, np.float32(-1), np.float32(1))


def doubled(env: Any) -> Any:
    return gw.TransformObservation(env, lambda o: 2 * o, env.observation_space)


STACKS: dict[str, tuple[Any, Any, str]] = {
    "nothing": (cartpole, same, "MlpPolicy"),
    "VecNormalize": (cartpole, settled, "MlpPolicy"),
    "VecFrameStack": (cartpole, lambda venv: VecFrameStack(venv, 3), "MlpPolicy"),
    "VecNormalize, VecFrameStack, VecMonitor": (
        cartpole,
        lambda venv: VecMonitor(VecFrameStack(settled(venv), 2)),
        "MlpPolicy",
    ),
    "VecTransposeImage": (pictures, same, "CnnPolicy"),  # put there by the library
    "VecFrameStack of images": (pictures, lambda venv: VecFrameStack(venv, 2), "CnnPolicy"),
    "VecFrameStack, channels first": (
        pictures,
        lambda venv: VecFrameStack(VecTransposeImage(venv), 2),
        "CnnPolicy",
    ),
    "dictionaries": (dictionaries, same, "MultiInputPolicy"),
    "VecNormalize of dictionaries": (
        dictionaries,
        lambda venv: settled_key(venv, "height"),
        "MultiInputPolicy",
    ),
    "VecExtractDictObs": (dictionaries, lambda venv: VecExtractDictObs(venv, "height"), "MlpPolicy"),
    "discrete": (lottery, same, "MlpPolicy"),
    "FlattenObservation": (lambda: gw.FlattenObservation(lottery()), same, "MlpPolicy"),
    "FlattenObservation of dictionaries": (lambda: gw.FlattenObservation(dictionaries()), same, "MlpPolicy"),
    "RescaleObservation": (above(bounded), same, "MlpPolicy"),
    "TransformObservation": (above(doubled), same, "MlpPolicy"),
    "FrameStackObservation": (above(lambda env: gw.FrameStackObservation(env, 3)), same, "MlpPolicy"),
    "NormalizeObservation": (above(gw.NormalizeObservation), same, "MlpPolicy"),
    "all of them, above": (
        above(lambda env: gw.FrameStackObservation(gw.NormalizeObservation(doubled(bounded(env))), 2)),
        settled,
        "MlpPolicy",
    ),
    "all of them, below": (
        below(lambda env: gw.FrameStackObservation(gw.NormalizeObservation(doubled(bounded(env))), 2)),
        settled,
        "MlpPolicy",
    ),
}


def settled_key(venv: Any, key: str) -> VecNormalize:
    normal = VecNormalize(venv, training=False, norm_obs_keys=[key])
    normal.obs_rms[key].mean, normal.obs_rms[key].var = normal.obs_rms[key].mean + 0.1, normal.obs_rms[key].var * 0.3
    return normal


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.filterwarnings("ignore:.*make sure the observation space")
def test_the_value_of_a_candidate_is_what_the_critic_says_of_it_once_it_is_there(name: str) -> None:
    """PPO keeps its critic's values of what it observes: those of the candidates that were chosen must be the same."""
    make, wrap, policy = STACKS[name]
    num_steps, num_envs = 24, 2
    vector = wrap(DummyVecEnv([make] * num_envs))
    options = {"n_steps": num_steps, "batch_size": num_steps, "n_epochs": 1, "seed": 0, "device": "cpu"}
    model = sb3.PPO(policy, vector, policy_kwargs=SMALL[policy], **options)
    ewok.bind(model)
    spied = Spied(model)
    model.learn(num_steps * num_envs)
    values = model.rollout_buffer.values.reshape(num_envs, num_steps).T  # flat since it was learned from
    starts = model.rollout_buffer.episode_starts
    said = np.array(spied.said).T
    lived = starts[1:] == 0.0  # an episode's first observation is of a reset
    assert lived.sum() > num_steps
    np.testing.assert_allclose(said[:-1][lived], values[1:][lived], atol=2e-5)
    assert np.std(said) > 1e-4, "these values tell nothing apart"


SMALL: dict[str, Any] = {
    "MlpPolicy": {},
    "CnnPolicy": {"features_extractor_kwargs": {"features_dim": 32}},
    "MultiInputPolicy": {"features_extractor_kwargs": {"cnn_output_dim": 32}},
}

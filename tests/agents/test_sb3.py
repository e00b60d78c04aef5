"""Stable-Baselines3: V of each agent against the library's own computation, and what may befall a bound agent."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError, WrapperError

from .worlds import (
    BAD,
    GOOD,
    assert_never_stale,
    batch,
    cartpole,
    coin,
    needs,
    pendulum,
    share_in_theory,
    share_of_bad_sides,
)

torch = needs("torch", "sb3")
sb3 = needs("stable_baselines3", "sb3")

from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from ewok.testing import Lottery

torch.set_num_threads(1)

OFF_POLICY = {"learning_starts": 10, "buffer_size": 100, "batch_size": 16, "seed": 0, "device": "cpu"}
WIDTHS = (32, 512)  # numpy computes narrow networks, torch wide ones


def on_policy(kind: str, **options: Any) -> Any:
    steps = {"n_steps": 16} | ({"batch_size": 8} if kind == "PPO" else {})
    return getattr(sb3, kind)("MlpPolicy", cartpole(), seed=0, device="cpu", **(steps | options))


@pytest.mark.parametrize("kind", ["PPO", "A2C"])
@pytest.mark.parametrize("width", WIDTHS)
def test_actor_critics(kind: str, width: int) -> None:
    model = on_policy(kind, policy_kwargs={"net_arch": [width, width]})
    assert ewok.bind(model) is model

    def expected(observations: Any) -> Any:
        with torch.no_grad():
            return model.policy.predict_values(torch.as_tensor(observations))[:, 0].numpy()

    value = ewok.value_of(model)
    assert_never_stale(model, value, expected, [lambda: model.learn(16, reset_num_timesteps=False)] * 4)
    assert value.discount == model.gamma  # type: ignore[attr-defined]
    for option in ("soft", "target"):
        with pytest.raises(ArgumentError, match=f"`{option}` must be False for {kind}"):
            ewok.value_of(model, **{option: True})


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("target", [False, True])
def test_value_learners(width: int, target: bool) -> None:
    options = OFF_POLICY | {"target_update_interval": 3, "policy_kwargs": {"net_arch": [width, width]}}
    model = sb3.DQN("MlpPolicy", cartpole(), **options)
    ewok.bind(model, target=target)
    model.learn(20)

    def expected(observations: Any) -> Any:
        net = model.q_net_target if target else model.q_net
        with torch.no_grad():
            return net(torch.as_tensor(observations)).max(dim=1).values.numpy()

    updates = [lambda: model.learn(4, reset_num_timesteps=False)] * 4
    assert_never_stale(model, ewok.value_of(model, target=target), expected, updates)
    assert not np.allclose(ewok.value_of(model)(batch(model)), ewok.value_of(model, target=True)(batch(model)))
    with pytest.raises(ArgumentError, match="`soft` must be False for DQN"):
        ewok.value_of(model, soft=True)


def replaced(model: Any, *path: str) -> Any:
    """An update that puts a new layer of the same shape in the place of the one at this path of the policy."""

    def update() -> None:
        parent = model.policy
        for name in path[:-1]:
            parent = parent._modules[name]
        old = parent._modules[path[-1]]
        parent._modules[path[-1]] = torch.nn.Linear(old.in_features, old.out_features)

    return update


@pytest.mark.parametrize("width", WIDTHS)
def test_a_layer_that_takes_anothers_place_is_followed(width: int) -> None:
    options: Any = {"policy_kwargs": {"net_arch": [width]}, "device": "cpu"}
    actor_critic, learner = sb3.PPO("MlpPolicy", cartpole(), **options), sb3.DQN("MlpPolicy", cartpole(), **options)
    continuous = sb3.SAC("MlpPolicy", pendulum(), **options)

    def v(observations: Any) -> Any:
        return actor_critic.policy.predict_values(torch.as_tensor(observations)).detach().numpy()[:, 0]

    def best_q(observations: Any) -> Any:
        return learner.policy.q_net(torch.as_tensor(observations)).detach().numpy().max(axis=1)

    def least(observations: Any) -> Any:
        tensors, policy = torch.as_tensor(observations), continuous.policy
        both = policy.critic(tensors, policy.actor(tensors, deterministic=True))
        return torch.cat(both, dim=1).min(dim=1).values.detach().numpy()

    first = replaced(actor_critic, "mlp_extractor", "value_net", "0")
    assert_never_stale(actor_critic, ewok.value_of(actor_critic), v, [replaced(actor_critic, "value_net"), first])
    last = replaced(learner, "q_net", "q_net", "2")
    assert_never_stale(learner, ewok.value_of(learner), best_q, [last, last])
    mean, one, other = (replaced(continuous, *path.split(".")) for path in ("actor.mu", "critic.qf0.0", "critic.qf1.0"))
    assert_never_stale(continuous, ewok.value_of(continuous), least, [mean, lambda: (one(), other())])


@pytest.mark.parametrize("kind", ["SAC", "TD3", "DDPG"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("target", [False, True])
def test_continuous_actions_are_valued_at_the_mean_action(kind: str, width: int, target: bool) -> None:
    options = OFF_POLICY | {"policy_kwargs": {"net_arch": [width, width]}}
    model = getattr(sb3, kind)("MlpPolicy", pendulum(), **options)
    ewok.bind(model, target=target)
    model.learn(14)

    def expected(observations: Any) -> Any:
        tensors, critic = torch.as_tensor(observations), model.critic_target if target else model.critic
        with torch.no_grad():
            if kind == "SAC":
                actions = model.actor(tensors, deterministic=True)
            else:
                actions = (model.actor_target if target else model.actor)(tensors)
            return torch.cat(critic(tensors, actions), dim=1).min(dim=1).values.numpy()

    assert_never_stale(model, ewok.value_of(model, target=target), expected, [lambda: model.train(2, 16)] * 3)
    assert not np.allclose(ewok.value_of(model)(batch(model)), ewok.value_of(model, target=True)(batch(model)))


def by_hand(layers: Any) -> None:
    """Linear critics that say GOOD of [0, 0, 1] and BAD of [0, 1, 0], whatever the action."""
    for layer in layers.modules():
        if isinstance(layer, torch.nn.Linear):
            with torch.no_grad():
                layer.weight.zero_(), layer.bias.zero_()
                layer.weight[:, 1], layer.weight[:, 2] = BAD, GOOD


@pytest.mark.parametrize("kind", ["PPO", "A2C", "DQN", "SAC", "TD3", "DDPG"])
def test_the_bad_side_is_visited_as_often_as_theory_says(kind: str) -> None:
    continuous = kind in ("SAC", "TD3", "DDPG")
    widths: Any = {"pi": [4], "qf": []} if continuous else []
    options = {"buffer_size": 10} if kind not in ("PPO", "A2C") else {}
    model = getattr(sb3, kind)(
        "MlpPolicy", coin(continuous), policy_kwargs={"net_arch": widths}, device="cpu", **options
    )
    by_hand(model.critic if continuous else model.q_net if kind == "DQN" else model.policy.value_net)
    value = ewok.value_of(model)
    np.testing.assert_allclose(value(np.eye(3, dtype=np.float32)[1:]), [BAD, GOOD], atol=1e-6)
    assert share_of_bad_sides(value, coin()) == pytest.approx(share_in_theory(), abs=0.02)


def test_an_agent_without_an_environment_is_bound_to_one() -> None:
    """A loaded agent has none; neither does its value function."""
    model, env = on_policy("PPO"), cartpole()
    model.env = None
    with pytest.raises(ArgumentError, match="`env` must be given"):
        ewok.bind(model)
    ewok.bind(model, env)
    assert env.bound
    ewok.bind(ewok.value_of(model), cartpole())


def test_an_agent_given_another_policy_is_to_be_bound_again() -> None:
    model = on_policy("PPO")
    value = ewok.value_of(model)
    model.policy = on_policy("PPO").policy
    with pytest.raises(ArgumentError, match=r"was given another since. Bind the agent again: ewok.bind\(agent\)"):
        value(batch(model))


def test_an_agent_of_a_closed_environment_still_has_values() -> None:
    model = on_policy("PPO")
    before = ewok.value_of(model)(batch(model))
    model.get_env().close()
    np.testing.assert_array_equal(ewok.value_of(model)(batch(model)), before)


def test_discrete_observations_are_one_hot() -> None:
    env = ewok.WorstKernel(Lottery([0.5, 0.5]), kappa=0.5)
    model = sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=0, device="cpu")
    states = np.array([1, 2, 1])
    with torch.no_grad():
        expected = model.policy.predict_values(torch.as_tensor(states))[:, 0].numpy()
    np.testing.assert_allclose(ewok.value_of(model)(states), expected, atol=1e-6)


def test_an_agent_without_networks_is_refused() -> None:
    model = sb3.PPO("MlpPolicy", cartpole(), device="cpu", _init_setup_model=False)
    with pytest.raises(ArgumentError, match="`agent` must have its networks"):
        ewok.bind(model)


def test_an_agent_made_for_other_observations_is_refused() -> None:
    model = sb3.PPO("MlpPolicy", "Pendulum-v1", device="cpu")
    with pytest.raises(ArgumentError, match="`env` must be one that shows PPO what it was made for"):
        ewok.bind(model, cartpole())


def test_an_agent_made_for_other_actions_is_refused() -> None:
    class Third(gym.ActionWrapper[Any, Any, Any]):
        action_space = gym.spaces.Discrete(3)

        def action(self, action: Any) -> Any:
            return min(action, 1)

    model = on_policy("PPO")
    with pytest.raises(ArgumentError, match=r"`env` must be one that takes the actions of PPO, Discrete\(2\)"):
        ewok.bind(model, Third(cartpole()))
    scaled = gym.wrappers.RescaleAction(pendulum(), np.float32(-1), np.float32(1))
    ewok.bind(sb3.PPO("MlpPolicy", scaled, device="cpu"), pendulum())


def test_an_agent_is_not_bound_without_what_it_sees_through() -> None:
    model = sb3.PPO("MlpPolicy", gym.wrappers.NormalizeObservation(gym.make("CartPole-v1")), device="cpu")
    with pytest.raises(WrapperError, match="as PPO sees them where it learns, through NormalizeObservation"):
        ewok.bind(model, cartpole())
    ewok.bind(model, gym.wrappers.NormalizeObservation(cartpole()))
    ewok.bind(ewok.value_of(model), cartpole())


def test_an_agent_is_tested_elsewhere_without_a_warning() -> None:
    """For as long as one likes: that it does not learn there is meant."""
    model, env = on_policy("PPO"), cartpole(num_samples=2)
    ewok.bind(model, env)
    run(env, 1_100)


def test_the_clock_of_an_agent_may_start_over() -> None:
    model = sb3.PPO("MlpPolicy", cartpole(num_samples=2), n_steps=500, batch_size=500, n_epochs=1, device="cpu")
    ewok.bind(model)
    for _ in range(4):
        model.learn(500)


def run(env: Any, num_steps: int) -> None:
    env.reset(seed=0)
    for _ in range(num_steps):
        if any(env.step(env.action_space.sample())[2:4]):
            env.reset()


def test_the_last_of_two_agents_is_followed_with_a_warning() -> None:
    env = cartpole()
    first, last = (sb3.PPO("MlpPolicy", env, seed=seed, device="cpu") for seed in (0, 1))
    ewok.bind(first)
    ewok.bind(first)
    with pytest.warns(ewok.EwokWarning, match="another PPO, and follows the one bound last"):
        ewok.bind(last)
    assert env.critic.owner is last  # type: ignore[union-attr]


def test_an_agent_that_moves_on_is_to_be_bound_again() -> None:
    model = sb3.PPO("MlpPolicy", cartpole(), n_steps=16, batch_size=16, device="cpu")
    ewok.bind(model)
    model.set_env(cartpole())
    with pytest.warns(ewok.EwokWarning, match=r"now learns in this one.*Call `ewok.bind\(agent\)` again"):
        model.learn(16)


def test_an_agent_loaded_in_place_of_the_bound_one_is_to_be_bound(tmp_path: Any) -> None:
    env = cartpole()
    model = sb3.PPO("MlpPolicy", env, n_steps=500, batch_size=500, n_epochs=1, device="cpu")
    ewok.bind(model)
    model.save(tmp_path / "model")
    loaded = sb3.PPO.load(tmp_path / "model", env=env, device="cpu")
    with pytest.warns(ewok.EwokWarning, match="that did not learn from them"):
        loaded.learn(2_500)


def test_learning_itself_warns_of_nothing() -> None:
    model = sb3.PPO("MlpPolicy", cartpole(), n_steps=500, batch_size=500, n_epochs=1, device="cpu")
    ewok.bind(model)
    model.learn(2_500)


def test_evaluation_stays_nominal() -> None:
    env, nominal = cartpole(), cartpole()
    model = sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=16, seed=0, device="cpu")
    ewok.bind(model)
    model.learn(
        32, callback=EvalCallback(DummyVecEnv([lambda: Monitor(nominal)]), eval_freq=16, n_eval_episodes=1, verbose=0)
    )
    assert env.bound
    assert not nominal.bound


def test_a_bound_model_can_be_saved(tmp_path: Any) -> None:
    model = sb3.PPO("MlpPolicy", cartpole(), n_steps=16, batch_size=16, seed=0, device="cpu")
    ewok.bind(model)
    model.learn(16)
    model.save(tmp_path / "model")
    loaded = sb3.PPO.load(tmp_path / "model", device="cpu")
    np.testing.assert_array_equal(ewok.value_of(loaded)(batch(model)), ewok.value_of(model)(batch(model)))

"""The entropy-regularised value, E_a[min_i Q_i(s, a) - alpha log pi(a | s)]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError

from .worlds import assert_never_stale, batch, needs, pendulum

torch = needs("torch", "sb3")
sb3 = needs("stable_baselines3", "sb3")
contrib = needs("sb3_contrib", "sb3")

from ewok.agents.soft import stratified_normals

torch.set_num_threads(1)

OPTIONS = {"learning_starts": 10, "buffer_size": 100, "batch_size": 16, "seed": 0, "device": "cpu"}


def agent(kind: str, **options: Any) -> Any:
    library = sb3 if kind == "SAC" else contrib
    return getattr(library, kind)("MlpPolicy", pendulum(), policy_kwargs={"net_arch": [32]}, **(OPTIONS | options))


def q(model: Any, observations: Any, actions: Any) -> Any:
    critic = model.critic(observations, actions)
    if isinstance(critic, tuple):
        return torch.cat(critic, dim=1).min(dim=1).values
    return critic.mean(dim=2).min(dim=1).values  # TQC's quantiles


def by_many_draws(model: Any, observations: Any, num: int = 4000) -> Any:
    """The same expectation, by the library's own sampler and its own log-probabilities."""
    torch.manual_seed(0)
    model.policy.set_training_mode(False)
    alpha = model.log_ent_coef.exp() if model.log_ent_coef is not None else model.ent_coef_tensor
    with torch.no_grad():
        many = torch.as_tensor(observations).repeat_interleave(num, dim=0)
        actions, log_pi = model.actor.action_log_prob(many)
        soft = q(model, many, actions) - alpha * log_pi
    return soft.reshape(len(observations), num).mean(dim=1).numpy()


@pytest.mark.parametrize("kind", ["SAC", "TQC", "CrossQ"])
@pytest.mark.parametrize("ent_coef", ["auto_0.5", 0.3])
def test_agrees_with_many_draws_of_the_librarys_own(kind: str, ent_coef: Any) -> None:
    model = agent(kind, ent_coef=ent_coef)
    ewok.bind(model, soft=True)
    model.learn(16)
    observations = batch(model, 6)
    value = ewok.value_of(model, soft=True)
    np.testing.assert_allclose(value(observations), by_many_draws(model, observations), atol=0.04)
    np.testing.assert_array_equal(value(observations), value(observations))
    assert np.abs(value(observations) - ewok.value_of(model)(observations)).max() > 0.05


@pytest.mark.parametrize("num_dims", [1, 6])
def test_the_points_that_stand_for_the_noise_have_its_moments(num_dims: int) -> None:
    points = stratified_normals(num_dims)
    assert points.shape == (16, num_dims)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose((points**2).mean(axis=0), 1.0, atol=1e-6)
    assert len({tuple(np.sort(column)) for column in points.T}) == 1, "every dimension has the same quantiles"


def test_a_narrow_actor_without_entropy_gives_the_value_at_the_mean_action() -> None:
    model = agent("SAC", ent_coef=0.0)
    with torch.no_grad():
        model.actor.log_std.weight.zero_()
        model.actor.log_std.bias.fill_(-12.0)
    observations = batch(model, 6)
    hard, soft = ewok.value_of(model), ewok.value_of(model, soft=True)
    np.testing.assert_allclose(soft(observations), hard(observations), atol=1e-4)


def test_follows_the_temperature_and_the_networks() -> None:
    model = agent("SAC", learning_rate=1e-2)
    model.learn(14)
    value = ewok.value_of(model, soft=True, target=True)
    before = value(batch(model))
    with torch.no_grad():
        model.log_ent_coef += 1.0
    assert np.abs(value(batch(model)) - before).max() > 0.1

    def again(observations: Any) -> Any:
        return ewok.value_of(model, soft=True, target=True)(observations)

    assert_never_stale(model, value, again, [lambda: model.train(1, 16)] * 3)


def test_equal_states_have_equal_values_in_any_company() -> None:
    model = agent("SAC")
    value, observations = ewok.value_of(model, soft=True), batch(model, 5)
    np.testing.assert_allclose(value(observations)[2:3], value(observations[2:3]), atol=1e-6)
    assert len(set(value(np.repeat(observations[:1], 7, axis=0)).round(5))) == 1


def test_state_dependent_exploration_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"`soft` must be False for an actor with state-dependent exploration"):
        ewok.value_of(agent("SAC", use_sde=True), soft=True)
    model = agent("SAC", use_sde=True)
    tensors = torch.as_tensor(batch(model))
    with torch.no_grad():
        expected = q(model, tensors, model.actor(tensors, deterministic=True)).numpy()
    np.testing.assert_allclose(ewok.value_of(model)(batch(model)), expected, atol=1e-5)

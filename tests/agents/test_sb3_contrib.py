"""sb3-contrib: V of each agent against the library's own computation, and as theory says on a coin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError

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
contrib = needs("sb3_contrib", "sb3")

from sb3_contrib.common.wrappers import ActionMasker

torch.set_num_threads(1)

OFF_POLICY = {"learning_starts": 10, "buffer_size": 100, "batch_size": 16, "seed": 0, "device": "cpu"}


def continuous(kind: str, width: int = 32, **options: Any) -> Any:
    kwargs = {"net_arch": [width, width]}
    return getattr(contrib, kind)("MlpPolicy", pendulum(), policy_kwargs=kwargs, **(OFF_POLICY | options))


def always_free(env: Any) -> Any:
    return np.array([True, True])


def masked(**options: Any) -> Any:
    env = ActionMasker(cartpole(), always_free)
    return contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=16, seed=0, device="cpu", **options)


def trpo(**options: Any) -> Any:
    return contrib.TRPO("MlpPolicy", cartpole(), n_steps=32, batch_size=16, seed=0, device="cpu", **options)


@pytest.mark.parametrize("make", [trpo, masked])
@pytest.mark.parametrize("width", [64, 512])
def test_actor_critics(make: Any, width: int) -> None:
    model = make(policy_kwargs={"net_arch": [width, width]})
    ewok.bind(model)

    def expected(observations: Any) -> Any:
        with torch.no_grad():
            return model.policy.predict_values(torch.as_tensor(observations))[:, 0].numpy()

    updates = [lambda: model.learn(32, reset_num_timesteps=False)] * 3
    assert_never_stale(model, ewok.value_of(model), expected, updates)
    for option in ("soft", "target"):
        with pytest.raises(ArgumentError, match=f"`{option}` must be False for"):
            ewok.value_of(model, **{option: True})


@pytest.mark.parametrize("target", [False, True])
def test_quantile_learners(target: bool) -> None:
    model = contrib.QRDQN("MlpPolicy", cartpole(), target_update_interval=5, **OFF_POLICY)
    ewok.bind(model, target=target)
    model.learn(20)

    def expected(observations: Any) -> Any:
        net = model.quantile_net_target if target else model.quantile_net
        with torch.no_grad():
            return net(torch.as_tensor(observations)).mean(dim=1).max(dim=1).values.numpy()

    updates = [lambda: model.learn(20, reset_num_timesteps=False)] * 3
    assert_never_stale(model, ewok.value_of(model, target=target), expected, updates)
    with pytest.raises(ArgumentError, match="`soft` must be False for QRDQN"):
        ewok.value_of(model, soft=True)


@pytest.mark.parametrize("target", [False, True])
def test_tqc_values_the_mean_action_by_the_least_mean_of_quantiles(target: bool) -> None:
    model = continuous("TQC")
    ewok.bind(model, target=target)
    model.learn(20)

    def expected(observations: Any) -> Any:
        tensors, critic = torch.as_tensor(observations), model.critic_target if target else model.critic
        with torch.no_grad():
            quantiles = critic(tensors, model.actor(tensors, deterministic=True))  # (batch, critics, quantiles)
        return quantiles.mean(dim=2).min(dim=1).values.numpy()

    updates = [lambda: model.train(1, 16)] * 3
    assert_never_stale(model, ewok.value_of(model, target=target), expected, updates)


def test_crossq_is_asked_in_evaluation_mode() -> None:
    """Batch statistics are those of learning: being asked neither uses nor moves those of the candidates."""
    model = continuous("CrossQ")
    ewok.bind(model)
    model.learn(20)

    def expected(observations: Any) -> Any:
        model.policy.set_training_mode(False)
        tensors = torch.as_tensor(observations)
        with torch.no_grad():
            values = torch.cat(model.critic(tensors, model.actor(tensors, deterministic=True)), dim=1)
        model.policy.set_training_mode(True)
        return values.min(dim=1).values.numpy()

    value = ewok.value_of(model)
    assert_never_stale(model, value, expected, [lambda: model.train(1, 16)] * 3)
    model.policy.set_training_mode(True)
    before = {name: tensor.clone() for name, tensor in model.policy.state_dict().items()}
    value(batch(model))
    assert all(torch.equal(before[name], tensor) for name, tensor in model.policy.state_dict().items())
    assert model.policy.training
    with pytest.raises(ArgumentError, match="`target` must be False for CrossQ"):
        ewok.value_of(model, target=True)


def test_ars_is_refused_with_the_reason() -> None:
    model = contrib.ARS("MlpPolicy", "CartPole-v1", device="cpu")
    with pytest.raises(ArgumentError, match=r"ARS searches over policies and has none.*ewok.bind\(value, env\)"):
        ewok.value_of(model)
    with pytest.raises(ArgumentError, match="`agent` must have a critic"):
        ewok.bind(model, cartpole())
    ewok.bind(lambda observations: -abs(observations[:, 0]), cartpole())


def by_hand(layer: Any) -> None:
    """Every output of the linear layer is GOOD at [0, 0, 1] and BAD at [0, 1, 0]; further inputs do not count."""
    with torch.no_grad():
        layer.weight.zero_(), layer.bias.zero_()
        layer.weight[:, 1], layer.weight[:, 2] = BAD, GOOD


def on_a_coin(kind: str) -> Any:
    """An agent whose critic is linear, with weights set by hand."""
    learner = kind in ("QRDQN", "TQC", "CrossQ")
    widths: Any = {"pi": [4], "qf": []} if kind in ("TQC", "CrossQ") else []
    options = {"policy_kwargs": {"net_arch": widths}, "device": "cpu"} | ({"buffer_size": 10} if learner else {})
    model = getattr(contrib, kind)("MlpPolicy", coin(continuous=isinstance(widths, dict)), **options)
    critics = {
        "QRDQN": lambda: model.quantile_net.quantile_net,
        "TQC": lambda: torch.nn.ModuleList(model.critic.q_networks),
        "CrossQ": lambda: torch.nn.ModuleList(model.critic.q_networks),
    }.get(kind, lambda: model.policy.value_net)()
    for layer in critics.modules():
        if isinstance(layer, torch.nn.Linear):
            by_hand(layer)
    return model


@pytest.mark.parametrize("kind", ["TRPO", "MaskablePPO", "QRDQN", "TQC", "CrossQ"])
def test_the_bad_side_is_visited_as_often_as_theory_says(kind: str) -> None:
    value = ewok.value_of(on_a_coin(kind))
    np.testing.assert_allclose(value(np.eye(3, dtype=np.float32)[1:]), [BAD, GOOD], atol=1e-3)
    assert share_of_bad_sides(value, coin()) == pytest.approx(share_in_theory(), abs=0.02)

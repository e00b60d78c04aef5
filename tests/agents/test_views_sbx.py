"""Networks of SBX in numpy: the same values as JAX's, of those alone whose layers tell all that they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok

from .worlds import cartpole, needs, pendulum

needs("torch", "sb3")
sbx = needs("sbx", "sbx")
nn = pytest.importorskip("flax.linen")

from sbx.common.policies import SquashedGaussianActor

from ewok.agents.views_sbx import MOST_ROWS


def value_of(kind: str = "SAC", target: bool = False, **policy: Any) -> Any:
    env = pendulum() if kind in ("SAC", "TD3") else cartpole()
    options: dict[str, Any] = {"n_steps": 16, "batch_size": 16} if kind == "PPO" else {"buffer_size": 200}
    model = getattr(sbx, kind)("MlpPolicy", env, policy_kwargs={"net_arch": [24, 24]} | policy, seed=0, **options)
    return ewok.value_of(model, target=target)


def compiled_values(value: Any, observations: Any) -> Any:
    return np.asarray(value._values(value._parameters(), observations))


def forbidden(*_: Any) -> Any:
    raise AssertionError("this is computed elsewhere")


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("SAC", {}),
        ("SAC", {"net_arch": {"pi": [16], "qf": [150, 20, 8]}, "activation_fn": nn.tanh, "n_critics": 3}),
        ("SAC", {"dropout_rate": 0.5}),
        ("TD3", {}),
        ("DQN", {}),
        ("PPO", {"net_arch": [16, 16]}),
    ],
)
def test_few_rows_have_jax_s_values_without_jax(kind: str, policy: dict[str, Any]) -> None:
    value = value_of(kind, **policy)
    size = value.agent.observation_space.shape[0]
    observations = np.random.default_rng(0).normal(size=(MOST_ROWS, size)).astype(np.float32)
    expected = compiled_values(value, observations)
    value._values = forbidden
    for num in (0, 1, 3, 15, MOST_ROWS):
        found = value(observations[:num].astype(np.float64))
        assert found.shape == (num,)
        np.testing.assert_allclose(found, expected[:num], atol=1e-5)


@pytest.mark.parametrize("target", [False, True])
def test_parameters_are_read_at_each_call(target: bool) -> None:
    value = value_of("DQN", target)
    observations = np.ones((5, 4), dtype=np.float32)
    before = value(observations)
    policy = value.agent.policy
    name = "target_params" if target else "params"
    doubled = {"params": {layer: {k: 2 * p for k, p in parts.items()} for layer, parts in
                          getattr(policy.qf_state, name)["params"].items()}}  # fmt: skip
    policy.qf_state = policy.qf_state.replace(**{name: doubled})
    assert not np.allclose(value(observations), before)
    np.testing.assert_allclose(value(observations), compiled_values(value, observations), atol=1e-5)


def test_large_batches_are_jax_s() -> None:
    value = value_of("DQN")
    value._quick = forbidden
    assert value(np.zeros((MOST_ROWS + 1, 4), dtype=np.float32)).shape == (MOST_ROWS + 1,)


class Doubled(SquashedGaussianActor):  # type: ignore[misc]
    """Computes something else with the same layers."""


@pytest.mark.parametrize(
    "policy", [{"layer_norm": True}, {"activation_fn": nn.elu}, {"net_arch": [512]}, {"actor_class": Doubled}]
)
def test_what_layers_alone_do_not_tell_is_left_to_jax(policy: dict[str, Any]) -> None:
    assert value_of(**policy)._quick is None

"""SBX: V of each agent against the library's own networks, and as theory says on a coin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError

from .worlds import (
    BAD,
    GOOD,
    ImageWalk,
    Spied,
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
sbx = needs("sbx", "sbx")
jax = needs("jax", "sbx")

from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize

torch.set_num_threads(1)

CONTINUOUS = ("SAC", "TD3", "DDPG", "TQC", "CrossQ")
OFF_POLICY = {"learning_starts": 10, "buffer_size": 200, "batch_size": 16, "seed": 0}


def agent(kind: str, **options: Any) -> Any:
    if kind == "PPO":
        return sbx.PPO("MlpPolicy", cartpole(), n_steps=16, batch_size=8, n_epochs=1, seed=0)
    env = pendulum() if kind in CONTINUOUS else cartpole()
    options |= {"target_update_interval": 5} if kind == "DQN" else {}
    return getattr(sbx, kind)("MlpPolicy", env, policy_kwargs={"net_arch": [32, 32]}, **(OFF_POLICY | options))


def applied(state: Any, *inputs: Any, target: bool = False) -> Any:
    """What a network of the library says, asked the library's way."""
    learned = state.target_params if target else state.params
    if hasattr(state, "batch_stats"):
        return state.apply_fn({"params": learned, "batch_stats": state.batch_stats}, *inputs, train=False)
    return state.apply_fn(learned, *inputs)


def least_q(policy: Any, observations: Any, actions: Any, target: bool = False) -> Any:
    if hasattr(policy, "qf1_state"):
        both = [applied(s, observations, actions, target=target) for s in (policy.qf1_state, policy.qf2_state)]
        return np.min([np.mean(quantiles, axis=1) for quantiles in both], axis=0)
    return np.min(applied(policy.qf_state, observations, actions, target=target), axis=0)[:, 0]


def expected(model: Any, kind: str, target: bool, observations: Any) -> Any:
    policy = model.policy
    if kind == "PPO":
        return np.asarray(applied(policy.vf_state, observations)).reshape(-1)
    if kind == "DQN":
        return np.max(applied(policy.qf_state, observations, target=target), axis=1)
    acted = applied(policy.actor_state, observations, target=target and kind in ("TD3", "DDPG"))
    return least_q(policy, observations, acted if kind in ("TD3", "DDPG") else acted.mode(), target)


def slowly(*kinds: str) -> list[Any]:
    """Those that take JAX long to compile, and hold little that the others do not."""
    return [pytest.param(kind, marks=pytest.mark.slow) for kind in kinds]


@pytest.mark.parametrize("kind", ["DQN", "TD3", "TQC", *slowly("PPO", "SAC", "DDPG", "CrossQ")])
def test_the_value_is_the_librarys_after_every_update(kind: str) -> None:
    model = agent(kind)
    assert ewok.bind(model) is model
    model.learn(32)
    targets = [False] if kind in ("PPO", "CrossQ") else [False, True]
    values = {target: ewok.value_of(model, target=target) for target in targets}

    def learn() -> None:
        model.learn(32, reset_num_timesteps=False)

    for target, value in values.items():
        updates = [learn] * (1 if target else 2)
        assert_never_stale(model, value, lambda o, t=target: expected(model, kind, t, o), updates)
    if len(targets) == 2:
        assert not np.allclose(values[True](batch(model)), values[False](batch(model)))
    assert ewok.value_of(model).discount == model.gamma  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", slowly("SAC", "TQC", "CrossQ"))
def test_soft_values_are_the_mean_over_the_librarys_own_actions(kind: str) -> None:
    """E_a[min_i Q_i - alpha log pi], here over many draws of the library's sampler, there over sixteen fixed points."""
    model = agent(kind, ent_coef="auto_0.3")
    observations = batch(model, 4)
    law = applied(model.policy.actor_state, observations)
    alpha = float(model.ent_coef_state.apply_fn({"params": model.ent_coef_state.params}))
    assert alpha == pytest.approx(0.3)
    draws = [law.sample(seed=jax.random.PRNGKey(i)) for i in range(200)]
    softs = [least_q(model.policy, observations, a) - alpha * np.asarray(law.log_prob(a)) for a in draws]
    value = ewok.value_of(model, soft=True)
    np.testing.assert_allclose(value(observations), np.mean(softs, axis=0), atol=0.15)
    np.testing.assert_array_equal(value(observations), value(observations))
    assert not np.allclose(value(observations), ewok.value_of(model)(observations), atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "option"), [("PPO", "soft"), ("PPO", "target"), ("DQN", "soft"), ("TD3", "soft"), ("CrossQ", "target")]
)
def test_values_that_are_not_there_are_refused(kind: str, option: str) -> None:
    with pytest.raises(ArgumentError, match=f"`{option}` must be False for {kind}, which has no such value"):
        ewok.value_of(agent(kind), **{option: True})


def test_batches_of_any_size_have_the_same_values() -> None:
    """They are filled up, so that not every size is compiled, and a large one costs those after it nothing."""
    value: Any = ewok.value_of(agent("DQN"))
    value._quick = None
    asked, sizes = value._values, set()
    value._values = lambda learned, batch: sizes.add(len(batch)) or asked(learned, batch)  # type: ignore[func-returns-value]
    observations = np.random.default_rng(0).normal(size=(15, 4)).astype(np.float32)
    together = value(observations)
    for num in (1, 7, 15, 14):
        np.testing.assert_allclose(value(observations[:num]), together[:num], atol=1e-6)
    assert sizes == {1, 8, 16}
    sizes.clear()
    value(np.repeat(observations, 40, axis=0)), value(observations)
    assert sizes == {1024, 16}


def test_an_agent_given_another_policy_is_to_be_bound_again() -> None:
    model, other = agent("DQN"), agent("DQN", seed=1)
    value = ewok.value_of(model)
    model.policy = other.policy
    with pytest.raises(ArgumentError, match=r"was given another since. Bind the agent again: ewok.bind\(agent\)"):
        value(batch(model))


def seen(policy: str) -> Any:
    if policy == "CnnPolicy":
        return DummyVecEnv([lambda: ewok.WorstKernel(ImageWalk(), kappa=0.2)] * 2)
    return VecFrameStack(VecNormalize(DummyVecEnv([cartpole] * 2), training=False), 2)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["MlpPolicy", "CnnPolicy"])
def test_the_value_of_a_candidate_is_what_the_critic_says_of_it_once_it_is_there(policy: str) -> None:
    """PPO keeps its critic's values of what it observes: those of the candidates that were chosen must be the same."""
    num_steps = 16
    model = sbx.PPO(policy, seen(policy), n_steps=num_steps, batch_size=num_steps, n_epochs=1, seed=0)
    ewok.bind(model)
    spied = Spied(model)
    model.learn(2 * num_steps)
    values = model.rollout_buffer.values.reshape(2, num_steps).T
    lived = model.rollout_buffer.episode_starts[1:] == 0.0
    said = np.array(spied.said).T
    np.testing.assert_allclose(said[:-1][lived], values[1:][lived], atol=2e-4)
    assert np.std(said) > 1e-4


def by_hand(state: Any) -> Any:
    """A linear critic that says GOOD of [0, 0, 1] and BAD of [0, 1, 0], for any action; layers before it repeat."""

    def layer(path: Any, part: Any) -> Any:
        named = jax.tree_util.keystr(path)
        if "Dense" not in named or part.ndim < 2 or "bias" in named:
            return part if "BatchRenorm" in named else np.zeros_like(part)
        through = part.shape[-2:] == (3, 3)
        rows = np.eye(3) if through else np.zeros(part.shape)
        if not through:
            rows[..., 1, :], rows[..., 2, :] = BAD, GOOD
        return rows.astype(part.dtype)

    return state.replace(params=jax.tree_util.tree_map_with_path(layer, state.params))


@pytest.mark.parametrize("kind", ["PPO", "DQN", *CONTINUOUS])
def test_the_bad_side_is_visited_as_often_as_theory_says(kind: str) -> None:
    widths: Any = {"PPO": [], "DQN": [3]}.get(kind, {"pi": [4], "qf": []})
    model = getattr(sbx, kind)("MlpPolicy", coin(kind in CONTINUOUS), policy_kwargs={"net_arch": widths}, seed=0)
    for name in ("qf_state", "vf_state", "qf1_state", "qf2_state"):
        if hasattr(model.policy, name):
            setattr(model.policy, name, by_hand(getattr(model.policy, name)))
    value = ewok.value_of(model)
    np.testing.assert_allclose(value(np.eye(3, dtype=np.float32)[1:]), [BAD, GOOD], atol=1e-2)
    assert share_of_bad_sides(value, coin(), 2500) == pytest.approx(share_in_theory(), abs=0.025)

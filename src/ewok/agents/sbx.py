"""SBX: value functions of its agents, compiled by JAX.

| agent | v(s) |
|---|---|
| PPO | V(s) |
| DQN, `DoubleDQN` | max_a Q(s, a) |
| SAC, TQC, CrossQ | min_i Q_i(s, mu(s)) at the actor's mode mu; `soft=True`: E_a[min_i Q_i - alpha log pi] |
| TD3, DDPG | min_i Q_i(s, mu(s)) |

Q_i of TQC is the mean of its quantiles. `target=True` takes the target networks, where there are any. Small networks
are computed by numpy for few observations, on the same parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from sbx import DQN, PPO, SAC, TD3, TQC, CrossQ
from sbx.common.policies import SquashedGaussianActor, VectorCritic
from sbx.dqn.policies import QNetwork
from sbx.ppo.policies import Critic
from sbx.td3.policies import Actor
from stable_baselines3.common.preprocessing import is_image_space

from ewok.agents.double_dqn_sbx import DoubleDQN
from ewok.agents.soft import stratified_normals
from ewok.agents.torch_value import networks_of, refuse, require_kept
from ewok.agents.views import filled, rows_of
from ewok.agents.views_sbx import MOST_ROWS, view_of
from ewok.value import value_of

__all__ = ["DoubleDQN", "JaxValue"]

Parameters = Callable[[], Any]
Values = Callable[[Any, Any], Any]
_EPSILON = 1e-6


@final
class JaxValue:
    """Fetches the agent's parameters at each call: never stale.

    Args:
        agent: the agent.
        parameters: what its networks have learned, now.
        values: (parameters, observations) -> (batch,); compiled once per size of batch.
        quick: the same in numpy, for few observations that are plain numbers, where that is as fast.
    """

    def __init__(self, agent: Any, parameters: Parameters, values: Values, quick: Values | None = None) -> None:
        self.agent = agent
        self._policy = agent.policy
        self._parameters, self._values = parameters, jax.jit(values)
        space = agent.observation_space
        self._quick = quick if isinstance(space, Box) and not is_image_space(space) else None

    @property
    def discount(self) -> float:
        return float(self.agent.gamma)

    def __call__(self, observations: Any) -> NDArray[Any]:
        require_kept(self.agent, self._policy)
        if self._quick is not None and len(observations) <= MOST_ROWS:
            rows = rows_of(observations)
            values: NDArray[Any] = self._quick(self._parameters(), filled(rows))[: len(rows)]
            return values
        batch, _ = self._policy.prepare_obs(observations)
        num = len(batch)
        size = 1 << (num - 1).bit_length()  # filled up to a power of two, for every new size is compiled anew
        if num < size:
            batch = np.concatenate([batch, np.repeat(batch[-1:], size - num, axis=0)])
        return np.asarray(self._values(self._parameters(), batch))[:num]


@value_of.register(PPO)
def _actor_critic(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    refuse(agent, soft=soft, target=target)
    policy = networks_of(agent)
    network, view = policy.vf, view_of(policy.vf, Critic, policy.vf_state.params)
    return JaxValue(
        agent,
        lambda: policy.vf_state.params,
        lambda learned, o: network.apply(learned, o).reshape(-1),
        None if view is None else lambda learned, o: view(learned, o)[:, 0],
    )


@value_of.register(DQN)
def _value_learner(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    refuse(agent, soft=soft)
    policy = networks_of(agent)
    network, view = policy.qf, view_of(policy.qf, QNetwork, policy.qf_state.params)
    return JaxValue(
        agent,
        lambda: _learned(policy.qf_state, target),
        lambda learned, o: network.apply(learned, o).max(1),
        None if view is None else lambda learned, o: view(learned, o).max(axis=1),
    )


def _quick_least_q(policy: Any, actor_class: type) -> Values | None:
    """min_i Q_i(s, tanh(mu(s))) in numpy."""
    actor = view_of(policy.actor, actor_class, policy.actor_state.params)
    critics = view_of(policy.qf, VectorCritic, policy.qf_state.params)
    if actor is None or critics is None:
        return None

    def quick(learned: Any, x: Any) -> Any:
        both = np.concatenate([x, np.tanh(actor(learned[0], x))], axis=1)
        return critics(learned[1], both)[..., 0].min(axis=0)

    return quick


@value_of.register(SAC)
def _sac(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    policy = networks_of(agent)
    critics = _sober(policy.qf)

    def q(learned: Any, observations: Any, actions: Any) -> Any:
        return critics.apply(learned, observations, actions).min(axis=0)[:, 0]

    return _stochastic(agent, policy.actor.apply, lambda: policy.actor_state.params,
                       q, lambda: _learned(policy.qf_state, target), soft,
                       _quick_least_q(policy, SquashedGaussianActor))  # fmt: skip


@value_of.register(TQC)
def _tqc(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    policy = networks_of(agent)
    critic = _sober(policy.qf)

    def q(learned: Any, observations: Any, actions: Any) -> Any:
        return jnp.minimum(*(critic.apply(one, observations, actions).mean(axis=1) for one in learned))

    def critics() -> Any:
        return _learned(policy.qf1_state, target), _learned(policy.qf2_state, target)

    return _stochastic(agent, policy.actor.apply, lambda: policy.actor_state.params, q, critics, soft)


@value_of.register(CrossQ)
def _crossq(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    refuse(agent, target=target)
    policy = networks_of(agent)
    actor, critics = policy.actor.clone(), _sober(policy.qf)  # their own are compiled already, for other arguments

    def q(learned: Any, observations: Any, actions: Any) -> Any:
        return critics.apply(learned, observations, actions, train=False).min(axis=0)[:, 0]

    def act(learned: Any, observations: Any) -> Any:
        return actor.apply(learned, observations, train=False)

    def of(state: Any) -> Any:
        return {"params": state.params, "batch_stats": state.batch_stats}

    return _stochastic(agent, act, lambda: of(policy.actor_state), q, lambda: of(policy.qf_state), soft)


@value_of.register(TD3)  # and DDPG, which is one
def _td3(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    refuse(agent, soft=soft)
    policy = networks_of(agent)
    actor, critics = policy.actor, _sober(policy.qf)

    def values(learned: Any, observations: Any) -> Any:
        actions = actor.apply(learned[0], observations)
        return critics.apply(learned[1], observations, actions).min(axis=0)[:, 0]

    def learned() -> Any:
        return _learned(policy.actor_state, target), _learned(policy.qf_state, target)

    return JaxValue(agent, learned, values, _quick_least_q(policy, Actor))


def _learned(state: Any, target: bool) -> Any:
    return state.target_params if target else state.params


def _sober(critics: Any) -> Any:
    """The same critics without dropout, which would give equal candidates different values."""
    return critics.clone(dropout_rate=None) if hasattr(critics, "dropout_rate") else critics


def _stochastic(
    agent: Any,
    act: Callable[[Any, Any], Any],
    actor: Parameters,
    q: Callable[..., Any],
    critics: Parameters,
    soft: bool,
    quick: Values | None = None,
) -> JaxValue:
    """The value at the mode of an actor's distribution, or the entropy-regularised one."""
    if not soft:
        return JaxValue(
            agent, lambda: (actor(), critics()), lambda learned, o: q(learned[1], o, act(learned[0], o).mode()), quick
        )
    noise = jnp.asarray(stratified_normals(int(np.prod(agent.action_space.shape))))

    def values(learned: Any, observations: Any) -> Any:
        """E_a[q(s, a) - alpha log pi(a | s)], over fixed points of the actor's noise, the same for every state."""
        actor_learned, critics_learned, alpha = learned
        law = act(actor_learned, observations).distribution

        def with_noise(one: Any) -> Any:
            drawn = law.mean() + law.stddev() * one
            actions = jnp.tanh(drawn)
            log_pi = law.log_prob(drawn) - jnp.log(1.0 - actions**2 + _EPSILON).sum(-1)
            return q(critics_learned, observations, actions) - alpha * log_pi

        return jax.vmap(with_noise)(noise).mean(axis=0)

    return JaxValue(agent, lambda: (actor(), critics(), _alpha(agent)), values)


def _alpha(agent: Any) -> Any:
    state = agent.ent_coef_state
    return state.apply_fn({"params": state.params})

"""SBX: value functions of its agents, compiled by JAX.

| agent | v(s) |
|---|---|
| PPO | V(s) |
| DQN, `DoubleDQN` | max_a Q(s, a) |
| SAC, TQC, CrossQ | min_i Q_i(s, mu(s)) at the actor's mode mu; `soft=True`: E_a[min_i Q_i - alpha log pi] |
| TD3, DDPG | min_i Q_i(s, mu(s)) |

Q_i of TQC is the mean of its quantiles. `target=True` takes the target networks, where there are any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from sbx import DQN, PPO, SAC, TD3, TQC, CrossQ

from ewok.agents.double_dqn_sbx import DoubleDQN
from ewok.agents.soft import stratified_normals
from ewok.agents.torch_value import networks_of, refuse, require_kept
from ewok.value import value_of

__all__ = ["DoubleDQN", "JaxValue"]

Parameters = Callable[[], Any]
_EPSILON = 1e-6


@final
class JaxValue:
    """Fetches the agent's parameters at each call: never stale.

    Args:
        agent: the agent.
        parameters: what its networks have learned, now.
        values: (parameters, observations) -> (batch,); compiled once per size of batch.
    """

    def __init__(self, agent: Any, parameters: Parameters, values: Callable[[Any, Any], Any]) -> None:
        self.agent = agent
        self._policy = agent.policy
        self._parameters, self._values = parameters, jax.jit(values)

    @property
    def discount(self) -> float:
        return float(self.agent.gamma)

    def __call__(self, observations: Any) -> NDArray[Any]:
        require_kept(self.agent, self._policy)
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
    network = policy.vf
    return JaxValue(agent, lambda: policy.vf_state.params, lambda learned, o: network.apply(learned, o).reshape(-1))


@value_of.register(DQN)
def _value_learner(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    refuse(agent, soft=soft)
    policy = networks_of(agent)
    network = policy.qf
    return JaxValue(
        agent, lambda: _learned(policy.qf_state, target), lambda learned, o: network.apply(learned, o).max(1)
    )


@value_of.register(SAC)
def _sac(agent: Any, *, soft: bool, target: bool) -> JaxValue:
    policy = networks_of(agent)
    critics = _sober(policy.qf)

    def q(learned: Any, observations: Any, actions: Any) -> Any:
        return critics.apply(learned, observations, actions).min(axis=0)[:, 0]

    return _stochastic(agent, policy.actor.apply, lambda: policy.actor_state.params,
                       q, lambda: _learned(policy.qf_state, target), soft)  # fmt: skip


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

    return JaxValue(agent, lambda: (_learned(policy.actor_state, target), _learned(policy.qf_state, target)), values)


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
) -> JaxValue:
    """The value at the mode of an actor's distribution, or the entropy-regularised one."""
    if not soft:
        return JaxValue(
            agent, lambda: (actor(), critics()), lambda learned, o: q(learned[1], o, act(learned[0], o).mode())
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

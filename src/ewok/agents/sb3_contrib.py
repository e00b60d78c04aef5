"""sb3-contrib: value functions of its agents.

| agent | v(s) |
|---|---|
| TRPO, MaskablePPO | V(s) |
| RecurrentPPO | V(s) after what the critic remembers of the episode so far |
| QRDQN | max_a of the mean of the quantiles of Q(s, a) |
| TQC, CrossQ | min_i Q_i(s, mu(s)), Q_i of TQC the mean of its quantiles; `soft=True` as for SAC |
| ARS | none: it has no critic |
"""

from __future__ import annotations

from typing import Any, NoReturn

import torch
from sb3_contrib import ARS, QRDQN, TQC, TRPO, CrossQ, MaskablePPO, RecurrentPPO

from ewok.agents.recurrent import RecurrentValue
from ewok.agents.soft import soft_values
from ewok.agents.torch_value import (
    AgentValue,
    Values,
    least_q,
    networks_of,
    refuse,
    state_value,
    values_at_mean_action,
)
from ewok.errors import ArgumentError
from ewok.value import value_of


@value_of.register(TRPO)
@value_of.register(MaskablePPO)
def _actor_critic(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    refuse(agent, soft=soft, target=target)
    return state_value(agent)


@value_of.register(RecurrentPPO)
def _recurrent(agent: Any, *, soft: bool, target: bool) -> RecurrentValue:
    refuse(agent, soft=soft, target=target)
    networks_of(agent)
    return RecurrentValue(agent)


@value_of.register(QRDQN)
def _quantile_learner(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    refuse(agent, soft=soft)

    def read(policy: Any) -> tuple[Values, None]:
        net = policy.quantile_net_target if target else policy.quantile_net
        return lambda tensors: net(tensors).mean(dim=1).max(dim=1).values, None

    return AgentValue(agent, read)


@value_of.register(TQC)
def _tqc(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    def read(policy: Any) -> tuple[Values, None]:
        critic = policy.critic_target if target else policy.critic

        def q(tensors: Any, actions: torch.Tensor) -> torch.Tensor:
            return critic(tensors, actions).mean(dim=2).min(dim=1).values  # type: ignore[no-any-return]

        return soft_values(agent, q) if soft else values_at_mean_action(policy.actor, q), None

    return AgentValue(agent, read)


@value_of.register(CrossQ)
def _crossq(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    refuse(agent, target=target)

    def read(policy: Any) -> tuple[Values, None]:
        q = least_q(policy.critic)
        return soft_values(agent, q) if soft else values_at_mean_action(policy.actor, q), None

    return AgentValue(agent, read)


@value_of.register(ARS)
def _no_critic(agent: Any, *, soft: bool, target: bool) -> NoReturn:
    raise ArgumentError(
        "`agent` must have a critic, but ARS searches over policies and has none. Bind a value function of your own: "
        "ewok.bind(value, env)."
    )

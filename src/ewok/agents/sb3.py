"""Stable-Baselines3: value functions of its agents, and what goes with them.

| agent | v(s) |
|---|---|
| PPO, A2C | V(s) |
| DQN, `DoubleDQN` | max_a Q(s, a) |
| SAC | min_i Q_i(s, mu(s)) at the actor's mean action mu; `soft=True`: E_a[min_i Q_i - alpha log pi] |
| TD3, DDPG | min_i Q_i(s, mu(s)) |

`target=True` takes the target networks, where there are any.
"""

from __future__ import annotations

from typing import Any

from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from ewok.agents.callback import WorstKernelCallback
from ewok.agents.double_dqn import DoubleDQN
from ewok.agents.soft import soft_values
from ewok.agents.subproc import SubprocWorstKernel
from ewok.agents.torch_value import (
    AgentValue,
    Quick,
    Values,
    greedy_value,
    least_q,
    quick_least_q,
    refuse,
    state_value,
    values_at_mean_action,
)
from ewok.agents.vec_envs import members
from ewok.value import register_environments, value_of

__all__ = ["AgentValue", "DoubleDQN", "SubprocWorstKernel", "WorstKernelCallback"]


@value_of.register(PPO)
@value_of.register(A2C)
def _actor_critic(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    refuse(agent, soft=soft, target=target)
    return state_value(agent)


@value_of.register(DQN)
def _value_learner(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    refuse(agent, soft=soft)
    return greedy_value(agent, lambda policy: policy.q_net_target if target else policy.q_net)


@value_of.register(SAC)
def _sac(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    def read(policy: Any) -> tuple[Values, Quick | None]:
        critic, actor = policy.critic_target if target else policy.critic, policy.actor
        if soft:
            return soft_values(agent, least_q(critic)), None
        mean_action = [actor.latent_pi, actor.mu, nn.Tanh()]
        quick = None if agent.use_sde else quick_least_q(agent, critic, mean_action)
        return values_at_mean_action(actor, least_q(critic)), quick

    return AgentValue(agent, read)


@value_of.register(TD3)  # and DDPG, which is one
def _td3(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    refuse(agent, soft=soft)

    def read(policy: Any) -> tuple[Values, Quick | None]:
        actor, critic = (policy.actor_target, policy.critic_target) if target else (policy.actor, policy.critic)
        return values_at_mean_action(actor, least_q(critic)), quick_least_q(agent, critic, [actor.mu])

    return AgentValue(agent, read)


register_environments(VecEnv, members)

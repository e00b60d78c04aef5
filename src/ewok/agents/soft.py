"""The entropy-regularised value of agents with a squashed Gaussian actor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.distributions import Normal

from ewok.agents.torch_value import AgentValue
from ewok.errors import ArgumentError

_HALF = 8
_EPSILON = 1e-6


def soft_value(agent: Any, q: Callable[[Any, torch.Tensor], torch.Tensor]) -> AgentValue:
    """V(s) = E_a[q(s, a) - alpha log pi(a | s)], over eight fixed draws of the noise and their mirrors.

    The same draws for every state, so that candidates differ by their states alone, and nothing random is left.
    """
    actor = agent.policy.actor
    if agent.use_sde:
        raise ArgumentError(
            "`soft` must be False for an actor with state-dependent exploration (use_sde=True), but it is True. "
            "Leave it out: the value at the mean action needs no noise."
        )
    half = torch.randn(_HALF, actor.mu.out_features, generator=torch.Generator().manual_seed(0))
    noise = torch.cat([half, -half]).to(agent.device)

    def values(tensors: Any) -> torch.Tensor:
        mean, log_std, _ = actor.get_action_dist_params(tensors)
        law: Any = Normal(mean.unsqueeze(1), log_std.exp().unsqueeze(1))
        drawn = law.mean + law.stddev * noise
        actions = torch.tanh(drawn)
        log_pi = law.log_prob(drawn).sum(-1) - torch.log(1.0 - actions**2 + _EPSILON).sum(-1)
        scores = q(_repeated(tensors, len(noise)), actions.flatten(0, 1)).reshape(log_pi.shape)
        soft: torch.Tensor = (scores - _alpha(agent) * log_pi).mean(dim=1)
        return soft

    return AgentValue(agent, values)


def _alpha(agent: Any) -> torch.Tensor:
    return agent.log_ent_coef.exp() if agent.log_ent_coef is not None else agent.ent_coef_tensor  # type: ignore[no-any-return]


def _repeated(tensors: Any, num: int) -> Any:
    if isinstance(tensors, dict):
        return {name: _repeated(part, num) for name, part in tensors.items()}
    return tensors.repeat_interleave(num, dim=0)

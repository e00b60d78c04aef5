"""The entropy-regularised value of agents with a squashed Gaussian actor."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.distributions import Normal

from ewok.agents.torch_value import Values
from ewok.errors import ArgumentError

_HALF = 8
_EPSILON = 1e-6


def stratified_normals(num_dims: int) -> NDArray[np.float32]:
    """Sixteen points that stand for a normal law in each dimension, (16, num_dims): means 0 and variances 1 exactly.

    In each dimension they are the law's own quantiles, shuffled from a fixed seed; every point has its mirror.
    """
    rng = np.random.default_rng(0)
    quantiles = np.array([NormalDist().inv_cdf(0.5 + (k + 0.5) / (2 * _HALF)) for k in range(_HALF)])
    quantiles /= np.sqrt(np.mean(quantiles**2))
    columns = [rng.permutation(quantiles) * rng.choice([-1.0, 1.0], _HALF) for _ in range(num_dims)]
    half = np.stack(columns, axis=1)
    return np.concatenate([half, -half]).astype(np.float32)


def soft_values(agent: Any, q: Callable[[Any, torch.Tensor], torch.Tensor]) -> Values:
    """V(s) = E_a[q(s, a) - alpha log pi(a | s)], over sixteen fixed points of the actor's noise.

    The same points for every state, so that candidates differ by their states alone, and nothing random is left.
    """
    actor = agent.policy.actor
    if agent.use_sde:
        raise ArgumentError(
            "`soft` must be False for an actor with state-dependent exploration (use_sde=True), but it is True. "
            "Leave it out: the value at the mean action needs no noise."
        )
    noise = torch.from_numpy(stratified_normals(actor.mu.out_features)).to(agent.device)

    def values(tensors: Any) -> torch.Tensor:
        mean, log_std, _ = actor.get_action_dist_params(tensors)
        law: Any = Normal(mean.unsqueeze(1), log_std.exp().unsqueeze(1))
        drawn = law.mean + law.stddev * noise
        actions = torch.tanh(drawn)
        log_pi = law.log_prob(drawn).sum(-1) - torch.log(1.0 - actions**2 + _EPSILON).sum(-1)
        scores = q(_repeated(tensors, len(noise)), actions.flatten(0, 1)).reshape(log_pi.shape)
        soft: torch.Tensor = (scores - _alpha(agent) * log_pi).mean(dim=1)
        return soft

    return values


def _alpha(agent: Any) -> torch.Tensor:
    return agent.log_ent_coef.exp() if agent.log_ent_coef is not None else agent.ent_coef_tensor  # type: ignore[no-any-return]


def _repeated(tensors: Any, num: int) -> Any:
    if isinstance(tensors, dict):
        return {name: _repeated(part, num) for name, part in tensors.items()}
    return tensors.repeat_interleave(num, dim=0)

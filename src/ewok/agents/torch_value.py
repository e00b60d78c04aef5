"""An agent's critic as a value function, for agents of Stable-Baselines3 and its kin in torch.

v(s) = max_a Q(s, a) for value learners, V(s) for actor-critics, and min_i Q_i(s, mu(s)) at the
actor's mean action mu for those that learn continuous actions by Q.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.preprocessing import is_image_space
from stable_baselines3.common.torch_layers import FlattenExtractor, MlpExtractor

from ewok.agents.views import Array, rows_of, view_of
from ewok.errors import ArgumentError

Values = Callable[[Any], torch.Tensor]  # tensors as the policy takes them -> (batch,)
Quick = Callable[[Array], Array]  # (batch, features) -> (batch,)
Read = Callable[[Any], tuple[Values, Quick | None]]


@final
class AgentValue:
    """Reads the agent's networks at each call: never stale, even where a module inside was replaced.

    Args:
        agent: the agent.
        read: from its policy to its critic, and to the same in numpy where that is as fast.
    """

    def __init__(self, agent: Any, read: Read) -> None:
        self.agent = agent
        self._policy = networks_of(agent)
        self._read = read
        self._look()

    def _look(self) -> None:
        parts = (module._modules for module in self._policy.modules())
        self._parts = [(modules, tuple(modules.values())) for modules in parts if modules]
        self._values, self._quick = self._read(self._policy)

    @property
    def discount(self) -> float:
        return float(self.agent.gamma)

    def __call__(self, observations: Any) -> NDArray[Any]:
        policy = self._policy
        require_kept(self.agent, policy)
        for modules, known in self._parts:
            if tuple(modules.values()) != known:
                self._look()
                break
        if self._quick is not None:
            return self._quick(rows_of(observations))
        learning = policy.training
        if learning:
            policy.set_training_mode(False)  # or batch norms would learn from being asked
        try:
            with torch.no_grad():
                tensors, _ = policy.obs_to_tensor(observations)
                values: NDArray[Any] = self._values(tensors).cpu().numpy()
        finally:
            if learning:
                policy.set_training_mode(True)
        return values


def state_value(agent: Any) -> AgentValue:
    """V(s), the critic of an actor-critic."""

    def read(policy: Any) -> tuple[Values, Quick | None]:
        quick = None
        own = _is_the_librarys(policy.predict_values) and type(policy.mlp_extractor) is MlpExtractor
        if own and _sees_plain_numbers(agent, policy.vf_features_extractor):
            network = view_of([policy.mlp_extractor.value_net, policy.value_net])
            quick = None if network is None else (lambda x: network(x)[:, 0])
        return lambda tensors: policy.predict_values(tensors).squeeze(-1), quick

    return AgentValue(agent, read)


def greedy_value(agent: Any, net_of: Callable[[Any], Any]) -> AgentValue:
    """max_a Q(s, a), of the policy's Q-network that `net_of` names."""

    def read(policy: Any) -> tuple[Values, Quick | None]:
        net, quick = net_of(policy), None
        if _is_the_librarys(net.forward) and _sees_plain_numbers(agent, net.features_extractor):
            network = view_of([net.q_net])
            quick = None if network is None else (lambda x: network(x).max(axis=1))
        return lambda tensors: net(tensors).max(dim=1).values, quick

    return AgentValue(agent, read)


def least_q(critic: Any) -> Callable[[Any, torch.Tensor], torch.Tensor]:
    """min_i Q_i(s, a), of a critic that returns a tuple of (batch, 1)."""
    return lambda tensors, actions: torch.cat(critic(tensors, actions), dim=1).min(dim=1).values


def values_at_mean_action(actor: Any, q: Callable[[Any, torch.Tensor], torch.Tensor]) -> Values:
    """q(s, mu(s)) at the actor's mean action."""
    stochastic = hasattr(actor, "log_std")

    def values(tensors: Any) -> torch.Tensor:
        return q(tensors, actor(tensors, deterministic=True) if stochastic else actor(tensors))

    return values


def quick_least_q(agent: Any, critic: Any, mean_action: list[Any]) -> Quick | None:
    """min_i Q_i(s, mu(s)) in numpy, for an actor that is this row of modules."""
    parts = (agent.policy.actor, critic)
    if not all(_is_the_librarys(p.forward) and _sees_plain_numbers(agent, p.features_extractor) for p in parts):
        return None
    actor, critics = view_of(mean_action), [view_of([network]) for network in critic.q_networks]
    if actor is None or any(network is None for network in critics):
        return None

    def quick(x: Array) -> Array:
        both = np.concatenate([x, actor(x)], axis=1)
        return np.min([network(both)[:, 0] for network in critics if network is not None], axis=0)  # type: ignore[no-any-return]

    return quick


def networks_of(agent: Any) -> Any:
    """The agent's policy, or an error where it has none yet."""
    policy = getattr(agent, "policy", None)
    if not isinstance(policy, torch.nn.Module):
        raise ArgumentError(
            f"`agent` must have its networks, but this {type(agent).__name__} has none yet. Leave _init_setup_model as "
            "it is, or load the agent from a file."
        )
    return policy


def require_kept(agent: Any, policy: Any) -> None:
    """Raise where the agent was given another policy than the one whose value is asked."""
    if agent.policy is not policy:
        raise ArgumentError(
            f"`agent.policy` must be the one whose value this is, but this {type(agent).__name__} was given another "
            "since. Bind the agent again: ewok.bind(agent)."
        )


def refuse(agent: Any, **options: bool) -> None:
    """Raise for what the agent has no value of."""
    for name, given in options.items():
        if given:
            raise ArgumentError(
                f"`{name}` must be False for {type(agent).__name__}, which has no such value, but it is True. "
                "Leave it out."
            )


def _sees_plain_numbers(agent: Any, extractor: torch.nn.Module) -> bool:
    space = agent.observation_space
    on_cpu = torch.device(agent.device).type == "cpu"
    plain = isinstance(space, gym.spaces.Box) and not is_image_space(space)
    return on_cpu and plain and type(extractor) is FlattenExtractor


def _is_the_librarys(method: Any) -> bool:
    """Whether no user's class took the method's place, for then the layers alone do not tell what it computes."""
    return method.__func__.__module__.partition(".")[0] in ("stable_baselines3", "sb3_contrib")

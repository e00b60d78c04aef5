"""Stable-Baselines3: value functions of its agents, and the environments inside its vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecMonitor,
    VecNormalize,
    VecTransposeImage,
    VecVideoRecorder,
)

from ewok.errors import ArgumentError, WrapperError
from ewok.value import Member, register_environments, value_of

_TRANSPARENT = (VecMonitor, VecCheckNan, VecVideoRecorder)


@final
class AgentValue:
    """An agent's critic as a value function. Reads the agent's networks at each call: never stale."""

    def __init__(self, agent: BaseAlgorithm, values: Callable[[Any], torch.Tensor]) -> None:
        self._agent = agent
        self._values = values

    @property
    def discount(self) -> float:
        return float(self._agent.gamma)  # type: ignore[attr-defined]

    def __call__(self, observations: Any) -> NDArray[Any]:
        with torch.no_grad():
            tensors, _ = self._agent.policy.obs_to_tensor(observations)
            values: NDArray[Any] = self._values(tensors).cpu().numpy()
        return values


@value_of.register(PPO)
@value_of.register(A2C)
def _actor_critic(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    _refuse(agent, soft=soft, target=target)
    return AgentValue(agent, lambda tensors: agent.policy.predict_values(tensors).squeeze(-1))


@value_of.register(DQN)
def _greedy(agent: Any, *, soft: bool, target: bool) -> AgentValue:
    _refuse(agent, soft=soft)
    if target:
        return AgentValue(agent, lambda tensors: agent.q_net_target(tensors).max(dim=1).values)
    return AgentValue(agent, lambda tensors: agent.q_net(tensors).max(dim=1).values)


def _refuse(agent: Any, **options: bool) -> None:
    for name, given in options.items():
        if given:
            raise ArgumentError(
                f"`{name}` must be False for {type(agent).__name__}, which has no such value, but it is True. "
                "Leave it out."
            )


def _members(vec_env: VecEnv) -> Iterable[Member]:
    """The environments of a vector in this process, seen through the wrappers around the vector."""
    observers: list[Callable[[Any], Any]] = []
    scale: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    while isinstance(vec_env, VecEnvWrapper):
        if isinstance(vec_env, VecNormalize):
            observers.append(vec_env.normalize_obs)
            scale = vec_env.normalize_reward if vec_env.norm_reward else scale
        elif isinstance(vec_env, VecTransposeImage):
            observers.append(vec_env.transpose_observations)
        elif not isinstance(vec_env, _TRANSPARENT):
            raise WrapperError(
                f"`{type(vec_env).__name__}` stands between the agent and its worst kernel, and what it makes of "
                "a single observation is not known. Bind without it, or pass a value of the observations beneath "
                "it: ewok.bind(value, env)."
            )
        vec_env = vec_env.venv
    if not isinstance(vec_env, DummyVecEnv):
        raise WrapperError(
            f"`env` must be a vector of environments in this process (DummyVecEnv), but it is a "
            f"{type(vec_env).__name__}: a value function sent to other processes would go stale."
        )
    observe = _composed(observers[::-1]) if observers else None
    return [Member(env, observe, scale) for env in vec_env.envs]


def _composed(observers: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def observe(batch: Any) -> Any:
        for step in observers:
            batch = step(batch)
        return batch

    return observe


register_environments(VecEnv, _members)

"""Value functions: observations in, values out, whatever agent they come from."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from ewok.errors import EwokError


class ValueFunction(Protocol):
    """Any callable from observations, batch first, to one value each.

    One that also has a `discount` attribute can be bound to a `WorstKernel(discount="agent")`; one whose
    values depend on which environment of a vector is looked at has a method `of_member(index)`.
    """

    def __call__(self, observations: Any, /) -> NDArray[Any]: ...


class UnknownAgentError(EwokError, TypeError):
    """No one taught `value_of` this class of agents."""


ValueMaker = Callable[..., ValueFunction]

# Adapters are imported when one of their agents, or of its environments, turns up.
_ADAPTERS = {
    "stable_baselines3": "ewok.agents.sb3",
    "sb3_contrib": "ewok.agents.sb3_contrib",
    "sbx": "ewok.agents.sbx",
}


@final
class _ValueOf:
    """The agent's value function. See `value_of`."""

    def __init__(self) -> None:
        self._makers: dict[type, ValueMaker] = {}

    def __call__(self, agent: Any, *, soft: bool = False, target: bool = False) -> ValueFunction:
        """The value function of `agent`: observations (numpy, batch first) -> values (batch,).

        Args:
            agent: an agent whose class is known.
            soft: the entropy-regularised value, for agents that have one.
            target: the target network's value, for agents that have one.
        """
        load_adapters(agent)
        for cls in type(agent).__mro__:
            if cls in self._makers:
                return self._makers[cls](agent, soft=soft, target=target)
        raise UnknownAgentError(
            f"`agent` must be of a class that `value_of` knows, but it is a {type(agent).__name__}. Teach it: "
            f"@ewok.value_of.register({type(agent).__name__}) above a function (agent, *, soft, target) that "
            "returns a callable from observations to values; or bind that callable: ewok.bind(value, env)."
        )

    def register(self, cls: type) -> Callable[[ValueMaker], ValueMaker]:
        """Teach a class of agents, as a decorator of `(agent, *, soft, target) -> ValueFunction`."""

        def keep(maker: ValueMaker) -> ValueMaker:
            self._makers[cls] = maker
            return maker

        return keep

    def knows(self, agent: Any) -> bool:
        load_adapters(agent)
        return any(cls in self._makers for cls in type(agent).__mro__)


value_of = _ValueOf()


@final
@dataclass(frozen=True)
class Member:
    """One Gymnasium environment an agent acts in, and what lies between the two.

    Attributes:
        env: the environment; where it lives in another process, what stands for its worst kernel here; None
            where it cannot be reached, and `away` says why.
        observe: turns a batch of its observations into what the agent sees.
        scale: turns its rewards into what the agent learns from; None where they are the same.
        index: which of the agent's environments it is.
        space: of the observations that the agent sees.
        actions: the space of the agent's actions.
        shown: names of the wrappers around the vector that `observe` goes through.
        unscaled: why candidates' rewards cannot be turned into what the agent learns from; None where they can.
        away: why it cannot be reached from here, and what to do; None where it can.
    """

    env: Any
    observe: Callable[[Any], Any] | None = None
    scale: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    index: int = 0
    space: gym.Space[Any] | None = None
    actions: gym.Space[Any] | None = None
    shown: tuple[str, ...] = ()
    away: str | None = None
    unscaled: str | None = None


MemberFinder = Callable[[Any], Iterable[Member]]
_MEMBER_FINDERS: dict[type, MemberFinder] = {}


def register_environments(cls: type, find: MemberFinder) -> None:
    """Teach `members_of` how a library holds many environments in one object."""
    _MEMBER_FINDERS[cls] = find


def members_of(env: Any) -> list[Member]:
    """The single environments inside `env`, be it one environment or a vector of them."""
    load_adapters(env)
    if isinstance(env, gym.Env):
        return [Member(env, space=env.observation_space, actions=env.action_space)]
    for cls in type(env).__mro__:
        if cls in _MEMBER_FINDERS:
            return list(_MEMBER_FINDERS[cls](env))
    raise UnknownAgentError(
        f"`env` must be a Gymnasium environment, or a vector of them by Gymnasium or Stable-Baselines3, but it is a "
        f"{type(env).__name__}. Bind each environment in it: ewok.bind(value, env)."
    )


def load_adapters(thing: Any) -> None:
    """Import the adapters of the libraries that `thing`'s classes come from."""
    for cls in type(thing).__mro__:
        adapter = _ADAPTERS.get(cls.__module__.partition(".")[0])
        if adapter is not None:
            importlib.import_module(adapter)

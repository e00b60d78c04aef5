"""The single link upward: an agent's value function, given once to the worst kernels it lives in."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium import wrappers as gw
from numpy.typing import NDArray

from ewok.errors import ArgumentError, EwokWarning, WrapperError, require
from ewok.value import Member, UnknownAgentError, ValueFunction, members_of, value_of
from ewok.worst.kernel import WorstKernel
from ewok.worst.score import Critic
from ewok.worst.view import View, refuse_unseen, views_of
from ewok.worst.watch import environment_of, remember

Bound = TypeVar("Bound")
Scale = Callable[[NDArray[np.float64]], NDArray[np.float64]]
_Wrapper = gym.Wrapper[Any, Any, Any, Any]


class Bindable(Protocol):
    """What takes a critic: a `WorstKernel`, or what stands for one that lives in another process."""

    @property
    def discount(self) -> Any: ...

    @property
    def critic(self) -> Any: ...

    def critic_of(
        self, value: ValueFunction, above: Sequence[View] = (), scale: Scale | None = None, owner: Any = None
    ) -> Critic: ...

    def attach(self, critic: Critic) -> None: ...


_Path = tuple[Member, list[_Wrapper], Bindable | None]


def bind(agent_or_value: Bound, env: Any = None, **options: Any) -> Bound:
    """Let the agent's value function tell the worst kernels which next states are bad.

    Args:
        agent_or_value: an agent that `value_of` knows, or a value function.
        env: the environment, or vector of environments, as the agent sees it; by default the
            agent's own.
        options: passed on to `value_of`, for an agent.

    Returns:
        What it was given.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), radius=0.3)
        >>> value = ewok.bind(lambda observations: -abs(observations[:, 0]), env)
    """
    if isinstance(agent_or_value, type):
        raise ArgumentError(
            f"`agent_or_value` must be an agent or a function, but it is the class {agent_or_value.__name__}. "
            "Make an agent of it first."
        )
    known = value_of.knows(agent_or_value)
    if not known and not callable(agent_or_value):
        value_of(agent_or_value)  # says how to teach it this class
    if not known and options:
        raise ArgumentError(f"`options` must be empty for a value function, but it is {options!r}. Leave them out.")
    value: Any = value_of(agent_or_value, **options) if known else agent_or_value
    paths = _paths(_environment(agent_or_value, env))
    if known and env is not None:
        paths = _as_the_agent_sees(agent_or_value, paths)
    missing = next((member for member, _, kernel in paths if kernel is None), None)
    if missing is not None:
        raise WrapperError(
            f"`env` must have a `WorstKernel` in it, but {missing.env} has none. "
            "Wrap it before the agent takes it: ewok.WorstKernel(env, kappa=0.2)."
        )
    critics = []
    for member, above, kernel in paths:
        assert kernel is not None
        if known:
            _require_spaces(agent_or_value, member)
        has_discount = kernel.discount is not None
        refuse_unseen(above, has_discount)
        views = views_of(above)
        if member.observe is not None:
            views.append(View("the vector's wrappers", member.observe))
        own = value.of_member(member.index) if hasattr(value, "of_member") else value
        scale = _scale_of(above, member) if has_discount else None
        critics.append((kernel, kernel.critic_of(own, views, scale, agent_or_value if known else None)))
    _warn_of_another([kernel.critic.owner for kernel, _ in critics if kernel.critic is not None], agent_or_value)
    for kernel, critic in critics:
        kernel.attach(critic)
    if known:
        remember(agent_or_value)
    return agent_or_value


def _warn_of_another(owners: Iterable[Any], agent: Any) -> None:
    """One environment has one agent: the last that was bound."""
    for owner in owners:
        if owner is not None and owner is not agent:
            warnings.warn(
                f"the worst kernel was bound to another {type(owner).__name__}, and follows the one bound last from "
                "now on. Give each agent an environment of its own.",
                EwokWarning,
                stacklevel=3,
            )
            return


def _require_spaces(agent: Any, member: Member) -> None:
    """The agent must be able to look at what the environment shows."""
    expected = getattr(agent, "observation_space", None)
    if not isinstance(expected, gym.Space) or member.space is None or _alike(expected, member.space):
        return
    require(
        False,
        "env",
        f"one that shows {type(agent).__name__} what it was made for, {expected}",
        member.space,
        "Bind the agent in its own environment, or a value of these observations: ewok.bind(value, env).",
    )


def _alike(one: gym.Space[Any], other: gym.Space[Any]) -> bool:
    """Whether observations of one space can be looked at as the other's; images have channels first or last."""
    if isinstance(one, gym.spaces.Dict) and isinstance(other, gym.spaces.Dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, gym.spaces.Box) and isinstance(other, gym.spaces.Box):
        turned = len(one.shape) == 3 and (one.shape[2], *one.shape[:2]) == other.shape
        turned = turned or (len(other.shape) == 3 and (other.shape[2], *other.shape[:2]) == one.shape)
        return one.dtype == other.dtype and (one.shape == other.shape or turned)
    return one == other


def _as_the_agent_sees(agent: Any, paths: list[_Path]) -> list[_Path]:
    """For kernels in the agent's own environment, the whole path: what stands above may have been left out of `env`."""
    try:
        own = _paths(environment_of(agent))
    except UnknownAgentError:  # none, or held in a way that nobody taught us
        return paths
    by_kernel = {id(kernel): (member, above, kernel) for member, above, kernel in own}
    for member, _, kernel in paths:
        elsewhere = kernel is not None and id(kernel) not in by_kernel
        if elsewhere and member.observe is None and any(known.observe is not None for known, *_ in own):
            raise WrapperError(
                f"`env` must show observations as {type(agent).__name__} sees them, through the wrappers around the "
                "vector it learns in, but it has none of these. Wrap it likewise, or bind a value of its observations: "
                "ewok.bind(value, env)."
            )
    return [by_kernel.get(id(path[2]), path) for path in paths]


def _environment(agent: Any, env: Any) -> Any:
    if env is not None:
        return env
    own = environment_of(agent)
    if own is None:
        raise ArgumentError(
            f"`env` must be given where the first argument has no environment of its own, but it is None and "
            f"{type(agent).__name__} has none. Call ewok.bind(value, env)."
        )
    return own


def _paths(env: Any) -> list[_Path]:
    return [(member, *_path_to_kernel(member.env)) for member in members_of(env)]


def _path_to_kernel(env: Any) -> tuple[list[_Wrapper], Bindable | None]:
    """The wrappers above the worst kernel, outermost first, and it."""
    if not isinstance(env, gym.Env):
        return [], env
    above: list[_Wrapper] = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, WorstKernel):
            return above, layer
        above.append(layer)
        layer = layer.env
    return above, None


def _scale_of(above: list[_Wrapper], member: Member) -> Scale | None:
    """What the reward wrappers above would make of each candidate's reward, without moving them."""
    scales: list[Scale] = []
    for wrapper in reversed(above):
        if isinstance(wrapper, gym.RewardWrapper):
            scales.append(lambda rewards, w=wrapper: np.array([float(w.reward(r)) for r in rewards]))  # type: ignore[misc]
        elif isinstance(wrapper, gw.NormalizeReward):
            scales.append(lambda rewards, w=wrapper: rewards / np.sqrt(w.return_rms.var + w.epsilon))  # type: ignore[misc]
    if member.scale is not None:
        scales.append(member.scale)
    if not scales:
        return None

    def scale(rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        for step in scales:
            rewards = step(rewards)
        return rewards

    return scale

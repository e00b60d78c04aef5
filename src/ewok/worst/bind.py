"""The single link upward: an agent's value function, given once to the worst kernels it lives in."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, TypeVar

from ewok.errors import ArgumentError, EwokError, EwokWarning, WrapperError
from ewok.value import UnknownAgentError, ValueFunction, value_of
from ewok.worst.path import Bindable, Path, paths_in, require_as_seen, require_spaces
from ewok.worst.score import Critic
from ewok.worst.view import View, refuse_unseen, scale_of, views_of
from ewok.worst.watch import environment_of, remember

Bound = TypeVar("Bound")


def bind(agent_or_value: Bound, env: Any = None, **options: Any) -> Bound:
    """Let the agent's value function tell the worst kernels which next states are bad.

    Args:
        agent_or_value: an agent that `value_of` knows, or a value function.
        env: the environment, or vector of environments, as the agent sees it; by default the
            agent's own. In one where it does not learn, it only tells which states are bad.
        options: passed on to `value_of`, for an agent.

    Returns:
        What it was given.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), radius=0.3)
        >>> value = ewok.bind(lambda observations: -abs(observations[:, 0]), env)
    """
    known = value_of.knows(agent_or_value)
    value: Any = _value(agent_or_value, known, options)
    paths, own = _paths(agent_or_value, env, known)
    index_of = {id(path.kernel): path.member.index for path in own if path.kernel is not None}
    critics = []
    for path in paths:
        kernel = path.require_kernel()
        if known:
            require_spaces(agent_or_value, path.member)
        learns = id(kernel) in index_of
        seen = value.of_member(index_of[id(kernel)]) if learns and hasattr(value, "of_member") else value
        critics.append((kernel, _critic(path, kernel, seen, agent_or_value if known and learns else None)))
    _warn_of_another([kernel.critic.owner for kernel, _ in critics if kernel.critic is not None], agent_or_value)
    for kernel, critic in critics:
        kernel.attach(critic)
    if any(critic.owner is not None for _, critic in critics):
        remember(agent_or_value)
    return agent_or_value


def _value(agent_or_value: Any, known: bool, options: dict[str, Any]) -> Any:
    if isinstance(agent_or_value, type):
        raise ArgumentError(
            f"`agent_or_value` must be an agent or a function, but it is the class {agent_or_value.__name__}. "
            "Make an agent of it first."
        )
    if known or not callable(agent_or_value):
        return value_of(agent_or_value, **options)  # or an error that says how to teach it this class
    if options:
        raise ArgumentError(f"`options` must be empty for a value function, but it is {options!r}. Leave them out.")
    return agent_or_value


def _paths(agent: Any, env: Any, known: bool) -> tuple[list[Path], list[Path]]:
    """The ways down to the worst kernels that are bound, and those into the environment that the agent learns in."""
    if env is None:
        paths = paths_in(_environment(agent))
        return paths, paths
    paths = paths_in(env)
    if known:
        own = _where_it_learns(agent)
        return _as_the_agent_sees(agent, paths, own), own
    if not hasattr(agent, "agent"):
        return paths, paths  # of no agent: all are its own
    try:
        return paths, _where_it_learns(agent.agent)
    except EwokError:
        return paths, []


def _where_it_learns(agent: Any) -> list[Path]:
    try:
        return paths_in(environment_of(agent))
    except UnknownAgentError:  # it has none, or holds it in a way that nobody taught us
        return []
    except EwokError as error:
        raise WrapperError(
            f"`env` must show observations as {type(agent).__name__} sees them where it learns, and what it sees there "
            f"is not known. {error} For a value of the observations of `env`: ewok.bind(ewok.value_of(agent), env)."
        ) from error


def _as_the_agent_sees(agent: Any, paths: list[Path], own: list[Path]) -> list[Path]:
    """For kernels in the agent's own environment, the whole path: what stands above may have been left out of `env`."""
    by_kernel = {id(path.kernel): path for path in own if path.kernel is not None}
    for path in paths:
        if own and path.kernel is not None and id(path.kernel) not in by_kernel:
            require_as_seen(agent, path, own[0])
    return [by_kernel.get(id(path.kernel), path) for path in paths]


def _critic(path: Path, kernel: Bindable, value: ValueFunction, owner: Any) -> Critic:
    """`value` as it looks down this path."""
    has_discount = kernel.discount is not None
    if has_discount and path.member.unscaled is not None:
        raise WrapperError(path.member.unscaled)
    refuse_unseen(path.above, has_discount)
    views = views_of(path.above)
    if path.member.observe is not None:
        views.append(View("the vector's wrappers", path.member.observe))
    scale = scale_of(path.above, path.member.scale) if has_discount else None
    return kernel.critic_of(value, views, scale, owner)


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


def _environment(agent: Any) -> Any:
    own = environment_of(agent)
    if own is None:
        raise ArgumentError(
            f"`env` must be given where the first argument has no environment of its own, but it is None and "
            f"{type(agent).__name__} has none. Call ewok.bind(value, env)."
        )
    return own

"""Warnings, one each, about a worst kernel that cannot do what it was put there for."""

from __future__ import annotations

import warnings
import weakref
from typing import Any, final

import gymnasium as gym
import numpy as np

from ewok.errors import EwokError, EwokWarning
from ewok.nominal.batch import leaves
from ewok.nominal.kernel import Candidates
from ewok.nominal.layers import wrappers_of
from ewok.value import members_of
from ewok.worst.score import Scoring

_STEPS_UNBOUND = 10_000
_STEPS_IDLE = 1_000
_STEPS_EQUAL = 100

# Agents that were bound at some time: one that moves to a new environment is to be bound again.
_AGENTS: weakref.WeakSet[Any] = weakref.WeakSet()


def remember(agent: Any) -> None:
    """This agent was bound, and learns where it was bound."""
    if type(agent).__hash__ is not None and hasattr(agent, "__weakref__"):
        _AGENTS.add(agent)


def environment_of(agent: Any) -> Any:
    """The environment an agent holds, if it does."""
    return agent.get_env() if hasattr(agent, "get_env") else getattr(agent, "env", None)


@final
class Watch:
    """Looks at steps as they go by. Counts, so it costs next to nothing once it has seen enough."""

    def __init__(self) -> None:
        self._num_unbound = 0
        self._num_equal: int | None = 0  # None: nothing more to find out
        self._saw_rewarding_end = False
        self._clock: int | None = None  # what the agent counted at the latest step
        self._num_idle: int | None = 0  # steps in a row at which it did not; None once it was warned of
        self._saw_moved_agent = False

    def unbound_reset(self, kernel: gym.Env[Any, Any]) -> None:
        if self._saw_moved_agent:
            return
        for agent in list(_AGENTS):
            if _lives_in(agent, kernel):
                self._saw_moved_agent = True
                _warn(
                    f"{type(agent).__name__} was bound to another environment, and now learns in this one, whose "
                    "WorstKernel is not bound: it is the nominal kernel. Call `ewok.bind(agent)` again."
                )

    def unbound_step(self) -> None:
        self._num_unbound += 1
        if self._num_unbound == _STEPS_UNBOUND:
            _warn(
                f"{_STEPS_UNBOUND:,} steps of a WorstKernel without a value function: so far it is the nominal "
                "environment. Call `ewok.bind(agent)`, or drop the wrapper where nominal is meant."
            )

    def drawn(self, candidates: Candidates, scoring: Scoring, owner: Any = None) -> None:
        if owner is not None and self._num_idle is not None:
            self._look_for_learning(owner, self._num_idle)
        if self._num_equal is not None and len(candidates) > 1:
            self._look_for_noise(candidates)
        if scoring.discount is None and not self._saw_rewarding_end and np.count_nonzero(candidates.terminated):
            self._look_for_rewarding_end(candidates, scoring)

    def _look_for_learning(self, agent: Any, num_idle: int) -> None:
        """An agent that counts its steps, and does not go on, was replaced by another that nobody bound."""
        clock = getattr(agent, "num_timesteps", None)
        self._num_idle = num_idle + 1 if clock is not None and clock == self._clock else 0
        self._clock = clock
        if self._num_idle == _STEPS_IDLE:
            self._num_idle = None
            _warn(
                f"{_STEPS_IDLE:,} steps were scored by a {type(agent).__name__} that did not learn from them. If "
                "another agent learns here, loaded from a file perhaps, call `ewok.bind` with that one. If it is "
                "being tested here, bind its value alone: `ewok.bind(ewok.value_of(agent), env)`."
            )

    def _look_for_noise(self, candidates: Candidates) -> None:
        assert self._num_equal is not None
        if any((leaf != leaf[:1]).any() for leaf in leaves(candidates.observations)):
            self._num_equal = None
            return
        self._num_equal += 1
        if self._num_equal == _STEPS_EQUAL:
            self._num_equal = None
            _warn(
                f"all candidates of {_STEPS_EQUAL} steps in a row were equal: the world is deterministic, so its "
                "worst kernel is the nominal one. Make it stochastic with `ewok.StateNoise`, `ewok.ActionNoise` "
                "or `ewok.RandomAction`."
            )

    def _look_for_rewarding_end(self, candidates: Candidates, scoring: Scoring) -> None:
        ended = candidates.terminated
        if ended.all() or candidates.rewards[ended].max() <= candidates.rewards[~ended].max():
            return
        self._saw_rewarding_end = True
        _warn(
            "a candidate that ends the episode earned more than its siblings, but candidates are scored without "
            f"their reward (terminal_value={scoring.terminal_value}): a rewarding goal can look like the worst state. "
            'Score by r + gamma v instead, with `discount="agent"` or a number.'
        )


def _lives_in(agent: Any, kernel: gym.Env[Any, Any]) -> bool:
    try:
        return any(layer is kernel for env in members_of(environment_of(agent)) for layer in wrappers_of(env.env))
    except EwokError:  # held in a way that cannot be looked through
        return False


def _warn(message: str) -> None:
    warnings.warn(message, EwokWarning, stacklevel=5)

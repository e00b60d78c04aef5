"""Warnings, one each, about a worst kernel that cannot do what it was put there for."""

from __future__ import annotations

import warnings
from typing import final

import numpy as np

from ewok.errors import EwokWarning
from ewok.nominal.batch import leaves
from ewok.nominal.kernel import Candidates
from ewok.worst.score import Scoring

_STEPS_UNBOUND = 10_000
_STEPS_EQUAL = 100


@final
class Watch:
    """Looks at steps as they go by. Counts, so it costs next to nothing once it has seen enough."""

    def __init__(self) -> None:
        self._num_unbound = 0
        self._num_equal: int | None = 0  # None: nothing more to find out
        self._saw_rewarding_end = False

    def unbound_step(self) -> None:
        self._num_unbound += 1
        if self._num_unbound == _STEPS_UNBOUND:
            _warn(
                f"{_STEPS_UNBOUND:,} steps of a WorstKernel without a value function: so far it is the nominal "
                "environment. Call `ewok.bind(agent)`, or drop the wrapper where nominal is meant."
            )

    def drawn(self, candidates: Candidates, scoring: Scoring) -> None:
        if self._num_equal is not None and len(candidates) > 1:
            self._look_for_noise(candidates)
        if scoring.discount is None and not self._saw_rewarding_end and np.count_nonzero(candidates.terminated):
            self._look_for_rewarding_end(candidates, scoring)

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


def _warn(message: str) -> None:
    warnings.warn(message, EwokWarning, stacklevel=5)

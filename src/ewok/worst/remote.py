"""A worst kernel whose critic sits in another process: candidates go out, scores come back."""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ewok.nominal.kernel import Candidates
from ewok.worst.score import Scoring, UnansweredError
from ewok.worst.view import View


class Question(NamedTuple):
    """What is sent of candidates: all that their scores depend on."""

    observations: Any
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    scoring: Scoring


@final
class RemoteCritic:
    """Stands in a worker for the critic of the process that learns, so no copy of it can go stale.

    Attributes:
        seen_below: the latest candidates as they come out of the wrappers beneath the worst kernel.
    """

    looks_through_foreign = False  # what stands above the worst kernel is in the other process
    owner = None

    def __init__(self, connection: Connection, below: Sequence[View], scoring: Scoring) -> None:
        self._connection, self._below, self._scoring = connection, below, scoring
        self.seen_below: Any = None

    def rescored(self, scoring: Scoring) -> RemoteCritic:
        return RemoteCritic(self._connection, self._below, scoring)

    def look(self, candidates: Candidates) -> Any:
        observations = candidates.observations
        for view in self._below:
            observations = view.look(observations)
        self.seen_below = observations
        return observations

    def scores(self, candidates: Candidates, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        seen = self.look(candidates)
        self._connection.send(Question(seen, candidates.rewards, candidates.terminated, self._scoring))
        scores: NDArray[np.float64] | None = self._connection.recv()
        if scores is None:
            raise UnansweredError("the process that learns has no scores for these candidates; it says why.")
        return scores

    def look_again(self, index: int) -> None:
        """Nothing above to look at."""

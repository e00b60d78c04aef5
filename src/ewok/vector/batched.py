"""One call of a value function for many batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ewok.nominal.batch import num_rows
from ewok.worst.score import Critic


def values_of_all(critics: Sequence[Critic], batches: Sequence[Any]) -> list[NDArray[np.float64]]:
    """What each critic says of its own batch; critics of one value function are asked together.

    Batches are observations as the agent sees them, batch first.
    """
    values: list[Any] = [None] * len(critics)
    groups: dict[int, list[int]] = {}
    for place, critic in enumerate(critics):
        groups.setdefault(id(critic.value), []).append(place)
    for places in groups.values():
        together = _joined([batches[place] for place in places])
        answer = critics[places[0]].values(together)
        ends = np.cumsum([num_rows(batches[place]) for place in places])
        for place, part in zip(places, np.split(answer, ends[:-1]), strict=True):
            values[place] = part
    return values


def _joined(batches: Sequence[Any]) -> Any:
    first = batches[0]
    if len(batches) == 1:
        return first
    if isinstance(first, dict):
        return {key: _joined([batch[key] for batch in batches]) for key in first}
    if isinstance(first, tuple):
        return tuple(_joined([batch[i] for batch in batches]) for i in range(len(first)))
    return np.concatenate(batches)

"""Uncertainty sets: one row of a kernel may be any in a neighbourhood of the nominal row.

Each set is a small value; its file also has the compiled function that finds the worst row, exactly.
All stay within the support of the nominal row.
"""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from ewok.tabular.sets.burg import Burg
from ewok.tabular.sets.chi_square import ChiSquare
from ewok.tabular.sets.contamination import Contamination
from ewok.tabular.sets.kl import KL
from ewok.tabular.sets.l1 import L1, TV
from ewok.tabular.sets.l2 import L2
from ewok.tabular.sets.linf import LInf


class UncertaintySet(Protocol):
    """What the solvers ask of a set.

    Attributes:
        kind: which compiled function finds its worst rows; see `sets.worst_row`.
        radius: one for all pairs, or one each; for a set per state, one for all states, or one each.
        weights: (S,) weights of next states in the distance, or None.
        optimistic: whether the best kernel is meant instead of the worst.
        per_state: whether the radius is shared by all actions of a state (s-rectangular).
    """

    @property
    def kind(self) -> int: ...

    @property
    def radius(self) -> ArrayLike: ...

    @property
    def weights(self) -> ArrayLike | None: ...

    @property
    def optimistic(self) -> bool: ...

    @property
    def per_state(self) -> bool: ...


__all__ = ["KL", "L1", "L2", "TV", "Burg", "ChiSquare", "Contamination", "LInf", "UncertaintySet"]

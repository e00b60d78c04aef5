"""Discount 1: when values are finite all the same, and what a sweep proves of them.

Two kinds of MDP are accepted. In one, every policy under every kernel of the set reaches an end. In
the other some policy does, whatever the kernel, and every step costs something, so that never
ending cannot pay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import ArgumentError
from ewok.tabular.bounds import Bounds, MacQueen, Narrowing, Rounding
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.operator import Operator
from ewok.tabular.sets import UncertaintySet
from ewok.tabular.soundness import require_set

_MOST_SWEEPS = 100_000


def bounds_of(mdp: TabularMDP, uncertainty: UncertaintySet | None, shares: Floats | None) -> Bounds:
    """What bounds hold for this MDP, with or without discount."""
    if uncertainty is not None:
        require_set(uncertainty)
    if mdp.discount < 1.0:
        return MacQueen(
            mdp, _rounding_of(mdp, uncertainty, shares), optimistic=uncertainty is not None and uncertainty.optimistic
        )
    if uncertainty is not None and uncertainty.per_state:
        raise ArgumentError("`discount` must be below 1 for a set with per_state=True, but it is 1. Discount the MDP.")
    return _undiscounted(mdp, uncertainty, shares)


def _rounding_of(mdp: TabularMDP, uncertainty: UncertaintySet | None, shares: Floats | None) -> Rounding:
    mixed = shares is not None or (uncertainty is not None and uncertainty.per_state)
    return Rounding(mdp, uncertainty, mixed)


def _undiscounted(mdp: TabularMDP, uncertainty: UncertaintySet | None, shares: Floats | None) -> Bounds:
    """The bounds that hold for this MDP without discount, or an error that says why there are none."""
    rounding = _rounding_of(mdp, uncertainty, shares)
    considered = np.ones(mdp.num_pairs, dtype=bool) if shares is None else shares > 0.0
    stuck = _stuck(mdp, _as(uncertainty, optimistic=False), considered, every_action=True)
    if not stuck.any():
        longest = _longest(mdp, _as(uncertainty, optimistic=True), considered)
        return _ByDuration(longest, rounding)
    costs = -mdp.entry_rewards[np.repeat(considered, np.diff(mdp.row_ptr))]
    stuck = _stuck(mdp, uncertainty, considered, every_action=shares is not None)
    if not stuck.any() and costs.min() > 0.0:
        return _ByCost(mdp, float(costs.min()), rounding)
    if stuck.any():
        reason = f"from {mdp.state_name(int(np.flatnonzero(stuck)[0]))} no policy is sure to reach a terminal state"
    else:
        reason = "some policies never end, and some steps cost nothing, so that need not be bad for them"
    raise ArgumentError(
        f"`discount` must be below 1 here, but it is 1 and {reason}. Discount the MDP, or use `finite_horizon`."
    )


def _as(uncertainty: UncertaintySet | None, *, optimistic: bool) -> UncertaintySet | None:
    changed: Any = uncertainty
    return None if changed is None else replace(changed, optimistic=optimistic)


def _stuck(
    mdp: TabularMDP, uncertainty: UncertaintySet | None, considered: NDArray[np.bool_], *, every_action: bool
) -> NDArray[np.bool_]:
    """(S,) states from which an end need not be reached, by every action or by the best one.

    Starts from the ends and adds states that come closer to them with a probability the set cannot make 0.
    """
    ahead = _paying(mdp, 0.0)
    operator, states = Operator(ahead, uncertainty), mdp.states
    near = mdp.terminal.astype(np.float64)
    while True:
        chances = np.add.reduceat(operator.rows(near) * near[mdp.next_states], mdp.row_ptr[:-1])
        wanted = considered & ((chances > 0.0) != every_action)
        hits = np.bincount(states[wanted], minlength=mdp.num_states) > 0
        closer = np.where(mdp.terminal, True, ~hits if every_action else hits)
        if np.array_equal(closer, near > 0.0):
            return ~closer
        near = closer.astype(np.float64)


def _longest(mdp: TabularMDP, uncertainty: UncertaintySet | None, considered: NDArray[np.bool_]) -> Floats:
    """(S,) w with w >= 1 + max <q, w> over actions and kernels: no less than the longest expected duration."""
    operator = Operator(_paying(mdp, 1.0), uncertainty, considered=considered)
    duration = np.zeros(mdp.num_states)
    for _ in range(_MOST_SWEEPS):
        longer = operator(duration)
        if (longer - duration).max() <= 0.5:
            return 2.0 * longer
        duration = longer
    raise ArgumentError(
        f"`discount` must be below 1 here, but it is 1 and episodes may last longer than {duration.max():.3g} steps. "
        "Discount the MDP, or use `finite_horizon`."
    )


def _paying(mdp: TabularMDP, reward: float) -> TabularMDP:
    return replace(mdp, rewards=np.full(mdp.num_pairs, reward), discount=1.0, sense="maximise")


@final
class _ByDuration:
    """With d = T v - v, v + w max(d, 0) is no less than its own T, so no less than v*; and so from below."""

    def __init__(self, duration: Floats, rounding: Rounding) -> None:
        self._duration, self._rounding = duration, rounding

    def __call__(self, value: Floats, new: Floats, slack: float, lower: Floats, upper: Floats, /) -> Narrowing:
        change = new - value
        rounding = self._rounding(value, new)
        loose = rounding + slack
        below = value + self._duration * (min(float(change.min()), 0.0) - loose)
        above = value + self._duration * (max(float(change.max()), 0.0) + loose)
        stays = 2.0 * rounding * float(self._duration.max())
        return _narrowed(lower, upper, below, above, change, stays)


@final
class _ByCost:
    """Every step costs at least c, and J = -v is what is still to pay.

    T((1 - e) J) >= (1 - e) T J + e c, so (1 - e) J is no more than its own T, hence than J*, where
    e c >= (1 - e) max(J - T J); and so from above with 1 + e.
    """

    def __init__(self, mdp: TabularMDP, least_cost: float, rounding: Rounding) -> None:
        self._living, self._least, self._rounding = ~mdp.terminal, least_cost, rounding

    def __call__(self, value: Floats, new: Floats, slack: float, lower: Floats, upper: Floats, /) -> Narrowing:
        change = new - value
        rounding = self._rounding(value, new)
        loose = rounding + slack
        fell, rose = max(float(change.max()), 0.0) + loose, max(-float(change.min()), 0.0) + loose
        above = (1.0 - fell / (self._least + fell)) * value
        if rose < self._least:
            below = (1.0 + rose / (self._least - rose)) * value
        else:
            below = np.where(self._living, -np.inf, 0.0)
        stays = 2.0 * rounding / self._least * float(-value.min())
        return _narrowed(lower, upper, below, above, change, stays)


def _narrowed(lower: Floats, upper: Floats, below: Floats, above: Floats, change: Floats, stays: float) -> Narrowing:
    """Narrow the bounds so far in place."""
    np.maximum(lower, below, out=lower)
    np.minimum(upper, above, out=upper)
    left, gap = float((above - below).max()), float((upper - lower).max())
    return Narrowing(float(change.min()), float(change.max()), left, gap, stays)

"""A simulator's kernel with the noise wrappers' draws in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import WrapperError, require
from ewok.nominal.kernel import Candidates, NominalKernel, SteerableKernel
from ewok.nominal.layers import ActionDisturbance, Layers, StateDisturbance


@final
class DisturbedKernel:
    """Every candidate has its own draw of every noise, then its own outcome.

    Actions are taken as the uppermost action noise receives them.
    """

    def __init__(self, kernel: SteerableKernel, layers: Layers) -> None:
        self._kernel = kernel
        # Looked up once: to ask whether an object keeps a protocol takes longer than to disturb an action.
        self._action_path = [(layer, isinstance(layer, ActionDisturbance)) for layer in layers.action_path]
        self._state_noises = [w for w in layers.wrappers if isinstance(w, StateDisturbance)]

    @property
    def state_size(self) -> int | None:
        return self._kernel.state_size

    @property
    def deterministic(self) -> bool:
        return self._kernel.deterministic

    def draw(self, action: Any, num: int) -> Candidates:
        require_num(num)
        return self.draw_each([action] * num, None)

    def draw_each(self, actions: Sequence[Any], shift: NDArray[np.float64] | None) -> Candidates:
        num = len(actions)
        for layer, disturbs in self._action_path:
            actions = layer.disturb(actions) if disturbs else [layer.action(action) for action in actions]
        for noise in self._state_noises:
            moved = noise.displace(num)
            shift = moved if shift is None else shift + moved
        if shift is None and not self._action_path:
            return self._kernel.draw(actions[0], num)
        return self._kernel.draw_each(actions, shift)

    def commit(self, index: int) -> None:
        self._kernel.commit(index)

    def abandon(self) -> None:
        """The simulator's part of it; the noise wrappers' generators are theirs to rewind."""
        self._kernel.abandon()


def disturbed(kernel: NominalKernel, layers: Layers) -> NominalKernel:
    """`kernel` with the noise wrappers of `layers` in it, if there are any."""
    noises = layers.disturbances
    if not noises:
        return kernel
    if not isinstance(kernel, SteerableKernel):
        raise WrapperError(
            f"`{type(noises[0]).__name__}` stands above a simulator whose kernel, "
            f"{type(kernel).__name__}, draws all candidates from one action. Give that kernel a "
            "`draw_each(actions, shift)` and a `state_size`, or draw the noise inside it."
        )
    return DisturbedKernel(kernel, layers)


def require_num(num: Any) -> None:
    valid = isinstance(num, (int, np.integer)) and bool(num >= 1)  # a tuple takes half the time of a union
    require(valid, "num", "a whole number of candidates, at least 1", num, "Draw one or more.")

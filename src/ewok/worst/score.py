"""From candidates to scores: how bad each next state would be, as the agent judges it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import ValueFunctionError, require
from ewok.nominal.kernel import Candidates
from ewok.value import ValueFunction
from ewok.worst.view import View

Array = NDArray[np.float64]
Scale = Callable[[Array], Array]


@final
@dataclass(frozen=True)
class Scoring:
    """v(s'), or r + discount * v(s'), with a value of its own for states that end the episode."""

    discount: float | Literal["agent"] | None
    terminal_value: float | None

    def __post_init__(self) -> None:
        named = isinstance(self.discount, str) and self.discount == "agent"
        if self.discount is not None and not named:
            number = isinstance(self.discount, int | float | np.integer | np.floating)
            valid = number and 0.0 <= float(self.discount) <= 1.0
            require(valid, "discount", 'None, "agent" or a number from 0 to 1', self.discount, "Use the agent's gamma.")
        if self.terminal_value is not None:
            number = isinstance(self.terminal_value, int | float | np.integer | np.floating)
            require(
                number and bool(np.isfinite(self.terminal_value)),
                "terminal_value",
                "None or a finite number",
                self.terminal_value,
                "The paper's setting is 0; None asks the value function.",
            )


@final
class Critic:
    """A value function as it looks at candidates: through the agent's observation wrappers."""

    def __init__(self, value: ValueFunction, views: Sequence[View], scale: Scale | None, scoring: Scoring) -> None:
        require(callable(value), "value", "a callable from observations to values", value, "See ewok.value_of.")
        self._value = value
        self._views = views
        self._scale = scale
        self._discount = _number_of(scoring.discount, value)
        self._terminal_value = scoring.terminal_value

    def scores(self, candidates: Candidates) -> Array:
        """One finite number per candidate: the lower, the worse for the agent."""
        observations = candidates.observations
        for view in self._views:
            observations = view(observations)
        values = _checked(self._value(observations), len(candidates))
        ended = candidates.terminated
        if self._terminal_value is not None and np.count_nonzero(ended):
            values = np.where(ended, self._terminal_value, values)
        if np.count_nonzero(np.isfinite(values)) < len(values):
            wrong = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueFunctionError(
                f"the value function returned {values[wrong]} for candidate {wrong} of {len(values)}. It must be "
                "finite for every state the simulator can reach; look at the agent's training and its normalisation."
            )
        if self._discount is None:
            return values
        rewards = candidates.rewards if self._scale is None else self._scale(candidates.rewards)
        return rewards + self._discount * values


def _checked(returned: Any, num: int) -> Array:
    try:
        values = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueFunctionError(
            f"the value function must return an array of {num} numbers, but it returned a "
            f"{type(returned).__name__}: {error}. Detach tensors and move them to the CPU."
        ) from error
    if values.shape != (num,):
        raise ValueFunctionError(
            f"the value function must return one value per observation, shape ({num},), but it returned shape "
            f"{values.shape}. Drop the extra axis, for example with `[:, 0]`, or do not sum over the batch."
        )
    return values


def _number_of(discount: float | str | None, value: ValueFunction) -> float | None:
    if not isinstance(discount, str):
        return None if discount is None else float(discount)
    known: Any = getattr(value, "discount", None)
    if known is None:
        requirement = "a number where the value function does not know the agent's"
        remedy = "Give the agent's gamma, for example discount=0.99, or bind the agent itself."
        require(False, "discount", requirement, discount, remedy)
    return float(known)

"""From candidates to scores: how bad each next state would be, as the agent judges it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import DivergedError, EwokError, ValueFunctionError, WrapperError, require
from ewok.nominal.batch import copied, leaves, num_rows, same, take, take_rows
from ewok.nominal.kernel import Candidates
from ewok.value import ValueFunction
from ewok.worst.view import View

Array = NDArray[np.float64]
Scale = Callable[[Array], Array]


class UnansweredError(EwokError):
    """Whoever was asked for scores, elsewhere, has none: the step is not to be taken."""


@final
@dataclass(frozen=True)
class Scoring:
    """v(s'), or r + discount * v(s'), with a value of its own for states that end the episode."""

    discount: float | Literal["agent"] | None
    terminal_value: float | None

    def __post_init__(self) -> None:
        named = isinstance(self.discount, str) and self.discount == "agent"
        if self.discount is not None and not named:
            valid = 0.0 <= number_of(self.discount) <= 1.0
            require(valid, "discount", 'None, "agent" or a number from 0 to 1', self.discount, "Use the agent's gamma.")
        if self.terminal_value is not None:
            require(
                bool(np.isfinite(number_of(self.terminal_value))),
                "terminal_value",
                "None or a finite number",
                self.terminal_value,
                "The paper's setting is 0; None asks the value function.",
            )


@final
class Critic:
    """A value function as it looks at candidates: through the agent's observation wrappers.

    Attributes:
        value: the value function.
        owner: the agent that it is of and that learns here; None for a function.
        seen_below: the latest candidates as they come out of the wrappers beneath the worst kernel.
    """

    def __init__(
        self,
        value: ValueFunction,
        below: Sequence[View],
        above: Sequence[View],
        scale: Scale | None,
        scoring: Scoring,
        owner: Any = None,
    ) -> None:
        given: Any = value
        is_sound = callable(given) and not isinstance(given, type)
        require(is_sound, "value", "a callable from observations to values", value, "See ewok.value_of.")
        self.value = value
        self.owner = owner
        self._below, self._above = below, above
        self._scale = scale
        self._discount = _discount_of(scoring.discount, value)
        self._terminal_value = scoring.terminal_value
        self.seen_below: Any = None
        self._foreign: list[tuple[View, Any, Any]] = []

    def rescored(self, scoring: Scoring) -> Critic:
        """The same critic with another discount or terminal value."""
        return Critic(self.value, self._below, self._above, self._scale, scoring, self.owner)

    @property
    def looks_through_foreign(self) -> bool:
        """Whether a wrapper from elsewhere stands above, which has to be looked at again after the step."""
        return any(view.is_foreign for view in self._above)

    def scores(self, candidates: Candidates, values: Array | None = None) -> Array:
        """One finite number per candidate: the lower, the worse for the agent. Their values may be known already."""
        if values is None:
            values = self.values(self.look(candidates))
        if values.shape != (len(candidates),):
            _refuse_lost(values, candidates)
        ended = candidates.terminated
        if self._terminal_value is not None and np.count_nonzero(ended):
            values = np.where(ended, self._terminal_value, values)
        if self._discount is None:
            scores = values
        else:
            rewards = candidates.rewards if self._scale is None else self._scale(candidates.rewards)
            scores = rewards + self._discount * values
        if not math.isfinite(sum(scores.tolist())) and not np.isfinite(scores).all():  # finite ones may add up to inf
            _refuse_infinite(scores, candidates)
        return scores

    def values(self, observations: Any) -> Array:
        """What the value function says of observations as the agent sees them."""
        try:
            returned = self.value(observations)
        except EwokError:
            raise
        except Exception as error:
            raise ValueFunctionError(
                "the value function must take a batch of observations as the agent sees them, "
                f"{_described(observations)}, but it raised {type(error).__name__}: {error}. Call it with such a batch "
                "by hand; an agent's value function is `ewok.value_of(agent)`."
            ) from error
        return _checked(returned, num_rows(observations))

    def look(self, candidates: Candidates) -> Any:
        """Candidates as the agent would see them, in arrays of the value function's own."""
        observations = candidates.observations
        for view in self._below:
            observations = view.look(observations)
        self.seen_below = observations
        if self._above:
            self._foreign = []
            for view in self._above:
                seen = view.look(observations)
                if view.is_foreign:
                    self._foreign.append((view, observations, seen))
                observations = seen
        return copied(observations)

    def look_again(self, index: int) -> None:
        """The simulator has moved: a view that looks at it, not only at its argument, now shows another picture."""
        for view, beneath, seen in self._foreign:
            again = view.look(take_rows(beneath, np.array([index])))
            if not same(take(again, 0), take(seen, index)):
                raise WrapperError(
                    f"`{view.name}` does not compute the observation from its argument alone, so candidates cannot be "
                    "seen through it before one of them is the truth. Compute it in the simulator's own step instead."
                )


def _described(batch: Any) -> str:
    shapes = [f"{leaf.dtype}{list(leaf.shape)}" for leaf in leaves(batch)]
    return f"here {' and '.join(shapes)} in a {type(batch).__name__}"


def _refuse_lost(values: Array, candidates: Candidates) -> None:
    raise WrapperError(
        f"the wrappers between the agent and its worst kernel must show every one of {len(candidates)} candidates, but "
        f"they made {len(values)} observations of them. Make them look at each observation alone."
    )


def _refuse_infinite(scores: Array, candidates: Candidates) -> None:
    wrong = int(np.flatnonzero(~np.isfinite(scores))[0])
    if not np.isfinite(candidates.rewards[wrong]):
        raise DivergedError(
            f"candidate {wrong} of {len(scores)} has the reward {candidates.rewards[wrong]}. Let the kernel leave "
            "out candidates that diverged; look at the action, too."
        )
    raise ValueFunctionError(
        f"the value function returned {scores[wrong]} for candidate {wrong} of {len(scores)}. It must be "
        "finite for every state the simulator can reach; look at the agent's training and its normalisation."
    )


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


def number_of(value: Any) -> float:
    """The number, or NaN for what is none."""
    numeric = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return float(value) if numeric else float("nan")


def _discount_of(discount: float | str | None, value: ValueFunction) -> float | None:
    if not isinstance(discount, str):
        return None if discount is None else float(discount)
    known: Any = getattr(value, "discount", None)
    if known is None:
        requirement = "a number where the value function does not know the agent's"
        remedy = "Give the agent's gamma, for example discount=0.99, or bind the agent itself."
        require(False, "discount", requirement, discount, remedy)
    return float(known)

"""The way from an environment, as an agent sees it, down to its worst kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, final

import gymnasium as gym

from ewok.errors import WrapperError, require
from ewok.nominal.layers import wrappers_of
from ewok.value import Member, ValueFunction, members_of
from ewok.worst.kernel import WorstKernel
from ewok.worst.remote import RemoteCritic
from ewok.worst.score import Critic
from ewok.worst.view import Scale, View, views_of

_Wrapper = gym.Wrapper[Any, Any, Any, Any]
# They change the form of an observation alone, which its space tells.
_FORMS = ("FlattenObservation", "ReshapeObservation", "DtypeObservation")


class Bindable(Protocol):
    """What takes a critic: a `WorstKernel`, or what stands for one that lives in another process."""

    @property
    def discount(self) -> float | Literal["agent"] | None: ...

    @property
    def critic(self) -> Critic | RemoteCritic | None: ...

    def critic_of(
        self, value: ValueFunction, above: Sequence[View] = (), scale: Scale | None = None, owner: Any = None
    ) -> Critic: ...

    def attach(self, critic: Critic) -> None: ...


@final
@dataclass(frozen=True)
class Path:
    """From one environment down.

    Attributes:
        member: the environment, and what the vector around it makes of what it shows.
        above: the wrappers above the worst kernel, outermost first.
        kernel: the worst kernel; None where there is none, or where it cannot be reached.
    """

    member: Member
    above: tuple[_Wrapper, ...]
    kernel: Bindable | None

    def require_kernel(self) -> Bindable:
        if self.member.away is not None:
            raise WrapperError(self.member.away)
        if self.kernel is None:
            raise WrapperError(
                f"`env` must have a `WorstKernel` in it, but {self.member.env} has none. "
                "Wrap it before the agent takes it: ewok.WorstKernel(env, kappa=0.2)."
            )
        return self.kernel

    @property
    def shown_through(self) -> Counter[str]:
        """The wrappers that have a say in what is seen of the simulator, as far as can be seen from here."""
        inside = views_of(list(wrappers_of(self.member.env)))
        return Counter([*self.member.shown, *(view.name for view in inside if view.name not in _FORMS)])


def paths_in(env: Any) -> list[Path]:
    """The way down into each environment in `env`."""
    return [Path(member, *_down(member.env)) for member in members_of(env)]


def _down(env: Any) -> tuple[tuple[_Wrapper, ...], Bindable | None]:
    if env is not None and not isinstance(env, gym.Env):
        return (), env  # it lives elsewhere, and this stands for it
    above: list[_Wrapper] = []
    for layer in wrappers_of(env):
        if isinstance(layer, WorstKernel):
            return tuple(above), layer
        above.append(layer)
    return tuple(above), None


def require_as_seen(agent: Any, path: Path, own: Path) -> None:
    """Raise where `path` lacks what stands between the agent and the environment it learns in."""
    lost = own.shown_through - path.shown_through
    if not isinstance(path.kernel, gym.Env):  # what it has inside is not seen from here
        lost &= Counter(own.member.shown)
    if lost:
        raise WrapperError(
            f"`env` must show observations as {type(agent).__name__} sees them where it learns, through "
            f"{' and '.join(lost)}, but it has no such wrapper. Wrap it likewise, or bind a value of its observations: "
            "ewok.bind(value, env)."
        )


def require_spaces(agent: Any, member: Member) -> None:
    """Raise where the agent cannot look at what the environment shows, or cannot act in it."""
    remedy = "Bind the agent in its own environment, or a value of these observations: ewok.bind(value, env)."
    expected, shown = getattr(agent, "observation_space", None), member.space
    if isinstance(expected, gym.Space) and shown is not None and not _look_alike(expected, shown):
        require(False, "env", f"one that shows {type(agent).__name__} what it was made for, {expected}", shown, remedy)
    expected, taken = getattr(agent, "action_space", None), member.actions
    if isinstance(expected, gym.Space) and taken is not None and not _act_alike(expected, taken):
        require(False, "env", f"one that takes the actions of {type(agent).__name__}, {expected}", taken, remedy)


def _look_alike(one: gym.Space[Any], other: gym.Space[Any]) -> bool:
    """Whether observations of one space can be looked at as the other's; images have channels first or last."""
    if isinstance(one, gym.spaces.Dict) and isinstance(other, gym.spaces.Dict):
        return one.keys() == other.keys() and all(_look_alike(one[key], other[key]) for key in one)
    if isinstance(one, gym.spaces.Box) and isinstance(other, gym.spaces.Box):
        turned = len(one.shape) == 3 and (one.shape[2], *one.shape[:2]) == other.shape
        turned = turned or (len(other.shape) == 3 and (other.shape[2], *other.shape[:2]) == one.shape)
        return one.dtype == other.dtype and (one.shape == other.shape or turned)
    return one == other


def _act_alike(one: gym.Space[Any], other: gym.Space[Any]) -> bool:
    """Whether the same actions are there; the range of continuous ones may be another, since agents scale theirs."""
    if isinstance(one, gym.spaces.Box) and isinstance(other, gym.spaces.Box):
        return one.shape == other.shape
    return one == other

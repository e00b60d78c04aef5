"""What an agent sees of a candidate: the observation wrappers between the two, applied without moving them.

A view turns a batch of observations beneath a wrapper into the batch that would come out above it.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium import wrappers as gw
from numpy.typing import NDArray

from ewok.errors import EwokWarning, WrapperError
from ewok.nominal.batch import copied, leaves, num_rows, rows_of, stack
from ewok.nominal.layers import is_foreign, memory_of, put_back

_Wrapper = gym.Wrapper[Any, Any, Any, Any]
Look = Callable[[Any], Any]
Rewards = NDArray[np.float64]
Scale = Callable[[Rewards], Rewards]

_UNSEEN = {
    "gymnasium.wrappers.stateful_observation:MaxAndSkipObservation": "shows the larger of two observations",
    "gymnasium.wrappers.atari_preprocessing:AtariPreprocessing": "shows frames of its own making",
    "gymnasium.wrappers.transform_observation:AddRenderObservation": "shows a rendering of the simulator",
}


@final
@dataclass(frozen=True)
class View:
    """One observation wrapper, as it looks at candidates.

    Attributes:
        name: the wrapper's class.
        look: a batch of observations beneath the wrapper -> the batch that would come out above it.
        is_foreign: whether its class comes from elsewhere, so may look at more than its argument.
    """

    name: str
    look: Look
    is_foreign: bool = False


def views_of(wrappers: Sequence[_Wrapper]) -> list[View]:
    """The views of the observation wrappers among these (outermost first), innermost first."""
    looks = ((wrapper, _look_of(wrapper)) for wrapper in reversed(wrappers))
    return [View(type(w).__name__, look, is_foreign(w)) for w, look in looks if look is not None]


def refuse_unseen(wrappers: Sequence[_Wrapper], has_discount: bool) -> None:
    """Raise for wrappers above the worst kernel through which candidates cannot be looked at."""
    for wrapper in wrappers:
        kind, name = type(wrapper), type(wrapper).__name__
        reason = next((_UNSEEN[path] for path in map(path_of, kind.__mro__) if path in _UNSEEN), None)
        if reason is not None:
            raise WrapperError(
                f"`{name}` {reason}, so the value cannot see candidates as the agent would. Use wrappers that need "
                "only the observation, or bind a value of the observations beneath it: ewok.bind(value, env.env)."
            )
        if has_discount and isinstance(wrapper, gw.RepeatAction):
            raise WrapperError(
                f"`{name}` adds up rewards, so candidates' rewards cannot be scaled as the critic's are. "
                "Score by v(s') (discount=None), or let the simulator repeat actions."
            )
        if is_foreign(wrapper) and not _is_transform(kind):
            _doubt(wrapper, name, has_discount)


def path_of(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def scale_of(wrappers: Sequence[_Wrapper], member: Scale | None = None) -> Scale | None:
    """What these reward wrappers (outermost first) and the vector's would make of candidates' rewards, unmoved."""
    scales = [scale for wrapper in reversed(wrappers) if (scale := _scale_of(wrapper)) is not None]
    scales += [] if member is None else [member]
    if not scales:
        return None

    def scale_all(rewards: Rewards) -> Rewards:
        for scale in scales:
            rewards = scale(rewards)
        return rewards

    return scale_all


def _scale_of(wrapper: _Wrapper) -> Scale | None:
    if isinstance(wrapper, gym.RewardWrapper):
        return lambda rewards: _rewarded(wrapper, rewards)
    if isinstance(wrapper, gw.NormalizeReward):
        return lambda rewards: rewards / np.sqrt(wrapper.return_rms.var + wrapper.epsilon)
    return None


def _rewarded(wrapper: gym.RewardWrapper[Any, Any], rewards: Rewards) -> Rewards:
    """Asked one by one; one that remembers what it was asked is put back each time."""
    ask = _unmoved(wrapper, wrapper.reward) if is_foreign(wrapper) else wrapper.reward
    return np.array([float(ask(reward)) for reward in rewards])


def _is_transform(kind: type[_Wrapper]) -> bool:
    """Whether all it does goes through `observation`, `action` or `reward`, where it can be asked."""
    plain = (gym.Wrapper, gym.ObservationWrapper, gym.ActionWrapper, gym.RewardWrapper)
    return kind.step in [cls.step for cls in plain]


def _doubt(wrapper: _Wrapper, name: str, has_discount: bool) -> None:
    """A wrapper from elsewhere with a `step` of its own: refuse what shows, and say what cannot be seen."""
    remedy = "Make it a gymnasium.ObservationWrapper or RewardWrapper, which can be asked what they would make of it."
    if wrapper.observation_space != wrapper.env.observation_space:
        raise WrapperError(
            f"`{name}` changes the observation in its `step`, so the value cannot see candidates as the agent "
            f"would. {remedy}"
        )
    if has_discount:
        raise WrapperError(
            f"`{name}` has a `step` of its own, so it is not known whether candidates' rewards are scaled as the "
            f"critic's are. {remedy}"
        )
    warnings.warn(
        f"`{name}` stands above a WorstKernel and has a `step` of its own; what it makes of observations cannot be "
        f"seen, so the value sees candidates as they are beneath it. If it changes them: {remedy}",
        EwokWarning,
        stacklevel=4,
    )


def _look_of(wrapper: _Wrapper) -> Look | None:
    """What `wrapper` would make of each candidate, or None where it does not touch observations."""
    if isinstance(wrapper, gw.FrameStackObservation):
        return lambda batch: _stacked_frames(wrapper, batch)
    if isinstance(wrapper, gw.NormalizeObservation):
        return lambda batch: _normalized(wrapper, batch)
    if isinstance(wrapper, gw.DelayObservation):
        return lambda batch: _delayed(wrapper, batch)
    if isinstance(wrapper, gw.FlattenObservation) and _is_boxes(wrapper.env.observation_space):
        return lambda batch: _flattened(wrapper, batch)
    if isinstance(wrapper, gym.ObservationWrapper):
        return lambda batch: _asked(wrapper, batch)
    return None


def _asked(wrapper: gym.ObservationWrapper[Any, Any, Any], batch: Any) -> Any:
    """Asked row by row; one from elsewhere may remember what it was asked, so it is put back each time."""
    if not is_foreign(wrapper):
        return _each(wrapper.observation, batch)
    return _each(_unmoved(wrapper, lambda row: copied(wrapper.observation(row))), batch)


def _unmoved(wrapper: _Wrapper, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same question, after which the wrapper is what it is now."""
    memory = memory_of(wrapper)

    def asked(argument: Any) -> Any:
        try:
            return ask(argument)
        finally:
            put_back(wrapper, memory)
            memory.update(memory_of(wrapper))  # containers of its own again, for the next question to change

    return asked


def _each(observation: Callable[[Any], Any], batch: Any) -> Any:
    return stack([observation(row) for row in rows_of(batch)])


def _stacked_frames(wrapper: gw.FrameStackObservation[Any, Any, Any], batch: Any) -> Any:
    """The last frames, with each candidate as the newest."""
    kept = list(wrapper.obs_queue)[1:]
    rows = rows_of(batch)
    return stack([stack([*kept, row]) for row in rows])


def _normalized(wrapper: gw.NormalizeObservation[Any, Any, Any], batch: Any) -> Any:
    """Normalised by the statistics as they would be with each candidate in them."""
    statistics = wrapper.obs_rms

    def observe(row: Any) -> Any:
        wrapper.obs_rms = copy.copy(statistics)  # updating rebinds its fields, so a shallow copy is apart
        return wrapper.observation(row)

    try:
        return _each(observe, batch)
    finally:
        wrapper.obs_rms = statistics


def _delayed(wrapper: gw.DelayObservation[Any, Any], batch: Any) -> Any:
    """Under a delay all candidates look alike: the agent sees an older observation."""
    queue = wrapper.observation_queue
    before = list(queue)

    def observe(row: Any) -> Any:
        seen = wrapper.observation(row)
        queue.clear()
        queue.extend(before)
        return seen

    return _each(observe, batch)


def _is_boxes(space: gym.Space[Any]) -> bool:
    if isinstance(space, spaces.Dict):
        return all(_is_boxes(part) for part in space.spaces.values())
    if isinstance(space, spaces.Tuple):
        return all(_is_boxes(part) for part in space.spaces)
    return isinstance(space, spaces.Box)


def _flattened(wrapper: gw.FlattenObservation[Any, Any, Any], batch: Any) -> Any:
    """All rows at once; Gymnasium's own function takes ten times as long, one by one."""
    num = num_rows(batch)
    parts = leaves(_in_order(wrapper.env.observation_space, batch))
    return np.concatenate([part.reshape(num, -1) for part in parts], axis=1)


def _in_order(space: gym.Space[Any], batch: Any) -> Any:
    if isinstance(space, spaces.Dict):
        return {name: _in_order(part, batch[name]) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_in_order(part, value) for part, value in zip(space.spaces, batch, strict=True))
    return np.asarray(batch, dtype=space.dtype)

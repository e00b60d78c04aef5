"""What an agent sees of a candidate: the observation wrappers between the two, applied without moving them.

A view turns a batch of observations beneath a wrapper into the batch that would come out above it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium import wrappers as gw

from ewok.nominal.batch import leaves, rows_of, stack

View = Callable[[Any], Any]
_Wrapper = gym.Wrapper[Any, Any, Any, Any]


def views_of(wrappers: Sequence[_Wrapper]) -> list[View]:
    """The views of the observation wrappers among these (outermost first), innermost first."""
    found = (view_of(wrapper) for wrapper in reversed(wrappers))
    return [view for view in found if view is not None]


def view_of(wrapper: _Wrapper) -> View | None:
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
        return lambda batch: _each(wrapper.observation, batch)
    return None


def _num_rows(batch: Any) -> int:
    return len(leaves(batch)[0])


def _each(observation: Callable[[Any], Any], batch: Any) -> Any:
    return stack([observation(row) for row in rows_of(batch, _num_rows(batch))])


def _stacked_frames(wrapper: gw.FrameStackObservation[Any, Any, Any], batch: Any) -> Any:
    """The last frames, with each candidate as the newest."""
    kept = list(wrapper.obs_queue)[1:]
    rows = rows_of(batch, _num_rows(batch))
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
    num = _num_rows(batch)
    parts = leaves(_in_order(wrapper.env.observation_space, batch))
    return np.concatenate([part.reshape(num, -1) for part in parts], axis=1)


def _in_order(space: gym.Space[Any], batch: Any) -> Any:
    if isinstance(space, spaces.Dict):
        return {name: _in_order(part, batch[name]) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_in_order(part, value) for part, value in zip(space.spaces, batch, strict=True))
    return np.asarray(batch, dtype=space.dtype)

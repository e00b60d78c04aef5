"""Stacked frames as a model is used to them: how many, where they lie, and what there is before the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import gymnasium as gym
import numpy as np


@final
@dataclass(frozen=True)
class Frames:
    """The last observations of an episode, of which a model sees several at once.

    Attributes:
        num: how many.
        apart: on a first axis of their own, and before the first observation there is that one too, as Gymnasium's
            `FrameStackObservation` does by default; else side by side on the last axis, and before the first there
            are zeros, as Stable-Baselines3's `VecFrameStack` does.
    """

    num: int = 1
    apart: bool = False

    def first(self, observations: Any) -> Any:
        """The frames of episodes that begin with these observations, batch first."""
        if isinstance(observations, dict):
            return {key: self.first(part) for key, part in observations.items()}
        if self.apart:
            return np.repeat(observations[:, np.newaxis], self.num, axis=1)
        before = np.zeros((*observations.shape[:-1], self.num * observations.shape[-1]), dtype=observations.dtype)
        return self.next(before, observations)

    def next(self, before: Any, observations: Any) -> Any:
        """The frames with each episode's newest observation in and its oldest out."""
        if isinstance(observations, dict):
            return {key: self.next(before[key], part) for key, part in observations.items()}
        if self.apart:
            return np.concatenate([before[:, 1:], observations[:, np.newaxis]], axis=1)
        return np.concatenate([before[..., observations.shape[-1] :], observations], axis=-1)


ONE = Frames()


def frames_of(seen: gym.Space[Any], space: gym.Space[Any]) -> Frames | None:
    """Which stack of observations of `space` makes one of `seen`; None where none does."""
    if isinstance(seen, gym.spaces.Dict) and isinstance(space, gym.spaces.Dict):
        same = set(seen.spaces) == set(space.spaces)
        each = {frames_of(seen[key], space[key]) for key in seen.spaces} if same else {None}
        return each.pop() if len(each) == 1 else None
    if not isinstance(seen, gym.spaces.Box) or not isinstance(space, gym.spaces.Box):
        return ONE if seen == space else None
    if len(seen.shape) > len(space.shape) and seen.shape[1:] == space.shape:
        return Frames(seen.shape[0], apart=True)
    for shape in (seen.shape, _channels_last(seen)):
        if len(shape) == len(space.shape) and shape[:-1] == space.shape[:-1] and space.shape:
            frames, left = divmod(shape[-1], space.shape[-1])
            if left == 0 and frames >= 1:
                return Frames(frames)
    return None


def _channels_last(space: gym.spaces.Box) -> tuple[int, ...]:
    """An image's shape before the library moved its channels to the front."""
    is_image = space.dtype == np.uint8 and len(space.shape) == 3
    return (*space.shape[1:], space.shape[0]) if is_image else space.shape

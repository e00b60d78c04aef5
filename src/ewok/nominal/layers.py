"""What lies between a wrapper of ours and the simulator, and whether a draw can reach through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import gymnasium as gym
import numpy as np
from gymnasium import wrappers as gw
from numpy.typing import NDArray

from ewok.errors import WrapperError
from ewok.nominal.kernel import registered_factory


@runtime_checkable
class ActionDisturbance(Protocol):
    """A noise wrapper that gives every candidate an action of its own."""

    passing: bool
    generator: np.random.Generator

    def disturb(self, actions: Sequence[Any]) -> Sequence[Any]: ...


@runtime_checkable
class StateDisturbance(Protocol):
    """A noise wrapper that gives every candidate a displacement of its state."""

    passing: bool
    generator: np.random.Generator

    def displace(self, num: int) -> NDArray[np.float64]: ...


Disturbance = ActionDisturbance | StateDisturbance

# Step, reward and termination go through these untouched, and they count one step per step.
_TRANSPARENT = (
    gw.TimeLimit,
    gw.OrderEnforcing,
    gw.PassiveEnvChecker,
    gw.RecordEpisodeStatistics,
    gw.RecordVideo,
    gw.RenderCollection,
    gw.HumanRendering,
)

_REPEATS = "repeats actions, so one step would be several draws"
_REWARDS = "changes the reward, which is the simulator's to give"
_RESETS = "resets inside a step, where there is nothing to draw"

_REFUSED: dict[str, str] = {
    "gymnasium.wrappers.stateful_action:RepeatAction": _REPEATS,
    "gymnasium.wrappers.stateful_observation:MaxAndSkipObservation": _REPEATS,
    "gymnasium.wrappers.atari_preprocessing:AtariPreprocessing": _REPEATS,
    "gymnasium.wrappers.stateful_reward:NormalizeReward": _REWARDS,
    "gymnasium.core:RewardWrapper": _REWARDS,
    "gymnasium.wrappers.common:Autoreset": _RESETS,
    "stable_baselines3.common.atari_wrappers:MaxAndSkipEnv": _REPEATS,
    "stable_baselines3.common.atari_wrappers:EpisodicLifeEnv": "changes when episodes end",
}


@final
@dataclass(frozen=True)
class Layers:
    """The wrappers from one environment down to its simulator, outermost first."""

    wrappers: tuple[gym.Wrapper[Any, Any, Any, Any], ...]
    simulator: gym.Env[Any, Any]

    @property
    def disturbances(self) -> list[Disturbance]:
        return [w for w in self.wrappers if isinstance(w, ActionDisturbance | StateDisturbance)]

    @property
    def between(self) -> list[gym.Wrapper[Any, Any, Any, Any]]:
        """The wrappers that are not ours: a step passes through each of them once."""
        return [w for w in self.wrappers if not isinstance(w, ActionDisturbance | StateDisturbance)]

    @property
    def action_path(self) -> list[Any]:
        """From the uppermost action noise down: what every candidate's action goes through."""
        noisy = [i for i, w in enumerate(self.wrappers) if isinstance(w, ActionDisturbance)]
        if not noisy:
            return []
        below = self.wrappers[noisy[0] :]
        return [w for w in below if isinstance(w, ActionDisturbance | gym.ActionWrapper)]

    @property
    def opaque(self) -> list[gym.Wrapper[Any, Any, Any, Any]]:
        """Wrappers that may do anything in `step`; what they did is looked at afterwards."""
        known = (*_TRANSPARENT, gym.ActionWrapper, gym.ObservationWrapper, gw.FrameStackObservation)
        return [w for w in self.between if not isinstance(w, known) and type(w).step is not gym.Wrapper.step]


def layers_of(env: gym.Env[Any, Any]) -> Layers:
    """Walk down from `env` to the simulator: the first layer a kernel was registered for, or the last."""
    found: list[gym.Wrapper[Any, Any, Any, Any]] = []
    layer = env
    while isinstance(layer, gym.Wrapper) and registered_factory(layer) is None:
        found.append(layer)
        layer = layer.env
    return Layers(tuple(found), layer)


def refuse_breaking_wrappers(layers: Layers, owner: str) -> None:
    """Raise for a wrapper under `owner` that a draw cannot be made beneath."""
    for wrapper in layers.between:
        reason = refusal(wrapper)
        if reason is not None:
            name = type(wrapper).__name__
            raise WrapperError(
                f"`{name}` {reason}, so it must not stand between `{owner}` and the simulator. "
                f"Put it above instead: {name}({owner}(env, ...), ...)."
            )
    for wrapper in layers.action_path:
        if isinstance(wrapper, gw.StickyAction):
            raise WrapperError(
                "`StickyAction` remembers actions, so it must not stand beneath an action noise, "
                "where every candidate has an action of its own. Put it above the noise wrapper."
            )


def refusal(wrapper: gym.Wrapper[Any, Any, Any, Any]) -> str | None:
    """Why this wrapper would break the draw, or None where it would not."""
    for cls in type(wrapper).__mro__:
        reason = _REFUSED.get(f"{cls.__module__}:{cls.__qualname__}")
        if reason is not None:
            if isinstance(wrapper, gw.AtariPreprocessing) and wrapper.frame_skip == 1:
                return "changes when episodes end" if wrapper.terminal_on_life_loss else None
            return reason
    return None


def place_of(env: gym.Env[Any, Any]) -> int:
    """How many layers lie at or beneath a wrapper around `env`; tells generators apart."""
    place = 1
    while isinstance(env, gym.Wrapper):
        env, place = env.env, place + 1
    return place

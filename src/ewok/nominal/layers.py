"""What lies between a wrapper of ours and the simulator, and whether a draw can reach through it."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import gymnasium as gym
import numpy as np
from gymnasium import wrappers as gw
from numpy.typing import NDArray

from ewok.errors import WrapperError, require
from ewok.nominal.kernel import registered_factory

_Wrapper = gym.Wrapper[Any, Any, Any, Any]


@runtime_checkable
class ActionDisturbance(Protocol):
    """A noise wrapper that gives every candidate an action of its own."""

    passing: bool
    received: Any
    generator: np.random.Generator

    def disturb(self, actions: Sequence[Any]) -> Sequence[Any]: ...


@runtime_checkable
class StateDisturbance(Protocol):
    """A noise wrapper that gives every candidate a displacement of its state."""

    passing: bool
    generator: np.random.Generator

    def displace(self, num: int) -> NDArray[np.float64]: ...


Disturbance = ActionDisturbance | StateDisturbance

_REPEATS = "repeats actions, so one step would be several draws"
_REWARDS = "changes the reward, which is the simulator's to give"
_RESETS = "resets inside a step, where there is nothing to draw"
_SHOWS = "shows the simulator, which has not moved while candidates are looked at"
_CONVERTS = "gives observations to the agent as another library's arrays"

_REFUSED: dict[str, str] = {
    "gymnasium.wrappers.stateful_action:RepeatAction": _REPEATS,
    "gymnasium.wrappers.stateful_observation:MaxAndSkipObservation": _REPEATS,
    "gymnasium.wrappers.atari_preprocessing:AtariPreprocessing": _REPEATS,
    "gymnasium.wrappers.stateful_reward:NormalizeReward": _REWARDS,
    "gymnasium.core:RewardWrapper": _REWARDS,
    "gymnasium.wrappers.common:Autoreset": _RESETS,
    "gymnasium.wrappers.transform_observation:AddRenderObservation": _SHOWS,
    "gymnasium.wrappers.array_conversion:ArrayConversion": _CONVERTS,
    "stable_baselines3.common.atari_wrappers:MaxAndSkipEnv": _REPEATS,
    "stable_baselines3.common.atari_wrappers:EpisodicLifeEnv": "changes when episodes end",
}

# SB3's `make_vec_env` puts it beneath whatever it wraps, where watching it would cost most users most of a step.
# RL Zoo puts a time limit of its own in the place of Gymnasium's; it says otherwise only why an episode was cut.
_LOOKS_ON = ("stable_baselines3.common.monitor:Monitor", "rl_zoo3.gym_patches:PatchedTimeLimit")


@final
@dataclass(frozen=True)
class Layers:
    """The wrappers from one environment down to its simulator, outermost first."""

    wrappers: tuple[_Wrapper, ...]
    simulator: gym.Env[Any, Any]

    @property
    def disturbances(self) -> list[Disturbance]:
        return [w for w in self.wrappers if isinstance(w, ActionDisturbance | StateDisturbance)]

    @property
    def between(self) -> list[_Wrapper]:
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
    def watched(self) -> list[_Wrapper]:
        """Wrappers from elsewhere, which may do anything; what they made of a step is looked at afterwards."""
        harmless = (gym.Wrapper.step, gym.ActionWrapper.step)
        return [w for w in self.between if is_foreign(w) and type(w).step not in harmless]


def wrappers_of(env: Any) -> Iterator[_Wrapper]:
    """The wrappers of an environment, outermost first, down to the simulator."""
    while isinstance(env, gym.Wrapper):
        yield env
        env = env.env


def is_foreign(wrapper: _Wrapper) -> bool:
    """Whether its class is neither Gymnasium's own nor ours, nor known to look on without touching a thing."""
    kind = type(wrapper)
    known = kind.__module__.partition(".")[0] in ("gymnasium", "ewok")
    return not known and f"{kind.__module__}:{kind.__qualname__}" not in _LOOKS_ON


def layers_of(env: gym.Env[Any, Any]) -> Layers:
    """Walk down from `env` to the simulator: the first layer a kernel was registered for, or the last."""
    remedy = "Of a vector of environments take one, as in `vector.envs[0]`."
    require(isinstance(env, gym.Env), "env", "a Gymnasium environment", env, remedy)
    found: list[_Wrapper] = []
    simulator = env
    for layer in wrappers_of(env):
        if registered_factory(layer) is not None:
            break
        found.append(layer)
        simulator = layer.env
    return Layers(tuple(found), simulator)


def refuse_breaking_wrappers(layers: Layers, owner: str) -> None:
    """Raise for a wrapper under `owner` that a draw cannot be made beneath."""
    for wrapper in layers.between:
        reason = refusal(wrapper)
        if reason is not None:
            name = type(wrapper).__name__
            remedy = f"Put it above instead: {name}({owner}(env, ...), ...)."
            if isinstance(wrapper, gw.AtariPreprocessing | gw.AddRenderObservation):
                remedy = (
                    "Use what needs no look at the simulator: the simulator's own frameskip and observation type, and "
                    "gymnasium.wrappers.GrayscaleObservation, ResizeObservation and FrameStackObservation."
                )
            raise WrapperError(f"`{name}` {reason}, so it must not stand between `{owner}` and the simulator. {remedy}")
    for wrapper in layers.action_path:
        if isinstance(wrapper, gw.StickyAction) or getattr(type(wrapper), "remembers_actions", False):
            raise WrapperError(
                f"`{type(wrapper).__name__}` remembers actions, so it must not stand beneath an action noise, "
                "where every candidate has an action of its own. Put it above the noise wrapper."
            )


def refusal(wrapper: _Wrapper) -> str | None:
    """Why this wrapper would break the draw, or None where it would not."""
    if getattr(type(wrapper), "repeats_actions", False):
        return _REPEATS
    for cls in type(wrapper).__mro__:
        reason = _REFUSED.get(f"{cls.__module__}:{cls.__qualname__}")
        if reason is not None:
            return reason
    return None


def memory_of(wrapper: _Wrapper) -> dict[str, Any]:
    """What a wrapper holds, with containers of their own, to put it back by `put_back`."""
    containers = (list, dict, set, deque, np.ndarray)
    return {name: copy.copy(value) if isinstance(value, containers) else value for name, value in vars(wrapper).items()}


def put_back(wrapper: _Wrapper, memory: dict[str, Any]) -> None:
    vars(wrapper).clear()
    vars(wrapper).update(memory)


def plain(argument: Any) -> Any:
    """A wrapper's argument as its spec can write it down: numpy's numbers are not JSON."""
    if isinstance(argument, np.ndarray | np.generic):
        return argument.tolist()
    return [plain(part) for part in argument] if isinstance(argument, list | tuple | range) else argument


def place_of(env: gym.Env[Any, Any]) -> int:
    """How many layers lie at or beneath a wrapper around `env`; tells generators apart."""
    return 1 + sum(1 for _ in wrappers_of(env))

"""The environments inside Stable-Baselines3's vectors, seen through the wrappers around the vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
    VecTransposeImage,
    VecVideoRecorder,
)
from stable_baselines3.common.vec_env.stacked_observations import StackedObservations
from stable_baselines3.common.vec_env.vec_extract_dict_obs import VecExtractDictObs

from ewok.agents.subproc import SubprocWorstKernel
from ewok.errors import WrapperError
from ewok.value import Member
from ewok.vector.members import Look, composed

_TRANSPARENT = (VecMonitor, VecCheckNan, VecVideoRecorder)


def members(vec_env: VecEnv) -> Iterable[Member]:
    """Each environment of a vector, with what is made of its observations and rewards on the way to the agent."""
    space = vec_env.observation_space
    around: list[VecEnvWrapper] = []
    layer: Any = vec_env
    while isinstance(layer, VecEnvWrapper) and not isinstance(layer, SubprocWorstKernel):
        around.append(layer)
        layer = layer.venv
    looking = [wrapper for wrapper in reversed(around) if not isinstance(wrapper, _TRANSPARENT)]
    looks = [_look_of(wrapper) for wrapper in looking]
    scalers = [w.normalize_reward for w in reversed(around) if isinstance(w, VecNormalize) and w.norm_reward]
    observes, scale = [composed([look(i) for look in looks]) for i in range(layer.num_envs)], composed(scalers)
    inside, away = _inside(layer)
    actions, shown = vec_env.action_space, tuple(type(wrapper).__name__ for wrapper in looking)
    return [Member(env, observes[i], scale, i, space, actions, shown, away) for i, env in enumerate(inside)]


def _inside(vec_env: Any) -> tuple[Sequence[Any], str | None]:
    """What the vector holds; or nothing, and why."""
    if isinstance(vec_env, SubprocWorstKernel):
        return vec_env.kernels, None
    if isinstance(vec_env, DummyVecEnv):
        return vec_env.envs, None
    nothing = [None] * vec_env.num_envs
    if isinstance(vec_env, SubprocVecEnv):
        return nothing, (
            "`env` must be a SubprocVecEnv inside `ewok.agents.sb3.SubprocWorstKernel`, but it is a bare one: a value "
            "function sent to other processes would go stale. Wrap it: SubprocWorstKernel(vec_env)."
        )
    return nothing, (
        f"`env` must be a vector of environments in this process (DummyVecEnv), but it is a {type(vec_env).__name__}. "
        "Bind a value to each environment in it: ewok.bind(value, env)."
    )


def _look_of(wrapper: VecEnvWrapper) -> Callable[[int], Look]:
    """From the number of an environment to what the wrapper makes of its observations, batch first."""
    if isinstance(wrapper, VecNormalize):
        return lambda index: wrapper.normalize_obs
    if isinstance(wrapper, VecTransposeImage):
        return lambda index: wrapper.transpose_observations
    if isinstance(wrapper, VecExtractDictObs):
        return lambda index: lambda batch: batch[wrapper.key]
    if isinstance(wrapper, VecFrameStack):
        return lambda index: lambda batch: _stacked(wrapper.stacked_obs, batch, index)
    raise WrapperError(
        f"`{type(wrapper).__name__}` stands between the agent and its worst kernel, and what it makes of a single "
        "observation is not known. Bind without it, or pass a value of the observations beneath it: "
        "ewok.bind(value, env)."
    )


def _stacked(frames: StackedObservations[Any], batch: Any, index: int) -> NDArray[Any] | dict[str, Any]:
    """The last frames of one environment, with each candidate as the newest."""
    if isinstance(batch, dict):
        return {key: _stacked(frames.sub_stacked_observations[key], part, index) for key, part in batch.items()}
    axis = frames.stack_dimension
    kept = np.repeat(frames.stacked_obs[index : index + 1], len(batch), axis=0)
    older = np.split(kept, [batch.shape[axis]], axis=axis)[1]
    return np.concatenate([older, batch], axis=axis)

"""The single environments inside Gymnasium's vectors, and what the wrappers around a vector make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import (
    AsyncVectorEnv,
    SyncVectorEnv,
    VectorActionWrapper,
    VectorEnv,
    VectorRewardWrapper,
    VectorWrapper,
)
from gymnasium.wrappers import vector as gvw

from ewok.errors import WrapperError
from ewok.nominal.batch import rows_of, stack
from ewok.value import Member, register_environments
from ewok.vector.kernel import WorstKernel

_TRANSPARENT = (
    gvw.RecordEpisodeStatistics,
    gvw.RecordVideo,
    gvw.DictInfoToList,
    gvw.HumanRendering,
    VectorActionWrapper,
)
Look = Callable[[Any], Any]


def register_all() -> None:
    register_environments(VectorEnv, members)


def members(envs: Any) -> Iterable[Member]:
    """Each environment of a vector, with what is made of its observations and rewards on the way up."""
    space = envs.single_observation_space
    looks: list[Look] = []
    shown: list[str] = []
    unscaled: str | None = None
    scales: list[Look] = []
    layer: Any = envs
    while isinstance(layer, VectorWrapper) and not isinstance(layer, WorstKernel):
        look, scale = _look_of(layer), _scale_of(layer)
        if isinstance(layer, VectorRewardWrapper) and scale is None:
            unscaled = (
                f"`{type(layer).__name__}` stands between the agent and its worst kernels, and what it makes of a "
                "single reward is not known. Score by v(s') (discount=None), or put it on each environment."
            )
        elif look is None and scale is None and not isinstance(layer, _TRANSPARENT):
            raise WrapperError(
                f"`{type(layer).__name__}` stands between the agent and its worst kernels, and what it makes of a "
                "single observation or reward is not known. Put it on each environment, or bind a value of the "
                "observations beneath it: ewok.bind(value, envs)."
            )
        if look is not None:
            looks.append(look)
            shown.append(type(layer).__name__)
        scales += [scale] if scale is not None else []
        layer = layer.env
    observe, scale = composed(looks[::-1]), composed(scales[::-1])
    inside, away = _inside(layer)
    actions, names = envs.single_action_space, tuple(shown[::-1])
    return [Member(env, observe, scale, i, space, actions, names, away, unscaled) for i, env in enumerate(inside)]


def _inside(envs: Any) -> tuple[Sequence[Any], str | None]:
    """What the vector holds; or nothing, and why."""
    if isinstance(envs, WorstKernel):
        return envs.kernels, None
    if isinstance(envs, SyncVectorEnv) or isinstance(getattr(envs, "envs", None), list | tuple):
        return envs.envs, None
    nothing = [None] * envs.num_envs
    if isinstance(envs, AsyncVectorEnv):
        return nothing, (
            "`env` must be an AsyncVectorEnv inside `ewok.vector.WorstKernel`, but it is a bare one: a value function "
            "sent to other processes would go stale. Wrap it: ewok.vector.WorstKernel(envs)."
        )
    return nothing, (
        f"`env` must be a vector that holds its environments, but it is a {type(envs).__name__}. Use a SyncVectorEnv, "
        "or an AsyncVectorEnv inside `ewok.vector.WorstKernel`."
    )


def _look_of(wrapper: Any) -> Look | None:
    """What a wrapper around a vector makes of the observations of one environment, batch first."""
    if isinstance(wrapper, gvw.NormalizeObservation):
        return lambda batch: _normalised(wrapper, batch)
    if isinstance(wrapper, gvw.VectorizeTransformObservation):
        single = wrapper.wrapper
        return lambda batch: stack([single.func(row) for row in rows_of(batch)])
    return None


def _normalised(wrapper: Any, batch: Any) -> Any:
    statistics = wrapper.obs_rms
    return np.float32((batch - statistics.mean) / np.sqrt(statistics.var + wrapper.epsilon))


def _scale_of(wrapper: Any) -> Look | None:
    if isinstance(wrapper, gvw.NormalizeReward):
        return lambda rewards: rewards / np.sqrt(wrapper.return_rms.var + wrapper.epsilon)
    if isinstance(wrapper, gvw.VectorizeTransformReward):
        return lambda rewards: np.array([float(wrapper.wrapper.func(reward)) for reward in rewards])
    return None


def composed(looks: Sequence[Look]) -> Look | None:
    """One after the other; None where there are none."""

    def go(batch: Any) -> Any:
        for look in looks:
            batch = look(batch)
        return batch

    return go if looks else None

"""Worst kernels inside the processes of a SubprocVecEnv."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any, final

import numpy as np
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from ewok.errors import require
from ewok.vector.remote import linked, require_open, stepped


@final
class SubprocWorstKernel(VecEnvWrapper):
    """Asks this process for the scores of candidates drawn in others: one call of the critic for all of them.

    Same seeds, same trajectories as in a DummyVecEnv.

    Args:
        venv: a SubprocVecEnv whose environments each have an `ewok.WorstKernel`, outermost.

    Example:
        >>> import ewok, gymnasium as gym
        >>> from ewok.agents.sb3 import SubprocWorstKernel
        >>> from stable_baselines3.common.env_util import make_vec_env
        >>> from stable_baselines3.common.vec_env import SubprocVecEnv
        >>> options = {"wrapper_class": ewok.WorstKernel, "wrapper_kwargs": {"kappa": 0.2}}
        >>> venv = make_vec_env("ewok/NoisyCartPole-v1", 2, vec_env_cls=SubprocVecEnv, **options)
        >>> venv = SubprocWorstKernel(venv)
        >>> value = ewok.bind(lambda observations: -abs(observations[:, 0]), venv)
        >>> venv.close()
    """

    def __init__(self, venv: SubprocVecEnv) -> None:
        given: Any = venv
        sound = isinstance(given, SubprocVecEnv)
        remedy = "Put wrappers of the vector around this one; a DummyVecEnv needs none."
        require(sound, "venv", "a SubprocVecEnv", type(venv).__name__, remedy)
        require_open(venv, "venv")
        super().__init__(venv)
        self._workers = venv
        remedy = (
            "Make each environment with `lambda: ewok.WorstKernel(env, kappa=0.2)`, or give make_vec_env "
            "wrapper_class=ewok.WorstKernel and its wrapper_kwargs."
        )
        self.kernels = linked(venv, "venv", _outermost(venv), remedy, self._send)

    def _send(self, place: int, connection: Connection) -> None:
        self._workers.env_method("listen", connection, indices=[place])

    def reset(self) -> VecEnvObs:
        require_open(self._workers, "venv")
        return self.venv.reset()

    def step_async(self, actions: np.ndarray) -> None:
        require_open(self._workers, "venv")
        self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        return stepped(self.kernels, self._workers.remotes, self.venv.step_wait)


def _outermost(venv: SubprocVecEnv) -> list[str]:
    names: list[str] = venv.env_method("class_name") if venv.has_attr("class_name") else ["a bare simulator"]
    return names

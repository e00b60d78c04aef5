"""Binding and logging, as a Stable-Baselines3 callback: what rl_zoo3 needs to work from YAML alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

from stable_baselines3.common.callbacks import BaseCallback

from ewok.errors import require
from ewok.worst.bind import bind

_LOGGED = ("kl", "ess", "spread", "kappa")
_SMALL = 1e-3  # of the training
Schedule = Callable[[float], float]


@final
class WorstKernelCallback(BaseCallback):
    """Binds the agent when training starts, and logs `ewok/kl`, `ewok/ess`, `ewok/spread` and `ewok/kappa`.

    Means since the last time the agent's logger wrote: TensorBoard, CSV and the like follow. Steps whose
    candidates are all alike have no finite kappa, so the mean of `ewok/kappa` is over the others.

    Args:
        kappa: a schedule of the temperature, from the part of the training that is left (1 to 0).
        radius: a schedule of the KL radius, likewise.
        options: passed on to `ewok.bind`: `soft`, `target`.

    Example:
        >>> import ewok, gymnasium as gym
        >>> from ewok.agents.sb3 import WorstKernelCallback
        >>> from stable_baselines3 import PPO
        >>> env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), kappa=0.2)
        >>> model = PPO("MlpPolicy", env, n_steps=64).learn(64, callback=WorstKernelCallback())
    """

    def __init__(self, *, kappa: Schedule | None = None, radius: Schedule | None = None, **options: Any) -> None:
        super().__init__()
        given = {"kappa": kappa, "radius": radius}
        for name, schedule in given.items():
            sound = schedule is None or callable(schedule)
            remedy = f"For the same {name} at all times give it to WorstKernel: WorstKernel(env, {name}={schedule!r})."
            require(sound, name, "a schedule, from the part of the training that is left to a number", schedule, remedy)
        self._schedules = {name: schedule for name, schedule in given.items() if schedule is not None}
        self._options = options
        self._left = float("inf")  # what was left when the schedules were last looked at

    def _on_training_start(self) -> None:
        bind(self.model, **self._options)
        self._left = float("inf")

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            report = info.get("ewok")
            if report is not None and report["bound"]:
                for name in _LOGGED:
                    if math.isfinite(report[name]):  # kappa has no end where all candidates are alike
                        self.logger.record_mean(f"ewok/{name}", report[name])
        return True

    def _on_rollout_start(self) -> None:
        """Off-policy agents come by here at every step, so small changes wait until they add up."""
        left = 1.0 - self.model.num_timesteps / self.model._total_timesteps
        if abs(self._left - left) < _SMALL:
            return
        self._left = left
        for name, schedule in self._schedules.items():
            self.training_env.env_method("set_wrapper_attr", name, schedule(left))

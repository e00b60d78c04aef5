"""What happened while an agent trained, whatever library it is from: seen from its environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, final

import gymnasium as gym
import numpy as np

from ewok.lab.columns import Columns

_SEEN = ("kl", "kappa", "ess", "spread", "diverged")
_WINDOWS = 100  # of the diagnostics, over a training
_RECENT = 10  # episodes
_LOOK = 64  # steps between two looks at the clock
_PAUSE = 0.5  # seconds between two reports

Tell = Callable[[int, float], None]  # steps so far, and the mean return of recent episodes


@final
class Recorder(gym.Wrapper[Any, Any, Any, Any]):
    """Notes every episode's return, and means of what the worst kernel beneath reports.

    Args:
        env: the training environment, with all its wrappers.
        num_steps: of the training.
        tell: called now and then with how far it is.

    Example:
        >>> import gymnasium as gym
        >>> from ewok.lab.record import Recorder
        >>> env = Recorder(gym.make("CartPole-v1"), num_steps=100)
        >>> observation, info = env.reset(seed=0)
        >>> while not env.episodes()["length"].size:
        ...     _ = env.step(0)
        >>> env.episodes()["return"].tolist()
        [11.0]
    """

    def __init__(self, env: gym.Env[Any, Any], num_steps: int, tell: Tell | None = None) -> None:
        super().__init__(env)
        self._window = max(1, num_steps // _WINDOWS)
        self._tell = tell
        self._began = self._told = time.monotonic()
        self.num_steps = 0
        self._return, self._length = 0.0, 0
        self._episodes: list[tuple[int, float, float, int]] = []
        self._windows: list[tuple[float, ...]] = []
        self._seen: list[tuple[float, ...]] = []

    def start(self) -> None:
        """Seconds count from now on."""
        self._began = time.monotonic()

    def reset(self, **options: Any) -> Any:
        self._return, self._length = 0.0, 0
        return super().reset(**options)

    def step(self, action: Any) -> Any:
        transition = super().step(action)
        _, reward, terminated, truncated, info = transition
        self.num_steps += 1
        self._return += float(reward)
        self._length += 1
        report = info.get("ewok")
        if report is not None and report["bound"]:
            self._seen.append(tuple(report[name] for name in _SEEN))
        if terminated or truncated:
            seconds = time.monotonic() - self._began
            self._episodes.append((self.num_steps, seconds, self._return, self._length))
        if self._seen and self.num_steps % self._window == 0:
            self._close_window()
        if self._tell is not None and self.num_steps % _LOOK == 0:
            self._report(self._tell)
        return transition

    def episodes(self) -> Columns:
        """Columns step, seconds, return, length; a row for each episode that ended."""
        rows = np.array(self._episodes, dtype=np.float64).reshape(-1, 4)
        columns = {"step": rows[:, 0], "seconds": np.round(rows[:, 1], 3), "return": rows[:, 2], "length": rows[:, 3]}
        return {**columns, "step": rows[:, 0].astype(int), "length": rows[:, 3].astype(int)}

    def diagnostics(self) -> Columns | None:
        """Columns step, kl, kappa, ess, spread, diverged: means over windows; None where no worst kernel was bound."""
        if self._seen:
            self._close_window()
        if not self._windows:
            return None
        rows = np.array(self._windows)
        return {"step": rows[:, 0].astype(int)} | {name: rows[:, i] for i, name in enumerate(_SEEN, start=1)}

    def _close_window(self) -> None:
        seen = np.array(self._seen, dtype=np.float64)
        finite = np.isfinite(seen)  # kappa has no end where all candidates are alike
        counts = finite.sum(axis=0)
        means = np.where(counts > 0, np.where(finite, seen, 0.0).sum(axis=0) / np.maximum(counts, 1), np.inf)
        self._windows.append((float(self.num_steps), *means.tolist()))
        self._seen = []

    def _report(self, tell: Tell) -> None:
        now = time.monotonic()
        if now - self._told >= _PAUSE:
            self._told = now
            recent = [episode[2] for episode in self._episodes[-_RECENT:]]
            tell(self.num_steps, float(np.mean(recent)) if recent else float("nan"))

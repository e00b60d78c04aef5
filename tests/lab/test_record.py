"""What is noted of a training, whatever library trains."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import ewok
from ewok.lab.record import Recorder


def rolled(env: Any, num_steps: int, seed: int = 0) -> Recorder:
    recorder = Recorder(env, num_steps)
    rng = np.random.default_rng(seed)
    recorder.reset(seed=seed)
    for _ in range(num_steps):
        if any(recorder.step(int(rng.integers(2)))[2:4]):
            recorder.reset()
    return recorder


def test_every_episode_that_ended_has_a_row() -> None:
    episodes = rolled(gym.make("CartPole-v1"), 500).episodes()
    assert episodes["length"].sum() == episodes["step"][-1] <= 500
    assert (np.diff(episodes["step"], prepend=0) == episodes["length"]).all()
    assert episodes["return"].tolist() == episodes["length"].tolist()
    assert (np.diff(episodes["seconds"]) >= 0.0).all()


def test_an_episode_that_is_broken_off_is_none() -> None:
    recorder = Recorder(gym.make("CartPole-v1"), 100)
    recorder.reset(seed=0)
    recorder.step(0)
    recorder.reset()
    for _ in range(30):
        if any(recorder.step(0)[2:4]):
            break
    assert len(recorder.episodes()["return"]) == 1


def test_diagnostics_are_means_over_windows_of_the_training() -> None:
    seen: list[dict[str, float]] = []

    class Look(gym.Wrapper):
        def step(self, action: Any) -> Any:
            transition = super().step(action)
            seen.append(transition[-1]["ewok"])
            return transition

    env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), num_samples=5, kappa=0.1)
    ewok.bind(lambda observations: -abs(observations[:, 0]), env)
    diagnostics = rolled(Look(env), 1000).diagnostics()
    assert diagnostics is not None
    assert diagnostics["step"].tolist() == list(range(10, 1001, 10))
    for name in ("kl", "ess", "spread"):
        expected = np.array([report[name] for report in seen]).reshape(100, 10).mean(axis=1)
        assert np.allclose(diagnostics[name], expected), name
    assert np.allclose(diagnostics["kappa"], 0.1)


def test_a_temperature_without_end_does_not_hide_the_others() -> None:
    env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), num_samples=5, radius=0.3)
    ewok.bind(lambda observations: np.where(observations[:, 0] > 0.0, observations[:, 0], 0.0), env)
    diagnostics = rolled(env, 300).diagnostics()
    assert diagnostics is not None
    assert np.isfinite(diagnostics["kl"]).all()
    assert np.isfinite(diagnostics["kappa"]).any()


def test_without_a_bound_worst_kernel_there_are_none() -> None:
    assert rolled(gym.make("ewok/NoisyCartPole-v1"), 50).diagnostics() is None
    assert rolled(ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), kappa=0.1), 50).diagnostics() is None


def test_recording_changes_nothing_of_a_training() -> None:
    def trajectory(wrap: Any) -> list[float]:
        env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), num_samples=5, kappa=0.1)
        ewok.bind(lambda observations: -abs(observations[:, 0]), wrap(env))
        env = wrap(env)
        observation, _ = env.reset(seed=3)
        seen = [*observation]
        for _ in range(8):
            seen += [*env.step(1)[0]]
        return seen

    assert trajectory(lambda env: env) == trajectory(lambda env: Recorder(env, 10))

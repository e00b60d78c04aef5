"""The callback: binds when training starts, logs what the worst kernels say, and follows schedules."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ewok

from .worlds import cartpole, innermost, needs, pendulum

torch = needs("torch", "sb3")
sb3 = needs("stable_baselines3", "sb3")

from stable_baselines3.common.callbacks import ConvertCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import DummyVecEnv

from ewok.agents.sb3 import WorstKernelCallback

torch.set_num_threads(1)

NAMES = ("kl", "ess", "spread", "kappa")


def ppo(env: Any, **options: Any) -> Any:
    return sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, seed=0, device="cpu", **options)


@pytest.fixture
def csv_logger(tmp_path: Path) -> Any:
    logger = configure(str(tmp_path), ["csv"])
    yield logger
    logger.close()


def logged(folder: Path) -> list[dict[str, str]]:
    with (folder / "progress.csv").open() as lines:
        return list(csv.DictReader(lines))


def test_the_means_of_what_the_worst_kernels_say_are_in_the_agents_logger(tmp_path: Path, csv_logger: Any) -> None:
    model = ppo(DummyVecEnv([lambda: cartpole(radius=0.3, kappa=None)] * 2))
    model.set_logger(csv_logger)
    told: list[Any] = []

    def listen(scope: dict[str, Any], _: Any) -> bool:
        told.extend(info["ewok"] for info in scope["infos"])
        return True

    model.learn(64, callback=[WorstKernelCallback(), ConvertCallback(listen)], log_interval=1)
    assert all(env.get_wrapper_attr("bound") for env in innermost(model.get_env()).envs)
    rows = logged(tmp_path)
    assert len(rows) == 2
    for place, row in enumerate(rows):
        for name in NAMES:
            numbers = [report[name] for report in told[32 * place : 32 * (place + 1)]]
            mean = np.mean([number for number in numbers if np.isfinite(number)])
            assert float(row[f"ewok/{name}"]) == pytest.approx(mean, rel=1e-3)
    assert float(rows[0]["ewok/kl"]) == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("name", ["kappa", "radius"])
def test_a_schedule_is_a_function(name: str) -> None:
    with pytest.raises(
        ewok.errors.ArgumentError, match=rf"`{name}` must be a schedule.*WorstKernel\(env, {name}=0.3\)"
    ):
        WorstKernelCallback(**{name: 0.3})  # type: ignore[arg-type]


def test_steps_without_a_finite_kappa_do_not_spoil_its_mean(tmp_path: Path, csv_logger: Any) -> None:
    """At the last step of an episode all candidates may have ended, and so be alike."""
    model = ppo(cartpole(radius=0.3, kappa=None))
    model.set_logger(csv_logger)
    endless: list[bool] = []

    def listen(scope: dict[str, Any], _: Any) -> bool:
        endless.append(np.isinf(scope["infos"][0]["ewok"]["kappa"]))
        return True

    model.learn(64, callback=[WorstKernelCallback(), ConvertCallback(listen)], log_interval=4)
    assert any(endless)
    assert np.isfinite(float(logged(tmp_path)[-1]["ewok/kappa"]))


def test_schedules_are_followed_in_every_environment() -> None:
    model = ppo(DummyVecEnv([cartpole] * 2))
    seen: list[Any] = []

    def listen(scope: dict[str, Any], _: Any) -> bool:
        seen.append([info["ewok"]["kappa"] for info in scope["infos"]])
        return True

    callback = WorstKernelCallback(kappa=lambda left: 0.1 + left)
    model.learn(96, callback=[callback, ConvertCallback(listen)])
    # the part that is left is looked at when each rollout of 2 x 16 steps starts
    assert [kappas[0] for kappas in seen[::16]] == pytest.approx([1.1, 0.1 + 2 / 3, 0.1 + 1 / 3])
    assert all(kappas[0] == kappas[1] for kappas in seen)
    seen.clear()
    model.learn(64, callback=[callback, ConvertCallback(listen)])
    assert [kappas[0] for kappas in seen[::16]] == pytest.approx([1.1, 0.6]), "a second training starts over"
    radius = WorstKernelCallback(radius=lambda left: 0.2)
    model.learn(32, callback=radius)
    assert innermost(model.get_env()).envs[0].get_wrapper_attr("radius") == 0.2


def test_options_go_to_the_value_and_off_policy_agents_are_followed(tmp_path: Path, csv_logger: Any) -> None:
    options = {"learning_starts": 4, "buffer_size": 50, "batch_size": 8, "device": "cpu", "seed": 0}
    model = sb3.SAC("MlpPolicy", pendulum(), policy_kwargs={"net_arch": [16]}, **options)
    model.set_logger(csv_logger)
    model.learn(30, callback=WorstKernelCallback(soft=True, target=True))
    model.logger.dump(30)
    assert 0.0 <= float(logged(tmp_path)[-1]["ewok/kl"]) < 2.3


def test_a_loaded_agent_is_bound_anew(tmp_path: Path) -> None:
    """So nobody who uses the callback has to think of it."""
    env = cartpole()
    ppo(env).learn(16, callback=WorstKernelCallback()).save(tmp_path / "model")
    other = cartpole()
    loaded = sb3.PPO.load(tmp_path / "model", env=other, device="cpu")
    loaded.learn(32, callback=WorstKernelCallback())
    assert other.critic.owner is loaded  # type: ignore[union-attr]


def test_an_environment_without_a_worst_kernel_is_said_when_training_starts() -> None:
    with pytest.raises(ewok.errors.WrapperError, match="must have a `WorstKernel` in it"):
        ppo("CartPole-v1").learn(16, callback=WorstKernelCallback())

"""MuJoCo and dm_control: threads, subclasses, models that change, simulations that break."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError, DivergedError
from ewok.nominal.batch import same
from ewok.testing import check_kernel, check_snapshot

from ..conftest import make

pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'ewok[dmc]'")

from gymnasium.envs.mujoco.hopper_v5 import HopperEnv

from ewok.nominal.dm_control import DmControlKernel
from ewok.nominal.mujoco import MujocoKernel
from ewok.nominal.restore import RestoreKernel


@pytest.mark.parametrize(
    ("env_id", "kind"), [("Hopper-v5", MujocoKernel), ("dm_control/walker-walk-v0", DmControlKernel)]
)
def test_threads_change_nothing(env_id: str, kind: Any) -> None:
    env = make(env_id)
    env.reset(seed=0)
    one, two = kind(env.unwrapped), kind(env.unwrapped, num_threads=2)
    size = one.state_size
    generator = np.random.default_rng(0)
    for _ in range(15):
        actions = [env.action_space.sample() for _ in range(6)]
        shift = generator.normal(0, 0.01, (6, size))
        plain, threaded = one.draw_each(actions, shift), two.draw_each(actions, shift)
        for index in range(6):
            assert same(plain.transition(index), threaded.transition(index))
        two.commit(3)
    with pytest.raises(ArgumentError, match="`num_threads` must be at least 1, but it is 0"):
        kind(env.unwrapped, num_threads=0)


class Remembering(HopperEnv):
    """A subclass with a reward, a control and a memory of its own."""

    def reset_model(self) -> Any:
        self.count, self.path = 0, []
        return super().reset_model()

    def step(self, action: Any) -> Any:
        self.count += 1
        observation, reward, *rest = super().step(0.5 * action)
        self.path.append(float(observation[0]))
        return observation, reward + self.count + sum(self.path), *rest


def test_a_subclass_keeps_its_memory() -> None:
    check_snapshot(Remembering(), twin=Remembering(), num_steps=60)
    check_kernel(Remembering(), twin=Remembering(), num_steps=60)
    env = Remembering()
    env.reset(seed=0)
    kernel = ewok.kernel_of(env)
    candidates = kernel.draw_each([env.action_space.sample() for _ in range(5)], None)  # type: ignore[attr-defined]
    assert (env.count, env.path) == (0, [])
    kernel.commit(3)
    assert env.count == 1
    assert env.path == [candidates.observations[3, 0]]


def test_a_subclass_that_simulates_in_its_own_way_is_stepped() -> None:
    class Own(HopperEnv):
        def do_simulation(self, ctrl: Any, n_frames: int) -> None:
            super().do_simulation(ctrl, n_frames + 1)

    assert isinstance(ewok.kernel_of(Own()), RestoreKernel)
    check_kernel(Own(), twin=Own(), num_steps=40)


def test_a_model_that_is_replaced_is_followed() -> None:
    env, twin = make("Hopper-v5"), make("Hopper-v5")
    worst = ewok.WorstKernel(env, num_samples=3, kappa=1.0, value=lambda o: np.zeros(len(o)))
    worst.reset(seed=0)
    worst.step(worst.action_space.sample())
    for each in (env, twin):
        import mujoco

        base: Any = each.unwrapped
        base.model = mujoco.MjModel.from_xml_path(base.fullpath)
        base.model.opt.gravity[2] = -3.0
        base.data = mujoco.MjData(base.model)
    worst.reset(seed=1), twin.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ewok.EwokWarning)
        for _ in range(20):
            action = twin.action_space.sample()
            *one, _ = worst.step(action)
            *other, _ = twin.step(action)
            assert same(one, other)
            if one[2]:
                break


def test_an_unstable_simulation_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo resets a state that blew up and goes on; such a candidate is none."""
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log where it is
    env = make("Hopper-v5")
    env.reset(seed=0)
    kernel: Any = ewok.kernel_of(env)
    action = np.zeros(3, np.float32)
    shift = np.zeros((4, kernel.state_size))
    shift[1, -1] = 1e12
    candidates = kernel.draw_each([action] * 4, shift)
    assert (len(candidates), candidates.num_diverged) == (3, 1)
    kernel.commit(2)
    everything = ewok.StateNoise(make("Hopper-v5"), 0.0, mean=1e12, indices=[-1])
    everything.reset(seed=0)
    with pytest.raises(DivergedError, match="all 1 candidates diverged"):
        everything.step(action)


def test_dm_control_raises_its_own_error_when_all_diverge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = ewok.StateNoise(make("dm_control/walker-walk-v0"), 0.0, mean=1e12, indices=[-1])
    env.reset(seed=0)
    from dm_control.rl.control import PhysicsError

    env.mean = 0.0
    env.step(env.action_space.sample())
    env.mean = 1e12
    physics = env.unwrapped._env.physics  # type: ignore[attr-defined]
    before = physics.get_state()
    with pytest.raises(PhysicsError, match="Physics state is invalid"):
        env.step(env.action_space.sample())
    np.testing.assert_array_equal(physics.get_state(), before)


def test_a_faster_kernel_can_be_registered() -> None:
    ewok.register_kernel(Remembering, partial(MujocoKernel, num_threads=2))
    assert isinstance(ewok.kernel_of(Remembering()), MujocoKernel)


def test_an_episode_of_dm_control_ends_and_must_be_reset() -> None:
    env = make("dm_control/walker-walk-v0").unwrapped
    env.reset(seed=0)
    env._env._step_limit = 3  # type: ignore[attr-defined]
    kernel = ewok.kernel_of(env)
    for step in range(3):
        candidates = kernel.draw(env.action_space.sample(), 2)
        assert bool(candidates.truncated[0]) is (step == 2)
        kernel.commit(0)
    with pytest.raises(ewok.errors.NotResetError):
        kernel.draw(env.action_space.sample(), 2)

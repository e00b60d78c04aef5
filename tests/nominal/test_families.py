"""Every environment the library names, against an untouched twin, bit for bit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.nominal.batch import same, take
from ewok.nominal.classic import ClassicKernel
from ewok.nominal.dm_control import DmControlKernel
from ewok.nominal.generators import generator_of, rewind, state_of
from ewok.nominal.layers import layers_of
from ewok.nominal.mujoco import MujocoKernel
from ewok.nominal.passage import kernel_of, simulator_kernel
from ewok.nominal.restore import RestoreKernel
from ewok.nominal.toy_text import TableKernel
from ewok.testing import check_kernel, check_snapshot

from ..conftest import make

CLASSIC = ["CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1"]
TOY_TEXT = ["FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "CliffWalkingSlippery-v1", "Taxi-v4"]
RESTORED = [
    ("Blackjack-v1", {}),
    ("Taxi-v4", {"fickle_passenger": True, "fickle_probability": 1.0}),
    ("Taxi-v4", {"is_rainy": True}),
    ("CartPole-v1", {"sutton_barto_reward": True}),
]
MUJOCO = [
    f"{name}-v5"
    for name in (
        "Ant",
        "HalfCheetah",
        "Hopper",
        "Humanoid",
        "HumanoidStandup",
        "InvertedDoublePendulum",
        "InvertedPendulum",
        "Pusher",
        "Reacher",
        "Swimmer",
        "Walker2d",
    )
]
SUITE = [
    "walker-walk",
    "walker-run",
    "cartpole-swingup",
    "cheetah-run",
    "hopper-hop",
    "reacher-easy",
    "finger-turn_hard",
    "point_mass-hard",
]
SLOW_SUITE = """cartpole-balance_sparse dog-walk dog-trot finger-turn_easy humanoid-walk humanoid_CMU-walk
acrobot-swingup acrobot-swingup_sparse ball_in_cup-catch cartpole-balance cartpole-swingup_sparse
cartpole-two_poles cartpole-three_poles dog-stand dog-run dog-fetch finger-spin fish-upright fish-swim hopper-stand
humanoid-stand humanoid-run humanoid-run_pure_state humanoid_CMU-stand humanoid_CMU-run 
manipulator-bring_ball manipulator-bring_peg manipulator-insert_ball manipulator-insert_peg pendulum-swingup
point_mass-easy quadruped-walk quadruped-run quadruped-escape quadruped-fetch reacher-hard stacker-stack_2
stacker-stack_4 swimmer-swimmer6 swimmer-swimmer15 walker-stand""".split()
COPIED = [
    ("MiniGrid-DoorKey-5x5-v0", {}),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", {}),
    ("highway-fast-v0", {}),
    ("ALE/Pong-v5", {"repeat_action_probability": 0}),
    ("ALE/Breakout-v5", {"repeat_action_probability": 0, "frameskip": (2, 5)}),
]

EVERY = (
    [(name, {}, 600) for name in CLASSIC + TOY_TEXT]
    + [(name, options, 300) for name, options in RESTORED]
    + [(name, {}, 1100 if name in ("Hopper-v5", "Walker2d-v5") else 300) for name in MUJOCO]
    + [(f"dm_control/{name}-v0", {}, 150) for name in SUITE]
    + [(name, options, 30) for name, options in COPIED]
)
SLOW = [(f"dm_control/{name}-v0", {}, 1100) for name in SLOW_SUITE if not name.startswith(("humanoid", "dog"))] + [
    *((f"dm_control/{name}-v0", {}, 250) for name in SLOW_SUITE if name.startswith(("humanoid", "dog"))),
    *((name, {}, 1100) for name in MUJOCO),
    ("ALE/Pong-v5", {"repeat_action_probability": 0}, 400),
    ("dm_control/walker-walk-v0", {}, 1100),
    ("dm_control/lqr-lqr_2_1-v0", {"task_kwargs": {"random": 0}}, 100),
    ("dm_control/lqr-lqr_6_2-v0", {"task_kwargs": {"random": 0}}, 20),
    ("roundabout-v0", {}, 20),
    ("MiniGrid-Fetch-5x5-N2-v0", {}, 200),
]
CASES = [pytest.param(*case, id=f"{case[0]}-{i}") for i, case in enumerate(EVERY)] + [
    pytest.param(*case, id=f"{case[0]}-all", marks=pytest.mark.slow) for case in SLOW
]


@pytest.mark.parametrize(("env_id", "options", "num_steps"), CASES)
def test_snapshots_are_exact(env_id: str, options: dict[str, Any], num_steps: int) -> None:
    check_snapshot(make(env_id, **options), twin=make(env_id, **options), num_steps=num_steps)


@pytest.mark.parametrize(("env_id", "options", "num_steps"), CASES)
def test_kernels_are_exact(env_id: str, options: dict[str, Any], num_steps: int) -> None:
    check_kernel(make(env_id, **options), twin=make(env_id, **options), num_steps=num_steps)


NOISY = [
    ("CartPole-v1", lambda env: ewok.StateNoise(env, 0.05)),
    ("CartPole-v1", lambda env: ewok.RandomAction(ewok.StateNoise(env, 0.05, indices=[2]), 0.3)),
    ("Acrobot-v1", lambda env: ewok.RandomAction(ewok.StateNoise(env, 0.5), 0.3)),
    ("MountainCar-v0", lambda env: ewok.StateNoise(ewok.RandomAction(env, 0.5), 0.05, mean=0.1)),
    ("MountainCarContinuous-v0", lambda env: ewok.StateNoise(ewok.ActionNoise(env, 0.5), 0.02)),
    ("MountainCarContinuous-v0", lambda env: ewok.ActionNoise(env, 0.5)),
    ("Pendulum-v1", lambda env: ewok.StateNoise(ewok.ActionNoise(env, 1.0, mean=0.2), [0.2, 0.1])),
    ("Pendulum-v1", lambda env: ewok.ActionNoise(env, 1.0)),
    ("FrozenLake-v1", lambda env: ewok.RandomAction(env, 0.3)),
    ("Taxi-v4", lambda env: ewok.RandomAction(env, 0.3)),
    ("Blackjack-v1", lambda env: ewok.RandomAction(env, 0.3)),
    ("Hopper-v5", lambda env: ewok.ActionNoise(env, 0.3)),
    ("Ant-v5", lambda env: ewok.StateNoise(ewok.ActionNoise(env, 0.3), 0.01)),
    ("InvertedPendulum-v5", lambda env: ewok.StateNoise(env, 0.05)),
    ("dm_control/walker-walk-v0", lambda env: ewok.ActionNoise(env, 0.2)),
    ("dm_control/walker-walk-v0", lambda env: ewok.StateNoise(ewok.ActionNoise(env, 0.2), 0.01)),
    ("ALE/Pong-v5", lambda env: ewok.RandomAction(env, 0.3)),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", lambda env: ewok.RandomAction(env, 0.3)),
]


def noisy(env_id: str, wrap: Any) -> gym.Env[Any, Any]:
    options = {"repeat_action_probability": 0} if env_id.startswith("ALE") else {}
    return wrap(make(env_id, **options))


@pytest.mark.parametrize(("env_id", "wrap"), NOISY)
def test_kernels_with_noise_are_exact(env_id: str, wrap: Any) -> None:
    check_kernel(noisy(env_id, wrap), twin=noisy(env_id, wrap), num_steps=60)


@pytest.mark.parametrize(("env_id", "wrap"), NOISY)
def test_many_draws_are_so_many_single_draws(env_id: str, wrap: Any) -> None:
    """Drawing N candidates at once gives what drawing one N times gives, and leads to the same states."""
    env = noisy(env_id, wrap)
    env.action_space.seed(1)
    env.reset(seed=1)
    kernel, num = kernel_of(env), 7
    layers = layers_of(env)
    generators = [noise.generator for noise in layers.disturbances] + [generator_of(layers.simulator)]
    for step in range(12):
        action = env.action_space.sample()
        start = [state_of(g) for g in generators]
        many = kernel.draw(action, num)
        for g, s in zip(generators, start, strict=True):
            rewind(g, s)
        for index in range(num):
            single = kernel.draw(action, 1).transition(0)
            assert same(many.transition(index), single), (step, index)
        for g, s in zip(generators, start, strict=True):
            rewind(g, s)
        kernel.draw(action, num)
        kernel.commit(step % num)
        if many.terminated[step % num]:
            env.reset()


@pytest.mark.parametrize(
    ("env_id", "kind"),
    [(name, ClassicKernel) for name in CLASSIC]
    + [(name, TableKernel) for name in TOY_TEXT]
    + [(name, MujocoKernel) for name in MUJOCO]
    + [("dm_control/walker-walk-v0", DmControlKernel), ("Blackjack-v1", RestoreKernel)],
)
def test_each_family_has_its_fast_kernel(env_id: str, kind: type) -> None:
    assert type(simulator_kernel(make(env_id).unwrapped)) is kind


def test_a_fickle_taxi_does_more_than_its_table_says() -> None:
    assert type(simulator_kernel(make("Taxi-v4", fickle_passenger=True).unwrapped)) is RestoreKernel


def test_a_subclass_with_a_step_of_its_own_is_stepped() -> None:
    from gymnasium.envs.classic_control.cartpole import CartPoleEnv

    class Generous(CartPoleEnv):
        def step(self, action: Any) -> Any:
            observation, _, *rest = super().step(action)
            return observation, 7.0, *rest

    env = Generous()
    env.reset(seed=0)
    assert np.all(kernel_of(env).draw(1, 3).rewards == 7.0)


def test_box2d_is_refused_with_what_to_write_instead() -> None:
    pytest.importorskip("Box2D", reason="needs Box2D: pip install 'gymnasium[box2d]'")
    with pytest.raises(ewok.errors.SnapshotError, match=r"LunarLander cannot be saved.*NominalKernel.*register_kernel"):
        ewok.WorstKernel(gym.make("LunarLander-v3"), kappa=0.2)
    with pytest.raises(ewok.errors.SnapshotError, match="LunarLander cannot be saved"):
        ewok.snapshot(gym.make("LunarLander-v3"))


def test_candidates_share_no_memory_with_the_next_step() -> None:
    env = make("dm_control/walker-walk-v0")
    env.reset(seed=0)
    kernel = kernel_of(env)
    candidates = kernel.draw(env.action_space.sample(), 2)
    before = take(candidates.observations, 0)
    kernel.commit(1)
    env.step(env.action_space.sample())
    assert same(before, take(candidates.observations, 0))

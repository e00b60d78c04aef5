"""What a step of the worst kernel costs, over the physics it cannot do without.

Values are a constant function's, so what is timed is the kernel, not a critic.
"""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import mujoco
import numpy as np
import shimmy

import ewok
from ewok.nominal.batch import leaves
from ewok.nominal.mujoco import MujocoKernel
from ratio import Row, in_turn

gym.register_envs(shimmy)


def constant(observations: Any) -> np.ndarray:
    return np.zeros(len(leaves(observations)[0]))


def stepper(env: gym.Env[Any, Any], seed: int = 0) -> Callable[[], None]:
    """Steps under random actions; resets where an episode ends."""
    env.reset(seed=seed)
    env.action_space.seed(seed)
    actions = [env.action_space.sample() for _ in range(997)]
    count = [0]

    def step() -> None:
        count[0] += 1
        *_, terminated, truncated, _ = env.step(actions[count[0] % 997])
        if terminated or truncated:
            env.reset()

    return step


def cartpole() -> Row:
    """Neither side's resets are timed: both go back to the same upright state before each step."""
    worst = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), num_samples=15, kappa=0.2, value=constant)
    plain = gym.make("CartPole-v1")

    def balanced(env: gym.Env[Any, Any]) -> Callable[[], None]:
        env.reset(seed=0)
        base: Any = env.unwrapped
        state, limit, count = base.state, env, [0]
        while not isinstance(limit, gym.wrappers.TimeLimit):
            limit = limit.env  # type: ignore[attr-defined]

        def step() -> None:
            base.state, base.steps_beyond_terminated, limit._elapsed_steps = state, None, 0
            count[0] ^= 1
            env.step(count[0])

        return step

    ours, peer = in_turn(balanced(worst), balanced(plain), 2000)
    return Row("CartPole, N=15, state noise: step over one `gym.make` step", ours, peer, "<= 6")


def raw_physics(model: Any, data: Any, num_samples: int, frames: int) -> Callable[[], None]:
    """N x frames `mj_step` from where the episode stands: what no sampler can do without."""
    scratch = mujoco.MjData(model)
    controls = np.random.default_rng(0).uniform(-1, 1, (num_samples, model.nu))

    def simulate() -> None:
        mujoco.mj_copyData(scratch, model, data)
        for control in controls:
            scratch.ctrl[:] = control
            mujoco.mj_step(model, scratch, nstep=frames)

    return simulate


def mujoco_row(env_id: str, frames: Callable[[Any], int], handles: Callable[[Any], Any], bar: str) -> Row:
    env = ewok.WorstKernel(ewok.ActionNoise(gym.make(env_id), 0.2), num_samples=10, kappa=0.2, value=constant)
    step = stepper(env)
    model, data = handles(env.unwrapped)
    num = frames(env.unwrapped)
    ours, peer = in_turn(step, raw_physics(model, data, 10, num), 40)
    return Row(f"{env_id}, N=10, action noise: step over 10 x {num} `mj_step`", ours, peer, bar)


def walker_against_copies() -> Row:
    env = ewok.WorstKernel(
        ewok.ActionNoise(gym.make("dm_control/walker-walk-v0"), 0.2), num_samples=10, kappa=0.2, value=constant
    )
    copied = gym.make("dm_control/walker-walk-v0")
    copied.reset(seed=0)
    task: Any = copied.unwrapped._env  # type: ignore[attr-defined]
    action = copied.action_space.sample()

    def by_copying() -> None:
        for _ in range(10):
            copy.deepcopy(task).step(action)

    ours, peer = in_turn(stepper(env), by_copying, 5)
    work = "walker-walk, N=10: stepping ten copies of the environment over one step of ours"
    return Row(work, ours, peer, ">= 25", f"{peer / ours:.1f}")


def threads() -> Row:
    env = gym.make("Humanoid-v5")
    env.reset(seed=0)
    one, two = MujocoKernel(env.unwrapped), MujocoKernel(env.unwrapped, num_threads=2)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(10)]
    ours, peer = in_turn(partial(two.draw_each, actions, None), partial(one.draw_each, actions, None), 5)
    return Row("Humanoid-v5, N=10: two threads over one", ours, peer, "stated")


def radius() -> Row:
    def env(**tempering: float) -> gym.Env[Any, Any]:
        noisy = gym.make("ewok/NoisyCartPole-v1")
        return ewok.WorstKernel(noisy, num_samples=15, value=lambda o: o[:, 0].astype(float), **tempering)  # type: ignore

    ours, peer = in_turn(stepper(env(radius=0.3)), stepper(env(kappa=0.2)), 1000)
    return Row("CartPole, N=15: fixed radius over fixed kappa", ours, peer, "stated")


def memory() -> str:
    """Resident memory that a worst kernel adds on walker, in a process of its own."""
    script = """
import gymnasium as gym, numpy as np, shimmy, ewok, sys
from pathlib import Path
gym.register_envs(shimmy)
rss = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20
env = ewok.ActionNoise(gym.make("dm_control/walker-walk-v0"), 0.2)
env.reset(seed=0); [env.step(env.action_space.sample()) for _ in range(50)]
before = rss()
worst = ewok.WorstKernel(env, num_samples=10, kappa=0.2, value=lambda o: np.zeros(10))
worst.reset(seed=0); [worst.step(worst.action_space.sample()) for _ in range(200)]
print(f"{before:.0f} {rss() - before:.1f}")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    bare, added = done.stdout.split()
    return f"| walker-walk, N=10: memory of a WorstKernel | {added} MiB more | {bare} MiB bare | | stated |"


def rows() -> Iterator[Row | str]:
    yield cartpole()
    yield mujoco_row(
        "dm_control/walker-walk-v0",
        lambda e: e._env._n_sub_steps,
        lambda e: (e._env.physics.model.ptr, e._env.physics.data.ptr),
        "<= 3",
    )
    yield walker_against_copies()
    yield mujoco_row("Hopper-v5", lambda e: e.frame_skip, lambda e: (e.model, e.data), "<= 2.5")
    yield mujoco_row("HalfCheetah-v5", lambda e: e.frame_skip, lambda e: (e.model, e.data), "<= 2.5")
    yield threads()
    yield radius()
    yield memory()

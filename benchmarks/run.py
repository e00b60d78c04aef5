"""Ratios, each measured in one run against a peer or the physical limit; writes RESULTS.md beside this file.

    python benchmarks/run.py

The two sides of a ratio are timed in turn, many times over, and their medians divided: what else
the machine does meets both alike.
"""

from __future__ import annotations

import copy
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MUJOCO_GL", "egl")

import gymnasium as gym
import mujoco
import numpy as np
import shimmy

import ewok
from ewok.nominal.batch import leaves

gym.register_envs(shimmy)
warnings.simplefilter("ignore")
RESULTS = Path(__file__).parent / "RESULTS.md"
ROUNDS = 25


@dataclass(frozen=True)
class Row:
    work: str
    ours: float  # seconds
    peer: float
    bar: str
    measure: str = ""

    def __str__(self) -> str:
        measured = self.measure or f"{self.ours / self.peer:.2f}"
        return f"| {self.work} | {self.ours * 1e6:,.0f} us | {self.peer * 1e6:,.0f} us | {measured} | {self.bar} |"


def in_turn(ours: Callable[[], None], peer: Callable[[], None], steps: int) -> tuple[float, float]:
    """Median seconds a call of each, timed in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for call, kept in zip((ours, peer), times, strict=True):
            start = time.perf_counter()
            for _ in range(steps):
                call()
            kept.append((time.perf_counter() - start) / steps)
    return statistics.median(times[0]), statistics.median(times[1])


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
    from ewok.nominal.mujoco import MujocoKernel

    env = gym.make("Humanoid-v5")
    env.reset(seed=0)
    one, two = MujocoKernel(env.unwrapped), MujocoKernel(env.unwrapped, num_threads=2)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(10)]
    ours, peer = in_turn(
        lambda: two.draw_each(actions, None) and None, lambda: one.draw_each(actions, None) and None, 5
    )
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


def main() -> None:
    rows: list[str] = []
    for make_row in (
        cartpole,
        lambda: mujoco_row(
            "dm_control/walker-walk-v0",
            lambda e: e._env._n_sub_steps,
            lambda e: (e._env.physics.model.ptr, e._env.physics.data.ptr),
            "<= 3",
        ),
        walker_against_copies,
        lambda: mujoco_row("Hopper-v5", lambda e: e.frame_skip, lambda e: (e.model, e.data), "<= 2.5"),
        lambda: mujoco_row("HalfCheetah-v5", lambda e: e.frame_skip, lambda e: (e.model, e.data), "<= 2.5"),
        threads,
        radius,
        memory,
    ):
        rows.append(str(make_row()))
        print(rows[-1], flush=True)
    head = (
        "# Benchmarks\n\nWritten by `make bench`: one thread unless said, medians of both sides timed in turn in one "
        "run. Absolute times are this machine's; the ratio carries over. Values are a constant function's, so what is "
        "timed is the kernel, not a critic.\n\n| work | ours | peer | ratio | bar |\n|---|---|---|---|---|\n"
    )
    RESULTS.write_text(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()

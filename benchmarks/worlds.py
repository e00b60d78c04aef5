"""Worlds that shift: a walker's step, training in it, testing in many worlds at once, and moving between episodes.

The first two rows are by the processor's time, whatever else runs. Policies that are tested were trained for a short
time, so that episodes of the CartPole have the lengths that count; Stable-Baselines3's `evaluate_policy` runs the same
episodes, seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import sbx
import stable_baselines3 as sb3
from stable_baselines3.common.evaluation import evaluate_policy

import ewok
from ewok.worlds import World, along
from nominal import constant, raw_physics, stepper
from ratio import Row, in_turn

NETWORK = {"net_arch": [256, 256]}


def walker_step() -> Row:
    env = ewok.WorstKernel(gym.make("ewok/walker-walk-v0"), num_samples=10, kappa=0.2, value=constant)
    step = stepper(env)
    control: Any = env.unwrapped._env  # type: ignore[attr-defined]
    raw = raw_physics(control.physics.model.ptr, control.physics.data.ptr, 10, control._n_sub_steps)
    ours, peer = in_turn(step, raw, 2, rounds=500, processor=True)
    return Row("walker-walk by its own kernel, N=10: step over 10 x 10 `mj_step`", ours, peer, "<= 1.5")


def training(chunk: int = 100, rounds: int = 40) -> Row:
    """Chunks of both trainings in turn, by the processor's time, once all is compiled; resets are part of them."""
    plain, robust = gym.make("ewok/walker-walk-v0"), gym.make("ewok/walker-walk-v0")
    kernel = ewok.WorstKernel(robust, num_samples=10, kappa=0.2)
    options: dict[str, Any] = {"batch_size": 256, "seed": 0}
    agents = [sbx.SAC("MlpPolicy", env, policy_kwargs=dict(NETWORK), **options) for env in (kernel, plain)]
    ewok.bind(agents[0])
    for agent in agents:
        agent.learn(4 * chunk)  # compiles
    learn = [partial(agent.learn, chunk, reset_num_timesteps=False) for agent in agents]
    ours, peer = in_turn(learn[0], learn[1], rounds=rounds, processor=True)
    work = f"training SBX's SAC on walker-walk, 256 x 256, batch 256, {chunk} steps: EWoK (N=10) over plain"
    return Row(work, ours, peer, "<= 1.12")


class Seeded(gym.Wrapper[Any, Any, Any, Any]):
    """The episodes of seeds 0, 1, 2, ..., whoever resets."""

    count = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.count += 1
        return super().reset(seed=self.count - 1, options=options)


def one_by_one(world: World, model: Any, points: list[dict[str, float]], episodes: int) -> list[float]:
    """Returns of all episodes, by Stable-Baselines3."""
    returns: list[float] = []
    for point in points:
        env = sb3.common.monitor.Monitor(Seeded(world.make(**point)))
        returns += evaluate_policy(model, env, n_eval_episodes=episodes, return_episode_rewards=True)[0]  # type: ignore[arg-type]
        env.close()
    return returns


def together(world: World, model: Any, points: list[dict[str, float]], episodes: int) -> list[float]:
    vector = world.make_vector(points, episodes)
    found = vector.run(lambda seen: model.predict(seen, deterministic=True)[0], seed=0)
    vector.close()
    return [float(earned) for earned in found.returns.ravel()]


def testing(world: World, model: Any, episodes: int, bar: str) -> Row:
    points = [point for name in world.perturbations for point in along(world, name)]
    kept: dict[Callable[..., Any], list[float]] = {}

    def run(how: Callable[..., Any]) -> None:
        kept[how] = how(world, model, points, episodes)

    ours, peer = in_turn(partial(run, together), partial(run, one_by_one), rounds=1)
    same = np.mean(np.isclose(kept[together], kept[one_by_one], rtol=1e-3))
    work = (
        f"{world.name}: a policy's {len(points)} x {episodes} episodes over the paper's grid, `evaluate_policy` over "
        f"ours ({same:.0%} of the returns equal; a network rounds otherwise in batches, which walkers amplify)"
    )
    return Row(work, ours, peer, bar, f"{peer / ours:.1f}")


def cartpole() -> Row:
    world = ewok.worlds.get("cartpole")
    model = sb3.PPO("MlpPolicy", world.make(), n_steps=512, batch_size=128, seed=0, device="cpu").learn(30_000)
    return testing(world, model, 10, ">= 30")


def walker() -> Row:
    world = ewok.worlds.get("walker-walk")
    model = sb3.SAC("MlpPolicy", world.make(), policy_kwargs=dict(NETWORK), seed=0, device="cpu").learn(1_000)
    return testing(world, model, 1, ">= 4")


def resets() -> Iterator[Row]:
    world = ewok.worlds.get("walker-walk")
    plain = world.make()
    plain.reset(seed=0)
    for distribution, drawn, bar in (
        ("grid", "from its grid, after its first use", "<= 3"),
        ("uniform", "uniform, each value compiled anew", "stated"),
    ):
        env = ewok.DomainRandomization(world.make(), world, ["thigh_length"], distribution)  # type: ignore[arg-type]
        env.reset(seed=0)
        for _ in range(200):
            env.reset()
        ours, peer = in_turn(env.reset, plain.reset, 100)
        yield Row(f"walker-walk: `DomainRandomization` reset over a plain one, thigh {drawn}", ours, peer, bar)


def rows() -> Iterator[Row]:
    yield walker_step()
    yield training()
    yield cartpole()
    yield walker()
    yield from resets()

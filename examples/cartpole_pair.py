"""Train PPO on CartPole, with and without the worst kernel, and see both in worlds that shifted.

    python examples/cartpole_pair.py [--steps 75000] [--seeds 3] [--out demo]

Prints a table and draws `cartpole_pair.png`. PPO has its library's settings; N = 15 and kappa = 0.2
are the paper's. Three seeds show what to expect, not which is better: agents differ a lot.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym
import matplotlib as mpl
import numpy as np
import torch
from stable_baselines3 import PPO

import ewok

mpl.use("Agg")
import matplotlib.pyplot as plt

METHODS = ("PPO", "PPO on WorstKernel")
SHIFTS: dict[str, tuple[float, list[float]]] = {  # nominal value, tested values
    "cart mass": (1.0, [0.25, 1.0, 2.0, 3.0, 4.0, 5.0]),
    "pole length": (0.5, [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]),
    "pole mass": (0.1, [0.1, 0.5, 1.0, 1.5, 2.0, 3.0]),
    "gravity": (9.8, [0.1, 5.0, 9.8, 15.0, 20.0, 30.0]),
}
EPISODES = 20


def train(method: str, seed: int, num_steps: int) -> PPO:
    torch.set_num_threads(1)
    env = gym.make("ewok/NoisyCartPole-v1")
    if method == "PPO on WorstKernel":
        env = ewok.WorstKernel(env, num_samples=15, kappa=0.2)
    model = PPO("MlpPolicy", env, seed=seed, device="cpu")
    if method == "PPO on WorstKernel":
        ewok.bind(model)
    return model.learn(num_steps)


def shifted(name: str, value: float) -> gym.Env[Any, Any]:
    """The nominal world with one number moved, and all that the simulator derives from it."""
    env = gym.make("ewok/NoisyCartPole-v1")
    cart: Any = env.unwrapped
    setattr(cart, {"cart mass": "masscart", "pole length": "length", "pole mass": "masspole"}.get(name, name), value)
    cart.total_mass = cart.masspole + cart.masscart
    cart.polemass_length = cart.masspole * cart.length
    return env


def mean_return(model: PPO, name: str, value: float) -> float:
    """Over episodes that are stepped side by side, so that one forward pass serves all."""
    worlds = [shifted(name, value) for _ in range(EPISODES)]
    observations = np.stack([world.reset(seed=1000 + i)[0] for i, world in enumerate(worlds)])
    alive, returns = np.ones(EPISODES, dtype=bool), np.zeros(EPISODES)
    while alive.any():
        actions, _ = model.predict(observations, deterministic=True)
        for i in np.flatnonzero(alive):
            observations[i], reward, terminated, truncated, _ = worlds[i].step(actions[i])
            returns[i] += float(reward)
            alive[i] = not (terminated or truncated)
    return float(returns.mean())


def trial(arguments: tuple[str, int, int]) -> dict[str, list[float]]:
    """One trained agent's mean return at every point of every shift."""
    model = train(*arguments)
    return {name: [mean_return(model, name, value) for value in values] for name, (_, values) in SHIFTS.items()}


def table(returns: dict[str, dict[str, np.ndarray]]) -> Iterator[str]:
    yield f"{'mean return over seeds':<24}" + "".join(f"{method:>22}" for method in METHODS)
    for name, (nominal, values) in SHIFTS.items():
        for index, value in enumerate(values):
            mark = " (nominal)" if value == nominal else ""
            cells = "".join(f"{returns[method][name][:, index].mean():>22.0f}" for method in METHODS)
            yield f"{name + f' {value:g}' + mark:<24}{cells}"


def draw(returns: dict[str, dict[str, np.ndarray]], path: Path) -> None:
    figure, axes = plt.subplots(1, len(SHIFTS), figsize=(13, 3.2), sharey=True, layout="constrained")
    for axis, (name, (nominal, values)) in zip(axes, SHIFTS.items(), strict=True):
        for method, colour in zip(METHODS, ("#D55E00", "#0072B2"), strict=True):
            axis.plot(values, returns[method][name].T, color=colour, alpha=0.25, linewidth=1)
            axis.plot(values, returns[method][name].mean(axis=0), color=colour, label=method, marker="o", markersize=4)
        axis.axvline(nominal, color="grey", linestyle=":")
        axis.set_xlabel(f"{name} (dotted: nominal)")
    axes[0].set_ylabel("mean return")
    axes[0].legend(loc="lower left", fontsize=8)
    figure.suptitle("CartPole with a shifted world; thin lines are single seeds", fontsize=10)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=75_000, help="training steps of each agent")
    parser.add_argument("--seeds", type=int, default=3, help="agents of each kind")
    parser.add_argument("--workers", type=int, default=2, help="trainings side by side")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    trials = [(method, seed, options.steps) for seed in range(options.seeds) for method in METHODS]
    print(f"training {len(trials)} agents for {options.steps:,} steps each ...", flush=True)
    with ProcessPoolExecutor(options.workers) as pool:
        results = list(pool.map(trial, trials))
    returns = {
        method: {
            name: np.array([r[name] for r, (kind, *_) in zip(results, trials, strict=True) if kind == method])
            for name in SHIFTS
        }
        for method in METHODS
    }
    print("\n".join(table(returns)))
    draw(returns, options.out / "cartpole_pair.png")
    print(f"picture: {options.out / 'cartpole_pair.png'}")


if __name__ == "__main__":
    main()

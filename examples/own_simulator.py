"""A simulator of your own, with a kernel written by hand: a shop that orders before it knows what will be asked for.

    python examples/own_simulator.py [--steps 60000] [--seed 0]

Two methods make a kernel: `draw` gives N next states and leaves the shop where it is, `commit` makes one of them the
truth. Here all N demands are drawn at once, which no copying or restoring could do. Rewards are paid on arrival, so
candidates are scored by r + discount * v(s').
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import ewok
from ewok.testing import check_kernel

CAPACITY, DISCOUNT = 20, 0.95


class Shop(gym.Env[Any, Any]):
    """Each day it orders, then sells what is asked for; what is left over has to be stored."""

    observation_space, action_space = spaces.Discrete(CAPACITY + 1), spaces.Discrete(11)

    def __init__(self, demand: float = 5.0) -> None:
        self.demand, self.stock = demand, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.stock = CAPACITY // 2
        return self.stock, {}

    def day(self, order: Any, asked: Any) -> tuple[Any, Any]:
        """The stock and the profit, for one demand or for many."""
        filled = min(CAPACITY, self.stock + int(order))
        sold = np.minimum(filled, asked)
        return filled - sold, 4.0 * sold - 2.0 * (filled - self.stock) - 0.4 * (filled - sold)

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        stock, profit = self.day(action, self.np_random.poisson(self.demand))
        self.stock = int(stock)
        return self.stock, float(profit), False, False, {}


class ShopKernel:
    """Draws from the shop's own generator, so that the first candidate is what the shop would have done itself."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.stocks: Any = None

    def draw(self, action: Any, num: int) -> ewok.Candidates:
        asked = self.shop.np_random.poisson(self.shop.demand, size=num)
        self.stocks, profits = self.shop.day(action, asked)
        no = np.zeros(num, dtype=bool)
        return ewok.Candidates(self.stocks, profits, no, no, [{} for _ in range(num)])

    def commit(self, index: int) -> None:
        if self.stocks is None or not 0 <= index < len(self.stocks):
            raise ewok.errors.KernelError(f"`index` must be of the latest draw, not used before, but it is {index}.")
        self.shop.stock, self.stocks = int(self.stocks[index]), None


ewok.register_kernel(Shop, ShopKernel)


def learn(env: gym.Env[Any, Any], q: np.ndarray, num_steps: int, seed: int) -> list[dict[str, Any]]:
    """Q-learning, into `q`; returns what the worst kernel told."""
    rng, told = np.random.default_rng(seed), []
    state, _ = env.reset(seed=seed)
    for step in range(num_steps):
        action = int(rng.integers(q.shape[1]) if rng.random() < 0.2 else q[state].argmax())
        after, reward, *_, info = env.step(action)
        rate = max(0.02, 1.0 / (1.0 + step / 2_000))
        q[state, action] += rate * (float(reward) + DISCOUNT * q[after].max() - q[state, action])
        state = after
        told.append(info.get("ewok", {}))
    return told


def profit(q: np.ndarray, demand: float, num_days: int = 3_000) -> float:
    shop = Shop(demand)
    state, _ = shop.reset(seed=1000)
    total = 0.0
    for _ in range(num_days):
        state, reward, *_ = shop.step(q[state].argmax())
        total += reward
    return total / num_days


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60_000, help="training steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    check_kernel(Shop(), twin=Shop())  # bit for bit against a shop that nobody draws from

    plain, robust = np.zeros((2, CAPACITY + 1, 11))
    learn(Shop(), plain, options.steps, options.seed)
    env = ewok.WorstKernel(Shop(), num_samples=15, radius=0.5, discount=DISCOUNT)
    ewok.bind(lambda stocks: robust[stocks].max(axis=1), env)  # v(s) = max_a Q(s, a), from the table as it is
    told = learn(env, robust, options.steps, options.seed)

    print(f"{'mean demand':<20}profit a day: {'plain':>8}{'robust':>8}")
    for demand in (5.0, 4.0, 3.0, 2.0):
        mark = " (nominal)" if demand == 5.0 else ""
        print(f"{f'{demand:g}{mark}':<34}{profit(plain, demand):>8.2f}{profit(robust, demand):>8.2f}")
    kl, spread = (np.mean([report[name] for report in told]) for name in ("kl", "spread"))
    print(f"while training: mean kl {kl:.3g}, mean spread {spread:.3g}")


if __name__ == "__main__":
    main()

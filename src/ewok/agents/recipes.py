"""The paper's agents as data. Every number says where it is from.

PAPER    the paper's table of hyperparameters for that agent
ZOO      RL Baselines3 Zoo, to which the paper points for the rest
LIBRARY  the default of the library that the paper used
CHOSEN   chosen here, with the reason
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from ewok.errors import require_known
from ewok.named import named
from ewok.worst.kernel import WorstKernel

PAPER, ZOO, LIBRARY, CHOSEN = "paper", "RL zoo", "library's default", "chosen here"


class Number(NamedTuple):
    """One hyperparameter, and where it is from."""

    value: Any
    source: str
    why: str = ""


_ALONE = Number(1, CHOSEN, "the paper names a number for PPO alone")


@final
@dataclass(frozen=True)
class Recipe:
    """How one agent is made and for how long it trains.

    Attributes:
        name: of the recipe.
        agent: "module:class".
        table: the paper's table of hyperparameters.
        num_steps: environment steps to train for.
        settings: keyword arguments of the agent's class.
        networks: entries of its `policy_kwargs`.
        exploration_std: of the noise on the actions while training, for agents whose actor has none.
        num_envs: how many environments it learns in at once.
        worst_kernel: N and kappa, by the paper's table of its own parameters, tab:AKA_params.

    Example:
        >>> import ewok, gymnasium as gym
        >>> from ewok.agents import recipes
        >>> recipe = recipes.get("ppo")
        >>> recipe.settings["n_epochs"].value, recipe.settings["n_epochs"].source
        (20, 'paper')
        >>> env = recipe.wrap(gym.make("ewok/NoisyCartPole-v1"))
        >>> model = ewok.bind(recipe.make(env, seed=0))
    """

    name: str
    agent: str
    table: str
    num_steps: Number
    settings: Mapping[str, Number]
    networks: Mapping[str, Number] = field(default_factory=lambda: MappingProxyType({}))
    exploration_std: Number | None = None
    num_envs: Number = _ALONE
    worst_kernel: Mapping[str, Number] = field(default_factory=lambda: MappingProxyType({}))

    def wrap(self, env: Any) -> WorstKernel:
        """The environment with the paper's worst kernel for this agent."""
        return WorstKernel(env, **{name: number.value for name, number in self.worst_kernel.items()})

    def make(self, env: Any, *, seed: int | None = None, **overrides: Any) -> Any:
        """The agent, on `env`; overrides are keyword arguments of its class that take the place of the recipe's."""
        settings = {name: number.value for name, number in self.settings.items()}
        if self.networks:
            settings["policy_kwargs"] = {name: number.value for name, number in self.networks.items()}
        if self.exploration_std is not None and "action_noise" not in overrides:
            settings["action_noise"] = exploration_noise(env, self.exploration_std.value)
        return named(self.agent, "agent")("MlpPolicy", env, seed=seed, **(settings | overrides))

    def with_agent(self, agent: str) -> Recipe:
        """The same numbers for another class, "module:class", that takes them."""
        return replace(self, agent=agent)


def get(name: str) -> Recipe:
    """The recipe of this name."""
    require_known(name, RECIPES, "name", "a recipe")
    return RECIPES[name]


def exploration_noise(env: Any, std: float) -> Any:
    """On the actions while training, for agents of Stable-Baselines3's kind."""
    size = env.action_space.shape
    return named("stable_baselines3.common.noise:NormalActionNoise", "noise")(np.zeros(size), np.full(size, std))


def _worst_kernel(num_samples: int, kappa: float) -> Mapping[str, Number]:
    return MappingProxyType({"num_samples": Number(num_samples, PAPER), "kappa": Number(kappa, PAPER)})


_DDQN = Recipe(
    name="ddqn",
    agent="ewok.agents.double_dqn:DoubleDQN",
    table="tab:DQN_params",
    num_steps=Number(50_000, PAPER),
    settings=MappingProxyType(
        {
            "batch_size": Number(64, PAPER),
            "buffer_size": Number(100_000, PAPER),
            "exploration_final_eps": Number(0.04, PAPER),
            "exploration_fraction": Number(0.16, PAPER),
            "gamma": Number(0.99, PAPER),
            "gradient_steps": Number(128, PAPER),
            "learning_rate": Number(2.3e-3, PAPER),
            "learning_starts": Number(1_000, PAPER),
            "target_update_interval": Number(10, PAPER),
            "train_freq": Number(256, PAPER),
        }
    ),
    networks=MappingProxyType({"net_arch": Number([256, 256], ZOO, "the paper gives no widths")}),
    worst_kernel=_worst_kernel(15, 0.1),
)

_PPO = Recipe(
    name="ppo",
    agent="stable_baselines3:PPO",
    table="tab:PPO_params",
    num_steps=Number(100_000, PAPER),
    settings=MappingProxyType(
        {
            "batch_size": Number(32, PAPER),
            "n_steps": Number(32, PAPER),
            "gae_lambda": Number(0.98, PAPER),
            "gamma": Number(0.98, PAPER),
            "n_epochs": Number(20, PAPER),
            "ent_coef": Number(0.0, PAPER),
            "clip_range": Number(0.2, PAPER, "constant, as the table reads; the zoo lowers it to 0"),
            "learning_rate": Number(1e-3, PAPER, "constant, as the table reads; the zoo lowers it to 0"),
        }
    ),
    networks=MappingProxyType({"net_arch": Number([64, 64], LIBRARY, "the paper and the zoo give no widths")}),
    num_envs=Number(1, PAPER),
    worst_kernel=_worst_kernel(15, 0.2),
)

_WIDE = Number([1024, 1024], PAPER)

_SAC = Recipe(
    name="sac",
    agent="stable_baselines3:SAC",
    table="tab:SAC_params",
    num_steps=Number(1_000_000, PAPER),
    settings=MappingProxyType(
        {
            "learning_starts": Number(5_000, PAPER, "warmup steps"),
            "buffer_size": Number(1_000_000, PAPER),
            "batch_size": Number(1024, PAPER),
            "gamma": Number(0.99, PAPER),
            "learning_rate": Number(1e-4, PAPER, "Adam"),
            "tau": Number(0.005, PAPER),
            "target_update_interval": Number(2, PAPER),
            "ent_coef": Number("auto_0.1", PAPER, "initial temperature 0.1, learnable"),
            "train_freq": Number(2, CHOSEN, "two steps, then two updates: one update a step, see gradient_steps"),
            "gradient_steps": Number(2, CHOSEN, "the library counts to target_update_interval anew at each training"),
        }
    ),
    networks=MappingProxyType({"net_arch": _WIDE}),
    worst_kernel=_worst_kernel(10, 0.2),
)

_TD3 = Recipe(
    name="td3",
    agent="stable_baselines3:TD3",
    table="tab:TD3_params",
    num_steps=Number(1_000_000, PAPER),
    settings=MappingProxyType(
        {
            "learning_starts": Number(5_000, PAPER, "warmup steps"),
            "buffer_size": Number(1_000_000, PAPER),
            "batch_size": Number(1024, PAPER),
            "gamma": Number(0.99, PAPER),
            "learning_rate": Number(1e-4, PAPER, "Adam"),
            "tau": Number(0.005, PAPER),
            "policy_delay": Number(2, PAPER, "actor and target update interval"),
            "target_policy_noise": Number(0.2, PAPER),
            "target_noise_clip": Number(0.5, PAPER),
            "train_freq": Number(1, LIBRARY),
            "gradient_steps": Number(1, LIBRARY),
        }
    ),
    networks=MappingProxyType({"net_arch": Number([1024, 1024], CHOSEN, "as for SAC: the paper gives no widths")}),
    exploration_std=Number(0.1, ZOO, "the paper gives no exploration noise"),
    worst_kernel=_worst_kernel(10, 0.2),
)

_NARROW = Number([256, 256], CHOSEN, "so that a trial fits a CPU core")


def _for_cpu(recipe: Recipe, agent: str, **changed: Number | None) -> Recipe:
    """On a CPU: 256 x 256 units, batches of 256, compiled by JAX; None leaves a setting out."""
    given = {"batch_size": Number(256, CHOSEN, "so that a trial fits a CPU core"), **changed}
    kept = {name: number for name, number in {**recipe.settings, **given}.items() if number is not None}
    networks = MappingProxyType({"net_arch": _NARROW})
    return replace(recipe, name=f"{recipe.name}-cpu", agent=agent, settings=MappingProxyType(kept), networks=networks)


_EVERY_STEP = Number(1, CHOSEN, "one update a step; SBX updates its targets each time, it has no interval for them")
_ALL = (
    _DDQN,
    _PPO,
    _SAC,
    _TD3,
    _for_cpu(_SAC, "sbx:SAC", target_update_interval=None, train_freq=_EVERY_STEP, gradient_steps=_EVERY_STEP),
    _for_cpu(_TD3, "sbx:TD3"),
)
RECIPES: Mapping[str, Recipe] = MappingProxyType({recipe.name: recipe for recipe in _ALL})

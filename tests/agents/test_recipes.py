"""The paper's agents as data: each number is the paper's, or says where else it is from."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import ewok
from ewok.agents import recipes
from ewok.agents.recipes import CHOSEN, LIBRARY, PAPER, RECIPES, ZOO, Number, Recipe
from ewok.errors import ArgumentError

from .worlds import needs

# The rows of the paper's tables, as they stand there, and what the libraries call them.
TABLES: dict[str, dict[str, Any]] = {
    "tab:DQN_params": {
        "batch size": ("batch_size", 64),
        "buffer size": ("buffer_size", 100_000),
        "exploration final epsilon": ("exploration_final_eps", 0.04),
        "exploration fraction": ("exploration_fraction", 0.16),
        "gamma": ("gamma", 0.99),
        "gradient steps": ("gradient_steps", 128),
        "learning rate": ("learning_rate", 0.0023),
        "learning starts": ("learning_starts", 1000),
        "target update interval": ("target_update_interval", 10),
        "train frequency": ("train_freq", 256),
        "total time-steps": ("num_steps", 50_000),
    },
    "tab:PPO_params": {
        "number of parallel environments": ("num_envs", 1),
        "batch size": ("batch_size", 32),
        "Number of steps": ("n_steps", 32),
        "gae lambda": ("gae_lambda", 0.98),
        "gamma": ("gamma", 0.98),
        "Number of epochs": ("n_epochs", 20),
        "entropy coefficient": ("ent_coef", 0.0),
        "clip range": ("clip_range", 0.2),
        "learning rate": ("learning_rate", 0.001),
        "total time-steps": ("num_steps", 100_000),
    },
    "tab:SAC_params": {
        "Total steps": ("num_steps", 1_000_000),
        "Warmup steps": ("learning_starts", 5000),
        "Replay size": ("buffer_size", 1_000_000),
        "Batch size": ("batch_size", 1024),
        "Discount factor": ("gamma", 0.99),
        "Learning rate": ("learning_rate", 1e-4),
        "Target smoothing coefficient": ("tau", 0.005),
        "Target update interval": ("target_update_interval", 2),
        "Initial temperature, learnable": ("ent_coef", "auto_0.1"),
        "hidden units per layer": ("net_arch", [1024, 1024]),
    },
    "tab:TD3_params": {
        "Total steps": ("num_steps", 1_000_000),
        "Warmup steps": ("learning_starts", 5000),
        "Replay size": ("buffer_size", 1_000_000),
        "Batch size": ("batch_size", 1024),
        "Discount factor": ("gamma", 0.99),
        "Learning rate": ("learning_rate", 1e-4),
        "Target smoothing coefficient": ("tau", 0.005),
        "Actor and target update interval": ("policy_delay", 2),
        "Target policy noise std": ("target_policy_noise", 0.2),
        "Target policy noise clip": ("target_noise_clip", 0.5),
    },
}
AKA_PARAMS = {"ddqn": (15, 0.1), "ppo": (15, 0.2), "sac": (10, 0.2), "td3": (10, 0.2)}
PAPERS_OWN = ("ddqn", "ppo", "sac", "td3")


def numbers(recipe: Recipe) -> dict[str, Number]:
    known = {"num_steps": recipe.num_steps, "num_envs": recipe.num_envs, **recipe.settings, **recipe.networks}
    return known | ({} if recipe.exploration_std is None else {"exploration_std": recipe.exploration_std})


@pytest.mark.parametrize("name", PAPERS_OWN)
def test_every_row_of_the_papers_table_is_there_and_nothing_else_claims_to_be(name: str) -> None:
    recipe = recipes.get(name)
    rows = dict(TABLES[recipe.table].values())
    of_paper = {key: number.value for key, number in numbers(recipe).items() if number.source == PAPER}
    assert of_paper == rows
    assert {key: number.value for key, number in recipe.worst_kernel.items()} == dict(
        zip(("num_samples", "kappa"), AKA_PARAMS[name], strict=True)
    )


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_not_the_papers_says_whose_it_is_and_why(name: str) -> None:
    for key, number in numbers(recipes.get(name)).items():
        assert number.source in (PAPER, ZOO, LIBRARY, CHOSEN), key
        assert number.why or number.source in (PAPER, LIBRARY), f"{key} says not why"


def test_what_is_said_to_be_the_zoos_is_the_zoos() -> None:
    zoo = importlib.util.find_spec("rl_zoo3")  # not imported: it would replace parts of Gymnasium for all tests to come
    if zoo is None or zoo.origin is None:
        pytest.skip("needs rl_zoo3: pip install 'ewok[dev]'")
    folder = Path(zoo.origin).parent / "hyperparams"
    yaml = needs("yaml", "dev")

    def tuned(agent: str, env_id: str) -> dict[str, Any]:
        text = (folder / f"{agent}.yml").read_text()
        return yaml.safe_load(text)[env_id]  # type: ignore[no-any-return]

    dqn = tuned("dqn", "CartPole-v1")
    assert dqn["policy_kwargs"] == "dict(net_arch=[256, 256])"
    ddqn = recipes.get("ddqn")
    for key in set(ddqn.settings) - {"policy_kwargs"}:
        assert float(dqn[key]) == ddqn.settings[key].value, "the paper took DDQN's numbers from the zoo"
    noise = tuned("td3", "Pendulum-v1")
    assert (noise["noise_type"], noise["noise_std"]) == ("normal", recipes.get("td3").exploration_std.value)  # type: ignore[union-attr]


def test_what_is_said_to_be_the_librarys_is_the_librarys() -> None:
    sb3 = needs("stable_baselines3", "sb3")
    ppo = sb3.PPO("MlpPolicy", "CartPole-v1", device="cpu")
    widths = recipes.get("ppo").networks["net_arch"].value
    layers = [layer for layer in ppo.policy.mlp_extractor.value_net if hasattr(layer, "out_features")]
    assert [layer.out_features for layer in layers] == widths
    td3 = sb3.TD3("MlpPolicy", "Pendulum-v1", device="cpu", buffer_size=10)
    settings = recipes.get("td3").settings
    assert (td3.train_freq.frequency, td3.gradient_steps) == (
        settings["train_freq"].value,
        settings["gradient_steps"].value,
    )


SMALL = {"buffer_size": 200, "learning_starts": 4}


@pytest.mark.parametrize("name", PAPERS_OWN)
def test_agents_are_made_learn_and_can_be_bound(name: str) -> None:
    needs("stable_baselines3", "sb3")
    recipe = recipes.get(name)
    world = "ewok/NoisyCartPole-v1" if name in ("ddqn", "ppo") else "Pendulum-v1"
    base: gym.Env[Any, Any] = gym.make(world)
    env = recipe.wrap(base if name in ("ddqn", "ppo") else ewok.ActionNoise(base, std=0.2))
    narrow = {"policy_kwargs": {"net_arch": [16]}, "batch_size": 8, "device": "cpu"}
    model = recipe.make(env, seed=0, **narrow, **({} if name == "ppo" else SMALL))
    assert model.gamma == recipe.settings["gamma"].value
    ewok.bind(model)
    model.learn(8)
    assert env.bound
    if name == "td3":
        assert model.action_noise._sigma == pytest.approx([0.1])


def test_targets_of_sac_are_updated_every_other_update() -> None:
    """Stable-Baselines3 counts updates anew at each call of `train`, so single updates would each move the target."""
    needs("stable_baselines3", "sb3")
    torch = needs("torch", "sb3")
    model = recipes.get("sac").make(
        gym.make("Pendulum-v1"), seed=0, policy_kwargs={"net_arch": [8]}, device="cpu", **SMALL | {"batch_size": 8}
    )
    target = list(model.critic_target.parameters())
    update = model.critic.optimizer.step

    def step(*arguments: Any) -> Any:
        before.append([parameter.clone() for parameter in target])
        return update(*arguments)

    before: list[Any] = []
    model.critic.optimizer.step = step
    model.learn(16)
    moves = [not torch.equal(one[0], other[0]) for one, other in pairwise(before)]
    assert len(moves) >= 9
    assert moves == [place % 2 == 0 for place in range(len(moves))]


@pytest.mark.parametrize("name", ["td3-cpu", pytest.param("sac-cpu", marks=pytest.mark.slow)])
def test_variants_for_a_cpu_differ_in_size_alone(name: str) -> None:
    needs("sbx", "sbx")
    small, full = recipes.get(name), recipes.get(name.removesuffix("-cpu"))
    assert small.networks["net_arch"].value == [256, 256]
    assert small.settings["batch_size"].value == 256
    free = {"batch_size", "target_update_interval", "train_freq", "gradient_steps"}
    assert {k: n for k, n in small.settings.items() if k not in free} == {
        k: n for k, n in full.settings.items() if k not in free
    }
    env = small.wrap(ewok.ActionNoise(gym.make("Pendulum-v1"), std=0.2))
    model = ewok.bind(small.make(env, seed=0, **SMALL | {"batch_size": 8, "policy_kwargs": {"net_arch": [16]}}))
    model.learn(8)


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match="the name of a recipe, but it is 'ddq'. Did you mean 'ddqn'"):
        recipes.get("ddq")
    with pytest.raises(ArgumentError, match="`agent` must be \"module:object\", but it is 'PPO'"):
        recipes.get("ppo").with_agent("PPO").make(None)
    other = recipes.get("ddqn").with_agent("stable_baselines3:DQN")
    assert (other.agent, other.settings) == ("stable_baselines3:DQN", recipes.get("ddqn").settings)

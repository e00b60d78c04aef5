"""What a trial's meaning makes: the world, the agent, and what binds them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ewok.errors import ArgumentError
from ewok.lab.plan import plan
from ewok.lab.reading import read_plain
from ewok.lab.record import Recorder
from ewok.lab.training import prepare, training_world
from ewok.worlds import DomainRandomization
from ewok.worst.kernel import WorstKernel
from tests.lab.test_reading import SMALL


def meaning(method: dict[str, Any], **agent: Any) -> dict[str, Any]:
    raw = {**SMALL, "seeds": 1, "methods": {"mine": method}}
    if agent:
        raw["agent"] = agent
    return plan(read_plain(raw))[0].meaning


def test_a_baseline_trains_in_the_nominal_world() -> None:
    env = training_world(meaning({"kind": "baseline"}))
    assert not isinstance(env, WorstKernel | DomainRandomization)
    assert env.unwrapped.gravity == 9.8


def test_ewok_trains_in_the_worst_kernel_with_the_methods_settings() -> None:
    told = {"kind": "ewok", "radius": 0.3, "num_samples": 7, "terminal_value": "critic", "discount": 0.9}
    env = training_world(meaning(told))
    assert isinstance(env, WorstKernel)
    assert (env.radius, env.kappa, env.num_samples, env.terminal_value, env.discount) == (0.3, None, 7, None, 0.9)


def test_randomized_trains_in_another_world_every_episode() -> None:
    env = training_world(meaning({"kind": "randomized", "parameters": ["gravity"], "distribution": "grid"}))
    seen = {env.reset(seed=seed)[1]["world"]["gravity"] for seed in range(30)}
    assert len(seen) > 3
    assert seen <= set(env.world.perturbations["gravity"].grid)


@pytest.mark.parametrize("distribution", ["uniform", "log-uniform", "grid"])
def test_randomized_draws_from_what_the_study_tests(distribution: str) -> None:
    methods = {"mine": {"kind": "randomized", "distribution": distribution}}
    raw = {**SMALL, "seeds": 1, "methods": methods, "perturbations": {"gravity": [8.0, 12.0]}}
    env = training_world(plan(read_plain(raw))[0].meaning)
    seen = {env.reset(seed=seed)[1]["world"]["gravity"] for seed in range(50)}
    assert all(8.0 <= gravity <= 12.0 for gravity in seen)
    assert seen == {8.0, 9.8, 12.0} if distribution == "grid" else len(seen) == 50


def test_a_function_of_ones_own_has_the_world_a_generator_and_its_options() -> None:
    told = meaning({"kind": "tests.lab.mine:shaken", "options": {"std": 0.5}})
    stds = [training_world({**told, "seed": seed}).std for seed in (0, 0, 1)]
    assert stds[0] == stds[1] != stds[2]
    assert 0.0 < stds[0] < 0.5


def test_a_function_that_returns_no_environment_is_told() -> None:
    with pytest.raises(ArgumentError, match="must be a function that returns an environment"):
        training_world(meaning({"kind": "builtins:print"}))


@pytest.mark.parametrize(
    ("world", "kind", "space"), [("cartpole", "stacked", "observation"), ("pendulum", "rescaled", "action")]
)
def test_a_function_that_changes_what_agents_see_or_do_is_told_before_training(
    world: str, kind: str, space: str
) -> None:
    """The evaluation is in the world as it is: the agent would not fit, or fit and be another's."""
    told = {**meaning({"kind": f"tests.lab.mine:{kind}"}), "world": world}
    with pytest.raises(ArgumentError, match=rf"keeps the world's {space} space.*{kind}.*belongs to the world"):
        training_world(told)


@pytest.mark.parametrize(
    "agent", [{"agent": "tests.lab.mine:coin", "num_steps": 30}, {"recipe": "ppo", "num_steps": 32}]
)
def test_the_agent_is_bound_to_its_worst_kernel(agent: dict[str, Any]) -> None:
    if "recipe" in agent:
        pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    training = prepare(meaning({"kind": "ewok", "kappa": 0.1}, **agent))
    training.learn()
    diagnostics = training.recorder.diagnostics()
    assert diagnostics is not None
    assert (diagnostics["spread"] > 0.0).any()


def test_settings_reach_the_agent_and_its_networks() -> None:
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    agent = {"recipe": "ppo", "settings": {"gamma": 0.5}, "networks": {"net_arch": [7]}}
    made = prepare(meaning({"kind": "baseline"}, **agent)).agent
    assert made.gamma == 0.5
    assert made.n_steps == 32
    assert made.policy.mlp_extractor.policy_net[0].out_features == 7
    assert made.seed == 0


def test_recipes_explore_as_they_say() -> None:
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    pytest.importorskip("shimmy", reason="needs dm_control: pip install 'ewok[dmc]'")
    study = {**SMALL, "world": "walker-stand", "agent": {"recipe": "td3", "networks": {"net_arch": [8]}}}
    made = prepare(plan(read_plain(study))[0].meaning).agent
    assert np.allclose(made.action_noise._sigma, 0.1)


@pytest.mark.parametrize("recipe", ["ddqn", "ppo"])
def test_same_meaning_same_agent(recipe: str) -> None:
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    small = {"net_arch": [16]}
    settings = {"learning_starts": 50, "train_freq": 16, "gradient_steps": 4} if recipe == "ddqn" else {"n_epochs": 2}
    told = meaning({"kind": "ewok", "kappa": 0.1}, recipe=recipe, num_steps=256, networks=small, settings=settings)
    ways = []
    for _ in range(2):
        training = prepare(told)
        training.learn()
        parameters = [p.detach().numpy().tolist() for p in training.agent.policy.parameters()]
        ways.append((training.recorder.episodes()["return"].tolist(), parameters))
    assert ways[0] == ways[1]


def test_an_agent_must_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    told = meaning({"kind": "baseline"})
    told["agent"]["agent"] = "builtins:max"
    monkeypatch.setattr("ewok.lab.training.named", lambda path, argument: lambda env, seed: object())
    with pytest.raises(ArgumentError, match="learn"):
        prepare(told)


def test_environments_are_gymnasiums() -> None:
    assert isinstance(training_world(meaning({"kind": "baseline"})), gym.Env)


def test_nothing_is_left_open_after_a_training(tmp_path: Path) -> None:
    """A worker trains one agent after the other: what writes TensorBoard's files has a thread and a file each time."""
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    pytest.importorskip("tensorboard", reason="needs the lab extra")
    before = threading.active_count()
    training = prepare(meaning({"kind": "baseline"}, recipe="ppo", num_steps=32), tmp_path / "logs")
    assert threading.active_count() > before
    training.close()
    assert threading.active_count() == before


def test_a_function_that_seeds_nothing_has_the_same_world_again() -> None:
    """Not every agent passes its seed on to `reset`, or to the space it draws actions from."""
    told = meaning({"kind": "baseline"}, agent="tests.lab.mine:unseeded", num_steps=10)
    first, again, other = (prepare({**told, "seed": seed}).agent for seed in (3, 3, 4))
    assert first == again != other


def test_agents_of_recipes_are_seeded_by_themselves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their numbers stay what they were."""
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    seen: list[Any] = []
    monkeypatch.setattr(Recorder, "reset", lambda self, **options: seen.append(options))
    prepare(meaning({"kind": "baseline"}, recipe="ppo", num_steps=32))
    assert seen == []

"""Domain randomisation: a new draw at every reset, over the tested range, seeded."""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

import ewok
from ewok.errors import ArgumentError
from ewok.testing import check_kernel, check_snapshot

CARTPOLE = ewok.worlds.get("cartpole")


def randomized(parameters: Any = None, distribution: Any = "uniform", **values: float) -> Any:
    return ewok.DomainRandomization(CARTPOLE.make(**values), CARTPOLE, parameters, distribution)


def draws(env: Any, num: int, seed: int = 0) -> list[dict[str, float]]:
    env.reset(seed=seed)
    return [env.reset()[1]["world"] for _ in range(num)]


def test_a_draw_is_uniform_over_the_paper_s_range() -> None:
    drawn = [draw["gravity"] for draw in draws(randomized("gravity"), 2000)]
    assert stats.kstest(drawn, stats.uniform(0.1, 29.9).cdf).pvalue > 0.01


def test_a_draw_can_be_uniform_in_the_logarithm_or_from_the_grid() -> None:
    logs = np.log([draw["pole_mass"] for draw in draws(randomized("pole_mass", "log-uniform"), 2000)])
    assert stats.kstest(logs, stats.uniform(np.log(0.15), np.log(20.0)).cdf).pvalue > 0.01
    values = {draw["pole_mass"] for draw in draws(randomized("pole_mass", "grid"), 300)}
    assert values == set(CARTPOLE.perturbations["pole_mass"].grid)


@pytest.mark.parametrize(
    ("parameters", "moved"),
    [
        ("gravity", {"gravity"}),
        (["gravity", "pole_mass"], {"gravity", "pole_mass"}),
        (None, set(CARTPOLE.perturbations)),
        (["gravity", "observation_noise"], {"gravity", "observation_noise"}),
    ],
)
def test_one_several_or_all_parameters_are_moved_and_no_others(parameters: Any, moved: set[str]) -> None:
    env = randomized(parameters)
    _, info = env.reset(seed=0)
    assert set(info["world"]) == moved
    there = CARTPOLE.values_of(env)
    assert {name: there[name] for name in moved} == info["world"]
    assert all(there[name] == CARTPOLE.nominal[name] for name in set(CARTPOLE.perturbations) - moved)
    assert env.unwrapped.gravity == there["gravity"]
    assert env.unwrapped.total_mass == there["pole_mass"] + there["cart_mass"]


def test_an_episode_is_that_of_the_world_made_so() -> None:
    env = randomized(["gravity", "pole_length"])
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        twin = CARTPOLE.make(**info["world"])
        np.testing.assert_array_equal(observation, twin.reset(seed=seed)[0])
        for action in (0, 1, 1, 0, 1):
            one, other = env.step(action), twin.step(action)
            np.testing.assert_array_equal(one[0], other[0])


def test_a_seed_gives_the_same_draws_and_moves_nothing_else() -> None:
    env, twin, plain = randomized("gravity"), randomized("gravity"), CARTPOLE.make()
    assert draws(env, 20, seed=3) == draws(twin, 20, seed=3) != draws(env, 20, seed=4)
    np.testing.assert_array_equal(env.reset(seed=7)[0], plain.reset(seed=7)[0])  # the same first state


def test_what_is_not_named_stays_where_the_environment_had_it() -> None:
    env = randomized("gravity", cart_mass=3.0)
    env.reset(seed=0)
    assert CARTPOLE.values_of(env)["cart_mass"] == 3.0
    assert env.unwrapped.masscart == 3.0


def test_a_range_can_be_another_than_the_worlds() -> None:
    narrow = dataclasses.replace(CARTPOLE.perturbations["gravity"], low=9.0, high=10.0, values=[9.5])
    env = ewok.DomainRandomization(CARTPOLE.make(), CARTPOLE, [narrow, "noise"])
    seen = [env.reset(seed=seed)[1]["world"] for seed in range(50)]
    assert all(9.0 <= one["gravity"] <= 10.0 for one in seen)
    assert max(one["noise"] for one in seen) > 0.05
    rebuilt = gym.make(env.spec)
    assert rebuilt.reset(seed=3)[1] == env.reset(seed=3)[1]


def test_it_stands_under_a_worst_kernel_and_is_saved_and_rebuilt() -> None:
    env, twin = randomized(), randomized()
    check_snapshot(env, twin=twin, num_steps=60)
    check_kernel(randomized(), twin=randomized(), num_steps=40)
    worst = ewok.WorstKernel(randomized("gravity"), num_samples=5, kappa=0.1, value=lambda seen: -abs(seen[:, 0]))
    worst.reset(seed=0)
    assert worst.step(1)[-1]["ewok"]["kl"] > 0.0
    rebuilt = gym.make(randomized("gravity", "grid").spec)
    assert rebuilt.reset(seed=3)[1] == randomized("gravity", "grid").reset(seed=3)[1]


def test_mujoco_worlds_are_randomised_too() -> None:
    pytest.importorskip("mujoco")
    world = ewok.worlds.get("hopper")
    env = ewok.DomainRandomization(world.make(), world)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        twin = world.make(**info["world"])
        np.testing.assert_array_equal(observation, twin.reset(seed=seed)[0])
        action = np.full(3, 0.3, dtype=np.float32)
        np.testing.assert_array_equal(env.step(action)[0], twin.step(action)[0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"parameters": "gravty"}, "Did you mean 'gravity'"),
        ({"parameters": []}, "`parameters` must be one or more different names"),
        ({"parameters": ["gravity", "gravity"]}, "`parameters` must be one or more different names"),
        ({"distribution": "uniformly"}, "`distribution` must be the name of a distribution.*Did you mean 'uniform'"),
        ({"parameters": "noise", "distribution": "log-uniform"}, "`noise` is tested from 0, which has no logarithm"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        randomized(**arguments)


def test_stacked_randomisations_each_move_their_own() -> None:
    inner = ewok.DomainRandomization(CARTPOLE.make(cart_mass=3.0), CARTPOLE, "gravity")
    env: Any = ewok.DomainRandomization(inner, CARTPOLE, "pole_length", "log-uniform")
    for seed in range(5):
        _, info = env.reset(seed=seed)
        env.step(0)
        simulator = env.unwrapped
        assert info["world"] == {"gravity": simulator.gravity, "pole_length": simulator.length}
        assert (simulator.masscart, simulator.polemass_length) == (3.0, 0.1 * simulator.length)


def test_of_two_that_move_the_same_parameter_info_says_where_it_is() -> None:
    env: Any = ewok.DomainRandomization(randomized("gravity"), CARTPOLE, "gravity")
    for seed in range(5):
        assert env.reset(seed=seed)[1]["world"] == {"gravity": env.unwrapped.gravity}


def test_what_a_world_did_not_make_stays_as_it_is() -> None:
    cart = ewok.StateNoise(gym.make("CartPole-v1", sutton_barto_reward=True), std=0.05, indices=[0])
    cart.unwrapped.force_mag, cart.unwrapped.length = 20.0, 0.7  # type: ignore[attr-defined]
    for parameters in ("gravity", "observation_noise"):
        env: Any = ewok.DomainRandomization(cart, CARTPOLE, parameters)
        env.reset(seed=0)
        assert (cart.std, env.unwrapped.length, env.unwrapped.force_mag) == (0.05, 0.7, 20.0)
    pytest.importorskip("dm_control")
    walker: Any = ewok.DomainRandomization(
        gym.make("ewok/walker-walk-v0", thigh_length=0.4), "walker-walk", "torso_length"
    )
    _, info = walker.reset(seed=0)
    assert walker.unwrapped.named_values["thigh_length"] == 0.4
    assert walker.unwrapped.named_values["torso_length"] == info["world"]["torso_length"]

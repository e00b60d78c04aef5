"""The paper's walkers as worlds."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("shimmy")

import ewok
from ewok.worlds import walker


@pytest.mark.parametrize("task", ["stand", "walk", "run"])
def test_the_nominal_world_is_the_registered_environment(task: str) -> None:
    world = ewok.worlds.get(f"walker-{task}")
    env, twin = world.make(**world.nominal), gym.make(f"ewok/walker-{task}-v0")
    assert (env.observation_space.shape, env.action_space.shape) == ((24,), (6,))
    np.testing.assert_array_equal(env.reset(seed=7)[0], twin.reset(seed=7)[0])
    for action in np.random.default_rng(0).uniform(-1, 1, (100, 6)):
        one, other = env.step(action), twin.step(action)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1] == other[1]


def test_the_paper_s_table() -> None:
    perturbations = ewok.worlds.get("walker-walk").perturbations
    table = {name: (p.nominal, p.low, p.high) for name, p in perturbations.items()}
    assert table == {
        "noise_mean": (0.0, -0.3, 0.3),
        "thigh_length": (0.225, 0.1, 0.5),
        "torso_length": (0.3, 0.1, 0.7),
        "joint_damping": (0.1, 0.1, 10.0),
        "contact_friction": (0.7, 0.01, 2.0),
    }


def test_noise_has_the_paper_s_spread_and_the_mean_it_is_given() -> None:
    env = ewok.worlds.get("walker-walk").make(noise_mean=-0.3)
    noise = env
    while not isinstance(noise, ewok.ActionNoise):
        noise = noise.env  # type: ignore[attr-defined]
    assert (noise.std, noise.mean) == (0.2, -0.3)
    env.reset(seed=0)
    drawn = noise.disturb(np.zeros((20_000, 6)))
    assert drawn.mean() == pytest.approx(-0.3, abs=0.005)
    assert drawn.std() == pytest.approx(0.2, abs=0.005)


def test_every_parameter_changes_what_happens() -> None:
    world = ewok.worlds.get("walker-stand")
    ends = [{}, *({name: end} for name, p in world.perturbations.items() for end in (p.low, p.high))]
    final = {}
    for values in ends:
        env = world.make(**values)
        env.reset(seed=3)
        for action in np.random.default_rng(0).uniform(-1, 1, (60, 6)):
            observation = env.step(action)[0]
        if all(values[name] != world.nominal[name] for name in values):
            final[tuple(observation)] = values
    assert len(final) == 2 * len(world.perturbations)  # the low end of the damping is nominal


def test_grounded_worlds_start_above_the_floor() -> None:
    world = walker.world_of("walk", grounded=True)
    vector = world.make_vector([{"thigh_length": 0.5}], episodes=30)
    faithful = ewok.worlds.get("walker-walk").make_vector([{"thigh_length": 0.5}], episodes=30)
    heights, sunk = vector.reset(seed=0)[0][:, 14], faithful.reset(seed=0)[0][:, 14]
    assert (heights >= sunk).all()
    assert (heights > sunk + 0.01).any()


def test_randomising_walkers_compiles_no_value_of_a_grid_twice() -> None:
    from ewok.worlds.walker_model import model_of

    env = ewok.DomainRandomization(gym.make("ewok/walker-walk-v0"), "walker-walk", "thigh_length", "grid")
    grid = ewok.worlds.get("walker-walk").perturbations["thigh_length"].grid
    env.reset(seed=0)
    drawn = {env.reset()[1]["world"]["thigh_length"] for _ in range(200)}
    assert drawn == set(grid)
    compiled = model_of.cache_info().misses
    for _ in range(50):
        env.reset()
    assert model_of.cache_info().misses == compiled


def test_walkers_above_the_floor_are_found_by_name() -> None:
    world = ewok.worlds.get("walker-run-grounded")
    assert world.recorded == "walker-run-grounded"
    assert world.make(thigh_length=0.4).unwrapped.spec.kwargs["grounded"]  # type: ignore[union-attr]

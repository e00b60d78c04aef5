"""Many episodes of classic control in numpy are each what they would be alone, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.nominal.batch import same
from ewok.worlds import World, cloud
from ewok.worlds.vector import LoopBatch, WorldVector
from ewok.worlds.vector_classic import ClassicBatch

NAMES = ["cartpole", "acrobot", "mountain-car", "mountain-car-continuous", "pendulum"]


def pair(world: World, points: list[dict[str, float]], episodes: int) -> tuple[WorldVector, WorldVector]:
    fast = world.make_vector(points, episodes)
    assert isinstance(fast._batch, ClassicBatch)
    return fast, WorldVector(LoopBatch([world.make(**point) for point in points for _ in range(episodes)]), episodes)


def points_of(world: World) -> list[dict[str, float]]:
    ends = [{p.name: end} for p in world.perturbations.values() for end in (p.low, p.high)]
    return [{}, *ends, *cloud(world, 4, seed=1)]


def random_policy(vector: WorldVector) -> Any:
    space: Any = vector.single_action_space
    generator = np.random.default_rng(0)

    def act(observations: Any) -> Any:
        num = len(observations)
        if space.shape:
            return generator.uniform(space.low, space.high, (num, *space.shape)).astype(space.dtype)
        return generator.integers(space.n, size=num)

    return act


@pytest.mark.parametrize("name", NAMES)
def test_whole_episodes_of_a_policy_equal_the_plain_loop(name: str) -> None:
    world = ewok.worlds.get(name)
    points = points_of(world)
    fast, slow = pair(world, points[::4] if name == "acrobot" else points, episodes=2)
    one, other = (vector.run(random_policy(vector), seed=5) for vector in (fast, slow))
    np.testing.assert_array_equal(one.returns, other.returns)
    np.testing.assert_array_equal(one.lengths, other.lengths)
    np.testing.assert_array_equal(one.diverged, other.diverged)
    assert one.lengths.max() > 15


@pytest.mark.parametrize("name", NAMES)
def test_observations_rewards_and_ends_of_every_step_equal_and_later_resets_go_on(name: str) -> None:
    world = ewok.worlds.get(name)
    fast, slow = pair(world, points_of(world), episodes=2)
    for seed in (7, None, 7):
        assert same(fast.reset(seed=seed)[0], slow.reset(seed=seed)[0])
        act = random_policy(fast)
        for _ in range(40):
            actions = act(np.zeros(fast.num_envs))
            assert same(fast.step(actions)[:4], slow.step(actions)[:4])


def test_physics_that_comes_apart_ends_the_episode_with_the_return_so_far() -> None:
    world = ewok.worlds.get("cartpole")
    points = [{}, {"gravity": 1e308}]
    with np.errstate(all="ignore"):
        for vector in pair(world, points, episodes=2):
            episodes = vector.run(random_policy(vector), seed=0)
            assert episodes.diverged.tolist() == [[False, False], [True, True]]
            assert np.isfinite(episodes.returns).all()


def test_what_fits_any_environment_is_left_to_single_ones() -> None:
    vector = ewok.worlds.get("cartpole").make_vector([{}, {"action_delay": 2}])
    assert isinstance(vector._batch, LoopBatch)

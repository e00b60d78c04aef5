"""After training by the paper's recipe, the agent of the worst kernel fares better under a heavier or longer pole.

Ten trainings: ten minutes of a core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.agents import recipes

from .worlds import needs

torch = needs("torch", "sb3")
needs("stable_baselines3", "sb3")

SEEDS = range(5)
POLES = ("pole_mass", "pole_length")


def mean_return(model: Any) -> float:
    """Over all the paper's range of the pole's mass and of its length."""
    world = ewok.worlds.get("cartpole")
    shifted = [point for name in POLES for point in ewok.worlds.along(world, name)]
    vector = world.make_vector(shifted, episodes=20)
    episodes = vector.run(lambda observations: model.predict(observations, deterministic=True)[0], seed=1000)
    return float(episodes.returns.mean())


def trained(robust: bool, seed: int) -> Any:
    recipe = recipes.get("ddqn")
    env = ewok.worlds.get("cartpole").make()
    model = recipe.make(recipe.wrap(env) if robust else env, seed=seed, device="cpu")
    return (ewok.bind(model) if robust else model).learn(recipe.num_steps.value)


@pytest.mark.slow
def test_double_dqn_of_the_worst_kernel_beats_the_plain_one() -> None:
    """Five seeds, for they differ: by the study of CartPole, five others would come out so in six cases of seven."""
    torch.set_num_threads(1)
    plain, robust = ([mean_return(trained(side, seed)) for seed in SEEDS] for side in (False, True))
    assert np.mean(robust) > 1.2 * np.mean(plain), f"robust {robust}, plain {plain}"

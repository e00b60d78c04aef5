"""Classic control: many actions and displacements at once are so many steps of the simulator, to the bit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ewok.nominal.batch import same
from ewok.nominal.passage import kernel_of


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_many_forces_are_so_many_steps(env_id: str) -> None:
    """Enough of them to meet the one square in a thousand that arrays and single numbers round apart."""
    env: Any = gym.make(env_id).unwrapped
    env.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-2, 2, (20_000, 1)).astype(np.float32)
    candidates = kernel_of(env).draw_each(actions, None)  # type: ignore[attr-defined]
    start = {name: vars(env)[name] for name in ("state", "last_u") if name in vars(env)}
    for index, action in enumerate(actions):
        assert same(candidates.transition(index), env.step(action)), (index, action)
        vars(env).update(start)

"""An agent over a world's grids: the same as one episode after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ewok import worlds
from ewok.lab.evaluate import evaluate
from tests.lab.mine import normalised

WORLD = worlds.get("cartpole")
GRIDS = {"gravity": [5.0, 9.8, 20.0], "noise": [0.0, 0.01]}


def lean(observations: Any) -> Any:
    return (observations[:, 2] + 0.5 * observations[:, 3] > 0).astype(int)


def test_it_is_what_single_episodes_come_to() -> None:
    returns = evaluate(WORLD, GRIDS, lean, episodes=3, seed=7)
    for name, grid in GRIDS.items():
        for i, value in enumerate(grid):
            for episode in range(3):
                env = WORLD.make(**{name: value})
                observation, _ = env.reset(seed=7 + episode)
                total, ended = 0.0, False
                while not ended:
                    observation, reward, terminated, truncated, _ = env.step(int(lean(observation[None])[0]))
                    total, ended = total + float(reward), terminated or truncated
                assert returns.of(name).returns[i, episode] == total
                assert returns.of(name).lengths[i, episode] == total


def test_the_nominal_world_is_the_same_in_every_grid() -> None:
    returns = evaluate(WORLD, GRIDS, lean, episodes=4, seed=0)
    assert returns.of("gravity").returns[1].tolist() == returns.of("noise").returns[1].tolist()


def test_what_fits_any_world_is_moved_as_well() -> None:
    returns = evaluate(WORLD, {"gravity": [9.8], "action_delay": [0.0, 3.0]}, lean, episodes=3, seed=0)
    still, late = returns.of("action_delay").returns
    assert still.tolist() == returns.of("gravity").returns[0].tolist()
    assert late.mean() < still.mean()


def test_an_agent_of_a_library_acts_without_exploring() -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    agent = sb3.PPO("MlpPolicy", WORLD.make(), seed=0, n_steps=8, batch_size=8)
    one, other = (evaluate(WORLD, {"gravity": [9.8]}, agent, episodes=5, seed=0) for _ in range(2))
    assert one.of("gravity").returns.tolist() == other.of("gravity").returns.tolist()
    by_hand = evaluate(WORLD, {"gravity": [9.8]}, lambda o: agent.predict(o, deterministic=True)[0], episodes=5, seed=0)
    assert one.of("gravity").returns.tolist() == by_hand.of("gravity").returns.tolist()


def test_an_agent_sees_what_its_normaliser_makes_of_the_world() -> None:
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    agent = normalised(WORLD.make(), 0)
    statistics = agent.get_vec_normalize_env().obs_rms
    statistics.mean[:], statistics.var[:] = [0.0, 0.0, 0.2, 0.0], 0.01

    def by_hand(observations: Any) -> Any:
        shown = np.clip((observations - statistics.mean) / np.sqrt(statistics.var + 1e-8), -10.0, 10.0)
        return agent.predict(shown.astype(np.float32), deterministic=True)[0]

    asked, expected, raw = (
        evaluate(WORLD, {"gravity": [9.8, 20.0]}, policy, episodes=5, seed=0).of("gravity").returns.tolist()
        for policy in (agent, by_hand, lambda seen: agent.predict(seen, deterministic=True)[0])
    )
    assert asked == expected != raw
    assert statistics.mean.tolist() == [0.0, 0.0, 0.2, 0.0], "and learns nothing from being asked"


def test_an_agent_that_remembers_begins_every_evaluation_anew() -> None:
    contrib = pytest.importorskip("sb3_contrib", reason="needs sb3-contrib: pip install 'ewok[sb3]'")
    options = {"n_steps": 8, "batch_size": 8, "policy_kwargs": {"net_arch": [8], "lstm_hidden_size": 8}}
    agent = contrib.RecurrentPPO("MlpLstmPolicy", WORLD.make(), seed=0, **options)
    returns = evaluate(WORLD, {"gravity": [9.8, 20.0]}, agent, episodes=2, seed=0)
    expected = []
    for episode in range(2):
        env, state, start, total, ended = WORLD.make(), None, True, 0.0, False
        observation, _ = env.reset(seed=episode)
        while not ended:
            action, state = agent.predict(observation[None], state, np.array([start]), deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(int(action[0]))
            start, total, ended = False, total + float(reward), terminated or truncated
        expected.append(total)
    assert returns.of("gravity").returns[0].tolist() == expected

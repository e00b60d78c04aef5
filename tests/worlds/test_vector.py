"""Many episodes of many worlds, stepped together, are each what they would be alone."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AutoresetMode

import ewok
from ewok.errors import ArgumentError, NotResetError
from ewok.worlds import World, WorldVector
from ewok.worlds.vector import LoopBatch, is_divergence


class Countdown(gym.Env[Any, Any]):
    """Rewards its action. Ends after as many steps as its seed says; diverges in one of three ways where told to."""

    observation_space = Dict({"left": Box(-np.inf, np.inf, (1,), np.float64), "kind": Discrete(9)})
    action_space = Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self, diverges: str = "", cut: bool = False) -> None:
        self.diverges, self.cut = diverges, cut
        self.left = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.left = 3 if seed is None else seed
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.left -= 1
        assert self.left >= 0, "stepped after its end"
        broken = self.left == 1 and self.diverges
        if broken == "raises":
            raise FloatingPointError("the physics came apart")
        if broken == "bug":
            raise KeyError("a mistake of the simulator's author")
        observation = self._seen()
        if broken == "observation":
            observation["left"][0] = np.nan
        reward = np.inf if broken == "reward" else float(action[0])
        return observation, reward, self.left == 0 and not self.cut, self.left == 0 and self.cut, {}

    def _seen(self) -> Any:
        return {"left": np.array([float(self.left)]), "kind": self.left % 9}


def vector_of(*envs: gym.Env[Any, Any], episodes: int = 1) -> WorldVector:
    return WorldVector(LoopBatch(envs), episodes)


def forward(observations: Any) -> Any:
    return np.full((len(observations["left"]), 2), 0.5, dtype=np.float32)


def test_returns_lengths_and_divergence_of_each_episode() -> None:
    vector = vector_of(
        *[Countdown(), Countdown()],
        *[Countdown(cut=True), Countdown("reward")],
        Countdown("raises"),
        Countdown(),
        episodes=2,
    )
    episodes = vector.run(forward, seed=4)
    np.testing.assert_array_equal(episodes.lengths, [[4, 5], [4, 4], [3, 5]])
    np.testing.assert_array_equal(episodes.returns, [[2.0, 2.5], [2.0, 1.5], [1.0, 2.5]])
    np.testing.assert_array_equal(episodes.diverged, [[False, False], [False, True], [True, False]])


def test_what_diverged_is_truncated_where_it_last_was() -> None:
    vector = vector_of(Countdown("observation"), Countdown())
    vector.reset(seed=3)
    for _ in range(2):
        observations, rewards, terminated, truncated, _ = vector.step(np.ones((2, 2), dtype=np.float32))
    np.testing.assert_array_equal(observations["left"], [[2.0], [1.0]])
    np.testing.assert_array_equal(rewards, [0.0, 1.0])
    np.testing.assert_array_equal(terminated, [False, False])
    np.testing.assert_array_equal(truncated, [True, False])
    np.testing.assert_array_equal(vector.diverged, [True, False])
    vector.reset(seed=3)
    assert not vector.diverged.any()


def test_an_error_that_is_no_divergence_is_not_hidden() -> None:
    with pytest.raises(KeyError, match="a mistake"):
        vector_of(Countdown("bug")).run(forward, seed=3)
    assert is_divergence(ewok.errors.DivergedError("all candidates"))
    assert not is_divergence(ValueError("something else"))


def test_a_policy_sees_ever_fewer_rows_in_few_sizes_or_all_of_them() -> None:
    envs = [Countdown() for _ in range(16)]

    def sizes(**options: Any) -> list[int]:
        seen: list[int] = []

        def policy(observations: Any) -> Any:
            seen.append(len(observations["left"]))
            return forward(observations)

        episodes = vector_of(*envs, episodes=16).run(policy, seed=1, **options)
        np.testing.assert_array_equal(episodes.lengths, [np.arange(1, 17)])
        return seen

    assert sorted(set(sizes()), reverse=True) == [16, 8, 4, 2, 1]
    assert set(sizes(narrowing=False)) == {16}


def test_each_row_gets_the_action_made_for_it() -> None:
    def policy(observations: Any) -> Any:
        return np.repeat(observations["left"], 2, axis=1).astype(np.float32)

    episodes = vector_of(*[Countdown() for _ in range(9)], episodes=9).run(policy, seed=1)
    np.testing.assert_array_equal(episodes.returns[0], [n * (n + 1) / 2 for n in range(1, 10)])


@pytest.mark.parametrize(
    ("actions", "what"),
    [([0.0, 0.0], "one action per observation"), (0.0, "one action"), ([[0.0, np.nan]], "finite")],
)
def test_a_policy_s_mistake_is_told(actions: Any, what: str) -> None:
    with pytest.raises(ArgumentError, match=f"`policy` must be .*{what}"):
        vector_of(Countdown()).run(lambda observations: actions, seed=3)


@pytest.mark.parametrize(
    ("name", "actions", "what"),
    [
        ("cartpole", [0, 5], r"each in Discrete\(2\), but it is array\(\[0, 5\]\)"),
        ("cartpole", [0.0, 1.0], r"each in Discrete\(2\)"),
        ("cartpole", [[0], [1]], r"2 here, of shape \(2,\), but it is \(2, 1\)"),
        ("pendulum", [0.0, 1.0], r"2 here, of shape \(2, 1\), but it is \(2,\)"),
    ],
)
def test_actions_that_single_environments_would_not_take_are_refused(name: str, actions: Any, what: str) -> None:
    """In arrays some of them would stand for others."""
    with pytest.raises(ArgumentError, match=what):
        ewok.worlds.get(name).make_vector([{}], episodes=2).run(lambda observations: actions, seed=0)


@pytest.mark.parametrize("seed", [-1, 0.5, "0"])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(ArgumentError, match="`seed` must be a whole number, at least 0"):
        ewok.worlds.get("cartpole").make_vector([{}]).reset(seed=seed)


def test_ended_episodes_stay_where_they_are() -> None:
    vector = vector_of(Countdown(), Countdown(), episodes=2)
    first, _ = vector.reset(seed=1)
    ones = np.ones((2, 2), dtype=np.float32)
    assert vector.step(ones)[2].tolist() == [True, False]
    observations, rewards, terminated, _, _ = vector.step(ones)
    assert (rewards.tolist(), terminated.tolist(), len(vector.living)) == ([0.0, 1.0], [True, True], 0)
    again = vector.step(ones)
    np.testing.assert_array_equal(again[0]["left"], observations["left"])
    assert again[1].tolist() == [0.0, 0.0]
    assert first["left"].tolist() == [[1.0], [2.0]], "what was handed out has changed"


def test_it_is_a_vector_environment_that_does_not_reset_itself() -> None:
    vector = ewok.worlds.get("cartpole").make_vector([{}, {"gravity": 3.0}], episodes=2)
    assert vector.metadata["autoreset_mode"] == AutoresetMode.DISABLED
    assert (vector.num_envs, vector.num_points, vector.num_episodes) == (4, 2, 2)
    assert vector.observation_space.shape == (4, 4)
    with pytest.raises(NotResetError, match=r"reset\(\)"):
        vector.step(np.zeros(4, dtype=int))
    vector.close()


def test_the_same_seed_gives_the_same_episodes_and_all_points_meet_the_same_numbers() -> None:
    world: World = ewok.worlds.get("cartpole")
    policy = lambda observations: (observations[:, 2] > 0).astype(int)  # noqa: E731
    vector = world.make_vector([{}, {}, {"gravity": 25.0}], episodes=4)
    first, second, other = (vector.run(policy, seed=seed).returns for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first[0], first[1])
    assert not np.array_equal(first, other)


def test_no_points_are_no_vector() -> None:
    with pytest.raises(ArgumentError, match="`points` must be one or more"):
        ewok.worlds.get("cartpole").make_vector([])


@pytest.mark.parametrize("episodes", [0, -1, 2.5, True, "3"])
def test_episodes_are_a_whole_number(episodes: Any) -> None:
    with pytest.raises(ArgumentError, match="`episodes` must be a whole number, at least 1"):
        ewok.worlds.get("cartpole").make_vector([{}], episodes)


def test_actions_may_be_a_list_and_are_one_for_each() -> None:
    vector = ewok.worlds.get("cartpole").make_vector([{}], episodes=3)
    vector.reset(seed=0)
    vector.step([0, 1, 0])
    for actions in ([0, 1], 1, [[0, 1, 0]]):
        with pytest.raises(ArgumentError, match="`actions` must be one action per environment, 3 here"):
            vector.step(actions)


def test_a_model_is_no_policy() -> None:
    """Its `predict` is, and the error says so."""
    with pytest.raises(ArgumentError, match=r"`policy` must be a function .* model\.predict"):
        vector_of(Countdown()).run(object(), seed=0)  # type: ignore[arg-type]

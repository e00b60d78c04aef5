"""Binding: which worst kernels are found, through what the value looks, and what is refused."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw

import ewok
from ewok.errors import ArgumentError, EwokError, EwokWarning, WrapperError
from ewok.testing import Lottery


def value(observations: Any) -> np.ndarray:
    return np.zeros(len(observations))


def test_returns_what_it_was_given_and_binds() -> None:
    env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), kappa=0.2)
    assert ewok.bind(value, gw.RecordEpisodeStatistics(env)) is value
    assert env.bound


def test_a_vector_of_environments() -> None:
    envs = gym.vector.SyncVectorEnv([lambda: ewok.WorstKernel(Lottery([0.5, 0.5]), kappa=0.2)] * 3)
    ewok.bind(value, envs)
    assert all(env.bound for env in envs.envs)  # type: ignore[attr-defined]
    envs.reset(seed=0)
    infos = envs.step(np.zeros(3, dtype=int))[-1]
    assert infos["ewok"]["bound"].all()


class Agent:
    """A user's own agent, that knows its environment."""

    def __init__(self, env: Any) -> None:
        self.env = env


def test_a_class_can_be_taught() -> None:
    env = ewok.WorstKernel(Lottery([0.5, 0.5]), kappa=0.2)
    agent = Agent(env)
    with pytest.raises(EwokError, match=r"but it is a Agent. Teach it: @ewok.value_of.register\(Agent\)"):
        ewok.bind(agent)
    calls: list[Any] = []

    @ewok.value_of.register(Agent)
    def _(agent: Agent, *, soft: bool, target: bool) -> Any:
        calls.append((soft, target))
        return value

    class Child(Agent): ...

    assert ewok.bind(agent) is agent
    with pytest.warns(EwokWarning, match=r"was bound to another Agent, and follows the one bound last from now on"):
        ewok.bind(Child(env), soft=True)
    assert calls == [(False, False), (True, False)]
    assert env.bound


def test_rewards_are_scaled_as_the_critics_are() -> None:
    """With a discount, reward wrappers above change what the agent learns from, so candidates' rewards too."""
    inner = ewok.WorstKernel(Lottery([0.5, 0.5], rewards=[1.0, 3.0]), radius=9.0, discount=1.0)
    env = gw.TransformReward(inner, lambda r: -10 * r)
    ewok.bind(lambda s: np.zeros(len(s)), env)
    env.reset(seed=0)
    assert {env.step(0)[0] for _ in range(20)} == {2}  # the larger reward is the worse one to this agent
    normal = gw.NormalizeReward(ewok.WorstKernel(Lottery([0.5, 0.5], rewards=[0.0, 1.0]), kappa=1.0, discount=0.9))
    ewok.bind(value, normal)
    normal.reset(seed=0)
    normal.return_rms.var = np.float64(1e-4)
    spreads = [normal.step(0)[-1]["ewok"]["spread"] for _ in range(3)]
    assert max(spreads) > 3.0


class Falling(gym.RewardWrapper[Any, Any]):
    """Each reward is worth less than the one before: it remembers how often it was asked."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.asked = [0]

    def reward(self, reward: Any) -> float:
        self.asked.append(self.asked[-1] + 1)
        return float(reward) / len(self.asked)


def test_candidates_do_not_move_a_reward_wrapper_that_remembers() -> None:
    env = Falling(ewok.WorstKernel(Lottery([0.5, 0.5], rewards=[1.0, 1.0]), kappa=1.0, discount=0.9))
    ewok.bind(value, env)
    env.reset(seed=0)
    assert [env.step(0)[1] for _ in range(3)] == [1 / 2, 1 / 3, 1 / 4]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ewok.bind(value, gym.make("CartPole-v1")), WrapperError, "must have a `WorstKernel` in it"),
        (lambda: ewok.bind(value), ArgumentError, r"`env` must be given.*ewok.bind\(value, env\)"),
        (lambda: ewok.bind(value, 3), EwokError, "`env` must be a Gymnasium environment"),
        (lambda: ewok.bind(3, gym.make("CartPole-v1")), EwokError, "but it is a int"),
        (lambda: ewok.bind(value, gym.make("CartPole-v1"), soft=True), ArgumentError, "`options` must be empty"),
        (lambda: ewok.value_of(object()), EwokError, "`agent` must be of a class that `value_of` knows"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()

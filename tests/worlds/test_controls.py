"""What comes between the agent's decision and the world."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary

import ewok
from ewok.errors import ArgumentError, WrapperError
from ewok.testing import check_snapshot
from ewok.worlds.controls import ActionDelay, ActionRepeat, ActuatorNoise


class Echo(gym.Env[Any, Any]):
    """Shows and rewards the action that reached it, and ends after ten."""

    observation_space = Box(-np.inf, np.inf, (2,), np.float32)

    def __init__(self, actions: gym.Space[Any] | None = None) -> None:
        self.action_space = Box(-1.0, 1.0, (2,), np.float32) if actions is None else actions
        self.count = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: Any) -> Any:
        self.count += 1
        seen = np.broadcast_to(np.asarray(action, dtype=np.float32), (2,)).copy()
        return seen, float(seen[0]), self.count >= 10, False, {}

    def snapshot(self) -> int:
        return self.count

    def restore(self, snapshot: int) -> None:
        self.count = snapshot


def arrivals(env: gym.Env[Any, Any], actions: list[Any], seed: int | None = 0) -> list[Any]:
    env.reset(seed=seed)
    return [env.step(action)[0].tolist() for action in actions]


UP, DOWN = np.ones(2, dtype=np.float32), -np.ones(2, dtype=np.float32)


@pytest.mark.parametrize("wrapper", [ActuatorNoise, ActionDelay, ActionRepeat])
def test_at_its_nominal_value_each_does_nothing(wrapper: Any) -> None:
    env, plain = wrapper(gym.make("Pendulum-v1")), gym.make("Pendulum-v1")
    np.testing.assert_array_equal(env.reset(seed=0)[0], plain.reset(seed=0)[0])
    for action in np.random.default_rng(0).uniform(-2, 2, (50, 1)).astype(np.float32):
        one, other = env.step(action), plain.step(action)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1:4] == other[1:4]


def test_noise_has_its_spread_and_mean_and_is_clipped() -> None:
    seen = np.array(arrivals(ActuatorNoise(Echo(), std=0.2, mean=0.3), [np.zeros(2)] * 4000))
    assert seen.mean() == pytest.approx(0.3, abs=0.01)
    assert seen.std() == pytest.approx(0.2, abs=0.01)
    shifted = arrivals(ActuatorNoise(Echo(), mean=0.3), [UP, np.zeros(2), DOWN])
    np.testing.assert_allclose(np.array(shifted)[:, 0], [1.0, 0.3, -0.7], atol=1e-7)


def test_noise_is_the_same_for_every_candidate_of_a_worst_kernel_above_it() -> None:
    """It is a perturbation, and no part of the nominal kernel, whose noise differs between candidates."""
    env = ewok.WorstKernel(
        ActuatorNoise(gym.make("Pendulum-v1"), std=0.5), kappa=0.1, num_samples=5, value=lambda seen: seen[:, 2]
    )
    env.reset(seed=0)
    assert env.step(np.zeros(1, dtype=np.float32))[-1]["ewok"]["spread"] == 0.0


def test_actions_arrive_late_and_nothing_arrives_before_the_first() -> None:
    actions = [np.full(2, 0.1 * n, dtype=np.float32) for n in range(1, 6)]
    seen = np.array(arrivals(ActionDelay(Echo(), delay=2), actions))[:, 0]
    np.testing.assert_allclose(seen, [0.0, 0.0, 0.1, 0.2, 0.3], atol=1e-7)
    again = np.array(arrivals(ActionDelay(Echo(), delay=2), actions))[:, 0]
    np.testing.assert_array_equal(seen, again)


def test_until_the_first_arrives_a_discrete_action_is_a_random_one_and_seeded() -> None:
    first = [arrivals(ActionDelay(Echo(Discrete(9)), delay=4), [8] * 5, seed) for seed in (0, 0, 1)]
    assert first[0] == first[1] != first[2]
    assert first[0][-1] == [8.0, 8.0]
    assert len({tuple(seen) for seen in first[0][:4] + first[2][:4]}) > 2


def test_a_new_delay_holds_from_the_next_reset() -> None:
    env = ActionDelay(Echo(), delay=1)
    env.reset(seed=0)
    env.delay = 0
    assert env.step(UP)[0].tolist() == [0.0, 0.0]
    assert arrivals(env, [UP])[0] == [1.0, 1.0]


def test_repeated_actions_add_up_their_rewards_and_stop_at_the_end() -> None:
    env = ActionRepeat(Echo(), num_repeats=4)
    env.reset(seed=0)
    outcomes = [env.step(np.full(2, 0.5, dtype=np.float32)) for _ in range(3)]
    assert [outcome[1] for outcome in outcomes] == pytest.approx([2.0, 2.0, 1.0])
    assert [outcome[2] for outcome in outcomes] == [False, False, True]
    assert env.unwrapped.count == 10  # type: ignore[attr-defined]


def test_the_reward_function_sees_the_action_that_arrived() -> None:
    env = ActionDelay(Echo(), delay=1)
    env.reset(seed=0)
    assert [env.step(UP)[1] for _ in range(2)] == [0.0, 1.0]


@pytest.mark.parametrize("wrapper", [ActuatorNoise, ActionDelay, ActionRepeat])
def test_they_are_saved_with_all_they_remember(wrapper: Any) -> None:
    arguments: dict[Any, dict[str, Any]] = {
        ActuatorNoise: {"std": 0.3},
        ActionDelay: {"delay": 3},
        ActionRepeat: {"num_repeats": 2},
    }
    env = wrapper(gym.make("Pendulum-v1"), **arguments[wrapper])
    check_snapshot(env, twin=wrapper(gym.make("Pendulum-v1"), **arguments[wrapper]), num_steps=60)
    rebuilt = gym.make(env.spec)
    name = next(iter(arguments[wrapper]))
    assert getattr(rebuilt, name) == arguments[wrapper][name]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ActuatorNoise(gym.make("CartPole-v1")), "needs a continuous .Box. action space.*ewok.RandomAction"),
        (lambda: ActionDelay(Echo(MultiBinary(3)), delay=1), "needs a Box or Discrete action space"),
        (lambda: ActuatorNoise(Echo(), std=-0.1), "`std` must be a finite number at least 0"),
        (lambda: ActuatorNoise(Echo(), mean=float("nan")), "`mean` must be a finite number"),
        (lambda: ActionDelay(Echo(), delay=-1), "`delay` must be a whole number at least 0"),
        (lambda: ActionDelay(Echo(), delay=1.5), "`delay` must be a whole number"),  # type: ignore[arg-type]
        (lambda: ActionRepeat(Echo(), num_repeats=0), "`num_repeats` must be a whole number at least 1"),
        (lambda: ewok.WorstKernel(ActionRepeat(gym.make("CartPole-v1"), 2), kappa=0.1), "repeats actions"),
    ],
)
def test_bad_input_is_named(make: Any, said: str) -> None:
    with pytest.raises((ArgumentError, WrapperError), match=said):
        make()

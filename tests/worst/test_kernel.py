"""The worst kernel: what it draws, what it leaves alone, and what it refuses."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw
from scipy import stats

import ewok
from ewok.errors import ArgumentError, NotResetError, ValueFunctionError, WrapperError
from ewok.nominal.batch import same
from ewok.testing import Lottery
from ewok.worst.tilt import kappa_of_radius

from ..conftest import make
from .exact import expected_kernel
from .worlds import NOISY_CARTPOLE, bound, rollout

# --- unbound: the nominal kernel -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env_id", [NOISY_CARTPOLE, "FrozenLake-v1", "Blackjack-v1", "Hopper-v5", "dm_control/walker-walk-v0"]
)
def test_unbound_it_is_the_environment_it_wraps(env_id: str) -> None:
    """Stream for stream: same observations, rewards, flags, infos and generators."""
    assert same(rollout(ewok.WorstKernel(make(env_id), kappa=0.2), 200), rollout(make(env_id), 200))


def test_unbound_info() -> None:
    env = ewok.WorstKernel(gym.make(NOISY_CARTPOLE), kappa=0.2)
    env.reset(seed=0)
    info = env.step(0)[-1]["ewok"]
    assert info["bound"] is False
    assert (info["index"], info["kl"], info["diverged"]) == (0, 0.0, 0)
    assert set(info) == {"bound", "index", "kl", "kappa", "ess", "spread", "diverged"}


# --- bound: the estimated worst kernel --------------------------------------------------------------------


def test_with_a_constant_value_next_states_are_nominal() -> None:
    """On a toy-text world and on a continuous one."""
    env = bound(gym.make("FrozenLake-v1", max_episode_steps=100_000), num_samples=6)
    counts: dict[int, int] = {}
    env.reset(seed=3)
    for _ in range(6000):
        env.unwrapped.s = 9  # type: ignore[attr-defined]
        state, *_ = env.step(1)
        counts[state] = counts.get(state, 0) + 1
    assert stats.chisquare([counts[s] for s in (8, 10, 13)]).pvalue > 0.001

    cart = bound(ewok.StateNoise(gym.make("CartPole-v1"), 0.1, indices=[0]), num_samples=6)
    cart.reset(seed=3)
    moves = []
    for _ in range(2000):
        cart.unwrapped.state, cart.unwrapped.steps_beyond_terminated = np.zeros(4), None  # type: ignore[attr-defined]
        moves.append(cart.step(0)[0][0])
        cart._ended = False
    assert stats.kstest(np.array(moves) / 0.1, "norm").pvalue > 0.001


@pytest.mark.parametrize(
    "tempering", [{"kappa": 0.4}, {"kappa": 0.05}, {"radius": 0.3}, {"radius": 0.0}, {"radius": 9.0}]
)
@pytest.mark.parametrize("num_samples", [1, 2, 5])
def test_the_empirical_kernel_is_the_exact_expectation(tempering: dict[str, float], num_samples: int) -> None:
    probabilities, values = np.array([0.5, 0.3, 0.2]), np.array([0.0, 0.4, 1.0])

    def kappa_of(drawn: np.ndarray) -> float:
        return tempering.get("kappa") or kappa_of_radius(drawn, tempering["radius"])

    env = bound(Lottery(probabilities), lambda s: values[s - 1], num_samples=num_samples, **tempering)
    env.reset(seed=0)
    states = [env.step(0)[0] for _ in range(8000)]
    expected = expected_kernel(probabilities, values, num_samples, kappa_of)
    observed = np.bincount(states, minlength=4)[1:]
    assert stats.chisquare(observed, expected * len(states)).pvalue > 0.001


def test_the_empirical_kernel_of_a_toy_text_world() -> None:
    env = bound(gym.make("FrozenLake-v1", max_episode_steps=100_000), lambda s: s / 15.0, num_samples=4, kappa=0.1)
    env.reset(seed=1)
    states = []
    for _ in range(6000):
        env.unwrapped.s = 9  # type: ignore[attr-defined]
        states.append(env.step(1)[0])
    reached = np.array([8, 10, 13])  # left, right and down of 9, a third each
    expected = expected_kernel(np.full(3, 1 / 3), reached / 15.0, 4, lambda drawn: 0.1)
    observed = np.array([states.count(s) for s in reached])
    assert stats.chisquare(observed, expected * len(states)).pvalue > 0.001


def test_the_two_scorings_differ_at_a_rewarding_goal() -> None:
    """By v(s') a goal worth 0 looks worst; by r + gamma v(s') its reward counts, and it is the best."""
    probabilities = np.array([0.5, 0.5])  # wait, worth 0.5; or the goal, reward 1
    values = np.array([0.5, 0.5])
    frequencies = {}
    for discount in (None, 0.9):
        world = Lottery(probabilities, rewards=[0.0, 1.0], ends=[False, True])
        env = bound(world, lambda s: values[s - 1], num_samples=5, kappa=0.2, discount=discount)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ewok.EwokWarning)
            states = []
            for episode in range(4000):
                env.reset(seed=episode)
                states.append(env.step(0)[0])
        scores = np.array([0.5, 0.0]) if discount is None else np.array([0.0 + 0.9 * 0.5, 1.0 + 0.9 * 0.0])
        expected = expected_kernel(probabilities, scores, 5, lambda drawn: 0.2)
        observed = np.bincount(states, minlength=3)[1:]
        assert stats.chisquare(observed, expected * len(states)).pvalue > 0.001
        frequencies[discount] = observed[1] / len(states)
    assert frequencies[None] > 0.8
    assert frequencies[0.9] < 0.2


def test_terminal_value() -> None:
    """A number replaces the value function's word on states that end the episode; None leaves it."""
    chosen = {}
    for terminal_value in (0.0, 10.0, None):
        world = Lottery([0.5, 0.5], ends=[False, True])
        env = bound(world, lambda s: np.where(s == 2, 5.0, 1.0), radius=9.0, terminal_value=terminal_value)
        states = []
        for episode in range(50):
            env.reset(seed=episode)
            states.append(env.step(0)[0])
        chosen[terminal_value] = states.count(2)
    assert chosen[0.0] >= 49  # unless all ten draws missed it
    assert chosen[10.0] <= 1
    assert chosen[None] <= 1


def test_info_tells_what_was_done() -> None:
    env = bound(Lottery([0.5, 0.5]), lambda s: s.astype(float), num_samples=8, radius=0.25)
    env.reset(seed=0)
    for _ in range(50):
        info = env.step(0)[-1]["ewok"]
        assert info["bound"] is True
        assert 0 <= info["index"] < 8
        assert 1.0 <= info["ess"] <= 8.0
        if info["spread"] > 0.0 and info["kappa"] > 0.0:
            assert info["kl"] == pytest.approx(0.25, rel=1e-6)


def test_same_seed_same_trajectory() -> None:
    def value(o: np.ndarray) -> np.ndarray:
        return -np.abs(o[:, 0])

    one = rollout(bound(gym.make(NOISY_CARTPOLE), value, num_samples=5, radius=0.5), 200, seed=5)
    two = rollout(bound(gym.make(NOISY_CARTPOLE), value, num_samples=5, radius=0.5), 200, seed=5)
    other = rollout(bound(gym.make(NOISY_CARTPOLE), value, num_samples=5, radius=0.5), 200, seed=6)
    assert same(one, two)
    assert not same(one, other)


def test_no_global_generator_is_touched() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    rollout(bound(gym.make(NOISY_CARTPOLE)), 50)
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]


def test_schedules_change_the_temperature_while_training() -> None:
    env = bound(Lottery([0.5, 0.5]), lambda s: s.astype(float), num_samples=10, kappa=1.0)
    env.reset(seed=0)
    assert env.step(0)[-1]["ewok"]["kappa"] == 1.0
    env.kappa = 0.5
    assert env.step(0)[-1]["ewok"]["kappa"] == 0.5
    env.set_wrapper_attr("radius", 0.1)
    assert env.step(0)[-1]["ewok"]["kl"] == pytest.approx(0.1)
    assert env.kappa is None
    with pytest.raises(ArgumentError, match="`kappa` must be a finite number greater than 0, but it is -1"):
        env.kappa = -1
    assert env.radius == 0.1  # nothing half done


# --- wrapper stacks ---------------------------------------------------------------------------------------


def stack_under() -> gym.Env[Any, Any]:
    return gw.RecordEpisodeStatistics(gw.TimeLimit(gym.make(NOISY_CARTPOLE), 20))


def test_wrappers_below_count_one_step_per_step() -> None:
    env = bound(stack_under(), num_samples=15)
    env.reset(seed=0)
    for step in range(1, 21):
        *_, terminated, truncated, info = env.step(step % 2)
        if terminated:
            break
    assert truncated or terminated
    assert info["episode"]["l"] == step
    assert env.env.env._elapsed_steps == step  # type: ignore[attr-defined]


def test_wrappers_above_count_one_step_per_step() -> None:
    env = gw.RecordEpisodeStatistics(gw.TimeLimit(bound(gym.make(NOISY_CARTPOLE)), 15))
    env.reset(seed=0)
    over, steps = False, 0
    while not over:
        *_, terminated, truncated, info = env.step(steps % 2)
        over, steps = terminated or truncated, steps + 1
    assert info["episode"] == {"r": float(steps), "l": steps, "t": info["episode"]["t"]}


def test_monitor_below_survives_terminated_candidates() -> None:
    monitor = pytest.importorskip("stable_baselines3.common.monitor", reason="needs SB3: pip install 'ewok[sb3]'")
    env = bound(monitor.Monitor(gym.make(NOISY_CARTPOLE)), lambda o: -np.abs(o[:, 0]), num_samples=15)
    for episode in range(5):
        env.reset(seed=episode)
        over, steps = False, 0
        while not over:
            *_, terminated, truncated, info = env.step(0)
            over, steps = terminated or truncated, steps + 1
        assert info["episode"]["l"] == steps


def test_the_environment_beneath_is_left_as_it_was_built() -> None:
    inner = gym.make(NOISY_CARTPOLE)
    env = bound(inner)
    rollout(env, 30)
    assert env.env is inner
    layer: Any = inner
    while isinstance(layer, gym.Wrapper):
        assert type(layer).__name__ != "_StandIn"
        layer = layer.env
    assert env.unwrapped is inner.unwrapped
    assert env.get_wrapper_attr("gravity") == 9.8


def test_two_worst_kernels_can_share_one_environment_in_turn() -> None:
    inner = gym.make(NOISY_CARTPOLE)
    one, two = bound(inner, num_samples=3), bound(inner, num_samples=4)
    rollout(one, 10)
    rollout(two, 10)
    one.reset(seed=0)
    assert one.step(0)[-1]["ewok"]["ess"] == 3.0


def test_one_inside_another_is_refused() -> None:
    with pytest.raises(WrapperError, match="already has a `WorstKernel`"):
        ewok.WorstKernel(gw.TimeLimit(ewok.WorstKernel(gym.make(NOISY_CARTPOLE), kappa=1), 5), kappa=1)


def test_rendering_and_attributes_keep_working() -> None:
    pytest.importorskip("pygame", reason="needs pygame: pip install 'gymnasium[classic-control]'")
    env = bound(gym.make(NOISY_CARTPOLE, render_mode="rgb_array"))
    env.reset(seed=0)
    env.step(0)
    assert env.render().shape == (400, 600, 3)  # type: ignore[union-attr]
    assert env.render_mode == "rgb_array"
    assert env.unwrapped.state is not None  # type: ignore[attr-defined]


def test_human_rendering_shows_committed_states_only(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame", reason="needs pygame: pip install 'gymnasium[classic-control]'")
    env = bound(ewok.RandomAction(gym.make("CartPole-v1", render_mode="human"), 0.5), num_samples=8)
    shown: list[Any] = []
    monkeypatch.setattr(type(env.unwrapped), "render", lambda self: shown.append(self.state))
    env.reset(seed=0)
    env.step(0)
    assert len(shown) == 2


# --- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "`kappa` or `radius` must be given, exactly one of the two, but it is 'neither'"),
        ({"kappa": 1.0, "radius": 1.0}, "exactly one of the two, but it is 'kappa=1.0 and radius=1.0'"),
        ({"kappa": 0.0}, "`kappa` must be a finite number greater than 0, but it is 0.0"),
        ({"kappa": -0.5}, "`kappa` must be .* but it is -0.5"),
        ({"kappa": float("nan")}, "`kappa` must be .* but it is nan"),
        ({"kappa": float("inf")}, "`kappa` must be .* but it is inf"),
        ({"kappa": "0.2"}, "`kappa` must be .* but it is '0.2'"),
        ({"radius": -0.1}, "`radius` must be a finite number, at least 0, but it is -0.1"),
        ({"radius": float("nan")}, "`radius` must be .* but it is nan"),
        ({"radius": float("inf")}, "`radius` must be .* but it is inf"),
        ({"kappa": 1.0, "num_samples": 0}, "`num_samples` must be a whole number, at least 1, but it is 0"),
        ({"kappa": 1.0, "num_samples": 2.5}, "`num_samples` must be .* but it is 2.5"),
        ({"kappa": 1.0, "num_samples": float("nan")}, "`num_samples` must be .* but it is nan"),
        ({"kappa": 1.0, "discount": 1.5}, r'`discount` must be None, "agent" or a number from 0 to 1, but it is 1.5'),
        ({"kappa": 1.0, "discount": -0.1}, "`discount` must be .* but it is -0.1"),
        ({"kappa": 1.0, "discount": float("nan")}, "`discount` must be .* but it is nan"),
        ({"kappa": 1.0, "discount": "mine"}, "`discount` must be .* but it is 'mine'"),
        ({"kappa": 1.0, "terminal_value": float("inf")}, "`terminal_value` must be None or a finite number"),
        ({"kappa": 1.0, "value": 3}, "`value` must be a callable"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ewok.WorstKernel(gym.make(NOISY_CARTPOLE), **options)


def test_stepping_before_reset_and_after_the_end() -> None:
    env = bound(Lottery([1.0], ends=[True]))
    with pytest.raises(NotResetError, match=r"before `reset\(\)`"):
        env.step(0)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(NotResetError, match="after an episode ended"):
        env.step(0)
    env.reset()
    env.step(0)


def test_a_failing_value_function_leaves_the_environment_where_it_was() -> None:
    """Generators too: the next step is the one that would have been."""
    failing = [False]

    def value(o: np.ndarray) -> np.ndarray:
        if failing[0]:
            raise KeyError("no such value")
        return -np.abs(o[:, 0])

    env = bound(gw.TimeAwareObservation(gw.TimeLimit(gym.make(NOISY_CARTPOLE), 50)), value, num_samples=6)
    twin = bound(gw.TimeAwareObservation(gw.TimeLimit(gym.make(NOISY_CARTPOLE), 50)), value, num_samples=6)
    env.reset(seed=0), twin.reset(seed=0)
    for step in range(20):
        failing[0] = True
        with pytest.raises(ValueFunctionError, match="KeyError: 'no such value'"):
            env.step(step % 2)
        failing[0] = False
        assert same(env.step(step % 2), twin.step(step % 2))


@pytest.mark.parametrize("answered", [True, False])
def test_a_step_with_another_action_than_was_asked_for_draws_anew(answered: bool) -> None:
    def value(observations: Any) -> Any:
        return -np.abs(observations[:, 1].astype(np.float64))

    env, twin = (ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), kappa=0.01, value=value) for _ in range(2))
    env.reset(seed=0), twin.reset(seed=0)
    for action in (0, 1, np.int64(1), 0):
        seen = env.ask(1)
        if answered:
            env.answer(value(seen))
        assert same(env.step(action), twin.step(action))

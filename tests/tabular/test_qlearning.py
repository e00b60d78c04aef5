"""Q-learning by tables: to the optimum where samples are nominal, to the worst kernel's where they are EWoK's."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

import ewok
from ewok.errors import ArgumentError
from ewok.tabular import (
    KL,
    TabularMDP,
    cliff_walking,
    estimated_kernel,
    ewok_q_learning,
    q_learning,
    robust_value_iteration,
    value_iteration,
)
from ewok.tabular.cliff import COLUMNS, START

from .worlds import garnet, machine

BESIDE = 2 * COLUMNS + 5  # beside the cliff


def episodes_of(mdp: TabularMDP, stop: float = 0.1) -> TabularMDP:
    """The same with an end at each step, and the discount that leaves its values as they were."""
    rows = [mdp.entries(k) for k in range(mdp.num_pairs)]
    after = np.concatenate([np.append(mdp.next_states[e], mdp.num_states) for e in rows])
    chances = np.concatenate([np.append((1.0 - stop) * mdp.probabilities[e], stop) for e in rows])
    paid = np.concatenate([np.append(mdp.rewards[e], 0.5) for e in rows])
    sizes = [e.stop - e.start + 1 for e in rows]
    return TabularMDP.from_entries(
        np.repeat(mdp.states, sizes), np.repeat(mdp.actions, sizes), after, chances, paid, discount=mdp.discount
    )


def test_one_sample_is_plain_q_learning_and_comes_to_the_optimum() -> None:
    mdp = episodes_of(garnet(6, 3, 3, seed=1))
    table = ewok_q_learning(mdp, num_episodes=60_000, learning_rate=0.003, epsilon=0.6, seed=1).table
    np.testing.assert_allclose(table.value, value_iteration(mdp).value, atol=0.1)


def test_a_fixed_radius_comes_to_the_value_under_the_kernel_that_n_samples_amount_to() -> None:
    """The fixed point of v = max_a E[r + gamma v] under the expected kernel, which many samples bring to the exact."""
    mdp = episodes_of(garnet(6, 3, 3, seed=1))
    options: Any = {"num_samples": 12, "radius": 0.2}
    learned = ewok_q_learning(
        mdp, num_episodes=60_000, learning_rate=0.003, epsilon=0.6, score_rewards=True, seed=2, **options
    ).table
    value = np.zeros(mdp.num_states)
    for _ in range(60):
        expected = estimated_kernel(mdp, value, **options).kernel
        backed = expected.pair_rewards + mdp.discount * np.add.reduceat(
            expected.probabilities * value[expected.next_states], expected.row_ptr[:-1]
        )
        value = np.append(np.maximum.reduceat(backed, mdp.state_ptr[:-2]), 0.0)
    np.testing.assert_allclose(learned.value, value, atol=0.1)
    exact = robust_value_iteration(mdp, KL(0.2)).value
    nominal = value_iteration(mdp).value
    assert abs(learned.value - exact).mean() < 0.3 * abs(nominal - exact).mean()


@pytest.mark.parametrize("tempering", [{"kappa": 0.4}, {"radius": 0.4}])
@pytest.mark.parametrize("score_rewards", [False, True])
def test_the_compiled_loop_draws_what_the_worst_kernel_draws(tempering: dict[str, float], score_rewards: bool) -> None:
    """Beside the cliff, under values that are kept: both sides' next states, against each other and the expectation."""
    mdp = cliff_walking()
    first = np.random.default_rng(0).normal(scale=2.0, size=(48, 4))
    first[mdp.terminal] = 0.0
    pair = int(mdp.state_ptr[BESIDE])  # up
    entries = mdp.entries(pair)
    # One step an episode, from one state; learning so little that nothing moves.
    at_once = TabularMDP(**{**vars(mdp), "initial": np.eye(48)[BESIDE]})
    first[BESIDE] = [9.0, 0.0, 0.0, 0.0]
    learned = ewok_q_learning(
        at_once, num_episodes=40_000, num_samples=5, score_rewards=score_rewards, learning_rate=1e-15, epsilon=0.0,
        max_steps=1, start=first, seed=3, **tempering,  # type: ignore[arg-type]
    )  # fmt: skip
    compiled = learned.visits[entries]
    assert compiled.sum() == 40_000
    np.testing.assert_allclose(learned.table.q[~mdp.terminal], first[~mdp.terminal], atol=1e-9)
    value = first.max(axis=1)
    env = ewok.WorstKernel(
        gym.make("ewok/CliffWalking-v0", max_episode_steps=None), num_samples=5, **tempering,
        discount=mdp.discount if score_rewards else None, value=lambda states: value[states],
    )  # fmt: skip
    outcomes = list(zip(mdp.next_states[entries].tolist(), mdp.rewards[entries].tolist(), strict=True))
    base: Any = env.unwrapped
    wrapped = np.zeros(len(outcomes))
    for step in range(4_000):
        env.reset(seed=0 if step == 0 else None)
        base.s = BESIDE
        after, reward, *_ = env.step(0)
        wrapped[outcomes.index((int(after), float(reward)))] += 1
    alike = stats.chi2_contingency(np.stack([compiled, wrapped]))
    assert alike.pvalue > 1e-3
    if score_rewards:
        expected = estimated_kernel(mdp, np.where(mdp.terminal, 0.0, value), 5, **tempering).rows[entries]  # type: ignore[arg-type]
        assert stats.chisquare(compiled, expected * compiled.sum()).pvalue > 1e-3
    assert stats.chisquare(compiled, mdp.probabilities[entries] * compiled.sum()).pvalue < 1e-6, "not the nominal one"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:a candidate that ends the episode earned more")
def test_both_learn_the_same_in_distribution() -> None:
    """Values after 60 episodes, over seeds: the same mean and spread in every state that is often visited."""
    mdp, setting = cliff_walking(), {"learning_rate": 0.1, "epsilon": 0.3, "num_episodes": 60, "max_steps": 200}
    compiled, wrapped = [], []
    for seed in range(30):
        learned = ewok_q_learning(mdp, num_samples=5, kappa=0.4, seed=seed, **setting)  # type: ignore[arg-type]
        compiled.append(learned.table.value)
        env = ewok.WorstKernel(gym.make("ewok/CliffWalking-v0"), num_samples=5, kappa=0.4)
        table = q_learning(env, discount=0.8, seed=seed, bind=ewok.bind, **setting)  # type: ignore[arg-type]
        wrapped.append(table.value)
    often = [START, START - COLUMNS, START - 2 * COLUMNS, START - COLUMNS + 1, START - 2 * COLUMNS + 1]
    for state in often:
        pair = np.array(compiled)[:, state], np.array(wrapped)[:, state]
        assert stats.ks_2samp(*pair).pvalue > 1e-3


def test_twenty_thousand_episodes_are_learned_compiled() -> None:
    """About two million steps; the seconds they take are measured in the benchmarks."""
    learned = ewok_q_learning(cliff_walking(), num_episodes=20_000, num_samples=5, kappa=0.4, seed=0)
    assert len(learned.table.returns) == 20_000
    assert learned.visits.sum() > 500_000
    assert learned.table.policy.shape == (48,)


def test_the_same_seed_is_the_same_table() -> None:
    mdp = cliff_walking()
    options: Any = {"num_episodes": 50, "num_samples": 5, "kappa": 0.4}
    one, two = (ewok_q_learning(mdp, seed=7, **options).table.q for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, ewok_q_learning(mdp, seed=8, **options).table.q)
    lake = [q_learning(gym.make("FrozenLake-v1"), discount=0.9, num_episodes=50, epsilon=1.0, seed=3).q for _ in "ab"]
    np.testing.assert_array_equal(*lake)


def test_q_learning_on_a_plain_environment_comes_to_its_optimum() -> None:
    env = gym.make("FrozenLake-v1", is_slippery=False)
    table = q_learning(env, discount=0.9, num_episodes=2_500, learning_rate=0.5, epsilon=1.0, seed=0)
    assert table.value[0] == pytest.approx(0.9**5, abs=1e-3)
    optimum = value_iteration(TabularMDP.from_gymnasium(env, discount=0.9)).value
    np.testing.assert_allclose(table.value[[8, 9, 13, 14]], optimum[[8, 9, 13, 14]], atol=1e-3)


def test_an_end_is_worth_nothing_and_a_truncation_is_no_end() -> None:
    mdp = TabularMDP.from_entries([0], [0], [1], [1.0], [1.0], discount=0.9, initial=[1.0, 0.0])
    table = ewok_q_learning(mdp, num_episodes=200, learning_rate=0.5).table
    assert table.value == pytest.approx([1.0, 0.0])
    assert table.returns.tolist() == [1.0] * 200
    loop = TabularMDP.from_entries([0], [0], [0], [1.0], [1.0], discount=0.5)
    assert ewok_q_learning(loop, num_episodes=200, learning_rate=0.5, max_steps=3).table.value == pytest.approx([2.0])


def test_states_may_have_different_actions() -> None:
    mdp = TabularMDP.from_entries([0, 0, 1], [0, 3, 1], [1, 2, 2], [1.0] * 3, [0.0, 0.5, 1.0], discount=0.9)
    table = ewok_q_learning(mdp, num_episodes=2_000, learning_rate=0.1, epsilon=0.5).table
    assert table.policy[:2].tolist() == [0, 1]
    assert np.isneginf(table.q[0]).tolist() == [False, True, True, False]
    assert table(np.array([0, 1, 2])) == pytest.approx([0.9, 1.0, 0.0], abs=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_samples": 5}, "exactly one of the two"),
        ({"num_samples": 5, "kappa": 0.1, "radius": 0.1}, "exactly one of the two"),
        ({"num_samples": 0}, "`num_samples` must be at least 1"),
        ({"num_samples": 2, "kappa": -1.0}, "`kappa` must be greater than 0"),
        ({"learning_rate": 0.0}, "`learning_rate` must be above 0"),
        ({"learning_rate": math.nan}, "`learning_rate` must be above 0"),
        ({"epsilon": 1.1}, "`epsilon` must be between 0 and 1"),
        ({"num_episodes": 0}, "`num_episodes` must be at least 1"),
        ({"max_steps": 0}, "`max_steps` must be at least 1"),
        ({"start": np.zeros((2, 2))}, r"`start` must be of shape \(48, 4\)"),
    ],
)
def test_what_is_wrong_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ewok_q_learning(cliff_walking(), **({"num_episodes": 2} | options))


def test_costs_and_boxes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="rewards to be maximised"):
        ewok_q_learning(machine(0.9), num_episodes=2)
    with pytest.raises(ArgumentError, match="`env` must have Discrete observations and actions"):
        q_learning(gym.make("CartPole-v1"), discount=0.9, num_episodes=2)

"""The paper's cliff: its chances and rewards, its worst kernel, and the environment of the same name."""

from __future__ import annotations

import math
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ewok.tabular import (
    KL,
    TabularMDP,
    cliff_walking,
    paper_worst_kernel,
    policy_value,
    robust_policy_evaluation,
    robust_value_iteration,
    value_iteration,
)
from ewok.tabular.cliff import COLUMNS, GOAL, START, is_cliff
from ewok.testing import check_kernel, check_snapshot

UP, RIGHT, DOWN, LEFT = range(4)


def cell(row: int, column: int) -> int:
    return row * COLUMNS + column


def outcomes(mdp: TabularMDP, state: int, action: int) -> dict[tuple[int, float], float]:
    """(next state, reward) -> probability."""
    found: dict[tuple[int, float], float] = {}
    entries = mdp.entries(int(mdp.state_ptr[state]) + action)
    lines = zip(mdp.next_states[entries], mdp.entry_rewards[entries], mdp.probabilities[entries], strict=True)
    for after, pay, chance in lines:
        found[int(after), float(pay)] = found.get((int(after), float(pay)), 0.0) + float(chance)
    return found


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        (cell(1, 5), RIGHT, {(cell(1, 6), -1.0): 0.9, (cell(1, 4), -1.0): 0.02, (cell(0, 5), -1.0): 0.04,
                             (cell(2, 5), -1.0): 0.04}),
        (cell(1, 5), UP, {(cell(0, 5), -1.0): 0.9, (cell(2, 5), -1.0): 0.02, (cell(1, 4), -1.0): 0.04,
                          (cell(1, 6), -1.0): 0.04}),
        (cell(2, 5), DOWN, {(START, -10.0): 0.9, (cell(1, 5), -1.0): 0.02, (cell(2, 4), -1.0): 0.04,
                            (cell(2, 6), -1.0): 0.04}),
        (START, UP, {(cell(2, 0), -1.0): 0.9, (START, -1.0): 0.06, (START, -10.0): 0.04}),
        (cell(2, 11), DOWN, {(GOAL, 100.0): 0.9, (cell(1, 11), -1.0): 0.02, (cell(2, 10), -1.0): 0.04,
                             (cell(2, 11), -1.0): 0.04}),
        (cell(0, 0), LEFT, {(cell(0, 0), -1.0): 0.94, (cell(0, 1), -1.0): 0.02, (cell(1, 0), -1.0): 0.04}),
    ],
)  # fmt: skip
def test_chances_and_rewards_are_the_papers(state: int, action: int, expected: dict[Any, float]) -> None:
    assert outcomes(cliff_walking(), state, action) == pytest.approx(expected)


def test_it_starts_at_the_start_and_ends_at_the_goal() -> None:
    mdp = cliff_walking()
    assert (mdp.num_states, mdp.discount, int(mdp.initial.argmax()), mdp.initial.max()) == (48, 0.8, START, 1.0)
    assert np.flatnonzero(mdp.terminal).tolist() == [*range(START + 1, GOAL), GOAL]
    assert mdp.pair_name(int(mdp.state_ptr[cell(2, 3)])) == "state 2,3, action up"
    assert cliff_walking(0.9).discount == 0.9


def test_the_environment_is_the_table() -> None:
    """States that end merge in a table made of any environment; all others are alike, row for row."""
    made = TabularMDP.from_gymnasium("ewok/CliffWalking-v0", discount=0.8)
    mdp = cliff_walking()
    for state in np.flatnonzero(~mdp.terminal):
        for action in range(4):
            expected = {(48 if s == GOAL else s, r): p for (s, r), p in outcomes(mdp, int(state), action).items()}
            assert outcomes(made, int(state), action) == pytest.approx(expected)
    assert made.initial[START] == 1.0


def test_the_environment_keeps_gymnasiums_promises_and_can_be_drawn_from() -> None:
    env = gym.make("ewok/CliffWalking-v0")
    assert env.spec is not None
    assert env.spec.max_episode_steps == 1_000
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*reward range|.*unwrapped.*")
        check_env(env.unwrapped, skip_render_check=True)
    check_kernel(gym.make("ewok/CliffWalking-v0"), num_steps=40)
    check_snapshot(gym.make("ewok/CliffWalking-v0"), num_steps=40)


@pytest.mark.parametrize("beta", [0.01, 0.1, 0.4])
def test_every_row_of_the_papers_worst_kernel_is_at_its_radius_or_sure_of_its_outcome(beta: float) -> None:
    nominal, worst = cliff_walking(), paper_worst_kernel(beta)
    sure = 0
    for state in np.flatnonzero(~nominal.terminal):
        for action in range(4):
            p, q = outcomes(nominal, int(state), action), outcomes(worst, int(state), action)
            kl = sum(chance * math.log(chance / p[outcome]) for outcome, chance in q.items())
            sure += len(q) == 1
            assert kl == pytest.approx(beta if len(q) > 1 else -math.log(p[next(iter(q))]), abs=1e-9)
            assert kl <= beta + 1e-9
    assert (sure > 0) == (beta > 0.105), "0.9 of the nominal row can be made sure with KL -log 0.9"


@pytest.mark.parametrize(
    ("state", "action", "outcome"),
    [
        (cell(2, 5), UP, (START, -10.0)),  # "adjacent to the cliff and moves upward": downward is made likelier
        (cell(2, 5), RIGHT, (START, -10.0)),
        (cell(0, 5), RIGHT, (cell(1, 5), -1.0)),
        (START, UP, (START, -10.0)),
        (cell(2, 11), DOWN, (cell(2, 10), -1.0)),  # the goal is no cliff
        (cell(2, 0), UP, (cell(2, 1), -1.0)),  # sideways: the start is below
    ],
)
def test_the_papers_worst_kernel_leads_towards_the_cliff(state: int, action: int, outcome: tuple[int, float]) -> None:
    """q[i] is the largest that KL 0.4 allows: the root of q log (q / p) + (1 - q) log ((1 - q) / (1 - p)) = 0.4."""
    p = outcomes(cliff_walking(), state, action)
    q = outcomes(paper_worst_kernel(), state, action)
    x, y = p[outcome], q[outcome]
    assert y > x
    assert y * math.log(y / x) + (1.0 - y) * math.log((1.0 - y) / (1.0 - x)) == pytest.approx(0.4, abs=1e-9)
    for other in q:  # all others keep their proportions
        assert other == outcome or q[other] / (1.0 - y) == pytest.approx(p[other] / (1.0 - x))


def test_the_nominal_optimum_walks_along_the_cliff_and_the_robust_ones_do_not() -> None:
    beside = np.arange(START + 1, GOAL) - COLUMNS
    nominal = value_iteration(cliff_walking()).policy
    assert (nominal[beside] == RIGHT).all()
    assert (value_iteration(paper_worst_kernel()).policy[beside] == UP).sum() >= 7
    robust = robust_value_iteration(cliff_walking(), KL(0.4))
    assert (robust.policy[beside] == UP).sum() >= 7
    assert robust_policy_evaluation(cliff_walking(), nominal, KL(0.4)).value[START] < robust.value[START] - 5.0


def test_the_exact_worst_kernel_is_worse_than_the_papers_for_every_policy() -> None:
    """The paper's is one kernel of the set; the exact one is the worst of all for the policy at hand."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        policy = np.where(cliff_walking().terminal, -1, rng.integers(4, size=48))
        exact = robust_policy_evaluation(cliff_walking(), policy, KL(0.4))
        assert np.all(exact.lower <= policy_value(paper_worst_kernel(), policy) + 1e-9)


def test_the_cliff_is_where_it_is() -> None:
    assert [state for state in range(48) if is_cliff(state)] == list(range(37, 47))

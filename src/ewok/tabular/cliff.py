"""The paper's stochastic Cliff Walking: the world, its worst kernel in the paper's sense, and the exact one's set.

A step goes where it was meant to with probability 0.9, the opposite way with 0.02, and to either
side with 0.04. Every step pays -1, the one onto the goal 100 instead, a fall off the cliff -10 and
leads back to the start (Appendix "Cliff Walking").
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv as GymnasiumCliffWalkingEnv
from numpy.typing import NDArray

from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import KL
from ewok.tabular.sets.worst_row import worst_row

DISCOUNT = 0.8
BETA = 0.4
ROWS, COLUMNS = 4, 12
START, GOAL = 36, 47
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left
CHANCES = (0.9, 0.04, 0.02, 0.04)  # of the direction meant, and of one, two and three quarter turns from it
STEP, PRIZE, FALL = -1.0, 100.0, -10.0


@final
class CliffWalkingEnv(GymnasiumCliffWalkingEnv):
    """Gymnasium's Cliff Walking with the paper's chances and rewards: `gym.make("ewok/CliffWalking-v0")`."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)
        self.P = {state: {action: _outcomes(state, action) for action in range(4)} for state in range(ROWS * COLUMNS)}


def cliff_walking(discount: float = DISCOUNT) -> TabularMDP:
    """The nominal kernel; episodes begin at the start."""
    lines: list[tuple[int, int, int, float, float]] = []
    for state in _standing():
        for action in range(4):
            lines += [(state, action, after, chance, pay) for chance, after, pay, _ in _outcomes(state, action)]
    columns: Any = zip(*lines, strict=True)
    initial = np.zeros(ROWS * COLUMNS)
    initial[START] = 1.0
    names = tuple(f"{state // COLUMNS},{state % COLUMNS}" for state in range(ROWS * COLUMNS))
    ends = [state for state in range(ROWS * COLUMNS) if state not in _standing()]
    options: dict[str, Any] = {"initial": initial, "num_states": ROWS * COLUMNS, "terminal": ends, "state_names": names}
    return TabularMDP.from_entries(*columns, discount=discount, action_names=("up", "right", "down", "left"), **options)


def paper_worst_kernel(beta: float = BETA, discount: float = DISCOUNT) -> TabularMDP:
    """The paper's: in every row the outcome nearest the cliff is as likely as KL beta allows.

    Not the kernel that is worst for any value. Of two outcomes as near, the sideways one counts; the
    goal is no cliff.
    """
    mdp = cliff_walking(discount)
    rows = np.empty(mdp.num_entries)
    none, scratch = np.zeros(0), np.empty(4)
    for pair in range(mdp.num_pairs):
        entries = mdp.entries(pair)
        direction = _towards_cliff(int(mdp.states[pair]))
        moved = _outcomes(int(mdp.states[pair]), int(mdp.actions[pair]))
        _, after, pay, _ = moved[(direction - int(mdp.actions[pair])) % 4]
        wanted = (mdp.next_states[entries] == after) & (mdp.rewards[entries] == pay)
        p, q = mdp.probabilities[entries], rows[entries]
        worst_row(KL.kind, -wanted.astype(np.float64), p, none, beta, scratch[: len(p)], q)
    return mdp.with_kernel(rows)


def is_cliff(state: int) -> bool:
    return START < state < GOAL


def _standing() -> list[int]:
    """States one can be in: not the goal, where the episode ends, nor the cliff."""
    return [state for state in range(ROWS * COLUMNS) if state != GOAL and not is_cliff(state)]


def _outcomes(state: int, action: int) -> list[tuple[float, int, float, bool]]:
    """Chance, next state, reward and end, by quarter turns from the direction meant."""
    outcomes = []
    for turns, chance in enumerate(CHANCES):
        target = _beside(state, (action + turns) % 4)
        if is_cliff(target):
            outcomes.append((chance, START, FALL, False))
        else:
            outcomes.append((chance, target, PRIZE if target == GOAL else STEP, target == GOAL))
    return outcomes


def _beside(state: int, direction: int) -> int:
    row, column = divmod(state, COLUMNS)
    down, right = MOVES[direction]
    return min(max(row + down, 0), ROWS - 1) * COLUMNS + min(max(column + right, 0), COLUMNS - 1)


def _towards_cliff(state: int) -> int:
    """The direction whose outcome is nearest the cliff."""
    cliff = np.array([divmod(cell, COLUMNS) for cell in range(START + 1, GOAL)])

    def distance(direction: int) -> int:
        target = _beside(state, direction)
        if target == GOAL:
            return ROWS + COLUMNS
        away: NDArray[np.int64] = np.abs(cliff - np.array(divmod(target, COLUMNS))).sum(axis=1)
        return int(away.min())

    return min((1, 3, 2, 0), key=distance)

"""The paper's Cliff Walking: what Q-learning on worst-kernel samples learns, beside the exact answers.

    python examples/cliff_walking.py [--out DIR] [--seed 0]    # the paper's figure and a table, for one seed
    python examples/cliff_walking.py --seeds 10                # mean and spread over seeds: what holds, by how much

The first draws `cliff_walking.png`. Settings are the paper's: N = 5, kappa = 0.4, beta = 0.4, discount
0.8, learning rate 0.01, epsilon 0.2, 20,000 episodes. "Paper's worst" is its worst kernel, the same for
every policy; "exact worst" is the worst kernel within KL 0.4 for the policy in that line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from ewok import tabular
from ewok.tabular.cliff import BETA, COLUMNS, GOAL, MOVES, ROWS, START, is_cliff

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, SymLogNorm

NOMINAL, PAPER, SET = tabular.cliff_walking(), tabular.paper_worst_kernel(), tabular.KL(BETA)
PLAIN, PAPERS = "plain Q-learning", "(d) EWoK, kappa 0.4, v(s')"
LEARNERS: dict[str, dict[str, Any]] = {
    PLAIN: {"num_samples": 1},
    PAPERS: {"num_samples": 5, "kappa": 0.4},
    "(f) EWoK, radius 0.4, v(s')": {"num_samples": 5, "radius": 0.4},
    "(g) EWoK, kappa 0.4, r + 0.8 v(s')": {"num_samples": 5, "kappa": 0.4, "score_rewards": True},
    "(h) EWoK, radius 0.4, r + 0.8 v(s')": {"num_samples": 5, "radius": 0.4, "score_rewards": True},
}
OPTIMA = ("(b) nominal optimum", "(c) optimum, paper's worst kernel", "(e) exact KL-robust optimum")
BESIDE_CLIFF = np.arange(START + 1, GOAL) - COLUMNS
STANDING = np.flatnonzero(~NOMINAL.terminal)
HEAD = ("nominal", "paper's worst", "exact worst", "all states", "as (b)", "as (c)", "as (e)", "away")
UNITS = ("{:.2f}",) * 4 + ("{:.0%}",) * 3 + ("{:.1f}",)


@dataclass(frozen=True)
class Answer:
    """A policy (S,) and the value (S,) its maker believes it has."""

    policy: np.ndarray
    value: np.ndarray


def optima() -> dict[str, Answer]:
    solutions = (
        tabular.value_iteration(NOMINAL),
        tabular.value_iteration(PAPER),
        tabular.robust_value_iteration(NOMINAL, SET),
    )
    return {name: Answer(np.asarray(s.policy), s.value) for name, s in zip(OPTIMA, solutions, strict=True)}


def learned(seed: int, num_episodes: int) -> dict[str, Answer]:
    answers = {}
    for name, setting in LEARNERS.items():
        table = tabular.ewok_q_learning(NOMINAL, num_episodes=num_episodes, seed=seed, **setting).table
        answers[name] = Answer(table.policy, table.value)
    return answers


def best_actions(answers: dict[str, Answer]) -> dict[str, np.ndarray]:
    """(S, 4) which actions are optimal under the kernel that each optimum is the optimum of, ties included."""
    robust = tabular.worst_kernel(NOMINAL, answers[OPTIMA[2]].value, SET).kernel
    best = {}
    for name, mdp in zip(OPTIMA, (NOMINAL, PAPER, robust), strict=True):
        scores = mdp.entry_rewards + mdp.discount * answers[name].value[mdp.next_states]
        q = np.full((mdp.num_states, 4), -np.inf)
        q[mdp.states, mdp.actions] = np.add.reduceat(mdp.probabilities * scores, mdp.row_ptr[:-1])
        best[name] = q >= q.max(axis=1, keepdims=True) - 1e-5
    return best


def judged(answer: Answer, best: dict[str, np.ndarray]) -> np.ndarray:
    """The numbers of one line of the table, in the order of HEAD."""
    exact = tabular.robust_policy_evaluation(NOMINAL, answer.policy, SET).value
    values = [
        tabular.policy_value(NOMINAL, answer.policy)[START],
        tabular.policy_value(PAPER, answer.policy)[START],
        exact[START],
        exact[STANDING].mean(),
    ]
    same = [best[name][STANDING, answer.policy[STANDING]].mean() for name in OPTIMA]
    return np.array([*values, *same, (answer.policy[BESIDE_CLIFF] == 0).sum()])


def table(numbers: dict[str, np.ndarray]) -> Iterator[str]:
    """One line per policy, of (seeds, columns) numbers; with a second line for the spread where there are seeds."""
    yield f"{'':<36}{'value at the start under':^42}{'exact worst,':>14}{'same action':>24}{'steps':>16}"
    yield f"{'policy':<36}" + "".join(f"{name:>14}" for name in HEAD[:3]) + "".join(f"{name:>12}" for name in HEAD[3:])
    widths = (14,) * 3 + (12,) * 5
    for name, rows in numbers.items():
        means = zip(UNITS, rows.mean(axis=0), widths, strict=True)
        yield f"{name:<36}" + "".join(f"{unit.format(x):>{width}}" for unit, x, width in means)
        if len(rows) > 1:
            spread = zip(UNITS, rows.std(axis=0, ddof=1), widths, strict=True)
            yield f"{'':<36}" + "".join(f"{'+-' + unit.format(x):>{width}}" for unit, x, width in spread)


def reading(numbers: dict[str, np.ndarray]) -> Iterator[str]:
    """Which of the paper's claims hold, by the numbers."""
    nominal, paper, exact = (numbers[name][0] for name in OPTIMA)
    yield f'"EWoK learns a policy closely resembling the optimal robust one", in {len(numbers[PLAIN])} seeds:'
    for name in LEARNERS:
        rows = numbers[name]
        yield f"{name}"
        for label, column in ((OPTIMA[1], 5), (OPTIMA[2], 6)):
            closer = (rows[:, column] > nominal[column]).sum()
            yield (
                f"    same action as {label}: {rows[:, column].mean():.0%} of {len(STANDING)} states (nominal optimum "
                f"{nominal[column]:.0%}); closer than the nominal optimum in {closer} of {len(rows)} seeds"
            )
        for label, optimum, column in (("paper's worst", paper, 1), ("exact worst", exact, 2)):
            way = (rows[:, column] - nominal[column]) / (optimum[column] - nominal[column])
            yield (
                f"    value under {label}: {rows[:, column].mean():.2f}, {way.mean():.0%} of the way from the nominal "
                f"optimum's {nominal[column]:.2f} to the robust one's {optimum[column]:.2f}; better than the former "
                f"in {(way > 0.0).sum()} of {len(rows)} seeds"
            )
        away = rows[:, 7].mean()
        yield f"    steps away from the cliff in {away:.1f} of its 10 neighbours ({OPTIMA[1]}: {paper[7]:.0f})"


def draw(answers: dict[str, Answer], path: Path) -> None:
    """Eight panels on one scale of colour; arrows are actions."""
    shown = [(name, answers[name]) for name in sorted(answers) if name.startswith("(")]
    norm = SymLogNorm(linthresh=5.0, vmin=-12.0, vmax=100.0)
    figure, axes = plt.subplots(4, 2, figsize=(12.5, 10.2), layout="constrained")
    environment, *others = axes.flat
    environment.set_title("(a) the environment: -1 a step, 100 onto the goal, -10 off the cliff", fontsize=10)
    grid(environment, np.full(ROWS * COLUMNS, np.nan), norm)
    chances(environment)
    for axis, (name, answer) in zip(others, shown, strict=True):
        axis.set_title(name, fontsize=10)
        image = grid(axis, answer.value, norm)
        arrows(axis, answer, norm)
    bar = figure.colorbar(image, ax=axes, shrink=0.5, pad=0.02, label="value (learned, or exact)")
    bar.set_ticks([-10, -5, 0, 5, 10, 25, 50, 100], labels=["-10", "-5", "0", "5", "10", "25", "50", "100"])
    figure.savefig(path, dpi=110)
    plt.close(figure)


def grid(axis: Axes, value: np.ndarray, norm: Normalize) -> Any:
    """Colours of the states; the cliff dark, the goal and the start named."""
    cells = np.where(NOMINAL.terminal, np.nan, value).reshape(ROWS, COLUMNS)
    image = axis.imshow(cells, cmap="cividis", norm=norm)
    axis.set_facecolor("white")
    for state in filter(is_cliff, range(ROWS * COLUMNS)):
        axis.add_patch(plt.Rectangle((state % COLUMNS - 0.5, ROWS - 1.5), 1, 1, color="#404040"))
    axis.text(COLUMNS / 2 - 0.5, ROWS - 1, "cliff", color="white", ha="center", va="center", fontsize=10)
    axis.text(COLUMNS - 1, ROWS - 1, "goal", ha="center", va="center", fontsize=9)
    axis.set_xticks(np.arange(COLUMNS + 1) - 0.5, labels=[])
    axis.set_yticks(np.arange(ROWS + 1) - 0.5, labels=[])
    axis.grid(color="#999999", linewidth=0.5)
    axis.tick_params(length=0)
    return image


def chances(axis: Axes) -> None:
    """The start, and where a step to the right leads."""
    axis.text(0, ROWS - 1, "start", ha="center", va="center", fontsize=9)
    row, column = 1, 5
    axis.plot(column, row, "o", color="black", markersize=7)
    for (down, right), chance in zip(MOVES, ("0.04", "0.9", "0.04", "0.02"), strict=True):
        tip = (column + 0.8 * right, row + 0.8 * down)
        style = {"arrowstyle": "-|>", "color": "black", "linewidth": 2.5 if chance == "0.9" else 1.0}
        axis.annotate("", tip, (column, row), arrowprops=style)
        side = (0.42, 0.0) if right == 0 else (0.0, -0.28)
        axis.text(column + 0.8 * right + side[0], row + 0.75 * down + side[1], chance, ha="center", va="center")


def arrows(axis: Axes, answer: Answer, norm: Normalize) -> None:
    """Where each state's action is meant to go."""
    moves = np.array(MOVES)[answer.policy[STANDING]]
    dark = norm(answer.value[STANDING]) < 0.55
    rows, columns = np.divmod(STANDING, COLUMNS)
    options: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "pivot": "mid", "width": 0.006}
    for shade, which in (("white", dark), ("black", ~dark)):
        columns_moved, rows_moved = 0.6 * moves[which, 1], 0.6 * moves[which, 0]
        axis.quiver(columns[which], rows[which], columns_moved, rows_moved, color=shade, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many; with more than one, a report and no picture")
    parser.add_argument("--episodes", type=int, default=20_000, help="that each learner has")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    options = parser.parse_args()
    best_answers = optima()
    best = best_actions(best_answers)
    runs = [learned(seed, options.episodes) for seed in range(options.seed, options.seed + options.seeds)]
    numbers = {name: judged(answer, best)[None] for name, answer in best_answers.items()}
    numbers |= {name: np.array([judged(run[name], best) for run in runs]) for name in LEARNERS}
    if options.seeds == 1:
        options.out.mkdir(parents=True, exist_ok=True)
        draw(best_answers | runs[0], options.out / "cliff_walking.png")
        print(f"picture: {options.out / 'cliff_walking.png'}")
    print("\n".join(table(numbers)))
    if options.seeds > 1:
        print("\n".join(["", *reading(numbers)]))


if __name__ == "__main__":
    main()

"""Where MDPs come from: arrays, Gymnasium's tables, CSV files. Each becomes one line per transition."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ewok.errors import ArgumentError, require

Floats = NDArray[np.float64]
_SHOWN = 80  # of a malformed line, in characters
_COLUMNS = ("idstatefrom", "idaction", "idstateto", "probability", "reward")


class Entries(NamedTuple):
    """Transitions, one line each, in any order; `where` names one, if they alone say how many states there are."""

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    next_states: NDArray[np.int64]
    probabilities: Floats
    rewards: Floats
    num_states: int
    initial: Floats | None = None
    where: Callable[[int], str] | None = None


def checked(
    states: ArrayLike,
    actions: ArrayLike,
    next_states: ArrayLike,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    num_states: int | None = None,
    where: Callable[[int], str] = "transition {}".format,
) -> Entries:
    """Columns as numbers of the right kind, or an error that says where they are not."""
    columns = (("states", states), ("actions", actions), ("next_states", next_states))
    s, a, n = (_whole(column, name, where) for name, column in columns)
    p, r = _numbers(probabilities, "probabilities"), _numbers(rewards, "rewards")
    sizes = [len(column) for column in (s, a, n, p, r)]
    require(len(set(sizes)) == 1, "entries", "columns of one length", sizes, "Give every transition all five numbers.")
    num = int(max(s.max(initial=-1), n.max(initial=-1))) + 1 if num_states is None else num_states
    require(sizes[0] > 0, "states", "of one transition or more", sizes[0], "An MDP needs transitions.")
    # Every state has a transition, or one leads to it: more would only be found out after memory for all of them.
    most = 2 * sizes[0] if num_states is None else 2**32
    culprit = f"; look at {where(farthest(s, n)[1])}" if num_states is None else ""
    remedy = f"Number them without gaps{culprit}."
    require(num <= most, "states", f"below {most} with {sizes[0]} transitions", num - 1, remedy)
    for name, states_named in (("states", s), ("next_states", n)):
        if states_named.max(initial=-1) >= num:
            largest = int(states_named.max())
            require(False, name, f"from 0 to {num - 1}", largest, "Give a larger `num_states`.")
    for name, numbers, least in (("probabilities", p, 0.0), ("rewards", r, -np.inf)):
        wrong = np.flatnonzero(~np.isfinite(numbers) | (numbers < least))
        if len(wrong):
            bound = " and at least 0" if least == 0.0 else ""
            require(False, name, f"finite{bound}", float(numbers[wrong[0]]), f"Look at {where(int(wrong[0]))}.")
    return Entries(s, a, n, p, r, num, where=where if num_states is None else None)


def farthest(states: NDArray[np.int64], next_states: NDArray[np.int64]) -> tuple[int, int]:
    """The largest number that any state has, and the first transition that names it."""
    named = np.maximum(states, next_states)
    first = int(np.argmax(named))
    return int(named[first]), first


def of_arrays(kernel: Any, rewards: ArrayLike) -> Entries:
    """A dense kernel (S, A, S), or a list of one (S, S) matrix per action, dense or scipy sparse."""
    if sparse.issparse(kernel):
        raise ArgumentError(
            f"`kernel` must be a list of one sparse matrix per action, but it is one of shape {kernel.shape}. "
            "Put those of all actions in a list."
        )
    if isinstance(kernel, list | tuple) and len(kernel) > 0 and all(_is_matrix(block) for block in kernel):
        s, a, n, p, num_states, num_actions = _by_action(kernel)
    else:
        dense = np.asarray(kernel, dtype=np.float64)
        valid = dense.ndim == 3 and dense.shape[0] == dense.shape[2]
        require(valid, "kernel", "of shape (S, A, S)", dense.shape, "Axes are state, action, next state.")
        s, a, n = np.nonzero(dense)
        p = dense[s, a, n]
        num_states, num_actions = dense.shape[:2]
    paid = np.asarray(rewards, dtype=np.float64)
    full = (num_states, num_actions, num_states)
    valid = paid.shape in (full[:1], full[:2], full)
    require(valid, "rewards", f"of shape {full[:1]}, {full[:2]} or {full}", paid.shape, "See the order of axes.")
    r = paid[(s, a, n)[: paid.ndim]]
    return checked(s, a, n, p, r, num_states)


def _is_matrix(block: Any) -> bool:
    return sparse.issparse(block) or (isinstance(block, np.ndarray) and block.ndim == 2)


def _by_action(kernel: Sequence[Any]) -> tuple[Any, ...]:
    blocks = [sparse.coo_array(block) for block in kernel]
    shapes = sorted({block.shape for block in blocks})
    square = len(shapes) == 1 and shapes[0][0] == shapes[0][1]
    require(square, "kernel", "of matrices of one shape (S, S)", shapes, "There is one for each action.")
    s, n = (np.concatenate([block.coords[axis] for block in blocks]) for axis in (0, 1))
    a = np.repeat(np.arange(len(blocks)), [block.nnz for block in blocks])
    return s, a, n, np.concatenate([block.data for block in blocks]), shapes[0][0], len(blocks)


def of_gymnasium(env: gym.Env[Any, Any] | str) -> Entries:
    """The table `P`; transitions that end the episode lead to one extra state, the last, which is terminal."""
    table, initial = _table_of(gym.make(env) if isinstance(env, str) else env)
    end = len(table)
    lines = [
        (state, action, end if terminated else following, probability, reward)
        for state, row in table.items()
        for action, outcomes in row.items()
        for probability, following, reward, terminated in outcomes
    ]
    s, a, n, p, r = (np.array(column) for column in zip(*lines, strict=True))
    start = None if initial is None else np.append(np.asarray(initial, dtype=np.float64), 0.0)
    return checked(s, a, n, p, r, end + 1)._replace(initial=start)


def _table_of(env: gym.Env[Any, Any]) -> tuple[dict[int, Any], Any]:
    base: Any = env.unwrapped
    if not hasattr(base, "P"):
        raise ArgumentError(
            f"`env` must have a transition table `P`, but {type(base).__name__} has none. FrozenLake, CliffWalking and "
            "Taxi do; for others use from_samples."
        )
    if getattr(base, "fickle_passenger", False):
        raise ArgumentError("`env` must be told by its table, but a Taxi with fickle_passenger=True does more.")
    return base.P, getattr(base, "initial_state_distrib", None)


def of_csv(path: str | Path) -> Entries:
    """A file with the columns idstatefrom, idaction, idstateto, probability, reward (craam's format)."""
    numbered = list(_lines_of(path))
    if not numbered:
        raise ArgumentError(f"`path` must be a table, but {path} is empty. Its first line names the columns.")
    starts, lines = zip(*numbered, strict=True)
    header = [name.strip().strip('"').lower() for name in lines[0]]
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise ArgumentError(
            f"`path` must have the columns {', '.join(_COLUMNS)}, but {path} lacks {', '.join(missing)}. "
            f"Its first line is {','.join(lines[0])!r}."
        )
    twice = [name for name in _COLUMNS if header.count(name) > 1]
    require(not twice, "path", "a table with each column once", ",".join(lines[0]), "Take out or rename one.")
    places = [header.index(name) for name in _COLUMNS]
    rows: list[list[float]] = []
    for number, line in numbered[1:]:
        try:
            if len(line) != len(header):
                raise ValueError
            rows.append([float(line[place]) for place in places])
        except ValueError as error:
            raise ArgumentError(
                f"line {number} of {path} must have {len(header)} numbers, but it is {','.join(line)[:_SHOWN]!r}. "
                "Take out blank lines, units and decimal commas."
            ) from error
    s, a, n, p, r = np.array(rows).reshape(-1, 5).T
    return checked(s, a, n, p, r, where=lambda row: f"line {starts[row + 1]} of {path}")


def _lines_of(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Each line of a CSV file, with the number it starts at: quotes may stretch it over several."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader, start = csv.reader(file), 1
        try:
            for line in reader:
                yield start, line
                start = reader.line_num + 1
        except (UnicodeDecodeError, csv.Error) as error:
            raise ArgumentError(
                f"`path` must be a CSV file, but {path} cannot be read as one from line {start} on: {error}."
            ) from error


def of_samples(states: ArrayLike, actions: ArrayLike, next_states: ArrayLike, rewards: ArrayLike) -> Entries:
    """Transitions seen, one line each: every different one with its share among its pair's."""
    s, a, n, _, r, num, *_ = checked(states, actions, next_states, np.ones(np.shape(states)), rewards)
    seen = np.stack([s, a, n, r], axis=1)
    lines, firsts, counts = np.unique(seen, axis=0, return_index=True, return_counts=True)
    _, places = np.unique(lines[:, :2], axis=0, return_inverse=True)
    totals = np.bincount(places.ravel(), weights=counts)
    s, a, n = lines[:, :3].astype(np.int64).T
    shares = counts / totals[places.ravel()]
    return Entries(s, a, n, shares, lines[:, 3], num, where=lambda line: f"transition {firsts[line]}")


def _whole(numbers: ArrayLike, name: str, where: Callable[[int], str]) -> NDArray[np.int64]:
    column = _numbers(numbers, name)
    wrong = np.flatnonzero(~np.isfinite(column) | (column < 0.0) | (column != np.floor(column)))
    if len(wrong):
        remedy = f"Number states and actions from 0; look at {where(int(wrong[0]))}."
        require(False, name, "whole numbers, at least 0", float(column[wrong[0]]), remedy)
    return column.astype(np.int64)


def _numbers(given: ArrayLike, name: str) -> Floats:
    """One column of numbers."""
    try:
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"`{name}` must be numbers, but {error}. Give a number to each name.") from error
    require(column.ndim == 1, name, "one number per transition", f"of shape {column.shape}", "Flatten it.")
    return column

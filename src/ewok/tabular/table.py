"""Solving a table from a file, as `ewok solve` does."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ewok.errors import ArgumentError, require_known
from ewok.named import named
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets import KL, L1, L2, TV, Burg, ChiSquare, Contamination, LInf, UncertaintySet
from ewok.tabular.solution import Solution
from ewok.tabular.solve import robust_value_iteration, value_iteration
from ewok.whole import whole

_SETS: dict[str, Callable[..., Any]] = {
    "kl": KL,
    "l1": L1,
    "tv": TV,
    "l2": L2,
    "linf": LInf,
    "chi-square": ChiSquare,
    "burg": Burg,
    "contamination": Contamination,
}
_SHOWN = 10
_MOST_DIGITS = 15  # after the point; a float of size 1 has no more


def solve_file(
    path: Path,
    *,
    gamma: float,
    kind: str | None,
    radius: float | None,
    costs: bool,
    per_state: bool,
    tolerance: float,
    max_iterations: int,
    num_threads: int,
    out: Path | None,
) -> str:
    """Read, solve, write; what to print."""
    if not path.is_file():
        raise ArgumentError(f"`path` must be a CSV file, but there is none at {path}. Check the name.")
    if out is not None and not out.parent.is_dir():
        raise ArgumentError(f"`--out` must be in a folder that exists, but {out.parent} does not. Make it first.")
    if out is not None and out.is_dir():
        raise ArgumentError(f"`--out` must be a file, but {out} is a folder. Add a name, such as policy.csv.")
    mdp = TabularMDP.from_csv(path, discount=gamma, sense="minimise" if costs else "maximise")
    chosen = _set_of(kind, radius, per_state)
    limits: dict[str, Any] = {"tolerance": tolerance, "max_iterations": max_iterations, "num_threads": num_threads}
    solution = value_iteration(mdp, **limits) if chosen is None else robust_value_iteration(mdp, chosen, **limits)
    if out is not None:
        _write(out, solution)
    return _shown(solution, chosen, radius, tolerance, out)


def _shown(
    solution: Solution, chosen: UncertaintySet | None, radius: float | None, tolerance: float, out: Path | None
) -> str:
    """The first states, with the decimals that the tolerance vouches for."""
    mdp = solution.mdp
    digits = min(max(0, -math.floor(math.log10(tolerance))), _MOST_DIGITS)
    kernel = "nominal kernel" if chosen is None else f"{type(chosen).__name__} set of radius {radius:g}"
    columns = (solution.value, solution.lower, solution.upper)
    rows = [[f"{column[s]:z.{digits}f}" for column in columns] for s in range(min(mdp.num_states, _SHOWN))]
    width = max(14, *(len(number) for row in rows for number in row))
    lines = [
        f"{mdp.num_states:,} states, {mdp.num_pairs:,} state-action pairs, {mdp.num_entries:,} transitions",
        f"{kernel}, discount {mdp.discount:g}: {solution.iterations} sweeps, bounds {solution.gap:.1e} apart",
        f"{'nominal' if chosen is None else 'robust'} return from a state drawn at random: "
        f"{solution.robust_return:z.{digits}f}",
        "",
        f"{'state':>7} {'action':>7} " + " ".join(f"{name:>{width}}" for name in ("value", "lower", "upper")),
    ]
    for s, row in enumerate(rows):
        lines.append(f"{s:>7} {_action(solution, s):>7} " + " ".join(f"{number:>{width}}" for number in row))
    if mdp.num_states > _SHOWN:
        lines.append(
            f"and {mdp.num_states - _SHOWN:,} more" + (f", all in {out}" if out else "; --out writes them all")
        )
    return "\n".join(lines)


def _set_of(kind: str | None, radius: float | None, per_state: bool) -> UncertaintySet | None:
    """By name, or `module:object` that makes one from a radius; none where neither set nor radius is asked for."""
    if kind is None and radius is None and not per_state:
        return None
    kind = kind or "kl"
    if ":" in kind:
        make = named(kind, "--set")
    else:
        require_known(kind, _SETS, "--set", "a set")
        make = _SETS[kind]
    if per_state and make not in (KL, L1):
        raise ArgumentError(f"`--per-state` must go with kl or l1, but the set is {kind}. Leave it out.")
    if radius is None:
        raise ArgumentError("`--radius` must be given with a set, but it is missing. For the nominal MDP give neither.")
    made: UncertaintySet = make(radius, per_state=True) if per_state else make(radius)
    return made


def _action(solution: Solution, state: int) -> str:
    """The action of a state; of a randomised policy the likeliest, marked."""
    if solution.mdp.terminal[state]:
        return "end"
    if solution.policy.dtype.kind != "f":
        return str(solution.policy[state])
    first, last = solution.mdp.state_ptr[state : state + 2]
    shares = solution.policy[first:last]
    best = int(np.argmax(shares))
    return f"{solution.mdp.actions[first + best]}" + ("" if shares[best] > 1.0 - 1e-9 else "*")


def _write(out: Path, solution: Solution) -> None:
    """One line per state, or per pair where the policy is randomised; the file appears whole."""
    mdp, randomised = solution.mdp, solution.policy.dtype.kind == "f"
    with whole(out) as place, open(place, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["idstate", "idaction", "probability", "value", "lower", "upper"])
        for s in range(mdp.num_states):
            numbers = [repr(float(column[s])) for column in (solution.value, solution.lower, solution.upper)]
            pairs = range(mdp.state_ptr[s], mdp.state_ptr[s + 1])
            if randomised and len(pairs) > 0:
                for k in pairs:
                    writer.writerow([s, mdp.actions[k], repr(float(solution.policy[k])), *numbers])
            else:
                writer.writerow([s, "" if len(pairs) == 0 else solution.policy[s], 1.0 if len(pairs) else "", *numbers])

"""Other libraries' best methods on the same nominal MDP."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import mdpsolver
import numpy as np
import quantecon.markov as qe
from scipy import sparse

from ewok import tabular
from ewok.tabular import TabularMDP
from ratio import Row, in_turn

_FAR = 1e-3


def against(name: str, mdp: TabularMDP, tolerance: float) -> Iterator[Row | str]:
    """The best method of each on the nominal MDP, after a trial of all; those that stop far too early are left out."""
    ours = {
        "value iteration": lambda: tabular.value_iteration(mdp, tolerance=tolerance).value,
        "modified policy iteration": lambda: tabular.modified_policy_iteration(mdp, tolerance=tolerance).value,
    }
    our_name, our_solve = best_of(ours)
    reference = our_solve()
    for label, methods in (("QuantEcon", quantecon(mdp, tolerance)), ("mdpsolver", mdp_solver(mdp, tolerance))):
        away = {method: float(abs(solve() - reference).max()) for method, solve in methods.items()}
        right = {method: solve for method, solve in methods.items() if away[method] <= _FAR}
        if not right:
            least = min(away.values())
            yield f"| {name}, nominal: {label} stops at least {least:.2g} from the value, however told | | | | <= 1 |"
            continue
        best, solve = best_of(right)
        times = in_turn(our_solve, solve, rounds=5, processor=True)
        left_out = ", ".join(f"its {method} stops {off:.2g} away" for method, off in away.items() if off > _FAR)
        work = f"{name}, nominal: our {our_name} over {label}'s {best} (within {away[best]:.0e} of ours; {left_out})"
        yield Row(work.replace("; )", ")"), *times, "<= 1")


def best_of(methods: dict[str, Callable[[], Any]]) -> tuple[str, Callable[[], Any]]:
    times = {}
    for name, call in methods.items():
        call()
        start = time.perf_counter()
        call()
        times[name] = time.perf_counter() - start
    best = min(times, key=lambda name: times[name])
    return best, methods[best]


def quantecon(mdp: TabularMDP, tolerance: float) -> dict[str, Callable[[], Any]]:
    shape = (mdp.num_pairs, mdp.num_states)
    matrix = sparse.csr_matrix((mdp.probabilities, mdp.next_states.astype(np.int32), mdp.row_ptr), shape=shape)
    problem = qe.DiscreteDP(mdp.pair_rewards, matrix, mdp.discount, mdp.states, mdp.actions)

    def solve(method: str) -> Any:
        return problem.solve(method=method, epsilon=tolerance, max_iter=1_000_000).v

    names = ["value_iteration", "modified_policy_iteration"]
    return {name.replace("_", " "): partial(solve, name) for name in names}


def mdp_solver(mdp: TabularMDP, tolerance: float) -> dict[str, Callable[[], Any]]:
    rewards, chances, columns = [], [], []
    for s in range(mdp.num_states):
        pairs = range(mdp.state_ptr[s], mdp.state_ptr[s + 1])
        rewards.append([float(mdp.pair_rewards[k]) for k in pairs])
        chances.append([mdp.probabilities[mdp.entries(k)].tolist() for k in pairs])
        columns.append([mdp.next_states[mdp.entries(k)].tolist() for k in pairs])
    model = mdpsolver.model()
    model.mdp(discount=mdp.discount, rewards=rewards, tranMatProbs=chances, tranMatColumns=columns)

    def solve(algorithm: str, update: str) -> Any:
        start = [0.0] * mdp.num_states  # or it goes on from where the last call ended
        model.solve(algorithm=algorithm, update=update, tolerance=tolerance, parallel=False, initValueVector=start)
        return np.array(model.getValueVector())

    return {f"{a} {u}": partial(solve, a, u) for a in ("vi", "mpi") for u in ("standard", "gs")}

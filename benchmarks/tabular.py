"""What exact robust MDPs cost, over nominal ones, and over what others take for the same.

Garnets are random MDPs of states x actions x next states, rewards between 0 and 1. Sweeps of one value
iteration are averaged over a whole solve. Times are the processor's, but for the million
states and for threads, which show what they can only where two cores are idle.

The bar for a worst row is for the row of a sweep, which a solve pays for every row at every sweep: proved to
1e-9, from the temperature of the sweep before, which the others' solvers cannot take over. From nothing, and
as exact as numbers are, rows are solved once a solve, for `kernel()` and `worst_kernel`: that is stated.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cvxpy as cp
import gymnasium as gym
import numpy as np
from scipy import optimize, sparse

import ewok
from ewok import tabular
from ewok.tabular import KL, L2, Contamination, TabularMDP
from ewok.tabular.operator import Operator
from ewok.tabular.rivals import contamination_q_learning, lp_q_learning, projected_gradient_kernel
from garnets import chain, garnet, machines, named
from ratio import Row, duration, in_turn
from tabular_peers import against

processor_time = partial(in_turn, processor=True)  # for work in one thread, on a machine that others use
SIZES = ((10_000, 10, 20), (100_000, 4, 10))
BETA, TOLERANCE = 0.1, 1e-6


def turning(operator: Operator, values: tuple[np.ndarray, np.ndarray]) -> Callable[[], object]:
    """Sweeps of two values in turn, so far apart that nothing found in the last one saves work in the next."""
    count = [0]

    def sweep() -> None:
        count[0] ^= 1
        operator(values[count[0]], 1e-9)

    return sweep


def nominal_sweep(size: tuple[int, int, int]) -> Row:
    mdp = garnet(*size)
    rng = np.random.default_rng(1)
    values = (10.0 * rng.random(mdp.num_states), 10.0 * rng.random(mdp.num_states))
    shape = (mdp.num_pairs, mdp.num_states)
    matrix = sparse.csr_array((mdp.probabilities, mdp.next_states.astype(np.int32), mdp.row_ptr), shape=shape)
    matrix.indptr = matrix.indptr.astype(np.int32)

    def by_scipy() -> np.ndarray:
        best: np.ndarray = (mdp.rewards + mdp.discount * (matrix @ values[0])).reshape(size[:2]).max(axis=1)
        return best

    operator = Operator(mdp)
    np.testing.assert_allclose(operator(values[0]), by_scipy())
    ours, peer = processor_time(turning(operator, values), by_scipy)
    return Row(f"{named(size)}: nominal sweep over scipy's product and max", ours, peer, "<= 1.1")


def solving(mdp: TabularMDP, uncertainty: KL | None, counts: list[int]) -> Callable[[], None]:
    def solve() -> None:
        if uncertainty is None:
            counts[0] = tabular.value_iteration(mdp, tolerance=TOLERANCE).iterations
        else:
            counts[0] = tabular.robust_value_iteration(mdp, uncertainty, tolerance=TOLERANCE).iterations

    return solve


def robust_sweep(size: tuple[int, int, int]) -> Iterator[Row]:
    """Over a full nominal sweep: the sweeps of a whole solve, and ones in which every row is tilted."""
    mdp = garnet(*size)
    rng = np.random.default_rng(1)
    full = turning(Operator(mdp), (10.0 * rng.random(mdp.num_states), 10.0 * rng.random(mdp.num_states)))
    counts = [0]
    solve = solving(mdp, KL(BETA), counts)
    solve()
    ours, peer = processor_time(solve, full, rounds=9)
    work = f"{named(size)}: KL robust sweep of a solve over that nominal sweep"
    yield Row(work, ours / counts[0], peer, "<= 3.5")
    shares = np.full(mdp.num_pairs, 1.0 / size[1])
    every = Operator(mdp, KL(BETA), shares=shares)
    value, slack, change = np.zeros(mdp.num_states), 0.0, np.inf
    while change > 1e-3:
        new = every(value, slack)
        change = float(np.ptp(new - value))
        value, slack = new, 0.05 * change
    ours, peer = processor_time(partial(every, value, slack), full)
    yield Row(f"{named(size)}: the same where every row is tilted, once warm", ours, peer, "stated")


def whole_solve(size: tuple[int, int, int]) -> Row:
    mdp = garnet(*size)
    robust, nominal = [0], [0]
    ours, peer = processor_time(solving(mdp, KL(BETA), robust), solving(mdp, None, nominal), rounds=9)
    work = f"{named(size)}: KL robust solve to {TOLERANCE:g} over nominal ({robust[0]} and {nominal[0]} sweeps)"
    return Row(work, ours, peer, "<= 3.5")


def whole_chain() -> Row:
    """One solve of each whose sweeps are many and whose span falls slowly."""
    mdp, counts = chain(200), [0]
    ours, peer = processor_time(solving(mdp, KL(0.05), counts), solving(mdp, None, [0]), rounds=5)
    return Row(f"river of 200 at gamma .99: KL robust solve to {TOLERANCE:g} over nominal", ours, peer, "<= 3.5")


def inner_solution() -> Iterator[Row]:
    """A row of 20 outcomes: as a sweep takes it, and from nothing."""
    mdp, num = garnet(1_000, 10, 20), 20
    value = np.random.default_rng(1).random(mdp.num_states)
    cold, warm = Operator(mdp, KL(BETA)), Operator(mdp, KL(BETA), shares=np.full(mdp.num_pairs, 0.1))
    z, p = mdp.discount * value[mdp.next_states].reshape(-1, 20), mdp.probabilities.reshape(-1, 20)
    exact = (cold.rows(value).reshape(-1, 20) * z).sum(axis=1)
    for _ in range(3):
        warm(value, 1e-9)
    peers = {"scipy's dual": by_scipy(z[:num], p[:num]), "cvxpy": by_cvxpy(z[:num], p[:num])}
    for name, call in peers.items():
        off = float(abs(np.array(call()) - exact[:num]).max())
        assert off < 1e-5
        for way, row, bar in (
            ("in a sweep, to 1e-9", partial(warm, value, 1e-9), ">= 500"),
            ("from nothing, to 1e-13", partial(cold.rows, value), "stated"),
        ):
            ours, peer = processor_time(row, call, rounds=7)
            ours, peer = ours / mdp.num_pairs, peer / num
            work = f"KL worst row of 20 outcomes, {way} ({ours * 1e6:.2f} us): {name} (off by {off:.0e}) over ours"
            yield Row(work, ours, peer, bar, f"{peer / ours:,.0f}")


def by_scipy(z: np.ndarray, p: np.ndarray) -> Callable[[], list[float]]:
    """The dual in one variable, with few calls of numpy: max of -kappa log E exp(-z / kappa) - kappa beta."""

    def dual(k: int) -> float:
        low = z[k].min()
        shifted = z[k] - low
        found = optimize.minimize_scalar(
            lambda kappa: kappa * (math.log(p[k] @ np.exp(-shifted / kappa)) + BETA),
            bounds=(1e-6, 10.0),
            method="bounded",
            options={"xatol": 1e-9},
        )
        return float(low - found.fun)

    return lambda: [dual(k) for k in range(len(z))]


def by_cvxpy(z: np.ndarray, p: np.ndarray) -> Callable[[], list[float]]:
    q, scores, nominal = cp.Variable(z.shape[1]), cp.Parameter(z.shape[1]), cp.Parameter(z.shape[1], nonneg=True)
    problem = cp.Problem(cp.Minimize(scores @ q), [cp.sum(q) == 1, cp.sum(cp.rel_entr(q, nominal)) <= BETA])

    def solve() -> list[float]:
        values = []
        for k in range(len(z)):
            scores.value, nominal.value = z[k], p[k]
            values.append(float(problem.solve(solver=cp.CLARABEL, ignore_dpp=True)))
        return values

    return solve


def learning() -> Row:
    """Steps of the paper's cliff: the compiled loop, and the same through the environment and its wrapper."""
    mdp, counts = tabular.cliff_walking(), [0, 0]

    def compiled() -> None:
        learned = tabular.ewok_q_learning(mdp, num_episodes=2_000, num_samples=5, kappa=0.4, epsilon=1.0, max_steps=100)
        counts[0] = int(learned.visits.sum())

    env = ewok.WorstKernel(gym.make("ewok/CliffWalking-v0"), num_samples=5, kappa=0.4)

    def wrapped() -> None:
        tabular.q_learning(env, discount=0.8, num_episodes=20, epsilon=1.0, max_steps=100, bind=ewok.bind)

    compiled()
    ours, peer = processor_time(compiled, wrapped, rounds=5)
    ours, peer = ours / counts[0], peer / 2_000  # at random no episode of 100 steps comes to the goal, or hardly any
    work = "cliff, N=5: a step of EWoK Q-learning through `WorstKernel` over a compiled one"
    return Row(work, ours, peer, "stated", f"{peer / ours:,.0f}")


def threads() -> Row:
    mdp = garnet(*SIZES[1])

    def solve(num: int) -> None:
        tabular.robust_value_iteration(mdp, KL(BETA), tolerance=TOLERANCE, num_threads=num)

    ours, peer = in_turn(partial(solve, 2), partial(solve, 1), rounds=9)
    return Row(f"{named(SIZES[1])}: KL robust solve, one thread over two", ours, peer, ">= 1.6", f"{peer / ours:.2f}")


def modified() -> Iterator[Row]:
    for name, mdp in (("machines of 1,000 ages", machines()), ("river of 1,000", chain())):
        for label, uncertainty in (("nominal", None), ("KL .05", KL(0.05))):
            plain = partial(solving(mdp, uncertainty, [0]))
            ours, peer = processor_time(
                partial(tabular.modified_policy_iteration, mdp, uncertainty, tolerance=TOLERANCE), plain, rounds=5
            )
            work = f"{name} at gamma .99, {label}: modified policy iteration over value iteration"
            yield Row(work, ours, peer, "< 1")


def million() -> str:
    """A million states, in a process of its own, so that its memory is its own."""
    script = """
import resource, time
import numpy as np
from tabular import BETA, KL, TabularMDP, garnet, tabular
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
tabular.robust_value_iteration(garnet(100, 2, 3), KL(BETA))
mdp = garnet(1_000_000, 10, 20)
made = peak()
start = time.perf_counter()
solution = tabular.robust_value_iteration(mdp, KL(BETA), tolerance=1e-4)
took = time.perf_counter() - start
stated = TabularMDP.bytes_needed(1_000_000, 10, 20)
assert mdp.num_bytes == stated and solution.gap <= 1e-4
print(f"{took:.1f} {solution.iterations} {stated / 2**30:.2f} {peak():.2f} {made:.2f}")
"""
    here = __file__.rpartition("/")[0]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=here)
    took, sweeps, table, peak, made = done.stdout.split()
    return (
        f"| Garnet 1,000,000 x 10 x 20, KL robust to 1e-4, {sweeps} sweeps | {took} s | {table} GiB of table, "
        f"{peak} GiB at the peak ({made} while it is made) | | in memory, stated |"
    )


def rivals() -> Iterator[str]:
    """What the related work's methods need to come as near as ours do in the sweeps, or kernels, given."""
    mdp, beta = tabular.cliff_walking(), 0.4
    policy = tabular.robust_value_iteration(mdp, KL(beta)).policy
    start = time.perf_counter()
    descent = projected_gradient_kernel(mdp, policy, KL(beta), tolerance=1e-6)
    took = time.perf_counter() - start
    goal = tabular.robust_policy_evaluation(mdp, policy, KL(beta), tolerance=1e-9).robust_return
    iterates = [float(mdp.initial @ v) for v in tabular.kernel_iterates(mdp, policy, KL(beta), 20)]
    needed = next(n for n, worth in enumerate(iterates) if worth - goal <= 1e-6)
    yield (
        f"| cliff, worst KL kernel of a policy to 1e-6: the paper's kernel updates, and projected gradient steps | "
        f"{needed} | {descent.iterations} ({duration(took)}) | {descent.iterations / needed:.0f} | stated |"
    )
    rng = np.random.default_rng(0)
    dense = TabularMDP.from_arrays(rng.dirichlet(np.ones(20), (20, 3)), rng.random((20, 3)), discount=0.9)
    learners: dict[str, tuple[Any, Callable[[int], np.ndarray]]] = {
        "R-contamination": (Contamination(0.1), partial(by_contamination, dense)),
        "L2-regularised": (L2(0.02), partial(by_regularising, dense)),
    }
    for name, (uncertainty, learn) in learners.items():
        solution = tabular.robust_value_iteration(dense, uncertainty, tolerance=1e-6)
        steps = 1_000
        while abs(learn(steps) - solution.value).max() > 0.01 * solution.value.max():
            steps *= 2
        yield (
            f"| dense MDP of 20 states, to 1%: sweeps of ours to 1e-6, and steps of {name} Q-learning | "
            f"{solution.iterations} | {steps:,} | | stated |"
        )


def by_contamination(mdp: TabularMDP, steps: int) -> np.ndarray:
    q = contamination_q_learning(mdp, 0.1, num_steps=steps)
    return np.maximum.reduceat(q, mdp.state_ptr[:-1])


def by_regularising(mdp: TabularMDP, steps: int) -> np.ndarray:
    q = lp_q_learning(mdp, 0.02, 2, num_steps=steps)
    return np.maximum.reduceat(q, mdp.state_ptr[:-1])


def rows() -> Iterator[Row | str]:
    for size in SIZES:
        yield nominal_sweep(size)
    for size in SIZES:
        yield from robust_sweep(size)
    for size in SIZES:
        yield whole_solve(size)
    yield whole_chain()
    yield from inner_solution()
    yield learning()
    yield threads()
    yield from modified()
    yield from against(named(SIZES[0]), garnet(*SIZES[0]), TOLERANCE)
    yield from against("river of 1,000 at gamma .99", chain(), TOLERANCE)
    yield million()
    yield from rivals()

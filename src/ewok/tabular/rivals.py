"""The related work's tabular methods, small: for comparison.

- Robust Q-learning under R-contamination (Wang and Zou 2021): with probability R the adversary moves
  to the state of its choice.
- Robust Q-learning by L_p regularisation (Kumar et al. 2022): the worst of an L_p ball of kernels,
  without regard to their signs, costs gamma alpha kappa_q(v), a seminorm of v.
- The worst kernel by projected gradient descent (Wang et al. 2023), on the paper's KL set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import wrightomega

from ewok.errors import ArgumentError, require
from ewok.tabular.compiled import owning
from ewok.tabular.entries import Floats
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.operator import radii_of
from ewok.tabular.policy import shares_of
from ewok.tabular.sets import KL
from ewok.tabular.solution import NotConvergedError
from ewok.tabular.solve import robust_policy_evaluation
from ewok.tabular.worst import policy_value, scores_of

_CHEAPEST, _DEAREST = -20.0, 20.0  # logarithms of what a divergence may cost


def contamination_q_learning(
    mdp: TabularMDP, contamination: float, *, num_steps: int, learning_rate: float = 0.01, seed: int = 0
) -> Floats:
    """(K,) Q <- Q + eta (r + gamma ((1 - R) v(s') + R min_s v(s)) - Q), over pairs drawn at random."""
    require(0.0 <= contamination <= 1.0, "contamination", "between 0 and 1", contamination, "Try 0.1.")
    return _asynchronous(mdp, contamination, 0.0, math.inf, num_steps, learning_rate, seed)


def lp_q_learning(
    mdp: TabularMDP, radius: float, p: float, *, num_steps: int, learning_rate: float = 0.01, seed: int = 0
) -> Floats:
    """(K,) Q <- Q + eta (r + gamma (v(s') - radius kappa_q(v)) - Q), 1 / p + 1 / q = 1, over pairs drawn at random.

    kappa_q(v) = min_c ||v - c||_q: half the span for p = 1, the norm around the mean for p = 2, the sum
    of distances from the median for p = infinity.
    """
    require(radius >= 0.0, "radius", "at least 0", radius, "Try 0.1.")
    require(p in (1, 2, math.inf), "p", "1, 2 or infinity", p, "These have closed forms.")
    return _asynchronous(mdp, 0.0, radius, float(p), num_steps, learning_rate, seed)


def _asynchronous(
    mdp: TabularMDP, share: float, radius: float, p: float, num_steps: int, learning_rate: float, seed: int
) -> Floats:
    require(mdp.sense == "maximise", "mdp", "one with rewards to be maximised", mdp.sense, "Negate the costs.")
    require(num_steps >= 1, "num_steps", "at least 1", num_steps, "Try 1_000_000.")
    require(0.0 < learning_rate <= 1.0, "learning_rate", "above 0 and at most 1", learning_rate, "Try 0.01.")
    ends = np.concatenate([np.cumsum(mdp.probabilities[mdp.entries(k)]) for k in range(mdp.num_pairs)])
    tables = (mdp.state_ptr, mdp.row_ptr, mdp.states, mdp.next_states, mdp.entry_rewards, ends)
    q = np.zeros(mdp.num_pairs)
    rng = np.random.default_rng(seed)
    _learn(tables, q, mdp.discount, share, radius, p, learning_rate, num_steps, rng)
    return q


@owning
def _learn(tables, q, discount, share, radius, p, learning_rate, num_steps, rng):  # type: ignore[no-untyped-def]
    state_ptr, row_ptr, states, next_states, rewards, ends = tables
    v = np.zeros(len(state_ptr) - 1)
    for _ in range(num_steps):
        k = min(int(rng.random() * len(q)), len(q) - 1)
        entry, chance = row_ptr[k], rng.random()
        while entry < row_ptr[k + 1] - 1 and ends[entry] <= chance:
            entry += 1
        worst = v.min() if share > 0.0 else 0.0
        cost = radius * seminorm(v, p) if radius > 0.0 else 0.0
        goal = rewards[entry] + discount * ((1.0 - share) * v[next_states[entry]] + share * worst - cost)
        q[k] += learning_rate * (goal - q[k])
        s = states[k]
        v[s] = q[state_ptr[s] : state_ptr[s + 1]].max()


@owning
def seminorm(v, p):  # type: ignore[no-untyped-def]
    """min_c ||v - c||_q, 1 / p + 1 / q = 1."""
    if p == 1.0:
        return 0.5 * (v.max() - v.min())
    if p == 2.0:
        return math.sqrt(((v - v.mean()) ** 2).sum())
    return np.abs(v - np.median(v)).sum()


@final
@dataclass(frozen=True, eq=False)
class Descent:
    """How a descent on kernels went.

    Attributes:
        rows: (E,) the kernel reached.
        values: returns from the initial distribution under the kernels on the way, nominal first.
        iterations: kernels tried.
    """

    rows: Floats = field(repr=False)
    values: Floats = field(repr=False)
    iterations: int


def projected_gradient_kernel(
    mdp: TabularMDP,
    policy: ArrayLike,
    uncertainty: KL,
    *,
    step_size: float = 0.1,
    tolerance: float = 1e-6,
    max_iterations: int = 10_000,
) -> Descent:
    """The worst kernel for a policy: descend its return in the kernel, project back onto the KL set, repeat.

    The gradient of the return in row (s, a) is d(s) pi(a | s) z, d the discounted visits; steps are
    taken in z alone, as a row's own scale does not change where it ends. Stops when the return is
    within the tolerance of the robust one, which `robust_policy_evaluation` knows; raises
    `NotConvergedError` when it has not come there.
    """
    if mdp.sense != "maximise" or uncertainty.optimistic or uncertainty.per_state:
        raise ArgumentError("`mdp` must have rewards to be maximised, and `uncertainty` be a robust KL set per pair.")
    used = np.repeat(shares_of(mdp, policy) > 0.0, np.diff(mdp.row_ptr))
    radii = radii_of(uncertainty, mdp.num_pairs, "pair")
    exact = robust_policy_evaluation(mdp, policy, uncertainty, tolerance=0.1 * tolerance)
    goal = exact.robust_return
    rows, value = mdp.probabilities.copy(), policy_value(mdp, policy)
    values = [float(mdp.initial @ value)]
    while values[-1] - goal > tolerance:
        if len(values) > max_iterations:
            raise NotConvergedError(
                f"`max_iterations` must be larger than {max_iterations} to come within {tolerance:g} of the robust "
                f"return; it is {values[-1] - goal:.3g} away. Raise it, `step_size` or `tolerance`.",
                exact.lower,
                value,
            )
        wanted = np.where(used, rows - step_size * scores_of(mdp, value), rows)
        rows = np.concatenate(
            [
                project_onto_kl(wanted[mdp.entries(k)], mdp.probabilities[mdp.entries(k)], float(radii[k]))
                for k in range(mdp.num_pairs)
            ]
        )
        value = policy_value(mdp.with_kernel(rows), policy)
        values.append(float(mdp.initial @ value))
    return Descent(rows, np.array(values), len(values) - 1)


def project_onto_kl(y: Floats, p: Floats, beta: float) -> Floats:
    """The distribution nearest to y, in the Euclidean sense, with KL(q || p) <= beta.

    For a price lambda of the divergence, q = lambda W(p / lambda exp((y - nu - lambda) / lambda)), with
    nu such that q sums to one; W is Lambert's function, in logarithms Wright's omega.
    """
    if beta == 0.0 or len(p) == 1:
        return p.copy()

    def excess(log_price: float) -> float:
        return _kl(_priced(y, p, math.exp(log_price)), p) - beta

    if excess(_CHEAPEST) <= 0.0:
        return _priced(y, p, math.exp(_CHEAPEST))
    log_price = brentq(excess, _CHEAPEST, _DEAREST, xtol=1e-11)
    return _priced(y, p, math.exp(log_price + 1e-10))  # on the side within the set


def _priced(y: Floats, p: Floats, price: float) -> Floats:
    def weights(nu: float) -> Floats:
        q: Floats = price * wrightomega(np.log(p / price) + (y - nu - price) / price).real
        return q

    low, high = float(y.min()) - 1.0 - price * 40.0, float(y.max()) + price * 40.0
    q = weights(brentq(lambda nu: float(weights(nu).sum()) - 1.0, low, high))
    projected: Floats = q / q.sum()
    return projected


def _kl(q: Floats, p: Floats) -> float:
    some = q > 0.0
    return float(np.sum(q[some] * np.log(q[some] / p[some])))

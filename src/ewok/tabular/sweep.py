"""One compiled pass over all rows of an MDP: the nominal and the robust Bellman operator."""

from __future__ import annotations

import numpy as np

from ewok.tabular.compiled import borrowing, summing
from ewok.tabular.prefetch import prefetch
from ewok.tabular.sets import kl
from ewok.tabular.sets.worst_row import worst_row

NOMINAL = -1  # the kind of no set at all
_AHEAD = 4  # states between asking for a row and needing it


@borrowing
def nominal_sweep(first, last, _, tables, value, discount, rise, memory, new):  # type: ignore[no-untyped-def]
    """Fill new[first:last] with T v: the best action's <p, r + gamma v>. See `robust_sweep`."""
    state_ptr, row_ptr, next_states, probabilities, pair_rewards, _ = tables
    floors, ceilings, _, taken = memory
    for s in range(first, last):
        best, choice, least = -np.inf, -1, floors[s]
        for k in range(state_ptr[s], state_ptr[s + 1]):
            if ceilings[k] + rise < least:
                continue
            entries = slice(row_ptr[k], row_ptr[k + 1])
            total = pair_rewards[k] + discount * _mean(probabilities[entries], next_states[entries], value)
            ceilings[k] = total - rise
            if total > best:
                best, choice = total, k
        new[s] = best if choice >= 0 else 0.0
        taken[s] = choice


@borrowing
def robust_sweep(first, last, work, tables, value, question, memory, new):  # type: ignore[no-untyped-def]
    """Fill new[first:last] with T v: the best action's worst <q, r + gamma v>, at most `slack` too bad.

    What was found before saves work and changes nothing else. An action is not looked at where its
    ceiling, which rises no faster than v, is below the floor of its state, which falls no faster than
    v; nor further than its nominal value where that is no better, for the worst is not either; and the
    temperature of its last worst row is where the search for the next one starts.

    Args:
        first, last: which states.
        work: (4, at least the longest row) scratch.
        tables: state_ptr, row_ptr, next_states, probabilities, pair_rewards, entry_rewards (or none).
        value: (S,) v.
        question: kind, sign, radii, weights, discount, rise, slack.
        memory: (S,) floors, (K,) ceilings, (K,) temperatures and (S,) pairs taken; the last three are
            written to.
        new: (S,) written to.
    """
    state_ptr, row_ptr, next_states, probabilities, pair_rewards, entry_rewards = tables
    kind, sign, radii, weights, discount, rise, slack = question
    floors, ceilings, temperatures, taken = memory
    above = slack if sign > 0.0 else 0.0
    for s in range(first, last):
        if s + _AHEAD < last:
            _ask_for(taken[s + _AHEAD], row_ptr, next_states, probabilities)
        best, choice, least, incumbent = -np.inf, -1, floors[s], taken[s]
        for j in range(state_ptr[s] - (incumbent >= 0), state_ptr[s + 1]):
            k = incumbent if j < state_ptr[s] else j  # the last action taken comes first
            if j == incumbent or ceilings[k] + rise < max(least, best):
                continue
            start, size = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
            z, p = work[0], probabilities[start : start + size]
            paid, mean = _look(z, p, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
            total = paid + sign * mean
            if sign > 0.0 and total < max(least, best):
                ceilings[k] = total - rise
                continue
            if kind == kl.KIND:
                tau = temperatures[k]
                bound, temperatures[k] = kl.bounded_row(z, p, mean, radii[k], tau, slack, work[1])
            else:
                w = work[1, : _weigh(work[1], start, size, next_states, weights)]
                bound = worst_row(kind, z[:size], p, w, radii[k], work[2, :size], work[3, :size])
            total = paid + sign * bound
            ceilings[k] = total + above - rise
            if total > best:
                best, choice = total, k
        new[s] = best if choice >= 0 else 0.0
        taken[s] = choice


@borrowing
def _ask_for(k, row_ptr, next_states, probabilities):  # type: ignore[no-untyped-def]
    """Start to fetch the row of a pair: where each state's is cannot be foreseen by the machine."""
    if k >= 0:
        for i in range(row_ptr[k], row_ptr[k + 1], 8):
            prefetch(probabilities, i)
            prefetch(next_states, i)


@borrowing
def policy_sweep(first, last, work, tables, value, question, temperatures, shares, new):  # type: ignore[no-untyped-def]
    """Fill new[first:last] with T v of a policy that takes each pair with this share."""
    state_ptr, row_ptr, next_states, probabilities, pair_rewards, entry_rewards = tables
    kind, sign, radii, weights, discount, _, slack = question
    for s in range(first, last):
        new[s] = 0.0
        for k in range(state_ptr[s], state_ptr[s + 1]):
            if shares[k] == 0.0:
                continue
            start, size = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
            z, p = work[0], probabilities[start : start + size]
            paid, bound = _look(z, p, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
            if kind == kl.KIND:
                tau = temperatures[k]
                bound, temperatures[k] = kl.bounded_row(z, p, bound, radii[k], tau, slack, work[1])
            elif kind != NOMINAL:
                w = work[1, : _weigh(work[1], start, size, next_states, weights)]
                bound = worst_row(kind, z[:size], p, w, radii[k], work[2, :size], work[3, :size])
            new[s] += shares[k] * (paid + sign * bound)


@borrowing
def worst_rows(pairs, work, tables, value, question, starts, rows):  # type: ignore[no-untyped-def]
    """Fill rows[starts[i]:] with the exact worst row of pairs[i]."""
    _, row_ptr, next_states, probabilities, pair_rewards, entry_rewards = tables
    kind, sign, radii, weights, discount, _, _ = question
    for i in range(len(pairs)):
        k = pairs[i]
        start, size = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
        p, q = probabilities[start : start + size], rows[starts[i] : starts[i] + size]
        for j in range(size):
            q[j] = p[j]
        if kind != NOMINAL:
            z, w = work[0, :size], work[1, : _weigh(work[1], start, size, next_states, weights)]
            _look(z, p, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
            worst_row(kind, z, p, w, radii[k], work[2, :size], q)


@borrowing
def freeze(taken, work, tables, value, question, temperatures, starts, next_taken, rows, paid):  # type: ignore[no-untyped-def]
    """Copy the row of each pair taken, tilted as it last was (KL) or exactly worst; and its expected reward."""
    _, row_ptr, next_states, probabilities, pair_rewards, entry_rewards = tables
    kind, sign, radii, weights, discount, _, _ = question
    for s in range(len(taken)):
        k = taken[s]
        if k < 0:
            continue
        start, size = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
        p, q = probabilities[start : start + size], rows[starts[s] : starts[s + 1]]
        for i in range(size):
            next_taken[starts[s] + i] = next_states[start + i]
            q[i] = p[i]
        if kind != NOMINAL:
            z, w = work[0, :size], work[1, : _weigh(work[1], start, size, next_states, weights)]
            _look(z, p, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
            if kind == kl.KIND:
                kl.tilted_by(z, p, temperatures[k], q)
            else:
                worst_row(kind, z, p, w, radii[k], work[2, :size], q)
        paid[s] = pair_rewards[k] if len(entry_rewards) == 0 else 0.0
        for i in range(size if len(entry_rewards) > 0 else 0):
            paid[s] += q[i] * entry_rewards[start + i]


@summing
def _mean(p, next_states, value):  # type: ignore[no-untyped-def]
    """<p, v>."""
    mean = 0.0
    for i in range(len(p)):
        mean += p[i] * value[next_states[i]]
    return mean


@summing
def _look(z, p, start, next_states, value, sign, discount, paid, entry_rewards):  # type: ignore[no-untyped-def]
    """Fill z with r + gamma v(s') of a pair's outcomes, low is bad; returns what stays out of it, and <p, z>.

    A reward that does not depend on the outcome stays out of z.
    """
    mean = 0.0
    if len(entry_rewards) == 0:
        for i in range(len(p)):
            z[i] = sign * discount * value[next_states[start + i]]
            mean += p[i] * z[i]
        return paid, mean
    for i in range(len(p)):
        z[i] = sign * (entry_rewards[start + i] + discount * value[next_states[start + i]])
        mean += p[i] * z[i]
    return 0.0, mean


@borrowing
def _weigh(w, start, size, next_states, weights):  # type: ignore[no-untyped-def]
    """Fill w with the weights of a pair's outcomes; returns how many there are, perhaps none."""
    if len(weights) == 0:
        return 0
    for i in range(size):
        w[i] = weights[next_states[start + i]]
    return size

"""One compiled pass over all rows of an MDP: the nominal and the robust Bellman operator."""

from __future__ import annotations

import numpy as np
from numba import njit

from ewok.tabular.sets import kl
from ewok.tabular.sets.worst_row import worst_row

NOMINAL = -1  # the kind of no set at all


@njit(cache=True, nogil=True, error_model="numpy")
def nominal_sweep(first, last, tables, value, discount, rise, memory, new):  # type: ignore[no-untyped-def]
    """Fill new[first:last] with T v: the best action's <p, r + gamma v>. See `robust_sweep`."""
    state_ptr, row_ptr, next_states, probabilities, pair_rewards, _ = tables
    floors, ceilings, _, taken = memory
    for s in range(first, last):
        best, choice, least = -np.inf, -1, floors[s]
        for k in range(state_ptr[s], state_ptr[s + 1]):
            if ceilings[k] + rise < least:
                continue
            mean = 0.0
            for e in range(row_ptr[k], row_ptr[k + 1]):
                mean += probabilities[e] * value[next_states[e]]
            total = pair_rewards[k] + discount * mean
            ceilings[k] = total - rise
            if total > best:
                best, choice = total, k
        new[s] = best if choice >= 0 else 0.0
        taken[s] = choice


@njit(cache=True, nogil=True, error_model="numpy")
def robust_sweep(first, last, tables, value, question, memory, new):  # type: ignore[no-untyped-def]
    """Fill new[first:last] with T v: the best action's worst <q, r + gamma v>, at most `slack` too bad.

    What was found before saves work and changes nothing else. An action is not looked at where its
    ceiling, which rises no faster than v, is below the floor of its state, which falls no faster than
    v; nor further than its nominal value where that is no better, for the worst is not either; and the
    temperature of its last worst row is where the search for the next one starts.

    Args:
        first, last: which states.
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
    work = _work(first, last, state_ptr, row_ptr)
    for s in range(first, last):
        best, choice, least, incumbent = -np.inf, -1, floors[s], taken[s]
        for j in range(state_ptr[s] - (incumbent >= 0), state_ptr[s + 1]):
            k = incumbent if j < state_ptr[s] else j  # the last action taken comes first
            if j == incumbent or ceilings[k] + rise < max(least, best):
                continue
            start, size, mean = row_ptr[k], row_ptr[k + 1] - row_ptr[k], 0.0
            for e in range(start, start + size):
                mean += probabilities[e] * value[next_states[e]]
            total = pair_rewards[k] + discount * mean
            if sign > 0.0 and total < max(least, best):
                ceilings[k] = total - rise
                continue
            z, p = work[0, :size], probabilities[start : start + size]
            paid = _look(z, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
            if kind == kl.KIND:
                mean, tau = sign * (total - paid), temperatures[k]
                bound, temperatures[k] = kl.bounded_row(z, p, mean, radii[k], tau, slack, work[1])
            else:
                w = _weights(work[1], start, size, next_states, weights)
                bound = worst_row(kind, z, p, w, radii[k], work[2, :size], work[3, :size])
            total = paid + sign * bound
            ceilings[k] = total + above - rise
            if total > best:
                best, choice = total, k
        new[s] = best if choice >= 0 else 0.0
        taken[s] = choice


@njit(cache=True, nogil=True, error_model="numpy")
def policy_sweep(first, last, tables, value, question, temperatures, shares, new):  # type: ignore[no-untyped-def]
    """Fill new[first:last] with T v of a policy that takes each pair with this share."""
    state_ptr, row_ptr, next_states, probabilities, pair_rewards, entry_rewards = tables
    kind, sign, radii, weights, discount, _, slack = question
    work = _work(first, last, state_ptr, row_ptr)
    for s in range(first, last):
        new[s] = 0.0
        for k in range(state_ptr[s], state_ptr[s + 1]):
            if shares[k] == 0.0:
                continue
            start, size, mean = row_ptr[k], row_ptr[k + 1] - row_ptr[k], 0.0
            for e in range(start, start + size):
                mean += probabilities[e] * value[next_states[e]]
            total = pair_rewards[k] + discount * mean
            if kind != NOMINAL:
                z, p = work[0, :size], probabilities[start : start + size]
                paid = _look(z, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
                if kind == kl.KIND:
                    mean, tau = sign * (total - paid), temperatures[k]
                    bound, temperatures[k] = kl.bounded_row(z, p, mean, radii[k], tau, slack, work[1])
                else:
                    w = _weights(work[1], start, size, next_states, weights)
                    bound = worst_row(kind, z, p, w, radii[k], work[2, :size], work[3, :size])
                total = paid + sign * bound
            new[s] += shares[k] * total


@njit(cache=True, nogil=True, error_model="numpy")
def worst_rows(pairs, tables, value, question, starts, rows):  # type: ignore[no-untyped-def]
    """Fill rows[starts[i]:] with the exact worst row of pairs[i]."""
    state_ptr, row_ptr, next_states, probabilities, pair_rewards, entry_rewards = tables
    kind, sign, radii, weights, discount, _, _ = question
    work = _work(0, len(state_ptr) - 1, state_ptr, row_ptr)
    for i in range(len(pairs)):
        k = pairs[i]
        start, size = row_ptr[k], row_ptr[k + 1] - row_ptr[k]
        p, q = probabilities[start : start + size], rows[starts[i] : starts[i] + size]
        if kind == NOMINAL:
            q[:] = p
        else:
            z, w = work[0, :size], _weights(work[1], start, size, next_states, weights)
            _look(z, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
            worst_row(kind, z, p, w, radii[k], work[2, :size], q)


@njit(cache=True, nogil=True, error_model="numpy")
def freeze(taken, tables, value, question, temperatures, starts, next_taken, rows, paid):  # type: ignore[no-untyped-def]
    """Copy the row of each pair taken, tilted as it last was (KL) or exactly worst; and its expected reward."""
    state_ptr, row_ptr, next_states, probabilities, pair_rewards, entry_rewards = tables
    kind, sign, radii, weights, discount, _, _ = question
    work = _work(0, len(state_ptr) - 1, state_ptr, row_ptr)
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
            z, w = work[0, :size], _weights(work[1], start, size, next_states, weights)
            _look(z, start, next_states, value, sign, discount, pair_rewards[k], entry_rewards)
            if kind == kl.KIND:
                kl.tilted_by(z, p, temperatures[k], q)
            else:
                worst_row(kind, z, p, w, radii[k], work[2, :size], q)
        paid[s] = pair_rewards[k] if len(entry_rewards) == 0 else 0.0
        for i in range(size if len(entry_rewards) > 0 else 0):
            paid[s] += q[i] * entry_rewards[start + i]


@njit(cache=True, nogil=True, error_model="numpy")
def _work(first, last, state_ptr, row_ptr):  # type: ignore[no-untyped-def]
    """Scratch for the longest row of these states."""
    longest = 0
    for k in range(state_ptr[first], state_ptr[last]):
        longest = max(longest, row_ptr[k + 1] - row_ptr[k])
    return np.empty((4, longest))


@njit(cache=True, nogil=True, error_model="numpy")
def _look(z, start, next_states, value, sign, discount, paid, entry_rewards):  # type: ignore[no-untyped-def]
    """Fill z with r + gamma v(s') of a pair's outcomes, low is bad.

    Where the reward does not depend on the outcome it stays out of z, and is returned.
    """
    for i in range(len(z)):
        z[i] = sign * discount * value[next_states[start + i]]
    if len(entry_rewards) == 0:
        return paid
    for i in range(len(z)):
        z[i] += sign * entry_rewards[start + i]
    return 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _weights(scratch, start, size, next_states, weights):  # type: ignore[no-untyped-def]
    """The weights of a pair's outcomes, if there are any."""
    if len(weights) == 0:
        return scratch[:0]
    for i in range(size):
        scratch[i] = weights[next_states[start + i]]
    return scratch[:size]

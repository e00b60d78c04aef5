"""Q-learning by tables: on any discrete environment, and compiled on a tabular MDP with EWoK's choice built in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from ewok.errors import ArgumentError, require
from ewok.tabular.compiled import owning
from ewok.tabular.entries import Floats
from ewok.tabular.estimate import require_one
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.sets.kl import tilted_by, tilted_row


@final
@dataclass(frozen=True, eq=False)
class QTable:
    """What was learned; a value function of observations, for `ewok.bind`.

    Attributes:
        q: (S, A) action values; minus infinity for actions a state does not have.
        discount: gamma.
        returns: (num_episodes,) undiscounted return of each episode.
    """

    q: Floats
    discount: float
    returns: Floats

    def __repr__(self) -> str:
        states, actions = self.q.shape
        sizes = f"{states:,} states, {actions:,} actions"
        return f"QTable({sizes}, discount {self.discount:g}, {len(self.returns):,} episodes)"

    def __call__(self, observations: Any) -> Floats:
        best = np.max(self.q[np.asarray(observations)], axis=-1)
        values: Floats = np.where(np.isneginf(best), 0.0, best)  # without actions the episode has ended
        return values

    @property
    def policy(self) -> NDArray[np.int64]:
        """(S,) the greedy action."""
        greedy: NDArray[np.int64] = np.argmax(self.q, axis=1)
        return greedy

    @property
    def value(self) -> Floats:
        """(S,) the greedy action's value."""
        return self(np.arange(len(self.q)))


def q_learning(
    env: gym.Env[Any, Any],
    *,
    discount: float,
    num_episodes: int,
    learning_rate: float = 0.01,
    epsilon: float = 0.2,
    max_steps: int = 1_000,
    seed: int = 0,
    bind: Callable[[QTable, gym.Env[Any, Any]], Any] | None = None,
) -> QTable:
    """Plain tabular Q-learning on an environment with discrete observations and actions.

    On a `WorstKernel` it is the paper's EWoK Q-learning: pass `bind=ewok.bind`, so that the table tells
    which next states are bad.

    Args:
        env: the environment.
        discount: gamma.
        num_episodes: how many episodes to learn from.
        learning_rate: of each update.
        epsilon: how often the action is random.
        max_steps: after which an episode is broken off.
        seed: of the environment and of the exploration.
        bind: called once with the table, as it will be while learning, and the environment.

    Example:
        >>> import ewok, gymnasium as gym
        >>> from ewok.tabular import q_learning
        >>> env = ewok.WorstKernel(gym.make("ewok/CliffWalking-v0"), num_samples=5, kappa=0.4, discount=0.8)
        >>> q_learning(env, discount=0.8, num_episodes=3, bind=ewok.bind).q.shape
        (48, 4)
    """
    _require_rates(discount, learning_rate, epsilon, num_episodes, max_steps)
    spaces = (env.observation_space, env.action_space)
    if not all(isinstance(space, gym.spaces.Discrete) and space.start == 0 for space in spaces):
        raise ArgumentError(
            f"`env` must have Discrete observations and actions that start at 0, but it has {spaces[0]} and "
            f"{spaces[1]}. Number them with a wrapper."
        )
    num_states, num_actions = (int(space.n) for space in spaces)  # type: ignore[attr-defined]
    q, returns, rng = np.zeros((num_states, num_actions)), np.zeros(num_episodes), np.random.default_rng(seed)
    table = QTable(q, discount, returns)
    if bind is not None:
        bind(table, env)
    for episode in range(num_episodes):
        state, _ = env.reset(seed=seed if episode == 0 else None)
        for _ in range(max_steps):
            explore = rng.random() < epsilon
            action = int(rng.integers(num_actions)) if explore else int(np.argmax(q[state]))
            after, reward, terminated, truncated, _ = env.step(action)
            goal = float(reward) + (0.0 if terminated else discount * q[after].max())
            q[state, action] += learning_rate * (goal - q[state, action])
            returns[episode] += float(reward)
            state = after
            if terminated or truncated:
                break
    return table


@final
@dataclass(frozen=True, eq=False)
class EWoKLearning:
    """What the compiled loop learned, and where it went.

    Attributes:
        table: the action values.
        visits: (E,) how often each entry of the MDP was the next state kept.
    """

    table: QTable
    visits: NDArray[np.int64] = field(repr=False)


def ewok_q_learning(
    mdp: TabularMDP,
    *,
    num_episodes: int,
    num_samples: int = 1,
    kappa: float | None = None,
    radius: float | None = None,
    score_rewards: bool = False,
    learning_rate: float = 0.01,
    epsilon: float = 0.2,
    max_steps: int = 1_000,
    seed: int = 0,
    start: Floats | None = None,
) -> EWoKLearning:
    """EWoK Q-learning in one compiled loop: draw N next states, tilt, keep one, update.

    The same as `q_learning` on a `WorstKernel`, in distribution, some hundred times as fast. With one
    sample it is plain Q-learning.

    Args:
        mdp: the nominal MDP, with rewards to be maximised.
        num_episodes: how many episodes to learn from.
        num_samples: N.
        kappa: the temperature, or
        radius: the KL radius; exactly one of the two where N is more than 1.
        score_rewards: score candidates by r + gamma v(s') in place of the paper's v(s').
        learning_rate: of each update.
        epsilon: how often the action is random.
        max_steps: after which an episode is broken off.
        seed: of everything random.
        start: (S, A) action values to start from; 0 by default.
    """
    _require_rates(mdp.discount, learning_rate, epsilon, num_episodes, max_steps)
    require(num_samples >= 1, "num_samples", "at least 1", num_samples, "The paper uses 5.")
    require(mdp.sense == "maximise", "mdp", "one with rewards to be maximised", mdp.sense, "Negate the costs.")
    if num_samples > 1 or kappa is not None or radius is not None:
        require_one(kappa, radius)
    shape = (mdp.num_states, int(mdp.actions.max()) + 1)
    first = np.zeros(shape) if start is None else np.asarray(start, dtype=np.float64)
    got = f"of shape {first.shape}"
    require(first.shape == shape, "start", f"of shape {shape}", got, "Give one value per state and action.")
    q = np.full(shape, -np.inf)
    q[mdp.states, mdp.actions] = first[mdp.states, mdp.actions]
    returns, visits = np.zeros(num_episodes), np.zeros(mdp.num_entries, dtype=np.int64)
    ends = np.concatenate([np.cumsum(mdp.probabilities[mdp.entries(k)]) for k in range(mdp.num_pairs)])
    tables = (mdp.state_ptr, mdp.row_ptr, mdp.actions, mdp.next_states, mdp.entry_rewards, ends)
    temperature = math.inf if kappa is None else kappa
    setting = (num_samples, temperature, -1.0 if radius is None else radius, score_rewards)
    rates = (mdp.discount, learning_rate, epsilon, max_steps)
    _learn(tables, np.cumsum(mdp.initial), setting, rates, q, returns, visits, np.random.default_rng(seed))
    return EWoKLearning(QTable(q, mdp.discount, returns), visits)


def _require_rates(discount: float, learning_rate: float, epsilon: float, num_episodes: int, max_steps: int) -> None:
    require(0.0 <= discount <= 1.0, "discount", "between 0 and 1", discount, "Try 0.99.")
    require(0.0 < learning_rate <= 1.0, "learning_rate", "above 0 and at most 1", learning_rate, "Try 0.01.")
    require(0.0 <= epsilon <= 1.0, "epsilon", "between 0 and 1", epsilon, "Try 0.2.")
    require(num_episodes >= 1, "num_episodes", "at least 1", num_episodes, "The paper has 20,000.")
    require(max_steps >= 1, "max_steps", "at least 1", max_steps, "Try 1_000.")


@owning
def _learn(tables, starting, setting, rates, q, returns, visits, rng):  # type: ignore[no-untyped-def]
    state_ptr, row_ptr, actions, next_states, rewards, ends = tables
    discount, learning_rate, epsilon, max_steps = rates
    work = np.empty((4, setting[0]))
    drawn = np.empty(setting[0], dtype=np.int64)
    for episode in range(len(returns)):
        state = min(np.searchsorted(starting, rng.random() * starting[-1], side="right"), len(starting) - 1)
        for _ in range(max_steps):
            first, last = state_ptr[state], state_ptr[state + 1]
            if first == last:
                break
            pair = first + min(int(rng.random() * (last - first)), last - first - 1)
            if rng.random() >= epsilon:
                pair = first
                for k in range(first, last):
                    pair = k if q[state, actions[k]] > q[state, actions[pair]] else pair
            kept = _keep(pair, row_ptr, state_ptr, next_states, rewards, ends, setting, discount, q, work, drawn, rng)
            visits[kept] += 1
            after = next_states[kept]
            goal = rewards[kept] + discount * _value(after, state_ptr, q)
            action = actions[pair]
            q[state, action] += learning_rate * (goal - q[state, action])
            returns[episode] += rewards[kept]
            state = int(after)


@owning
def _keep(pair, row_ptr, state_ptr, next_states, rewards, ends, setting, discount, q, work, drawn, rng):  # type: ignore[no-untyped-def]
    """Draw N entries of a pair and keep one with probability proportional to exp(-score / kappa)."""
    num, kappa, radius, score_rewards = setting
    first, last = row_ptr[pair], row_ptr[pair + 1]
    scores, shares, u, weights = work[0], work[1], work[2], work[3]
    for i in range(num):
        chance = rng.random() * ends[last - 1]
        entry = first
        while entry < last - 1 and ends[entry] <= chance:
            entry += 1
        drawn[i], shares[i] = entry, 1.0 / num
        value = _value(next_states[entry], state_ptr, q)
        scores[i] = rewards[entry] + discount * value if score_rewards else value
    if num == 1:
        return drawn[0]
    if radius >= 0.0:
        tilted_row(scores, shares, radius, u, weights)
    else:
        tilted_by(scores, shares, 1.0 / kappa, weights)
    chance, kept = rng.random(), 0
    while kept < num - 1 and weights[kept] <= chance:
        chance -= weights[kept]
        kept += 1
    return drawn[kept]


@owning
def _value(state, state_ptr, q):  # type: ignore[no-untyped-def]
    """max_a Q; 0 where the episode has ended."""
    return q[state].max() if state_ptr[state] < state_ptr[state + 1] else 0.0

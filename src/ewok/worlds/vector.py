"""Many episodes of many worlds, stepped together, each exactly as it would go alone.

Sub-environments are ordered point by point: index = point * episodes + episode. One that has ended
stays where it is, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ewok.errors import NotResetError, require, require_whole
from ewok.nominal.batch import copied, leaves, stack, take_rows
from ewok.nominal.mujoco import instabilities

Array = NDArray[Any]
Indices = NDArray[np.intp]


@final
@dataclass(slots=True, eq=False)
class Outcome:
    """What one step led to, of the sub-environments that were stepped, in their order.

    Rows of diverged ones may hold anything; they are left out.
    """

    observations: Any
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    diverged: NDArray[np.bool_]


class Batch(Protocol):
    """How the sub-environments of one vector are simulated; what ended is kept track of elsewhere."""

    num_envs: int
    single_observation_space: gym.Space[Any]
    single_action_space: gym.Space[Any]

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Any:
        """Reset all. Returns observations, (num_envs, ...)."""
        ...

    def step(self, living: Indices, actions: Any) -> Outcome:
        """Step the sub-environments `living`, each with its row of `actions`."""
        ...

    def close(self) -> None: ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """What a policy's episodes came to: arrays with a row for each point, and a column for each episode of it.

    Attributes:
        returns: undiscounted.
        lengths: in steps.
        diverged: whether an episode ended because its physics diverged; its return is that so far.
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    diverged: NDArray[np.bool_]


@final
class WorldVector(VectorEnv[Any, Any, Any]):
    """Episodes of one or more worlds, side by side, without automatic resets.

    After `reset(seed=s)`, episode e of every point is what that point's single environment gives after
    `reset(seed=s + e)`: all points meet the same random numbers.

    Attributes:
        num_points: how many points there are.
        num_episodes: how many episodes of each.
        diverged: (num_envs,) whether an episode ended because its physics diverged. It is then truncated,
            with the return so far.

    Example:
        >>> import ewok
        >>> vector = ewok.worlds.get("cartpole").make_vector([{"gravity": 5.0}, {"gravity": 20.0}], episodes=3)
        >>> observations, info = vector.reset(seed=0)
        >>> observations.shape
        (6, 4)
    """

    metadata = {"autoreset_mode": AutoresetMode.DISABLED}  # noqa: RUF012

    def __init__(self, batch: Batch, num_episodes: int) -> None:
        self._batch = batch
        self.num_envs = batch.num_envs
        self.num_episodes = num_episodes
        self.num_points = batch.num_envs // num_episodes
        self.single_observation_space, self.single_action_space = (
            batch.single_observation_space,
            batch.single_action_space,
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.diverged = np.zeros(self.num_envs, dtype=bool)
        self._terminated = np.zeros(self.num_envs, dtype=bool)
        self._truncated = np.zeros(self.num_envs, dtype=bool)
        self._observations: Any = None

    @property
    def living(self) -> Indices:
        """The sub-environments whose episodes go on."""
        return np.flatnonzero(~(self._terminated | self._truncated))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        episodes = np.arange(self.num_envs) % self.num_episodes
        first = None if seed is None else require_whole(seed, "seed", "Episode e has the seed seed + e.", least=0)
        seeds = [None if first is None else first + int(episode) for episode in episodes]
        self._observations = self._batch.reset(seeds, options)
        self.diverged = np.zeros(self.num_envs, dtype=bool)
        self._terminated = np.zeros(self.num_envs, dtype=bool)
        self._truncated = np.zeros(self.num_envs, dtype=bool)
        return copied(self._observations), {}

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        if self._observations is None:
            raise NotResetError("`step` was called before `reset()`. Call `reset()` first.")
        space = self.single_action_space
        actions = _batched(actions, self.num_envs, space, "actions", "one action per environment")
        living = self.living
        rewards = self._advance(living, take_rows(actions, living))
        return copied(self._observations), rewards, self._terminated.copy(), self._truncated.copy(), {}

    def run(self, policy: Callable[[Any], Any], *, seed: int | None = None, narrowing: bool = True) -> Episodes:
        """One episode of each sub-environment under a policy, from a `reset` with this seed to the end.

        Args:
            policy: observations, batch first, -> actions, batch first. One call per step for all episodes.
            seed: of the reset.
            narrowing: leave out of the call the rows of episodes that are over, whenever those are half of
                them: few enough batch sizes for a compiled policy. False for a policy that remembers something
                of each row; it then sees all of them at every step.

        Example:
            >>> import ewok, numpy as np
            >>> vector = ewok.worlds.get("cartpole").make_vector([{"gravity": 5.0}, {"gravity": 20.0}], episodes=3)
            >>> episodes = vector.run(lambda observations: (observations[:, 2] > 0).astype(int), seed=0)
            >>> episodes.returns.shape
            (2, 3)
        """
        remedy = "Of a model: lambda observations: model.predict(observations, deterministic=True)[0]."
        require(callable(policy), "policy", "a function from observations to actions", policy, remedy)
        self.reset(seed=seed)
        returns, lengths = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=np.int64)
        rows = living = self.living
        while len(living):
            if narrowing and 2 * len(living) <= len(rows):
                rows = living
            actions = _checked(policy(take_rows(self._observations, rows)), len(rows), self.single_action_space)
            returns += self._advance(living, take_rows(actions, np.searchsorted(rows, living)))
            lengths[living] += 1
            living = self.living
        shape = self.num_points, self.num_episodes
        return Episodes(returns.reshape(shape), lengths.reshape(shape), self.diverged.reshape(shape).copy())

    def _advance(self, living: Indices, actions: Any) -> Array:
        """Step those that live, each with its row of `actions`. Returns rewards of all, 0 for those that have ended."""
        rewards = np.zeros(self.num_envs)
        if len(living):
            outcome = self._batch.step(living, actions)
            sound = ~outcome.diverged
            kept = living[sound]
            rewards[kept] = outcome.rewards[sound]
            self._terminated[kept] = outcome.terminated[sound]
            self._truncated[kept] = outcome.truncated[sound]
            lost = living[outcome.diverged]
            self.diverged[lost] = self._truncated[lost] = True
            arrived = take_rows(outcome.observations, np.flatnonzero(sound))
            for ours, theirs in zip(leaves(self._observations), leaves(arrived), strict=True):
                ours[kept] = theirs
        return rewards

    def close_extras(self, **kwargs: Any) -> None:
        self._batch.close()


@final
class LoopBatch:
    """Single environments, one after another: for any world."""

    def __init__(self, envs: Sequence[gym.Env[Any, Any]]) -> None:
        require(len(envs) > 0, "envs", "one or more environments", envs, "Give one or more points.")
        self._envs = envs
        self._last: list[Any] = [None] * len(envs)
        self.num_envs = len(envs)
        self.single_observation_space = envs[0].observation_space
        self.single_action_space = envs[0].action_space

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Any:
        resets = [env.reset(seed=seed, options=options)[0] for env, seed in zip(self._envs, seeds, strict=True)]
        self._last = [copied(observation) for observation in resets]
        return stack(self._last)

    def step(self, living: Indices, actions: Any) -> Outcome:
        num = len(living)
        rewards, diverged = np.zeros(num), np.zeros(num, dtype=bool)
        terminated, truncated = np.zeros(num, dtype=bool), np.zeros(num, dtype=bool)
        rows = list(gym.vector.utils.iterate(batch_space(self.single_action_space, num), actions))
        for row, index in enumerate(living):
            env = self._envs[index]
            stable = instabilities(env.unwrapped)
            try:
                observation, reward, ended, cut, _ = env.step(rows[row])
            except Exception as error:
                if not is_divergence(error):
                    raise
                diverged[row] = True
                continue
            finite = np.isfinite(float(reward)) and is_finite(observation)
            if not finite or instabilities(env.unwrapped) != stable:
                diverged[row] = True
                continue
            self._last[index] = copied(observation)
            rewards[row], terminated[row], truncated[row] = reward, ended, cut
        return Outcome(stack([self._last[index] for index in living]), rewards, terminated, truncated, diverged)

    def close(self) -> None:
        for env in self._envs:
            env.close()


def _checked(actions: Any, num: int, space: gym.Space[Any]) -> Any:
    """A policy's actions as arrays; its mistakes are not the physics' divergence."""
    actions = _batched(actions, num, space, "policy", "a function that returns one action per observation")
    for part in leaves(actions):
        finite = part.dtype.kind != "f" or bool(np.isfinite(part).all())
        require(finite, "policy", "a function that returns finite actions", part, "Has it diverged in training?")
    return actions


def _batched(actions: Any, num: int, space: gym.Space[Any], argument: str, requirement: str) -> Any:
    """Actions as arrays, the batch first, such as single environments would take; those out of a Box are clipped."""
    actions = actions if isinstance(actions, dict | tuple) else np.asarray(actions)
    one_part = isinstance(space, Box | Discrete)
    needed = (num, *(space.shape or ())) if one_part else (num,)
    for part in leaves(actions):
        shape = np.shape(part)
        fits = (shape if one_part else shape[:1]) == needed
        remedy = "That is the shape of what was given; put the batch first."
        require(fits, argument, f"{requirement}, {num} here" + f", of shape {needed}" * one_part, shape, remedy)
    if isinstance(space, Discrete):
        known = actions.dtype.kind in "biu" and np.isin(actions, space.start + np.arange(space.n)).all()
        require(bool(known), argument, f"{requirement}, each in {space}", actions, "Is the policy of another world?")
    return actions


def is_divergence(error: Exception) -> bool:
    """Whether a simulator says with this error that its physics came apart."""
    named = {f"{cls.__module__}:{cls.__qualname__}" for cls in type(error).__mro__}
    return isinstance(error, ArithmeticError) or "dm_control.rl.control:PhysicsError" in named


def is_finite(observation: Any) -> bool:
    """Whether all numbers of an observation are finite."""
    parts = [np.asarray(leaf) for leaf in leaves(observation)]
    return all(bool(np.isfinite(part).all()) for part in parts if np.issubdtype(part.dtype, np.inexact))

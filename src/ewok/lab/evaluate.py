"""An agent over a world's grids: all episodes of all values together, one batched forward pass a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from ewok.lab.store import Curve, Returns
from ewok.worlds import GENERIC, World

Policy = Callable[[Any], Any]
Point = tuple[str, float]


@final
class Deterministic:
    """The agent's own choice of actions, without exploration: observations, batch first, -> actions.

    Args:
        agent: with `predict(observations, state, episode_start, deterministic)` as Stable-Baselines3's have
            it; or any function from observations to actions. One that learnt behind a `VecNormalize` sees what
            that makes of the observations.

    Attributes:
        remembers: whether the next action depends on earlier observations, row by row.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._normaliser = normaliser_of(agent)
        self._state: Any = None
        self._is_first = True
        self.remembers = hasattr(agent, "_last_lstm_states")

    def forget(self) -> None:
        """Episodes begin anew."""
        self._state, self._is_first = None, True

    def __call__(self, observations: Any) -> Any:
        if not hasattr(self._agent, "predict"):
            return self._agent(observations)
        if self._normaliser is not None:
            observations = self._normaliser.normalize_obs(observations)
        if not self.remembers:
            return self._agent.predict(observations, deterministic=True)[0]
        starts = np.full(len(observations), self._is_first)
        actions, self._state = self._agent.predict(observations, self._state, starts, deterministic=True)
        self._is_first = False
        return actions


def normaliser_of(agent: Any) -> Any:
    """The `VecNormalize` that an agent of Stable-Baselines3's kind learns behind; None where there is none."""
    return agent.get_vec_normalize_env() if hasattr(agent, "get_vec_normalize_env") else None


def evaluate(
    world: World, grids: Mapping[str, Sequence[float]], agent: Any, *, episodes: int = 30, seed: int
) -> Returns:
    """What an agent's episodes come to, one parameter moved at a time.

    Args:
        world: whose parameters are moved.
        grids: the values of each parameter.
        agent: one with a `predict` as Stable-Baselines3's, or a function from observations to actions, batch first.
        episodes: at every value.
        seed: of the first episode at every value, those that follow count on: all values meet the same random numbers.

    Example:
        >>> import ewok, numpy as np
        >>> from ewok.lab.evaluate import evaluate
        >>> lean = lambda observations: (observations[:, 2] > 0).astype(int)
        >>> returns = evaluate(ewok.worlds.get("cartpole"), {"gravity": [5.0, 9.8]}, lean, episodes=3, seed=0)
        >>> returns.of("gravity").returns.shape
        (2, 3)
    """
    policy = Deterministic(agent)
    nominal = {name: world.perturbation(name).nominal for name in grids}
    points = [(name, float(value)) for name, grid in grids.items() for value in grid]
    # Those that fit any world are simulated in another way than its own, so they are not to slow these down.
    own = [point for point in points if point[0] in world.perturbations]
    groups = [own, *([p for p in points if p[0] == name] for name in grids if name in GENERIC)]
    came: dict[Point, Any] = {}
    for group in filter(None, groups):
        came |= _run(world, group, nominal, policy, episodes, seed)
    curves = {}
    for name, grid in grids.items():
        columns = zip(*(came[name, float(value)] for value in grid), strict=True)
        curves[name] = Curve(np.array(grid, dtype=np.float64), *map(np.array, columns))
    return Returns(curves)


def _run(
    world: World, points: Sequence[Point], nominal: Mapping[str, float], policy: Deterministic, episodes: int, seed: int
) -> dict[Point, Any]:
    """Returns, lengths and divergence by point. The nominal world is in every grid, and simulated once."""
    moved = {point: {} if point[1] == nominal[point[0]] else {point[0]: point[1]} for point in points}
    different = {tuple(values.items()): values for values in moved.values()}
    vector = world.make_vector(list(different.values()), episodes)
    try:
        policy.forget()
        outcome = vector.run(policy, seed=seed, narrowing=not policy.remembers)
    finally:
        vector.close()
    rows = dict(zip(different, zip(outcome.returns, outcome.lengths, outcome.diverged, strict=True), strict=True))
    return {point: rows[tuple(values.items())] for point, values in moved.items()}

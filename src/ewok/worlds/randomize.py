"""Domain randomisation, the paper's rival: the agent trains in worlds that differ from episode to episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from ewok.errors import require, require_known
from ewok.nominal.generators import seeded
from ewok.nominal.layers import place_of
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.world import World, get

Distribution = Literal["uniform", "log-uniform", "grid"]
_DISTRIBUTIONS = ("uniform", "log-uniform", "grid")


@final
class DomainRandomization(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Moves parameters of a world at every reset, each to a value drawn anew from its tested range.

    `info["world"]` of every reset says where they are, and where others are that a wrapper beneath moves: each has
    its own parameters, and where two move the same one it is the one beneath that moves it last.

    Args:
        env: an environment of the world; what is not named stays as it is there.
        world: the world, or its name.
        parameters: which to move: one name, several, or None for all of the world's own. A `Perturbation` of such a
            name is drawn over its own range, in place of the world's.
        distribution: "uniform" over the tested range; "log-uniform"; "grid", which draws one of the
            values the parameter is tested at.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.DomainRandomization(gym.make("ewok/NoisyCartPole-v1"), "cartpole", ["pole_length"])
        >>> observation, info = env.reset(seed=0)
        >>> 0.25 <= info["world"]["pole_length"] <= 5.0
        True
    """

    snapshot_names = ("generator",)

    def __init__(
        self,
        env: gym.Env[Any, Any],
        world: World | str,
        parameters: str | Sequence[str | Perturbation] | None = None,
        distribution: Distribution = "uniform",
    ) -> None:
        self.world = get(world)
        given = list(self.world.perturbations) if parameters is None else parameters
        given = [given] if isinstance(given, str) else list(given)
        names = [one.name if isinstance(one, Perturbation) else one for one in given]
        different = len(set(names)) == len(names) > 0
        require(different, "parameters", "one or more different names", parameters, "Leave it out for all.")
        require_known(distribution, _DISTRIBUTIONS, "distribution", "a distribution")
        known = [self.world.perturbation(name) for name in names]
        ranges = [one if isinstance(one, Perturbation) else own for one, own in zip(given, known, strict=True)]
        self._drawn_over = dict(zip(names, ranges, strict=True))
        for name, parameter in self._drawn_over.items():
            positive = distribution != "log-uniform" or parameter.low > 0.0
            remedy = f"`{name}` is tested from {parameter.low:g}, which has no logarithm."
            require(positive, "distribution", '"uniform" or "grid"', distribution, remedy)
        RecordConstructorArgs.__init__(self, world=self.world.recorded, parameters=given, distribution=distribution)
        super().__init__(self.world.prepared(env, names))
        self.distribution = distribution
        self.generator = np.random.default_rng()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self.generator = seeded(seed, place_of(self.env))
        drawn = {name: self._draw(parameter) for name, parameter in self._drawn_over.items()}
        self.world.move(self.env, **{**self.world.values_of(self.env), **drawn})
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "world": {**drawn, **info.get("world", {})}}

    def _draw(self, parameter: Perturbation) -> float:
        if self.distribution == "grid":
            return float(self.generator.choice(parameter.grid))
        return parameter.place(self.generator.random(), log=self.distribution == "log-uniform")

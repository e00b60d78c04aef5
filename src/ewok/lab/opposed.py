"""A model against the worst kernel that its own critic picks, in many episodes at once.

One call of the critic serves all of them at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ewok.lab.pilot import Pilot
from ewok.nominal.batch import num_rows, take
from ewok.vector.batched import values_of_all
from ewok.worlds.adversary import RADII, adversary
from ewok.worlds.parts import innermost
from ewok.worlds.vector import Episodes, Indices, LoopBatch, Outcome, WorldVector, is_divergence
from ewok.worlds.world import World
from ewok.worst.kernel import WorstKernel
from ewok.worst.score import Critic

NUM_SAMPLES = 15


def against(
    pilot: Pilot,
    world: World,
    episodes: int,
    *,
    seed: int,
    radii: Sequence[float] = RADII,
    num_samples: int = NUM_SAMPLES,
) -> Episodes:
    """What a model's episodes come to at every KL radius of the worst kernel, a row for each.

    Next states are scored by r + gamma v(s') of the model itself, which is exact wherever rewards are paid. So at
    each radius the world is the worst for this model within that distance from the nominal one, as far as its critic
    knows and N samples can tell; at 0 it is the nominal world.

    Raises:
        EwokError: where the model has no critic, or the world cannot be drawn from.
    """
    pilot.require_critic()
    opposed = adversary(world, pilot.values, num_samples=num_samples, radii=radii, discount=pilot.discount)
    envs = [opposed.make(radius=radius) for radius in radii for _ in range(episodes)]
    vector = WorldVector(OpposedBatch(envs, pilot), episodes)
    try:
        return pilot.fly(vector, seed=seed)
    finally:
        vector.close()


@final
class OpposedBatch:
    """Environments with a `WorstKernel` in each, whose candidates are valued all together.

    Args:
        envs: the environments.
        pilot: the model.
    """

    def __init__(self, envs: Sequence[Any], pilot: Pilot) -> None:
        self._loop, self._pilot = LoopBatch(envs), pilot
        self._kernels = [innermost(env, WorstKernel) for env in envs]
        value = pilot.values  # one object, so that all are asked together
        for kernel in self._kernels:
            kernel.attach(kernel.critic_of(value, scale=pilot.scale))
        self.num_envs = self._loop.num_envs
        self.single_observation_space = self._loop.single_observation_space
        self.single_action_space = self._loop.single_action_space

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> Any:
        return self._loop.reset(seeds, options)

    def step(self, living: Indices, actions: Any) -> Outcome:
        self._answer_ahead(living, actions)
        return self._loop.step(living, actions)

    def close(self) -> None:
        self._loop.close()

    def _answer_ahead(self, living: Indices, actions: Any) -> None:
        """Draw for all, and ask once for the values by which their own steps will choose."""
        asked: list[int] = []
        seen: list[Any] = []
        for row, index in enumerate(living):
            try:
                seen.append(self._kernels[index].ask(take(actions, row)))
            except Exception as error:
                if not is_divergence(error):
                    raise  # else the step itself will say so, and the episode is over
            else:
                asked.append(int(index))
        if not asked:
            return
        rows: NDArray[np.intp] = np.repeat(asked, [num_rows(batch) for batch in seen])
        self._pilot.look_from(rows)
        critics = [critic for index in asked if isinstance(critic := self._kernels[index].critic, Critic)]
        for index, values in zip(asked, values_of_all(critics, seen), strict=True):
            self._kernels[index].answer(values)

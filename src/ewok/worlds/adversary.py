"""The worst kernel itself as a perturbation: how an agent fares when the world turns against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from ewok.errors import require, require_several, require_whole
from ewok.worlds.parts import innermost
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.world import Environment, Values, World, get
from ewok.worst.bind import bind
from ewok.worst.kernel import WorstKernel

RADII = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)


def adversary(
    world: World | str,
    agent_or_value: Any,
    *,
    num_samples: int = 15,
    radii: Sequence[float] = RADII,
    **options: Any,
) -> World:
    """`world` with one more parameter, `radius`: the KL radius of the worst kernel at every step.

    At radius 0 it is `world` itself, stream for stream. N equally likely samples carry at most log N.

    Args:
        world: the world, or its name.
        agent_or_value: whose value function says which next states are bad: the agent that is tested, one
            that was trained for this, or any value function.
        num_samples: N, how many next states are drawn.
        radii: the grid.
        options: of `ewok.WorstKernel`: `discount`, `terminal_value`.

    Example:
        >>> import ewok
        >>> from ewok.worlds import adversary
        >>> against = adversary("cartpole", lambda observations: -abs(observations[:, 0]))
        >>> env = against.make(radius=0.3, pole_length=1.0)
        >>> observation, info = env.reset(seed=0)
        >>> round(env.step(0)[-1]["ewok"]["kl"], 6)
        0.3
    """
    world = get(world)
    radius = _radius(num_samples, radii)

    def build() -> Environment:
        env = WorstKernel(world.build(), num_samples=1, radius=0.0, **options)
        bind(agent_or_value, env)
        return env

    def settle(env: Environment, values: Values) -> None:
        world.settle(env, {name: value for name, value in values.items() if name != radius.name})
        kernel = innermost(env, WorstKernel)
        # The first candidate is what the simulator itself would do next, so a draw of one is the nominal world.
        kernel.radius, kernel.num_samples = values[radius.name], num_samples if values[radius.name] > 0.0 else 1

    return World(
        name=f"{world.name}-adversary",
        summary=f"{world.name}, turned against one agent",
        build=build,
        settle=settle,
        parameters=(radius, *world.perturbations.values()),
        package=world.package,
        extra=world.extra,
    )


def _radius(num_samples: int, radii: Sequence[float]) -> Perturbation:
    num_samples = require_whole(num_samples, "num_samples", "The paper uses 10 and 15.", least=2)
    most = math.log(num_samples)
    requirement = f"one or more radii, from 0 to log N = {most:.3g}"
    remedy = f"{num_samples} samples carry no more: draw more, or leave some out."
    require_several(radii, "radii", requirement, remedy)
    given: Sequence[Any] = radii
    within = all(isinstance(radius, Real) and 0.0 <= float(radius) <= most for radius in given)
    require(within, "radii", requirement, radii, remedy)
    return Perturbation(
        name="radius",
        unit="KL",
        nominal=0.0,
        low=min(radii),
        high=max(radii),
        least=0.0,
        most=most,
        values=radii,
        note="of the worst kernel, at every step",
    )

"""How a step passes through one stack of wrappers down to its simulator, and back if it must."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import gymnasium as gym
from gymnasium import wrappers as gw

from ewok.nominal.disturbed import disturbed
from ewok.nominal.generators import generator_of, rewind, state_of
from ewok.nominal.kernel import NominalKernel, SteerableKernel, Transition, registered_factory
from ewok.nominal.layers import ActionDisturbance, layers_of, memory_of, put_back, refuse_breaking_wrappers
from ewok.nominal.restore import RestoreKernel


def kernel_of(env: gym.Env[Any, Any]) -> NominalKernel:
    """The nominal kernel of `env`: its simulator's, with the noise wrappers above it.

    Other wrappers are not part of it: candidates are the simulator's own observations, and an
    action is taken as the simulator, or the uppermost action noise, receives it.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.StateNoise(gym.make("CartPole-v1"), std=0.01)
        >>> observation, info = env.reset(seed=0)
        >>> candidates = ewok.kernel_of(env).draw(action=1, num=3)
        >>> candidates.observations.shape
        (3, 4)
    """
    layers = layers_of(env)
    return disturbed(simulator_kernel(layers.simulator), layers)


def simulator_kernel(simulator: gym.Env[Any, Any]) -> NominalKernel:
    """The kernel registered for this simulator's class, or the one that restores and steps."""
    factory = registered_factory(simulator)
    return RestoreKernel(simulator) if factory is None else factory(simulator)


@final
class _StandIn(gym.Wrapper[Any, Any, Any, Any]):
    """Stands where the simulator stood, for one step. To the wrapper above it is the simulator."""

    _transition: Callable[[Any], Transition]

    def __init__(self, simulator: gym.Env[Any, Any], transition: Callable[[Any], Transition]) -> None:
        super().__init__(simulator)
        vars(self)["_transition"] = transition

    def step(self, action: Any) -> Transition:
        return self._transition(action)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["env"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) or "_cached_spec" not in vars(self):  # the last that `gym.Wrapper` sets itself
            super().__setattr__(name, value)
        else:
            setattr(self.env, name, value)


@final
class Plan:
    """How a step passes through one stack, worked out once."""

    def __init__(self, env: gym.Env[Any, Any], owner: str, transition: Callable[[Any], Transition]) -> None:
        self.layers = layers_of(env)
        refuse_breaking_wrappers(self.layers, owner)
        self.kernel = kernel_of(env)
        self.stand_in = _StandIn(self.layers.simulator, transition)
        self.noises = self.layers.disturbances
        self.action_noise = next((w for w in self.layers.wrappers if isinstance(w, ActionDisturbance)), None)
        self.watched = self.layers.watched
        # What these remember moves on the way down, and has to be put back if the step fails.
        early = (gw.TimeAwareObservation, gw.StickyAction)
        self.remembering = [w for w in self.layers.between if w in self.watched or isinstance(w, early)]
        # A steerable kernel takes its draws back itself, and its draws need no second look.
        self.steerable = self.kernel if isinstance(self.kernel, SteerableKernel) else None
        self.rewinds_simulator = bool(self.remembering) or self.steerable is None


@final
class Before:
    """Where generators and memories stood before a draw."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._noises = [noise.generator.bit_generator.state for noise in plan.noises]
        self._own = generator_of(plan.layers.simulator) if plan.rewinds_simulator else None
        self._own_state = None if self._own is None else state_of(self._own)
        self._memories = [(w, memory_of(w)) for w in plan.remembering]

    def come_back(self) -> None:
        """Take the draw back."""
        if self._plan.steerable is not None:
            self._plan.steerable.abandon()
        for noise, state in zip(self._plan.noises, self._noises, strict=True):
            rewind(noise.generator, state)
        if self._own is not None:
            rewind(self._own, self._own_state)
        for wrapper, memory in self._memories:
            put_back(wrapper, memory)

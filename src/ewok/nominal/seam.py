"""The seam: where one step of an environment becomes a draw, a choice and a commit.

    step(a) -> TimeLimit, ... -> [seam: draw(a, N), choose, commit] -> TimeLimit, ... -> transition

Wrappers above the simulator see one ordinary step. For its duration, and no longer, the innermost
of them stands on a stand-in for the simulator that draws instead of stepping.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, final

import gymnasium as gym
import numpy as np
from gymnasium import wrappers as gw

from ewok.errors import DivergedError, SnapshotError, WrapperError
from ewok.nominal.batch import same
from ewok.nominal.disturbed import disturbed
from ewok.nominal.generators import generator_of, rewind, state_of
from ewok.nominal.kernel import (
    Candidates,
    NominalKernel,
    SteerableKernel,
    Transition,
    registered_factory,
    require_sound,
)
from ewok.nominal.layers import ActionDisturbance, Layers, layers_of, memory_of, put_back, refuse_breaking_wrappers
from ewok.nominal.restore import RestoreKernel
from ewok.nominal.snapshot import Snapshot, restore, snapshot

Choice = Callable[[Candidates], int]


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
class _Plan:
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
class Seam:
    """Passes steps down to the simulator of `env` with a choice at the bottom."""

    def __init__(self, env: gym.Env[Any, Any], owner: str) -> None:
        self._env = env
        self._owner = owner
        self._num = 1
        self._choose: Choice = _first
        self._committed: Transition | None = None
        self._planned: _Plan | None = _Plan(env, owner, self._transition)
        self._proven = not self._planned.watched

    @property
    def _plan(self) -> _Plan:
        if self._planned is None:
            self._planned = _Plan(self._env, self._owner, self._transition)
        return self._planned

    @property
    def layers(self) -> Layers:
        return self._plan.layers

    @property
    def kernel(self) -> NominalKernel:
        return self._plan.kernel

    @property
    def moved(self) -> bool:
        """Whether the latest step moved the simulator; after an error, whether it could not be put back."""
        return self._committed is not None

    def __getstate__(self) -> dict[str, Any]:
        """Pools and handles of simulators do not travel: the other side makes its own plan."""
        return {**vars(self), "_planned": None, "_choose": _first, "_committed": None}

    def step(
        self, action: Any, num: int = 1, choose: Choice | None = None, check: Callable[[Any], None] | None = None
    ) -> Transition:
        """One step: `num` candidates drawn, the one that `choose` names committed.

        If anything raises before the commit, everything is where it was. `check` looks at what came
        out at the top; on the first step beneath wrappers of unknown kind even its refusal is undone.
        """
        plan = self._planned or self._plan
        self._num, self._choose, self._committed = num, choose or _first, None
        states = [noise.generator.bit_generator.state for noise in plan.noises]
        own = generator_of(plan.layers.simulator) if plan.rewinds_simulator else None
        own_state = None if own is None else state_of(own)
        memories = [(w, memory_of(w)) for w in plan.remembering]
        before = None if self._proven else _saved(self._env)
        try:
            transition = self._pass_down(plan, action)
            if plan.watched:
                self._refuse_changed(transition)
            if check is not None:
                check(transition)
        except BaseException:
            if before is not None:
                restore(self._env, before)
                self._committed = None
            if self._committed is None:
                if plan.steerable is not None:
                    plan.steerable.abandon()
                for noise, state in zip(plan.noises, states, strict=True):
                    rewind(noise.generator, state)
                if own is not None:
                    rewind(own, own_state)
                for wrapper, memory in memories:
                    put_back(wrapper, memory)
            raise
        self._proven = True
        return transition

    def _pass_down(self, plan: _Plan, action: Any) -> Transition:
        wrappers = plan.layers.wrappers
        if not wrappers:
            return self._transition(action)
        for noise in plan.noises:
            noise.passing = True
        wrappers[-1].env = plan.stand_in
        try:
            return cast(Transition, wrappers[0].step(action))
        finally:
            wrappers[-1].env = plan.layers.simulator
            for noise in plan.noises:
                noise.passing = False

    def _transition(self, action: Any) -> Transition:
        plan = self._planned or self._plan
        if self._committed is not None:
            raise WrapperError(
                f"a wrapper under `{self._owner}` stepped more than once for one action: it is {self._suspects()}. "
                f"Put it above `{self._owner}`, where each of its steps is drawn."
            )
        if plan.action_noise is not None:
            action = self._received(plan, action)
        candidates = plan.kernel.draw(action, self._num)
        if plan.steerable is None:
            require_sound(candidates, plan.kernel, self._num)
        if len(candidates) == 0:
            raise DivergedError(
                f"all {self._num} candidates diverged, and the simulator raised no error of its own. "
                "Reduce its time step or the noise, or bound the actions."
            )
        index = self._choose(candidates)
        transition = candidates.transition(index)
        plan.kernel.commit(index)
        self._committed = transition
        return transition

    def _received(self, plan: _Plan, arrived: Any) -> Any:
        """The action as the uppermost action noise received it; every candidate's takes the way down from there."""
        assert plan.action_noise is not None
        received = plan.action_noise.received
        if plan.watched:
            for layer in plan.layers.action_path:
                received = received if isinstance(layer, ActionDisturbance) else layer.action(received)
            if not same(np.asarray(received), np.asarray(arrived)):
                raise WrapperError(
                    f"a wrapper beneath `{type(plan.action_noise).__name__}` changed the action from {received} to "
                    f"{arrived}: it is {self._suspects()}. Make it a gymnasium.ActionWrapper, so that every "
                    "candidate's action can take the same way."
                )
        return plan.action_noise.received

    def _refuse_changed(self, transition: Any) -> None:
        """Look at what wrappers of unknown kind made of the step."""
        if self._committed is None:
            raise WrapperError(
                f"a wrapper under `{self._owner}` did not step the simulator: it is {self._suspects()}. "
                f"Put it above `{self._owner}`."
            )
        for name, place in (("reward", 1), ("termination", 2)):
            before, after = self._committed[place], transition[place]
            if not same(before, after):
                raise WrapperError(
                    f"a wrapper under `{self._owner}` changed the {name} from {before} to {after}: it is "
                    f"{self._suspects()}. Put it above `{self._owner}`."
                )

    def _suspects(self) -> str:
        return " or ".join(type(w).__name__ for w in self._plan.watched or self._plan.layers.between)


def _first(candidates: Candidates) -> int:
    return 0


def _saved(env: gym.Env[Any, Any]) -> Snapshot | None:
    """Before the first step beneath wrappers of unknown kind: they may yet break the draw."""
    try:
        return snapshot(env)
    except SnapshotError:
        return None

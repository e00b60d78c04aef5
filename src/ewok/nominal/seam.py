"""The seam: where one step of an environment becomes a draw, a choice and a commit.

    step(a) -> TimeLimit, ... -> [seam: draw(a, N), choose, commit] -> TimeLimit, ... -> transition

Wrappers above the simulator see one ordinary step. For its duration, and no longer, the innermost
of them stands on a stand-in for the simulator that draws instead of stepping.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import gymnasium as gym
from gymnasium import wrappers as gw

from ewok.errors import DivergedError, SnapshotError, WrapperError
from ewok.nominal.batch import same
from ewok.nominal.disturbed import disturbed
from ewok.nominal.generators import Generator, generator_of, rewind, state_of
from ewok.nominal.kernel import Candidates, NominalKernel, Transition, registered_factory
from ewok.nominal.layers import ActionDisturbance, Layers, layers_of, refuse_breaking_wrappers
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
    """Stands where the simulator stood, for one step."""

    def __init__(self, simulator: gym.Env[Any, Any], transition: Callable[[Any], Transition]) -> None:
        super().__init__(simulator)
        self._transition = transition

    def step(self, action: Any) -> Transition:
        return self._transition(action)


@final
class Seam:
    """Passes steps down to the simulator of `env` with a choice at the bottom."""

    def __init__(self, env: gym.Env[Any, Any], owner: str) -> None:
        self._env = env
        self._owner = owner
        self._built = False
        self._choose: Choice = _first
        self._num = 1
        self._committed: Transition | None = None
        self._build()

    @property
    def layers(self) -> Layers:
        if not self._built:
            self._build()
        return self._layers

    @property
    def kernel(self) -> NominalKernel:
        if not self._built:
            self._build()
        return self._kernel

    def _build(self) -> None:
        self._layers = layers_of(self._env)
        refuse_breaking_wrappers(self._layers, self._owner)
        self._kernel = kernel_of(self._env)
        self._deterministic = getattr(self._kernel, "deterministic", False)
        self._stand_in = _StandIn(self._layers.simulator, self._transition)
        self._disturbances = self._layers.disturbances
        self._action_noise = next((w for w in self._layers.wrappers if isinstance(w, ActionDisturbance)), None)
        self._opaque = self._layers.opaque
        # These move before the step reaches the simulator, and have to be put back if it fails.
        early = (gw.TimeAwareObservation, gw.StickyAction)
        self._early = [*self._opaque, *(w for w in self._layers.between if isinstance(w, early))]
        self._proven = not self._opaque
        self._built = True

    def __getstate__(self) -> dict[str, Any]:
        """Pools and handles of simulators do not travel: the other side builds its own."""
        return {"_env": self._env, "_owner": self._owner, "_built": False}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _choose=_first, _num=1, _committed=None)

    def step(
        self, action: Any, num: int = 1, choose: Choice | None = None, expected: Callable[[], Any] | None = None
    ) -> Transition:
        """One step: `num` candidates drawn, the one that `choose` names committed.

        If anything raises on the way, the environment is left where it was. `expected` says what
        observation should come out; wrappers of unknown kind are held to it.
        """
        if not self._built:
            self._build()
        self._num, self._choose = num, choose or _first
        self._committed = None
        # A noise wrapper that steps by itself is the outermost of these, and passing already.
        own = None if self._deterministic else generator_of(self._layers.simulator)
        generators: list[Generator] = [noise.generator for noise in self._disturbances]
        if own is not None:
            generators.append(own)
        states = [state_of(generator) for generator in generators]
        memories = [(w, dict(vars(w))) for w in self._early]
        before = None if self._proven else self._saved()
        try:
            transition: Transition = self._pass_down(action)
            if self._opaque:
                self._refuse_changed(transition, expected)
        except BaseException:
            if before is not None:
                restore(self._env, before)
            if before is not None or self._committed is None:
                for generator, state in zip(generators, states, strict=True):
                    rewind(generator, state)
            for wrapper, memory in memories:
                vars(wrapper).update(memory)
            raise
        self._proven = True
        return transition

    def _saved(self) -> Snapshot | None:
        """Before the first step beneath wrappers of unknown kind: they may yet break the draw."""
        try:
            return snapshot(self._env)
        except SnapshotError:
            return None

    def _pass_down(self, action: Any) -> Any:
        if not self._layers.wrappers:
            return self._transition(action)
        innermost = self._layers.wrappers[-1]
        for noise in self._disturbances:
            noise.passing = True
        innermost.env = self._stand_in
        try:
            return self._layers.wrappers[0].step(action)
        finally:
            innermost.env = self._layers.simulator
            for noise in self._disturbances:
                noise.passing = False

    def _transition(self, action: Any) -> Transition:
        if self._committed is not None:
            raise WrapperError(
                f"a wrapper under `{self._owner}` stepped more than once for one action: it is "
                f"{_names(self._layers)}. Put it above `{self._owner}`, where each of its steps is drawn."
            )
        if self._action_noise is not None:
            action = self._action_noise.received  # type: ignore[attr-defined]
        candidates = self._kernel.draw(action, self._num)
        if len(candidates) == 0:
            raise DivergedError(
                f"all {self._num} candidates diverged, and the simulator raised no error of its own. "
                "Reduce its time step or the noise, or bound the actions."
            )
        index = self._choose(candidates)
        self._kernel.commit(index)
        self._committed = candidates.transition(index)
        return self._committed

    def _refuse_changed(self, transition: Any, expected: Callable[[], Any] | None) -> None:
        """Look at what wrappers of unknown kind made of the step."""
        if self._committed is None:
            raise WrapperError(
                f"a wrapper under `{self._owner}` did not step the simulator: it is {_names(self._layers)}. "
                f"Put it above `{self._owner}`."
            )
        compared = [("reward", self._committed[1], transition[1]), ("termination", self._committed[2], transition[2])]
        if expected is not None:
            compared.append(("observation", expected(), transition[0]))
        for name, before, after in compared:
            if not same(before, after):
                raise WrapperError(
                    f"a wrapper under `{self._owner}` changed the {name} from {before} to {after}: it is "
                    f"{_names(self._layers)}. Put it above `{self._owner}`, or, if it changes observations only, "
                    "make it a gymnasium.ObservationWrapper."
                )


def _first(candidates: Candidates) -> int:
    return 0


def _names(layers: Layers) -> str:
    return " or ".join(type(w).__name__ for w in layers.opaque or layers.between)

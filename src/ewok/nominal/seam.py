"""The seam: where one step of an environment becomes a draw, a choice and a commit.

    step(a) -> TimeLimit, ... -> [seam: draw(a, N), choose, commit] -> TimeLimit, ... -> transition

Wrappers above the simulator see one ordinary step. For its duration, and no longer, the innermost
of them stands on a stand-in for the simulator that draws instead of stepping.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, cast, final

import gymnasium as gym
import numpy as np

from ewok.errors import DivergedError, SnapshotError, WrapperError
from ewok.nominal.batch import same
from ewok.nominal.kernel import Candidates, NominalKernel, Transition, require_sound
from ewok.nominal.layers import ActionDisturbance, Layers
from ewok.nominal.passage import Before, Plan
from ewok.nominal.snapshot import Snapshot, restore, snapshot

Choice = Callable[[Candidates], int]


@final
class Seam:
    """Passes steps down to the simulator of `env` with a choice at the bottom."""

    def __init__(self, env: gym.Env[Any, Any], owner: str) -> None:
        self._env = env
        self._owner = owner
        self._num = 1
        self._choose: Choice = _first
        self._drawn: Candidates | None = None
        self._drawn_for: Any = None  # the action
        self._before: Before | None = None
        self._committed: Transition | None = None
        self._planned: Plan | None = Plan(env, owner, self._transition)
        self._proven = not self._planned.watched

    @property
    def _plan(self) -> Plan:
        if self._planned is None:
            self._planned = Plan(self._env, self._owner, self._transition)
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
        return {**vars(self), "_planned": None, "_choose": _first, "_drawn": None, "_before": None, "_committed": None}

    def draw(self, action: Any, num: int) -> Candidates:
        """What a step with this action would draw; the next `step` chooses among them, or `drop` takes them back."""
        plan = self._planned or self._plan
        self.drop()
        self._num, self._choose, self._committed = num, _no_choice, None
        self._before = Before(plan)
        candidates = None
        try:
            self._pass_down(plan, action)
        except _NoChoiceError:
            candidates = self._drawn
        except BaseException:
            self.drop()
            raise
        if candidates is None:
            self._refuse_changed(None)
        assert candidates is not None
        self._drawn_for = copy.copy(action)
        if plan.remembering:  # they may have drawn numbers on the way down: let the step do it all again
            self.drop()
        return candidates

    def drop(self) -> None:
        """Take a draw back that no step has chosen from: generators are where they stood before it."""
        if self._before is not None:
            self._before.come_back()
        self._before = self._drawn = None

    def drop_another(self, action: Any) -> bool:
        """Take the latest draw back if it was made for another action; whether it was."""
        another = not same(self._drawn_for, action)
        if another:
            self.drop()
        return another

    def step(
        self, action: Any, num: int = 1, choose: Choice | None = None, check: Callable[[Any], None] | None = None
    ) -> Transition:
        """One step: `num` candidates drawn, unless they are for this action, and the one `choose` names committed.

        If anything raises before the commit, everything is where it was. `check` looks at what came
        out at the top; on the first step beneath wrappers of unknown kind even its refusal is undone.
        """
        plan = self._planned or self._plan
        if self._drawn is not None:
            self.drop_another(action)
        self._num, self._choose, self._committed = num, choose or _first, None
        before = self._before or Before(plan)
        whole = None if self._proven else _saved(self._env)
        try:
            transition = self._pass_down(plan, action)
            if plan.watched:
                self._refuse_changed(transition)
            if check is not None:
                check(transition)
        except BaseException:
            if whole is not None:
                restore(self._env, whole)
                self._committed = None
            if self._committed is None:
                before.come_back()
            raise
        finally:
            self._before = self._drawn = None
        self._proven = True
        return transition

    def _pass_down(self, plan: Plan, action: Any) -> Transition:
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
        candidates = self._drawn
        if candidates is None:
            candidates = self._drawn = self._drawn_by(plan, action)
        index = self._choose(candidates)
        transition = candidates.transition(index)
        plan.kernel.commit(index)
        self._committed = transition
        return transition

    def _drawn_by(self, plan: Plan, action: Any) -> Candidates:
        candidates = plan.kernel.draw(action, self._num)
        if plan.steerable is None:
            require_sound(candidates, plan.kernel, self._num)
        if len(candidates) == 0:
            raise DivergedError(
                f"all {self._num} candidates diverged, and the simulator raised no error of its own. "
                "Reduce its time step or the noise, or bound the actions."
            )
        return candidates

    def _received(self, plan: Plan, arrived: Any) -> Any:
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


class _NoChoiceError(Exception):
    """Nothing is to be chosen yet: turns a step round at the bottom."""


def _no_choice(candidates: Candidates) -> int:
    raise _NoChoiceError


def _saved(env: gym.Env[Any, Any]) -> Snapshot | None:
    """Before the first step beneath wrappers of unknown kind: they may yet break the draw."""
    try:
        return snapshot(env)
    except SnapshotError:
        return None

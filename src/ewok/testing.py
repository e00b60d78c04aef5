"""Conformance checks for your own kernels, simulators and worlds, and a probe world with answers known by hand.

Each check compares with an untouched twin, bit for bit, and raises with what is wrong.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete

from ewok.errors import CheckError, KernelError, SnapshotError
from ewok.nominal.batch import leaves, same
from ewok.nominal.copying import first_difference
from ewok.nominal.generators import generator_of, rewind, state_of
from ewok.nominal.kernel import Candidates, SteerableKernel, Transition
from ewok.nominal.layers import layers_of
from ewok.nominal.seam import Seam
from ewok.nominal.snapshot import restore, snapshot
from ewok.worlds.check import check_perturbation as check_perturbation

Environment = gym.Env[Any, Any]
_NAMES = ("observation", "reward", "terminated", "truncated", "info")


class _Abandon(Exception):
    """Raised in the middle of a step, to see that nothing is left half done."""


def check_snapshot(env: Environment, *, twin: Environment | None = None, num_steps: int = 300, seed: int = 0) -> None:
    """Check that `ewok.snapshot` and `ewok.restore` are exact for `env`, its wrappers and generators.

    Every few steps the environment is saved, moved away, put back, and must then go on exactly as
    its twin, which was never saved, to the end of the episode and into the next.

    Args:
        env: the environment; it is reset.
        twin: another one built the same way; by default built from `env.spec`.
        num_steps: how many steps to compare.
        seed: of the reset and of the random actions.
    """
    twin = _twin_of(env) if twin is None else twin
    actions = _actions(env, seed)
    _compare_reset(env, twin, seed)
    for step in range(num_steps):
        if step % 5 == 0:
            saved = snapshot(env)
            _wander(env, actions, num_steps=3 + step % 7, then_reset=step % 2 == 0)
            restore(env, saved)
        if _compare_step(env.step, twin, actions.sample(), f"step {step}, after `restore`"):
            _compare_reset(env, twin, None)


def check_kernel(
    env: Environment,
    *,
    twin: Environment | None = None,
    num_samples: int = 5,
    num_steps: int = 200,
    seed: int = 0,
) -> None:
    """Check that the nominal kernel of `env` keeps its promises.

    A draw leaves the simulator where it was; the first candidate is what the simulator itself would
    have done next; a committed candidate is where the simulator then is; a draw is committed once.

    Args:
        env: the environment, with its noise wrappers; it is reset.
        twin: another one built the same way; by default built from `env.spec`.
        num_samples: N, candidates per draw.
        num_steps: how many steps to compare.
        seed: of the reset and of the random actions.
    """
    twin = _twin_of(env) if twin is None else twin
    seam = Seam(env, "check_kernel")
    kernel = seam.kernel
    certain = isinstance(kernel, SteerableKernel) and kernel.deterministic and not seam.layers.disturbances
    actions = _actions(env, seed)
    _compare_reset(env, twin, seed)
    for step in range(num_steps):
        action = actions.sample()
        _draw_and_abandon(seam, action, num_samples)
        where = f"step {step}, after a draw that was dropped"
        act: Callable[[Any], Any] = env.step
        if step % 2:
            index = step % num_samples if certain else 0
            act = partial(seam.step, num=num_samples, choose=_always(index))
            where = f"step {step}, candidate {index} of {num_samples} committed"
        over = _compare_step(act, twin, action, where)
        _align(env, twin)
        if over:
            _compare_reset(env, twin, None)
    _check_later_candidate(env, twin, seam, num_samples, seed)
    _check_commits(env, seam, num_samples, seed)


def _check_later_candidate(env: Environment, twin: Environment, seam: Seam, num: int, seed: int) -> None:
    """After committing a candidate other than the first, the simulator is all there, and there only."""
    try:
        snapshot(env)
    except SnapshotError:
        return  # a kernel can work for a simulator that cannot be saved, which then has no second witness
    actions = _actions(env, seed + 1)
    env.reset(seed=seed)
    twin.reset(seed=seed)
    for step in range(20):
        action, before = actions.sample(), snapshot(env)
        places, seen = [], []
        for index in (0, (step + 1) % num):  # the second is where it stays
            restore(env, before)
            drawn: list[Candidates] = []
            *_, terminated, truncated, _ = seam.step(action, num, _always(index, drawn))
            places.append(snapshot(env).simulator)
            seen.append(drawn[0].transition(index)[0])
        if not same(seen[0], seen[1]) and first_difference(places[0], places[1], trust=False) is None:
            _fail(f"`commit({(step + 1) % num})` leads where `commit(0)` leads, though their observations differ")
        if terminated or truncated:
            env.reset()
        restore(twin, snapshot(env))
        where = f"the step after candidate {(step + 1) % num} was committed"
        if _compare_step(env.step, twin, actions.sample(), where):
            env.reset()


def _check_commits(env: Environment, seam: Seam, num: int, seed: int) -> None:
    drawn: list[Candidates] = []

    def keep(candidates: Candidates) -> int:
        drawn.append(candidates)
        return 0

    env.reset(seed=seed)
    seam.step(_actions(env, seed).sample(), num, keep)
    sizes = {len(leaf) for leaf in leaves(drawn[0].observations)} | {
        len(part) for part in (drawn[0].rewards, drawn[0].terminated, drawn[0].truncated, drawn[0].infos)
    }
    if len(drawn[0]) > num or sizes != {len(drawn[0])}:
        _fail(
            f"`draw(action, {num})` returned parts of sizes {sorted(sizes)}; each must be {num} or, less the diverged"
        )
    for index, why in ((0, "a second time for one draw"), (num, "with an index out of range")):
        try:
            seam.kernel.commit(index)
        except KernelError:
            continue
        _fail(f"`commit({index})` was accepted {why}; raise `ewok.errors.KernelError` there")


def _always(index: int, drawn: list[Candidates] | None = None) -> Callable[[Candidates], int]:
    """Chooses one candidate, and keeps the draw where it is asked to."""

    def choose(candidates: Candidates) -> int:
        if drawn is not None:
            drawn.append(candidates)
        return min(index, len(candidates) - 1)

    return choose


def _draw_and_abandon(seam: Seam, action: Any, num: int) -> None:
    def abandon(candidates: Candidates) -> NoReturn:
        raise _Abandon

    try:
        seam.step(action, num, abandon)
    except _Abandon:
        return
    _fail("a step did not reach the kernel")


def _compare_reset(env: Environment, twin: Environment, seed: int | None) -> None:
    one, other = env.reset(seed=seed), twin.reset(seed=seed)
    if not same(one[0], other[0]):
        _fail(f"`reset(seed={seed})` gave {one[0]} where its twin gave {other[0]}; a generator was not put back")


def _compare_step(act: Callable[[Any], Any], twin: Environment, action: Any, where: str) -> bool:
    """Compare one step with the twin's. Returns whether the episode is over."""
    got, expected = act(action), twin.step(action)
    for name, one, other in zip(_NAMES, got, expected, strict=True):
        if not same(_plain(one), _plain(other)):
            _fail(f"{name} differs from the untouched twin's at {where}: {one} against {other}")
    return bool(got[2] or got[3])


def _plain(value: Any) -> Any:
    """Without how long the episode took on the clock."""
    if isinstance(value, dict) and isinstance(value.get("episode"), dict):
        return {**value, "episode": {k: v for k, v in value["episode"].items() if k != "t"}}
    return value


def _align(env: Environment, twin: Environment) -> None:
    """Give the twin the generators of `env`, which stand past draws the twin did not make."""
    layers, others = layers_of(env), layers_of(twin)
    for one, other in zip(layers.disturbances, others.disturbances, strict=True):
        rewind(other.generator, state_of(one.generator))
    own, its = generator_of(layers.simulator), generator_of(others.simulator)
    if own is not None and its is not None:
        rewind(its, copy.deepcopy(state_of(own)))


def _wander(env: Environment, actions: gym.Space[Any], num_steps: int, then_reset: bool) -> None:
    for _ in range(num_steps):
        *_, terminated, truncated, _ = env.step(actions.sample())
        if terminated or truncated:
            env.reset()
    if then_reset:
        env.reset()


def _actions(env: Environment, seed: int) -> gym.Space[Any]:
    space = copy.deepcopy(env.action_space)
    space.seed(seed)
    return space


def _twin_of(env: Environment) -> Environment:
    if env.spec is None:
        raise CheckError("`twin` must be given for an environment without a spec: build a second one the same way.")
    return gym.make(env.spec)


def _fail(what: str) -> NoReturn:
    raise CheckError(f"{what}.")


@final
class Lottery(gym.Env[Any, Any]):
    """A probe world: whatever the agent does, the next state is drawn from fixed probabilities.

    Next states are 1, 2, ...; state 0 is only the first. How often each is reached under a worst
    kernel can be worked out by hand.

    Args:
        probabilities: of the next states.
        rewards: for arriving in each; zeros by default.
        ends: which of them end the episode; none by default.

    Example:
        >>> from ewok.testing import Lottery
        >>> world = Lottery([0.5, 0.5], rewards=[0.0, 1.0], ends=[False, True])
    """

    def __init__(
        self,
        probabilities: Sequence[float],
        rewards: Sequence[float] | None = None,
        ends: Sequence[bool] | None = None,
    ) -> None:
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        num = len(self.probabilities)
        self.rewards = np.zeros(num) if rewards is None else np.asarray(rewards, dtype=np.float64)
        self.ends = np.zeros(num, dtype=bool) if ends is None else np.asarray(ends, dtype=bool)
        self.observation_space = Discrete(num + 1)
        self.action_space = Discrete(2)
        self.state = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = 0
        return self.state, {}

    def step(self, action: int) -> Transition:
        outcome = int(self.np_random.choice(len(self.probabilities), p=self.probabilities))
        self.state = outcome + 1
        return self.state, float(self.rewards[outcome]), bool(self.ends[outcome]), False, {}

    def snapshot(self) -> int:
        return self.state

    def restore(self, snapshot: int) -> None:
        self.state = snapshot

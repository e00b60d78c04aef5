"""The checks find what is wrong: each broken simulator or kernel fails, and says how."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import CheckError, KernelError
from ewok.nominal.kernel import Candidates
from ewok.nominal.restore import gathered
from ewok.testing import Lottery, check_kernel, check_snapshot


class Line(gym.Env[Any, Any]):
    """A point pushed along a line, with a velocity that a careless author may forget to save."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.position, self.velocity = float(self.np_random.normal()), 0.0
        return np.array([self.position]), {}

    def step(self, action: int) -> Any:
        self.velocity += action - 1
        self.position += self.velocity
        return np.array([self.position]), self.velocity, False, False, {}

    def snapshot(self) -> Any:
        return self.position, self.velocity

    def restore(self, snapshot: Any) -> None:
        self.position, self.velocity = snapshot


class ForgetsVelocity(Line):
    def snapshot(self) -> Any:
        return self.position

    def restore(self, snapshot: Any) -> None:
        self.position = snapshot


class GoodKernel:
    def __init__(self, env: Any) -> None:
        self.env, self.ends, self.left = env, [], False

    def draw(self, action: Any, num: int) -> Candidates:
        start, outcomes, self.ends = self.env.snapshot(), [], []
        for _ in range(num):
            outcomes.append(self.env.step(action))
            self.ends.append(self.env.snapshot())
            self.env.restore(start)
        self.left = True
        return gathered(outcomes)

    def commit(self, index: int) -> None:
        if not self.left or not 0 <= index < len(self.ends):
            raise KernelError("no such candidate")
        self.env.restore(self.ends[index])
        self.left = False


class MovesTheSimulator(GoodKernel):
    def draw(self, action: Any, num: int) -> Candidates:
        candidates = super().draw(action, num)
        self.env.restore(self.ends[0])
        return candidates


class CommitsNothing(GoodKernel):
    def commit(self, index: int) -> None:
        self.left = False


class CommitsTwice(GoodKernel):
    def commit(self, index: int) -> None:
        self.env.restore(self.ends[index % len(self.ends)])


class AnotherReward(GoodKernel):
    def draw(self, action: Any, num: int) -> Candidates:
        candidates = super().draw(action, num)
        candidates.rewards[:] += 1.0
        return candidates


class CommitsFirst(GoodKernel):
    """Draws well, but whatever is committed, it moves to the first candidate."""

    def commit(self, index: int) -> None:
        super().commit(index)
        self.env.restore(self.ends[0])


class Windy(Line):
    def step(self, action: int) -> Any:
        self.velocity += float(self.np_random.normal())
        return super().step(action)


def test_sound_ones_pass() -> None:
    check_snapshot(Line(), twin=Line())
    check_kernel(Line(), twin=Line())
    check_kernel(Lottery([0.2, 0.8]), twin=Lottery([0.2, 0.8]))


def test_a_forgetful_snapshot_fails() -> None:
    with pytest.raises(CheckError, match="observation differs from the untouched twin's at step .*after `restore`"):
        check_snapshot(ForgetsVelocity(), twin=ForgetsVelocity())


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (MovesTheSimulator, "differs from the untouched twin's at step 0, after a draw that was dropped"),
        (CommitsNothing, "differs from the untouched twin's at step 2"),
        (AnotherReward, "reward differs .* at step 1, candidate 0 of 5 committed"),
        (CommitsTwice, r"`commit\(0\)` was accepted a second time"),
        (CommitsFirst, "commit.* leads where"),
    ],
)
def test_broken_kernels_fail(kernel: Any, message: str) -> None:
    class Mine(Windy if kernel is CommitsFirst else Line): ...  # type: ignore[misc]

    ewok.register_kernel(Mine, kernel)
    with pytest.raises(CheckError, match=message):
        check_kernel(Mine(), twin=Mine())


def test_a_good_kernel_passes() -> None:
    class Mine(Line): ...

    ewok.register_kernel(Mine, GoodKernel)
    check_kernel(Mine(), twin=Mine())


def test_without_a_spec_a_twin_is_asked_for() -> None:
    with pytest.raises(CheckError, match="`twin` must be given"):
        check_snapshot(Line())


def test_by_spec_the_twin_is_built() -> None:
    check_kernel(gym.make("ewok/NoisyCartPole-v1"))

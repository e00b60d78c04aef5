"""The protocol: candidates, the one outstanding draw, and who is registered for what."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError, KernelError, NotResetError
from ewok.nominal.kernel import registered_factory
from ewok.nominal.restore import gathered

from ..conftest import make

EACH_FAMILY = ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1", "Hopper-v5", "dm_control/walker-walk-v0"]


@pytest.mark.parametrize("env_id", EACH_FAMILY)
def test_a_draw_is_committed_once_and_within_range(env_id: str) -> None:
    env = make(env_id)
    env.reset(seed=0)
    kernel = ewok.kernel_of(env)
    with pytest.raises(KernelError, match=r"`commit\(0\)` has no draw to choose from"):
        kernel.commit(0)
    kernel.draw(env.action_space.sample(), 3)
    wrong: list[Any] = [3, -1, 1.5, "first", None]
    for index in wrong:
        with pytest.raises(KernelError, match=f"from 0 to 2, but it is {index!r}"):
            kernel.commit(index)
    kernel.commit(2)
    with pytest.raises(KernelError, match="each draw can be committed once"):
        kernel.commit(2)


@pytest.mark.parametrize("env_id", EACH_FAMILY)
def test_drawing_before_reset(env_id: str) -> None:
    env = make(env_id)
    with pytest.raises(NotResetError, match=r"reset\(\)"):
        ewok.kernel_of(env).draw(env.action_space.sample(), 2)


@pytest.mark.parametrize("env_id", EACH_FAMILY)
@pytest.mark.parametrize("num", [0, -1, 1.5])
def test_drawing_no_whole_number_of_candidates(env_id: str, num: Any) -> None:
    env = make(env_id)
    env.reset(seed=0)
    with pytest.raises(ArgumentError, match=f"`num` must be a whole number of candidates, at least 1, but it is {num}"):
        ewok.kernel_of(env).draw(env.action_space.sample(), num)


def test_a_later_draw_replaces_one_that_was_not_committed() -> None:
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    kernel = ewok.kernel_of(env)
    kernel.draw(0, 5)
    second = kernel.draw(1, 2)
    with pytest.raises(KernelError):
        kernel.commit(4)
    kernel.commit(1)
    np.testing.assert_array_equal(env.unwrapped.state.astype(np.float32), second.observations[1])  # type: ignore[attr-defined]


def test_candidates_give_transitions_as_step_does() -> None:
    first = (np.zeros(2), 1.0, False, True, {"a": 1})
    candidates = gathered([first, (np.ones(2), 2.0, True, False, {"a": 2})])
    assert len(candidates) == 2
    observation, *rest = candidates.transition(0)
    np.testing.assert_array_equal(observation, np.zeros(2))
    assert rest == [1.0, False, True, {"a": 1}]


def test_the_nearest_registered_class_counts() -> None:
    class Parent(gym.Env[Any, Any]): ...

    class Child(Parent): ...

    class GrandChild(Child): ...

    ewok.register_kernel(Parent, lambda env: "parent")  # type: ignore[arg-type,return-value]
    ewok.register_kernel(GrandChild, lambda env: "grandchild")  # type: ignore[arg-type,return-value]
    assert registered_factory(Child())(Child()) == "parent"  # type: ignore[misc,comparison-overlap]
    assert registered_factory(GrandChild())(GrandChild()) == "grandchild"  # type: ignore[misc,comparison-overlap]
    assert registered_factory(gym.Env()) is None

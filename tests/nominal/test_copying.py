"""Copying is trusted only once it has been seen to work."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils import EzPickle

import ewok
from ewok.errors import SnapshotError
from ewok.nominal.batch import same
from ewok.nominal.copying import first_difference
from ewok.nominal.snapshot import saver_of
from ewok.testing import check_kernel, check_snapshot


class Plain(gym.Env[Any, Any]):
    """A simulator nobody taught us: nested parts, a part that refers back, and two more generators."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gym.spaces.Discrete(3)

    def __init__(self) -> None:
        self.body = {"position": np.zeros(2)}
        self.sensor = Sensor(self)
        self.weather = random.Random(0)
        self.legacy = np.random.RandomState(0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.body["position"][:] = self.np_random.normal(size=2)
        return self.sensor.read(), {}

    def step(self, action: int) -> Any:
        push = self.weather.gauss(0, 1) + self.legacy.normal() + self.np_random.normal()
        self.body["position"] += [action, push]
        return self.sensor.read(), float(push), False, False, {}


class Sensor:
    def __init__(self, env: Plain) -> None:
        self.env = env

    def read(self) -> Any:
        return self.env.body["position"].copy()


def test_an_unknown_simulator_is_copied() -> None:
    check_snapshot(Plain(), twin=Plain())


def test_a_kernel_of_copies_draws_from_every_generator_inside() -> None:
    env, twin = Plain(), Plain()
    env.reset(seed=0), twin.reset(seed=0)
    kernel = ewok.kernel_of(env)
    candidates = kernel.draw(1, 4)
    alone = [twin.step(1)[1]]
    assert candidates.rewards[0] == alone[0]  # the first is what would have been
    assert len(set(candidates.rewards)) == 4  # and every other has draws of its own
    kernel.commit(2)
    assert same(env.sensor.read(), candidates.observations[2])
    assert env.sensor.env is env


class Shared(Plain):
    """Its state lives outside of it, as in a physics server: a copy moves the original."""

    world = np.zeros(2)

    def step(self, action: int) -> Any:
        Shared.world += 1
        return Shared.world.copy(), 0.0, False, False, {}


class Restless(Plain):
    """Two copies go different ways: it draws from a generator that cannot be found."""

    def step(self, action: int) -> Any:
        return np.random.default_rng().normal(size=2), 0.0, False, False, {}


class Fresh(EzPickle):
    """Its copy is a new one, silently."""

    def __init__(self) -> None:
        super().__init__()
        self.position = np.zeros(2)


class HoldsFresh(Plain):
    def __init__(self) -> None:
        super().__init__()
        self.part = Fresh()

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.part.position += 1
        return self.part.position.copy(), {}

    def step(self, action: int) -> Any:
        self.part.position += 1
        return self.part.position.copy(), 0.0, False, False, {}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Shared, "two copies given the same actions went different ways"),
        (Restless, "two copies given the same actions went different ways"),
        (HoldsFresh, "its copy starts elsewhere .see `part.position`"),
    ],
)
def test_copies_that_are_not_copies_are_refused(kind: type[Plain], reason: str) -> None:
    env = kind()
    env.reset(seed=0)
    before = vars(env).copy()
    with pytest.raises(SnapshotError, match=reason):
        ewok.snapshot(env)
    assert vars(env) == before
    with pytest.raises(SnapshotError, match="cannot be saved"):
        ewok.kernel_of(env).draw(0, 2)


class Picky(Plain):
    """Not every action is allowed everywhere: the other one raises."""

    def step(self, action: int) -> Any:
        if action == 0:
            raise ValueError("not allowed here")
        return super().step(action)


def test_actions_that_are_not_allowed_are_no_reason_to_refuse() -> None:
    env, twin = Picky(), Picky()
    env.reset(seed=0), twin.reset(seed=0)
    ewok.snapshot(env)
    assert same(env.step(1), twin.step(1))


def test_a_copy_that_cannot_be_stepped_at_all_is_refused() -> None:
    env = Picky()
    env.action_space = gym.spaces.Discrete(1)
    env.reset(seed=0)
    with pytest.raises(SnapshotError, match=r"cannot be stepped \(ValueError: not allowed here; was it reset\?"):
        ewok.snapshot(env)


def test_what_was_added_is_a_difference() -> None:
    assert first_difference({"hand": [1, 2]}, {"hand": [1, 2]}) is None
    assert first_difference({"hand": [1, 2]}, {"hand": [1, 2, 3]}) == "hand"


def test_environments_without_a_hash_are_told_apart() -> None:
    """Dataclasses have none, and two that are equal each have to show that they can be copied."""

    @dataclasses.dataclass
    class Record(Plain):
        gravity: float = 9.8

        def __post_init__(self) -> None:
            super().__init__()

    one, other = Record(), Record()
    assert saver_of(one) is saver_of(one)
    assert saver_of(one) is not saver_of(other)
    check_snapshot(Record(), twin=Record(), num_steps=30)


def test_the_proof_leaves_the_simulator_where_it_was() -> None:
    env, twin = Plain(), Plain()
    env.reset(seed=0), twin.reset(seed=0)
    ewok.snapshot(env)
    assert same(env.step(1), twin.step(1))


def test_check_kernel_on_copies() -> None:
    class Quiet(Plain):  # one generator, so that a twin can be aligned
        def step(self, action: int) -> Any:
            self.body["position"] += [action, self.np_random.normal()]
            return self.sensor.read(), 0.0, False, False, {}

    check_kernel(Quiet(), twin=Quiet(), num_steps=40)


class Drunkard(gym.Env[Any, Any]):
    """Walks at random by Gymnasium's own generator, which is not there before it is asked for."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place = np.zeros(1)
        return self.place.copy(), {}

    def step(self, action: Any) -> Any:
        self.place = self.place + self.np_random.normal()
        return self.place.copy(), 0.0, False, False, {}


def test_a_simulator_that_was_never_seeded_is_copied_with_its_generator() -> None:
    env = ewok.WorstKernel(Drunkard(), num_samples=5, kappa=0.5, value=lambda places: places[:, 0])
    env.reset()
    report = env.step(0)[-1]["ewok"]
    assert report["spread"] > 0.0
    bare = Drunkard()
    bare.reset()
    saved = ewok.snapshot(bare)
    first = bare.step(0)[0]
    ewok.restore(bare, saved)
    assert bare.step(0)[0] == first

"""Finding the generators inside an object, and moving them back."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ewok.nominal.generators import generators_in, rewind, seeded, state_of


class Slotted:
    __slots__ = ("generator", "unset")

    def __init__(self) -> None:
        self.generator = np.random.RandomState(1)


class Proxy:
    """Answers to any attribute, as dm_control's indexers do."""

    def __getattr__(self, name: str) -> Any:
        return np.zeros(2)


def test_generators_are_found_wherever_they_hide() -> None:
    one, two, three = np.random.default_rng(0), Slotted(), random.Random(2)
    root = {"a": [one, (three,)], "b": two, "proxy": Proxy(), "method": three.gauss, "again": one}
    root["itself"] = root
    found = generators_in(root)
    assert {id(g) for g in found} == {id(one), id(two.generator), id(three)}
    assert generators_in([one], skip=frozenset({id(one)})) == []


def test_generators_can_be_rewound() -> None:
    for generator, draw in (
        (np.random.default_rng(0), lambda g: g.normal()),
        (np.random.RandomState(0), lambda g: g.normal()),
        (random.Random(0), lambda g: g.random()),
    ):
        state = state_of(generator)
        first = draw(generator)
        rewind(generator, state)
        assert draw(generator) == first


def test_seeded_streams_differ_by_place() -> None:
    draws = {seeded(0, place).random() for place in range(5)} | {np.random.default_rng(0).random()}
    assert len(draws) == 6
    assert seeded(3, 1).random() == seeded(3, 1).random()


def test_generators_that_a_simulator_spawns_are_not_ours() -> None:
    spawned = np.random.default_rng(0).spawn(8)
    assert not {g.random() for g in spawned} & {seeded(0, place).random() for place in range(8)}

"""Points to test at: along one parameter, across two, and in a cloud over all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ewok
from ewok.errors import ArgumentError
from ewok.worlds import across, along, cloud

CARTPOLE = ewok.worlds.get("cartpole")


def test_along_a_parameter_lies_its_grid() -> None:
    grid = CARTPOLE.perturbations["pole_mass"].grid
    assert along(CARTPOLE, "pole_mass") == [{"pole_mass": value} for value in grid]
    assert 0.1 in grid  # the paper's range leaves the nominal value out
    assert along("cartpole", "action_delay", [0, 2]) == [{"action_delay": 0.0}, {"action_delay": 2.0}]


def test_across_two_lies_every_pair() -> None:
    points = across("cartpole", "gravity", "cart_mass", ([5.0, 20.0], None))
    masses = CARTPOLE.perturbations["cart_mass"].grid
    assert points == [{"gravity": g, "cart_mass": m} for g in (5.0, 20.0) for m in masses]
    episodes = CARTPOLE.make_vector(points[:4], episodes=2).run(lambda seen: (seen[:, 2] > 0).astype(int), seed=0)
    assert episodes.returns.shape == (4, 2)


@settings(max_examples=20, deadline=None)
@given(num=st.integers(1, 50), seed=st.integers(0, 1000))
def test_a_cloud_lies_within_the_tested_ranges_and_is_seeded(num: int, seed: int) -> None:
    points = cloud("cartpole", num, seed=seed)
    assert points == cloud("cartpole", num, seed=seed)
    assert points != cloud("cartpole", num, seed=seed + 1)
    assert len(points) == num
    for point in points:
        assert set(point) == set(CARTPOLE.perturbations)
        assert all(p.low <= point[name] <= p.high for name, p in CARTPOLE.perturbations.items())


def test_a_cloud_fills_the_range_of_each_by_itself() -> None:
    points = cloud("cartpole", 4000, ["gravity", "noise"])
    drawn = np.array([[point["gravity"] / 30.0, point["noise"] / 0.1] for point in points])
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.03)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: along("cartpole", "gravity", []), "`values` must be one or more values of 'gravity'"),
        (lambda: along("cartpole", "gravity", 5.0), "`values` must be .* in a list, but it is 5.0"),  # type: ignore[arg-type]
        (lambda: along("cartpole", "gravity", "5"), "`values` must be .* in a list, but it is '5'"),
        (lambda: along("cartpole", "gravity", np.array(5.0)), "`values` must be .* in a list"),  # type: ignore[arg-type]
        (lambda: along("cartpole", "gravity", [float("nan")]), "`gravity` must be a finite number"),
        (lambda: along("cartpole", "gravitas"), "Did you mean 'gravity'"),
        (lambda: along("cartpoles", "gravity"), "Did you mean 'cartpole'"),
        (lambda: across("cartpole", "gravity", "gravity"), "`other` must be another parameter than 'gravity'"),
        (lambda: across("cartpole", "gravity", "mass"), "`parameter` must be the name of a parameter"),
        (lambda: cloud("cartpole", 0), "`num` must be a whole number of points, at least 1"),
        (lambda: cloud("cartpole", 2.5), "`num` must be a whole number"),  # type: ignore[arg-type]
        (lambda: cloud("cartpole", 3, []), "`parameters` must be one or more"),
        (lambda: cloud("cartpole", 3, ["grvity"]), "Did you mean 'gravity'"),
    ],
)
def test_bad_input_is_named(ask: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        ask()


def test_one_name_is_enough_for_a_cloud() -> None:
    assert cloud("cartpole", 5, "gravity") == cloud("cartpole", 5, ["gravity"])

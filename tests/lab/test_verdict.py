"""What is said of a model follows from its returns, whatever their sign."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ewok import worlds
from ewok.lab.store import Curve, Returns
from ewok.lab.stress import Mixture, Stress
from ewok.lab.verdict import comparison, findings, is_skilled, shares, verdict

CARTPOLE = worlds.get("cartpole")


def curve(values: list[float], heights: list[float], wobble: float = 0.0) -> Curve:
    returns = np.array(heights)[:, None] + wobble * np.linspace(-1.0, 1.0, 10)
    return Curve(np.array(values), returns, np.ones(returns.shape, int), np.zeros(returns.shape, bool))


def stress(
    heights: dict[str, list[float]], *, top: float = 100.0, chance: float = 0.0, name: str = "m", **more: Any
) -> Stress:
    """Of gravity at 5, 9.8 and 20, and so on: three values each, the nominal one in the middle."""
    grids = {"gravity": [5.0, 9.8, 20.0], "pole_length": [0.25, 0.5, 5.0], "cart_mass": [0.25, 1.0, 5.0]}
    given: dict[str, Any] = {
        "model": name,
        "algorithm": "PPO",
        "world": CARTPOLE,
        "nominal": np.full(10, top),
        "random": np.full(10, chance),
        "curves": Returns({key: curve(grids[key], values) for key, values in heights.items()}),
        "radius": None,
        "no_radius": "it has no critic.",
        "pairs": (),
        "cloud": (),
    }
    return Stress(**(given | more))


@given(gain=st.floats(1.0, 1e4), chance=st.floats(-1e4, 1e4), kept=st.floats(-1.0, 1.5), scale=st.floats(0.1, 10.0))
def test_shares_do_not_change_with_the_units_of_rewards(gain: float, chance: float, kept: float, scale: float) -> None:
    returns = np.full((1, 10), chance + kept * gain)
    one = stress({}, top=chance + gain, chance=chance)
    other = stress({}, top=scale * (chance + gain) + 7.0, chance=scale * chance + 7.0)
    assert shares(one, returns)[0] == pytest.approx(kept, abs=1e-6)
    assert shares(other, scale * returns + 7.0)[0] == pytest.approx(kept, abs=1e-6)


@pytest.mark.parametrize(
    ("heights", "grade", "kept"),
    [
        ([100.0, 100.0, 81.0], "holds", (5.0, 20.0)),
        ([100.0, 100.0, 79.0], "bends", (5.0, 9.8)),
        ([49.0, 100.0, 90.0], "breaks", (9.8, 20.0)),
        ([10.0, 100.0, 10.0], "breaks", (9.8, 9.8)),
        ([130.0, 100.0, 120.0], "holds", (5.0, 20.0)),
    ],
)
def test_grades(heights: list[float], grade: str, kept: tuple[float, float]) -> None:
    (found,) = findings(stress({"gravity": heights}))
    assert (found.grade, found.kept) == (grade, kept)
    assert found.least == min(heights)
    assert found.share == pytest.approx(min(heights) / 100.0)


def test_costs_are_graded_as_rewards_are() -> None:
    (found,) = findings(stress({"gravity": [-190.0, -150.0, -700.0]}, top=-150.0, chance=-1150.0))
    assert found.grade == "breaks"
    assert found.share == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("heights", "headline"),
    [
        ({"gravity": [99.0, 100.0, 90.0]}, "m is robust: it keeps 80% or more wherever a single parameter was moved."),
        ({"gravity": [99.0, 100.0, 70.0]}, "m is fairly robust: it bends under gravity, and breaks nowhere."),
        (
            {"gravity": [9.0, 100.0, 90.0], "pole_length": [99.0, 100.0, 30.0], "cart_mass": [99.0, 100.0, 99.0]},
            "m is fragile: it breaks under gravity and pole_length, and holds under cart_mass.",
        ),
        (
            {"gravity": [9.0, 100.0, 90.0], "cart_mass": [70.0, 100.0, 99.0]},
            "m is fragile: it breaks under gravity, and bends under cart_mass.",
        ),
        (
            {"gravity": [9.0, 100.0, 90.0], "cart_mass": [70.0, 100.0, 99.0], "pole_length": [99.0, 100.0, 99.0]},
            "m is fragile: it breaks under gravity, bends under cart_mass, and holds under pole_length.",
        ),
        ({"gravity": [9.0, 100.0, 90.0]}, "m is fragile: it breaks under gravity."),
    ],
)
def test_the_first_sentence_sums_up(heights: dict[str, list[float]], headline: str) -> None:
    assert verdict(stress(heights))[0] == headline


def test_where_and_how_far_is_said() -> None:
    said = " ".join(verdict(stress({"gravity": [99.0, 100.0, 90.0], "pole_length": [99.0, 100.0, 30.0]})))
    assert "It holds, keeping 80% of its gain over random actions or more, under gravity." in said
    assert (
        "It breaks under pole_length: 80% is kept from 0.25 to 0.5 m (nominal 0.5, tested 0.25 to 5), and 30% at 5, "
        "where it returns 30." in said
    )
    assert "It was not set against its own critic: it has no critic." in said


def test_the_radius_and_the_mixtures_are_told() -> None:
    mixtures = [Mixture({"gravity": 20.0, "cart_mass": 5.0}, np.full(3, height)) for height in (90.0, 20.0, 60.0)]
    one = stress(
        {"gravity": [99.0, 100.0, 90.0]},
        radius=curve([0.0, 0.1, 0.3, 1.0], [100.0, 90.0, 60.0, 10.0]),
        pairs=tuple(mixtures[:1]),
        cloud=tuple(mixtures),
    )
    said = " ".join(verdict(one))
    assert "it keeps 80% up to a KL radius of 0.1, and 10% at 1, where it returns 10." in said
    assert "The worst pair of ends: gravity 20, cart_mass 5, where it returns 90." in said
    assert "The worst of 3 random mixtures: gravity 20, cart_mass 5, where it returns 20." in said
    assert "It keeps less than half in 1 of the 3 mixtures." in said


def test_a_model_that_is_no_better_than_chance_is_not_graded() -> None:
    lost = stress({"gravity": [1.0, 1.0, 1.0]}, top=1.0, chance=1.0)
    assert not is_skilled(lost)
    assert "no better than random actions" in verdict(lost)[0]
    assert "--vecnormalize" in verdict(lost)[0]
    assert len(verdict(lost)) == 2


def test_two_models_are_compared_in_the_same_episodes() -> None:
    wobble = 40.0  # episodes differ far more than models do
    heights = {"gravity": [50.0, 100.0, 70.0]}
    one, other = stress(heights), stress(heights, name="n")
    one.curves.curves["gravity"] = curve([5.0, 9.8, 20.0], [60.0, 100.0, 69.0], wobble)  # type: ignore[index]
    other.curves.curves["gravity"] = curve([5.0, 9.8, 20.0], [50.0, 100.0, 70.0], wobble)  # type: ignore[index]
    said = comparison(one, other)
    assert said[0].startswith(
        "m against n, in the same episodes: better at 1 of 3 values, worse at 1, no clear difference"
    )
    assert "It gains most at gravity 5, where it returns 10 more." in said
    assert "It loses most at gravity 20, where it returns 1 less." in said
    assert "better at 0 of 3 values, worse at 0" in comparison(one, one)[0]


def test_the_nominal_world_is_counted_once() -> None:
    heights = {"gravity": [50.0, 100.0, 70.0], "cart_mass": [50.0, 100.0, 70.0]}
    one, other = stress(heights), stress({name: [50.0, 90.0, 70.0] for name in heights}, name="n")
    assert "better at 1 of 5 values, worse at 0" in comparison(one, other)[0]

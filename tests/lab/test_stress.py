"""Everything in the plan is flown, and comes to what the world says it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")

from ewok import worlds
from ewok.errors import ArgumentError
from ewok.lab.pilot import Pilot
from ewok.lab.saved import load
from ewok.lab.stress import Plan, Stress, examine, is_better
from ewok.worlds.adversary import RADII
from tests.lab.models import CARTPOLE, Picture, save_balancer, save_ppo

PLAN = Plan(parameters=("pole_length", "action_delay"), episodes=3, num_mixtures=5, seed=40)


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: Any) -> Pilot:
    return Pilot(load(save_balancer(tmp_path_factory.mktemp("stress"))), CARTPOLE)


@pytest.fixture(scope="module")
def stress(pilot: Pilot) -> Stress:
    return examine(pilot, CARTPOLE, PLAN)


def test_curves_are_the_worlds_own(pilot: Pilot, stress: Stress) -> None:
    for name in PLAN.parameters:
        grid = CARTPOLE.perturbation(name).grid
        curve = stress.curves.of(name)
        assert curve.values.tolist() == list(grid)
        direct = pilot.run([{name: value} for value in grid], 3, seed=40)
        np.testing.assert_array_equal(curve.returns, direct.returns)
        np.testing.assert_array_equal(curve.lengths, direct.lengths)


def test_the_nominal_world_is_the_same_everywhere(stress: Stress) -> None:
    for name in PLAN.parameters:
        nominal = CARTPOLE.perturbation(name).nominal
        place = stress.curves.of(name).values.tolist().index(nominal)
        np.testing.assert_array_equal(stress.curves.of(name).returns[place], stress.nominal)
    assert stress.radius is not None
    np.testing.assert_array_equal(stress.radius.returns[0], stress.nominal[:1])
    assert stress.nominal.mean() > 400 > 100 > stress.random.mean(), "it balances, and random actions do not"


def test_pairs_are_of_ends_that_are_not_nominal_and_mixtures_of_all(stress: Stress) -> None:
    assert {tuple(sorted(pair.point)) for pair in stress.pairs} == {("action_delay", "pole_length")}
    assert {tuple(pair.point.values()) for pair in stress.pairs} == {
        (length, CARTPOLE.perturbation("action_delay").high) for length in (0.25, 5.0)
    }
    assert len(stress.cloud) == 5
    assert all(set(mixture.point) == set(PLAN.parameters) and len(mixture.returns) == 1 for mixture in stress.cloud)


def test_all_own_parameters_are_moved_by_default(pilot: Pilot) -> None:
    stress = examine(pilot, CARTPOLE, Plan(episodes=2, num_mixtures=0))
    assert list(stress.curves) == list(CARTPOLE.perturbations)
    assert len(stress.pairs) == 9 * 4 - 6 * 2 + 4 * 4, (
        "each pair of parameters at each pair of ends, noise being none at 0"
    )
    assert stress.cloud == ()


def test_the_same_seed_gives_the_same_and_another_does_not(pilot: Pilot, stress: Stress) -> None:
    again, other = examine(pilot, CARTPOLE, PLAN), examine(pilot, CARTPOLE, replace(PLAN, seed=41))
    for one, two in zip(stress.cloud, again.cloud, strict=True):
        assert one.point == two.point
        np.testing.assert_array_equal(one.returns, two.returns)
    assert stress.radius is not None
    assert again.radius is not None
    assert len(stress.radius.values) == len(RADII)
    np.testing.assert_array_equal(stress.radius.returns, again.radius.returns)
    assert other.cloud[0].point != stress.cloud[0].point


def test_all_episodes_of_a_pass_are_flown_together(pilot: Pilot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nominal, curves, mixtures, radii: four times the steps of one episode, however many values and episodes."""
    called, asked = Pilot.__call__, list[int]()

    def counted(self: Pilot, observations: Any) -> Any:
        asked.append(len(observations))
        return called(self, observations)

    monkeypatch.setattr(Pilot, "__call__", counted)
    plan = replace(PLAN, parameters=("pole_length", "gravity"))
    examine(pilot, CARTPOLE, plan)
    num_points = sum(len(CARTPOLE.perturbation(name).grid) - 1 for name in plan.parameters)
    assert max(asked) == num_points * plan.episodes
    assert len(asked) <= 4 * 500


def test_what_has_no_critic_is_still_put_under_stress() -> None:
    from ewok.lab.saved import SavedModel

    class Mute:
        """Acts, and judges nothing."""

        policy = object()
        observation_space = CARTPOLE.make().observation_space
        action_space = CARTPOLE.make().action_space

        def predict(self, observations: Any, deterministic: bool) -> Any:
            return (observations[:, 2] > 0).astype(int), None

    came = examine(Pilot(SavedModel("mute", "mine", Mute()), CARTPOLE), CARTPOLE, replace(PLAN, episodes=2))
    assert came.radius is None
    assert "value_of" in came.no_radius


def test_plans_with_mistakes_are_refused() -> None:
    gallery = worlds.World(name="gallery", build=Picture, parameters=[], settle=lambda env, values: None)
    with pytest.raises(ArgumentError, match="has none of its own.*These fit any world: "):
        Plan().moved(gallery)
    with pytest.raises(ArgumentError, match="Did you mean 'gravity'"):
        Plan(parameters=["gravty"]).moved(CARTPOLE)
    for wrong in ("episodes", "num_mixtures", "seed"):
        with pytest.raises(ArgumentError, match="must be at least"):
            Plan(**{wrong: -1})
    assert Plan(parameters=["gravity", "noise", "gravity"]).moved(CARTPOLE) == ["gravity", "noise"]


def test_a_model_in_the_wrong_world_is_told_so_before_the_long_part(tmp_path: Path) -> None:
    said: list[str] = []
    examine(Pilot(load(save_ppo(tmp_path)), CARTPOLE), CARTPOLE, PLAN, said.append)
    assert "no better than random actions" in said[1]


def test_better_means_beyond_chance() -> None:
    rng = np.random.default_rng(0)
    low, high = rng.normal(0.0, 1.0, 30), rng.normal(2.0, 1.0, 30)
    assert is_better(high, low)
    assert not is_better(low, high)
    assert not is_better(low + 0.1, low)
    assert not is_better(np.ones(3), np.ones(3))
    rare = [is_better(*rng.normal(0.0, 1.0, (2, 3))) for _ in range(2000)]
    assert np.mean(rare) < 0.08, "few episodes of the same are seldom called different"


def test_one_episode_tells_nothing_from_chance() -> None:
    with pytest.raises(ArgumentError, match="`episodes` must be at least 2"):
        Plan(episodes=1)

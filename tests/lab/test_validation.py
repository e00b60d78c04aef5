"""Nothing that a study reports has a part in choosing its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic", reason="needs the lab extra")

from ewok.errors import ArgumentError
from ewok.lab.meaning import grids
from ewok.lab.plan import plan
from ewok.lab.reading import read_plain
from ewok.lab.store import read
from ewok.lab.study import LARGEST_SEED, Study
from ewok.lab.validation import other_seeds, other_values, scores_of, validation_study
from tests.lab.made import made_study


def study(**changes: Any) -> Study:
    plain: dict[str, Any] = {
        "name": "s",
        "world": "cartpole",
        "seeds": 4,
        "agent": {"recipe": "ddqn"},
        "methods": {"baseline": {}, "ewok": {"num_samples": 15, "kappa": 0.1}},
    }
    return read_plain({**plain, **changes})


@pytest.mark.parametrize("world", ["cartpole", "walker-walk", "pendulum"])
def test_no_reported_value_and_no_reported_seed_is_met(world: str) -> None:
    own = study(world=world)
    tried = validation_study(own, "ewok", {"kappa": 0.5}, 3)
    reported, met = grids(own), grids(tried)
    assert set(met) == set(reported)
    for name, values in met.items():
        nominal = [value for value in values if value in reported[name]]
        assert len(nominal) == 1, "the nominal world, in which the agent is trained"
        assert all(min(reported[name]) < value < max(reported[name]) for value in set(values) - set(nominal))

    def seeds(one: Study) -> tuple[set[int], set[int]]:
        trials = plan(one)
        episodes = {t.meaning["evaluation"]["seed"] + e for t in trials for e in range(one.episodes)}
        return {trial.seed for trial in trials}, episodes

    for mine, theirs in zip(seeds(own), seeds(tried), strict=True):
        assert mine.isdisjoint(theirs)


def test_seeds_of_methods_and_sweeps_are_reported_too() -> None:
    own = study(
        methods={"ewok": {"num_samples": 15, "kappa": 0.1, "seeds": [3, 70]}},
        sweeps={"kappa": {"base": "ewok", "kappa": [0.2], "seeds": [90]}},
    )
    assert other_seeds(own, 2) == [LARGEST_SEED - 1, LARGEST_SEED]
    with pytest.raises(ArgumentError, match="some are left for validation"):
        other_seeds(study(seeds=[LARGEST_SEED]), 1)


def test_a_study_that_grows_reports_no_seed_that_settings_were_chosen_by() -> None:
    tuned_with = set(other_seeds(study(seeds=4), 3))
    assert tuned_with.isdisjoint(range(1000))
    assert other_seeds(study(seeds=40), 3) == other_seeds(study(seeds=4), 3), "so a search goes on from where it was"


def test_values_lie_half_way_on_the_parameters_own_scale() -> None:
    assert other_values(study(perturbations={"gravity": [5.0, 20.0]})) == {"gravity": [7.4, 14.9]}
    (damping,) = other_values(study(world="walker-walk", perturbations={"joint_damping": [10.0]})).values()
    assert damping == [1.0], "0.1 to 10, by the logarithm"
    delays = other_values(study(perturbations={"action_delay": [1.0, 2.0, 5.0]}))["action_delay"]
    assert delays == [3.0], "whole numbers only, and none that is reported"


def test_a_study_without_values_between_is_refused() -> None:
    with pytest.raises(ArgumentError, match="`perturbations` must be such that there are values between"):
        other_values(study(perturbations={"action_delay": [1.0]}))


def test_settings_take_the_place_of_the_methods_own() -> None:
    own = study(methods={"mine": {"kind": "ewok", "num_samples": 15, "kappa": 0.1, "target": True}})
    tried = validation_study(own, "mine", {"radius": 0.3, "num_samples": 7}, 2)
    (method,) = tried.methods.values()
    assert (method.kind, method.radius, method.kappa, method.num_samples) == ("ewok", 0.3, None, 7)
    assert method.target
    assert tried.agent == own.agent
    assert len(plan(tried)) == 2


def test_scores_are_those_of_the_folder(tmp_path: Path) -> None:
    """Of seed s: 10 + s + place in the grid + 0.015; the nominal value is second in both grids."""
    results = read(made_study(tmp_path / "made", num_seeds=3))
    scores = scores_of(results, "baseline")
    assert scores.nominal == pytest.approx(1.0 + 1.0 + 0.015)
    assert scores.worst == pytest.approx(1.0 + 0.0 + 0.015)

"""What a study's tables come to: nothing that decides a number is left out, and nothing else is in."""

from __future__ import annotations

from ewok import worlds
from ewok.lab.meaning import agent_meaning, settings_of, settled
from ewok.lab.plan import plan
from ewok.lab.reading import read_plain
from ewok.lab.study import Agent, Method
from tests.lab.test_reading import SMALL

STUDY = read_plain(SMALL)


def test_a_method_means_what_its_kind_looks_at() -> None:
    plain = Method()
    assert settings_of("baseline", plain, STUDY) == {}
    assert set(settings_of("randomized", plain, STUDY)) == {"parameters", "distribution"}
    assert settings_of("mine:shaken", Method(options={"std": 0.1}), STUDY) == {"options": {"std": 0.1}}
    told = {"kappa": 0.1, "num_samples": 15, "discount": 0.9, "terminal_value": "critic", "soft": True, "target": True}
    assert settings_of("ewok", Method(**told), STUDY) == told | {"terminal_value": None}
    assert settings_of("ewok", Method(kappa=0.1), STUDY)["num_samples"] == 10


def test_kappa_and_radius_are_not_both_there() -> None:
    assert "kappa" not in settings_of("ewok", Method(radius=0.3), STUDY)
    assert "radius" not in settings_of("ewok", Method(kappa=0.3), STUDY)


def test_a_recipe_with_another_class_keeps_its_numbers() -> None:
    own, other = (agent_meaning(Agent(recipe="ddqn", agent=agent)) for agent in (None, "ewok.agents.sbx:DoubleDQN"))
    assert own["agent"] == "ewok.agents.double_dqn:DoubleDQN"
    assert other == {**own, "agent": "ewok.agents.sbx:DoubleDQN"}


def test_randomized_is_over_what_the_study_tests() -> None:
    own = read_plain({**SMALL, "perturbations": {"gravity": [5.0, 20.0], "noise": "grid"}})
    plain = settings_of("randomized", Method(), own)
    assert plain["parameters"] == ["gravity", "noise"]
    assert plain["ranges"] == {"gravity": {"low": 5.0, "high": 20.0, "grid": [5.0, 9.8, 20.0]}}
    untested = settings_of("randomized", Method(parameters=["pole_length"]), own)
    assert (untested["ranges"]["pole_length"]["low"], untested["ranges"]["pole_length"]["high"]) == (0.25, 5.0)


def test_the_worlds_own_range_is_told_by_the_values_that_are_tested() -> None:
    for parameters in ("each", None, ["gravity"]):
        study = read_plain({**SMALL, "methods": {"randomized": {"parameters": parameters} if parameters else {}}})
        for trial in plan(study):
            assert set(trial.meaning["method"]) == {"kind", "parameters", "distribution"}
            for name in trial.meaning["method"]["parameters"]:
                own = worlds.get("cartpole").perturbation(name)
                assert {own.low, own.high} <= set(trial.meaning["evaluation"]["grids"][name])


def test_randomized_each_is_one_for_each_that_is_tested() -> None:
    raw = {**SMALL, "methods": {"baseline": {}, "randomized": {"parameters": "each"}}}
    assert set(settled(read_plain({**raw, "perturbations": {"gravity": [5.0]}}))) == {"baseline", "randomized-gravity"}

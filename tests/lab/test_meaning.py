"""What a study's tables come to: nothing that decides a number is left out, and nothing else is in."""

from __future__ import annotations

from ewok import worlds
from ewok.lab.meaning import agent_meaning, settings_of
from ewok.lab.study import Agent, Method

WORLD = worlds.get("cartpole")


def test_a_method_means_what_its_kind_looks_at() -> None:
    plain = Method()
    assert settings_of("baseline", plain, WORLD) == {}
    assert set(settings_of("randomized", plain, WORLD)) == {"parameters", "distribution"}
    assert settings_of("mine:shaken", Method(options={"std": 0.1}), WORLD) == {"options": {"std": 0.1}}
    told = {"kappa": 0.1, "num_samples": 15, "discount": 0.9, "terminal_value": "critic", "soft": True, "target": True}
    assert settings_of("ewok", Method(**told), WORLD) == told | {"terminal_value": None}
    assert settings_of("ewok", Method(kappa=0.1), WORLD)["num_samples"] == 10


def test_kappa_and_radius_are_not_both_there() -> None:
    assert "kappa" not in settings_of("ewok", Method(radius=0.3), WORLD)
    assert "radius" not in settings_of("ewok", Method(kappa=0.3), WORLD)


def test_a_recipe_with_another_class_keeps_its_numbers() -> None:
    own, other = (agent_meaning(Agent(recipe="ddqn", agent=agent)) for agent in (None, "ewok.agents.sbx:DoubleDQN"))
    assert own["agent"] == "ewok.agents.double_dqn:DoubleDQN"
    assert other == {**own, "agent": "ewok.agents.sbx:DoubleDQN"}

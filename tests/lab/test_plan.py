"""From a study to its trials: which there are, what they mean, and when two mean the same."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from ewok.lab.meaning import settled
from ewok.lab.plan import described, hash_of, plan
from ewok.lab.reading import read_plain
from tests.lab.test_reading import SMALL

NUMBERS = st.floats(1e-300, 1e300)
EWOK: dict[str, Any] = {"kind": "ewok", "kappa": 0.1, "num_samples": 15}


def ids(changes: dict[str, Any]) -> list[str]:
    return [trial.id for trial in plan(read_plain({**SMALL, **changes}))]


def test_a_trial_is_a_method_and_a_seed() -> None:
    names = ids({"seeds": 2, "methods": {"baseline": {}, "ewok": EWOK | {"seeds": [1, 5]}}})
    assert [name.rpartition("-")[0] for name in names] == ["baseline-s000", "baseline-s001", "ewok-s001", "ewok-s005"]
    assert len(set(names)) == 4


def test_the_id_is_the_meaning() -> None:
    base = ids({})
    assert ids({}) == base
    assert ids({"title": "other", "name": "other"}) == base, "how it is called is no part of what is done"
    assert ids({"seeds": 3})[:2] == base
    for changes in (
        {"episodes": 3},
        {"world": "tests.lab.mine:world"},
        {"agent": {**SMALL["agent"], "num_steps": 11}},
        {"evaluation_seed": 2_000_000},
        {"perturbations": {"gravity": [1.0]}},
    ):
        assert not set(ids(changes)) & set(base), changes


def test_only_the_method_that_changed_means_something_else() -> None:
    before = ids({"methods": {"baseline": {}, "ewok": EWOK}})
    after = ids({"methods": {"baseline": {}, "ewok": EWOK | {"kappa": 0.2}}})
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True, False]


def test_hash_is_of_the_content_and_not_of_its_order() -> None:
    assert hash_of({"a": 1, "b": [1.5]}) == hash_of({"b": [1.5], "a": 1})
    assert hash_of({"a": 1}) != hash_of({"a": 2})


def test_the_nominal_value_is_in_every_grid() -> None:
    (trial, _) = plan(read_plain({**SMALL, "perturbations": {"gravity": [20.0, 5.0], "noise": "grid"}}))
    grids = trial.meaning["evaluation"]["grids"]
    assert grids["gravity"] == [5.0, 9.8, 20.0]
    assert 0.01 in grids["noise"]
    assert list(grids) == ["gravity", "noise"]


def test_the_worlds_own_parameters_are_tested_by_default() -> None:
    study = read_plain(SMALL)
    (trial, _) = plan(study)
    assert list(trial.meaning["evaluation"]["grids"]) == ["noise", "pole_mass", "pole_length", "cart_mass", "gravity"]
    told = described(study, plan(study))["world"]["parameters"]["gravity"]
    assert told == {
        "unit": "m/s^2", "nominal": 9.8, "grid": trial.meaning["evaluation"]["grids"]["gravity"], "scale": "linear",
        "label": "gravity", "low": 0.1, "high": 30.0}  # fmt: skip


def test_methods_of_one_seed_meet_the_same_episodes_and_seeds_do_not() -> None:
    trials = plan(read_plain({**SMALL, "seeds": 3, "methods": {"baseline": {}, "ewok": EWOK}}))
    at = {(trial.method, trial.seed): trial.meaning["evaluation"]["seed"] for trial in trials}
    assert all(at["baseline", seed] == at["ewok", seed] for seed in range(3))
    firsts = sorted(at["ewok", seed] for seed in range(3))
    assert min(b - a for a, b in pairwise(firsts)) >= 1000
    assert firsts[0] > 999_999, "no training has these"


def test_randomized_each_is_an_agent_for_every_parameter() -> None:
    study = read_plain({**SMALL, "seeds": 1, "methods": {"randomized": {"parameters": "each"}}})
    methods = {trial.method: trial.meaning["method"]["parameters"] for trial in plan(study)}
    assert methods["randomized-gravity"] == ["gravity"]
    assert len(methods) == 5
    jointly = plan(read_plain({**SMALL, "seeds": 1, "methods": {"randomized": {}}}))
    assert [len(trial.meaning["method"]["parameters"]) for trial in jointly] == [5]


def test_a_sweep_makes_a_method_of_every_other_value() -> None:
    sweeps = {
        "kappa": {"base": "ewok", "kappa": [0.05, 0.1, 1.0], "seeds": 1},
        "radius": {"base": "ewok", "radius": [0.3]},
        "end": {"base": "ewok", "terminal_value": [0.0, "critic"]},
    }
    study = read_plain({**SMALL, "methods": {"ewok": EWOK}, "sweeps": sweeps})
    methods = {trial.method: trial.meaning["method"] for trial in plan(study)}
    assert list(methods) == [
        "ewok", "ewok-kappa-0.05", "ewok-kappa-1", "ewok-radius-0.3", "ewok-terminal_value-critic"]  # fmt: skip
    assert methods["ewok-kappa-1"] == methods["ewok"] | {"kappa": 1.0}
    assert methods["ewok-radius-0.3"]["radius"] == 0.3
    assert "kappa" not in methods["ewok-radius-0.3"]
    assert methods["ewok-terminal_value-critic"]["terminal_value"] is None
    assert [t.seed for t in plan(study) if t.method == "ewok-kappa-1"] == [0]


@given(st.sampled_from(["kappa", "radius", "terminal_value"]), st.lists(NUMBERS, min_size=2, max_size=2, unique=True))
@example("kappa", [1e6, 1e-7])
@example("kappa", [0.12345671, 0.12345672])
def test_methods_of_a_sweep_have_names_of_their_own_that_files_can_have(setting: str, values: list[float]) -> None:
    study = read_plain({**SMALL, "methods": {"ewok": EWOK}, "sweeps": {"s": {"base": "ewok", setting: values}}})
    names = {trial.method for trial in plan(study)} - {"ewok"}
    assert len(names) == len({value for value in values if value != EWOK.get(setting)})
    assert all(re.fullmatch(r"\w[\w.-]*", name) for name in names)


def test_whole_numbers_keep_their_digits() -> None:
    study = read_plain(
        {**SMALL, "methods": {"ewok": EWOK}, "sweeps": {"s": {"base": "ewok", "num_samples": [2, 1234567]}}}
    )
    assert set(settled(study)) == {"ewok", "ewok-num_samples-2", "ewok-num_samples-1234567"}


def test_a_recipe_gives_what_the_study_does_not_say() -> None:
    agent = {"recipe": "ppo", "num_steps": 100, "settings": {"gamma": 0.9}, "networks": {"net_arch": [8]}}
    told = plan(read_plain({**SMALL, "agent": agent}))[0].meaning["agent"]
    assert told["settings"]["gamma"] == 0.9
    assert told["settings"]["n_steps"] == 32
    assert told["networks"] == {"net_arch": [8]}
    assert told["num_steps"] == 100
    assert plan(read_plain({**SMALL, "agent": {"recipe": "ppo"}}))[0].num_steps == 100_000

"""Who is who among the methods of a study, by what its trials were run with."""

from __future__ import annotations

from pathlib import Path

import pytest

from ewok.errors import ArgumentError
from ewok.lab.roles import Roles, roles_of
from ewok.lab.store import read
from tests.lab.finished import EWOK, FULL, LEVELS, METHODS, SPECIALISTS, SWEPT, write_study

CRITIC = {"critic": None, "-5": -5.0}


def roles(folder: Path, methods: dict, **options: object) -> Roles:
    results = read(write_study(folder, methods, 1, parameters=("noise", "gravity"), **options))  # type: ignore[arg-type]
    return roles_of(results, {name for name in results.methods if results.of(name)})


def test_another_method_may_stand_in_the_baselines_place(tmp_path: Path) -> None:
    results = read(write_study(tmp_path / "s", FULL, 1, parameters=("noise",)))
    having = {name for name in results.methods if results.of(name)}
    found = roles_of(results, having, "ewok")
    assert (found.baseline, found.main) == ("ewok", (*METHODS, *SPECIALISTS))
    for name in ("ewok-kappa-1", "randomized-noise", "nobody"):
        with pytest.raises(ArgumentError, match="`against` must be the name of a method of the study's own"):
            roles_of(results, having, name)


def test_a_full_study(tmp_path: Path) -> None:
    found = roles(tmp_path / "s", FULL)
    assert found.baseline == "baseline"
    assert found.main == (*METHODS, *SPECIALISTS)
    assert found.names["randomized-noise"] == found.names["randomized-gravity"] == "randomized"
    assert found.names["ewok-kappa-0.2"] == "ewok-kappa-0.2"
    assert found.shown("noise") == ("baseline", "ewok", "randomized-noise")
    assert found.shown("gravity") == ("baseline", "ewok", "randomized-gravity")


def test_a_sweep_is_in_the_order_of_its_values_with_its_base_among_them(tmp_path: Path) -> None:
    [ablation] = roles(tmp_path / "s", {**METHODS, **dict(reversed(SWEPT.items()))}).ablations
    assert (ablation.setting, ablation.base) == ("kappa", "ewok")
    assert ablation.members == ("ewok-kappa-0.05", "ewok", "ewok-kappa-0.2", "ewok-kappa-1")
    assert ablation.values == (0.05, 0.1, 0.2, 1.0)


def test_a_base_without_a_value_of_its_own_is_not_in_the_sweep(tmp_path: Path) -> None:
    """A fixed radius, swept over fixed temperatures."""
    methods = {"baseline": METHODS["baseline"], "ewok": {**EWOK, "kappa": None, "radius": 0.3}, **SWEPT}
    [ablation] = roles(tmp_path / "s", methods).ablations
    assert ablation.members == ("ewok-kappa-0.05", "ewok-kappa-0.2", "ewok-kappa-1")


def test_a_baseline_is_one_by_its_kind(tmp_path: Path) -> None:
    found = roles(tmp_path / "s", {"plain": {"kind": "baseline"}, "ewok": EWOK})
    assert (found.baseline, found.compared) == ("plain", ("ewok",))
    assert roles(tmp_path / "t", {"ewok": EWOK}).baseline is None


def test_in_a_table_it_is_the_learner_that_has_one_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVELS, "q-learning", (1.0, 0.5))
    methods = {"ewok": {"kind": "q-learning", "num_samples": 5}, "plain": {"kind": "q-learning", "num_samples": 1}}
    assert roles(tmp_path / "s", methods).baseline == "plain"


def test_methods_without_trials_play_no_role(tmp_path: Path) -> None:
    found = roles(tmp_path / "s", METHODS, missing=[("baseline", 0)])
    assert found.main == ("ewok",)
    assert found.baseline is None


def test_one_randomized_over_several_parameters_keeps_its_name(tmp_path: Path) -> None:
    methods = {**METHODS, "shaken-noise": {"kind": "randomized", "parameters": ["noise", "gravity"]}}
    found = roles(tmp_path / "s", methods)
    assert found.names["shaken-noise"] == "shaken-noise"
    assert "shaken-noise" in found.shown("noise")
    assert "shaken-noise" not in found.shown("damping")


def test_the_critic_is_a_value_of_its_own(tmp_path: Path) -> None:
    base = EWOK | {"discount": None, "terminal_value": 0.0}
    swept = {f"ewok-terminal_value-{name}": base | {"terminal_value": value} for name, value in CRITIC.items()}
    sweeps = {"end": {"base": "ewok", "terminal_value": ["critic", -5.0]}}
    [ablation] = roles(tmp_path / "s", METHODS | {"ewok": base} | swept, sweeps=sweeps).ablations
    assert ablation.members == ("ewok-terminal_value--5", "ewok", "ewok-terminal_value-critic")
    assert ablation.values == (-5.0, 0.0, "critic")


def test_specialists_keep_their_names_beside_a_method_of_their_common_one(tmp_path: Path) -> None:
    """Else one of them would vanish from every figure."""
    everything = {"kind": "randomized", "parameters": ["noise", "gravity"]}
    found = roles(tmp_path / "s", {**METHODS, "randomized": everything, **SPECIALISTS})
    assert found.names["randomized"] == "randomized"
    assert found.names["randomized-gravity"] == "randomized-gravity"
    shown = found.shown("gravity")
    assert len({found.names[name] for name in shown}) == len(shown)

"""What `ewok worlds` shows."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import ewok
from ewok import cli
from ewok.worlds import listing, world


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(cli.app, ["worlds", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_all_worlds_and_their_parameters_are_listed() -> None:
    text = shown()
    for name in ewok.worlds.names():
        assert f"\n{name} " in f"\n{text}"
    assert "any task of dm_control's suite, as in dm_control/cheetah-run [dmc]" in text
    for parameter in (*ewok.worlds.get("cartpole").perturbations, *ewok.worlds.GENERIC):
        assert parameter in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_one_world_is_shown_with_units_nominal_values_and_ranges() -> None:
    text = shown("cartpole")
    assert "cart_mass" in text
    line = next(line for line in text.splitlines() if line.strip().startswith("gravity"))
    assert line.split() == ["gravity", "m/s^2", "9.8", "[0.1,", "30]"]
    assert "leaves the nominal value out; grids add it" in text
    assert "pip install 'ewok[dmc]'" in shown("walker-walk")


def test_a_world_that_is_not_there_is_told_with_the_nearest_name() -> None:
    result = CliRunner().invoke(cli.app, ["worlds", "cartpol"])
    assert result.exit_code != 0
    assert "Did you mean 'cartpole'?" in result.output


def test_what_is_not_installed_is_listed_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = ewok.worlds.World(
        name="absent",
        build=ewok.worlds.get("cartpole").build,
        parameters=list,
        settle=lambda env, values: None,
        package="no_such_package",
        extra="dmc",
    )
    monkeypatch.setitem(world._WORLDS, "absent", absent)
    assert "pip install 'ewok[dmc]'" in listing.all_worlds().partition("absent ")[2].partition("any world")[0]

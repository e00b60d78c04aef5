"""`ewok solve`: what is printed, what is written, and what mistakes are told."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ewok import cli
from ewok.tabular import KL, L1, TabularMDP, robust_value_iteration, value_iteration

LINES = "idstatefrom,idaction,idstateto,probability,reward\n0,0,1,0.5,2\n0,0,0,0.5,0\n0,1,2,1,1\n1,0,0,1,0\n1,0,2,0,0\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mdp.csv"
    path.write_text(LINES)
    return path


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, ["solve", *map(str, words)])
    return result.exit_code, result.output


def read(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_it_prints_a_short_table_with_the_bounds(table: Path) -> None:
    code, printed = run(table, "--gamma", 0.9, "--set", "kl", "--radius", 0.1)
    mdp = TabularMDP.from_csv(table, discount=0.9)
    solution = robust_value_iteration(mdp, KL(0.1))
    assert code == 0
    assert "3 states, 3 state-action pairs, 4 transitions" in printed
    assert "KL set of radius 0.1, discount 0.9" in printed
    assert f"robust return from a state drawn at random: {solution.robust_return:.6f}" in printed
    assert f"{solution.lower[0]:.6f}" in printed
    assert f"{solution.upper[0]:.6f}" in printed
    assert printed.splitlines()[-1].split()[:2] == ["2", "end"]


def test_the_table_of_the_docs_is_solved_as_they_say(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "robust-mdps.md").read_text()
    (shown,) = re.findall(r"```\n(idstatefrom.*?)```", page, flags=re.DOTALL)
    (tmp_path / "mdp.csv").write_text(shown)
    nominal, robust = (
        run(tmp_path / "mdp.csv", "--gamma", 0.95, *more)[1].splitlines()[5].split()
        for more in ([], ["--set", "kl", "--radius", 0.1])
    )
    assert nominal[:2] == ["0", "0"]
    assert robust[:2] == ["0", "1"]


def test_it_writes_value_and_policy(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "policy.csv"
    code, _ = run(table, "--gamma", 0.9, "--radius", 0.1, "--out", out)
    solution = robust_value_iteration(TabularMDP.from_csv(table, discount=0.9), KL(0.1))
    rows = read(out)
    assert code == 0
    assert [float(row["value"]) for row in rows] == solution.value.tolist()
    assert [row["idaction"] for row in rows] == [str(solution.policy[0]), str(solution.policy[1]), ""]
    assert all(float(row["lower"]) <= float(row["value"]) <= float(row["upper"]) for row in rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mdp.csv", "policy.csv"]


def test_a_randomised_policy_is_written_by_pair(tmp_path: Path) -> None:
    path, out = tmp_path / "mdp.csv", tmp_path / "policy.csv"
    path.write_text(
        "idstatefrom,idaction,idstateto,probability,reward\n"
        "0,0,1,0.5,0\n0,0,2,0.5,1\n0,1,1,0.5,1\n0,1,2,0.5,0\n1,0,1,1,0\n2,0,2,1,0\n"
    )
    code, printed = run(path, "--gamma", 0.9, "--set", "l1", "--radius", 0.2, "--per-state", "--out", out)
    rows = read(out)
    assert code == 0
    assert [float(row["probability"]) for row in rows[:2]] == pytest.approx([0.5, 0.5], abs=1e-6)
    mdp = TabularMDP.from_csv(path, discount=0.9)
    assert float(rows[0]["value"]) == robust_value_iteration(mdp, L1(0.2, per_state=True)).value[0]
    assert "*" in printed, "marked as randomised"


@pytest.mark.parametrize(("tolerance", "digits"), [(1e-1, 1), (1e-3, 3), (1e-6, 6), (3e-5, 5), (20.0, 0)])
def test_the_table_has_the_decimals_of_the_tolerance(tolerance: float, digits: int, table: Path) -> None:
    """Rounding dust of a bound is neither -0.0 nor 1e-12."""
    _, printed = run(table, "--gamma", 0.9, "--tolerance", tolerance)
    solution = value_iteration(TabularMDP.from_csv(table, discount=0.9), tolerance=tolerance)
    shown = [line.split()[2:] for line in printed.splitlines()[-3:]]
    for s, numbers in enumerate(shown):
        expected = [column[s] for column in (solution.value, solution.lower, solution.upper)]
        assert [float(number) for number in numbers] == pytest.approx(expected, abs=0.51 * 10.0**-digits)
        assert all(len(number.partition(".")[2]) == digits for number in numbers)
    assert "-0.0" not in printed
    assert shown[2] == [f"{0.0:.{digits}f}"] * 3


def test_costs_are_minimised_and_without_a_set_the_return_is_nominal(table: Path) -> None:
    _, rewards = run(table, "--gamma", 0.9)
    _, costs = run(table, "--gamma", 0.9, "--costs")
    assert "nominal kernel, discount 0.9" in rewards
    assert "nominal return" in rewards
    assert "robust" not in rewards
    assert rewards.splitlines()[2] != costs.splitlines()[2]


@pytest.mark.parametrize("kind", ["kl", "l1", "tv", "l2", "linf", "chi-square", "burg", "contamination"])
def test_every_set_has_a_name(kind: str, table: Path) -> None:
    code, printed = run(table, "--gamma", 0.9, "--set", kind, "--radius", 0.1)
    assert code == 0, printed


def test_a_set_of_ones_own_is_named_by_where_it_is(table: Path) -> None:
    code, printed = run(table, "--gamma", 0.9, "--set", "ewok.tabular:KL", "--radius", 0.1)
    assert code == 0, printed
    assert "KL set of radius 0.1" in printed


def test_many_states_are_not_all_printed(tmp_path: Path) -> None:
    path = tmp_path / "mdp.csv"
    lines = [f"{s},0,{s + 1},1,1" for s in range(30)]
    path.write_text("\n".join(["idstatefrom,idaction,idstateto,probability,reward", *lines]) + "\n")
    _, printed = run(path, "--gamma", 0.9)
    assert "and 21 more; --out writes them all" in printed
    _, printed = run(path, "--gamma", 0.9, "--out", tmp_path / "all.csv")
    assert "and 21 more, all in" in printed
    values = np.array([float(row["value"]) for row in read(tmp_path / "all.csv")])
    np.testing.assert_allclose(values, [(1 - 0.9 ** (30 - s)) / 0.1 for s in range(31)], atol=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gamma", 1.5], "`discount` must be between 0 and 1, but it is 1.5"),
        (["--gamma", 0.9, "--set", "contaminaton"], "Did you mean 'contamination'?"),
        (["--gamma", 0.9, "--set", "nowhere:KL"], "cannot be imported"),
        (["--gamma", 0.9, "--set", "kl", "--radius", -1], "`beta` must be finite and at least 0"),
        (["--gamma", 0.9, "--set", "tv", "--per-state"], "`--per-state` must go with kl or l1"),
        (["--gamma", 0.9, "--set", "kl"], "`--radius` must be given with a set"),
        (["--gamma", 0.9, "--per-state"], "`--radius` must be given with a set"),
        (["--gamma", 0.9, "--out", "/nowhere/policy.csv"], "must be in a folder that exists"),
        (["--gamma", 0.9, "--tolerance", 0], "`tolerance` must be greater than 0"),
        (["--gamma", 0.9, "--max-iterations", 1], "`max_iterations` must be larger than 1 here"),
        (["--gamma", 1], "`discount` must be below 1 here"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_code(words: list[object], message: str, table: Path) -> None:
    table.write_text(LINES.replace("0,1,2,1,1\n", "0,1,0,1,1\n") if words == ["--gamma", 1] else LINES)
    code, printed = run(table, *words)
    assert code != 0
    assert message in " ".join(printed.split())
    assert "Traceback" not in printed


def test_a_file_with_a_mistake_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mdp.csv"
    path.write_text(LINES + "0,2,1,half,1\n")
    code, printed = run(path, "--gamma", 0.9)
    assert code != 0
    assert "line 7 of" in printed
    path.write_text(LINES.replace("0,1,2,1,1", "0,1,7,1,1"))
    code, printed = run(path, "--gamma", 0.9)
    assert code != 0
    said = " ".join(printed.split())
    assert "run to 7, where line 4 of" in said
    assert "leads, and 3, 4, 5, 6 appear nowhere" in said
    assert "terminal" not in said
    path.write_text(LINES.replace("0,1,2,1,1", "0,1,70,1,1"))
    assert "look at line 4 of" in " ".join(run(path, "--gamma", 0.9)[1].split())
    code, printed = run(tmp_path / "none.csv", "--gamma", 0.9)
    assert code != 0
    assert "there is none at" in " ".join(printed.split())

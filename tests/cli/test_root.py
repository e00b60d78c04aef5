"""What all subcommands share: help that fits a screen, mistakes in one line, exit codes that mean something."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ewok.cli import app, root
from ewok.errors import ArgumentError, EwokWarning, MissingExtraError
from tests.lab.finished import write_study

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
SCREEN = 40
ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_fits_a_screen_and_shows_an_example_that_could_be_typed(name: str | None) -> None:
    code, text, _ = run(*([] if name is None else [name]), "--help")
    assert code == 0
    assert len(text.splitlines()) <= SCREEN
    assert max(map(len, text.splitlines())) <= 80
    example = re.search(r"Example: ewok (\S+)(.*)", text)
    assert example is not None
    assert name in (None, example[1])
    known = {option for parameter in COMMANDS[example[1]].params for option in parameter.opts}
    assert {word for word in shlex.split(example[2]) if word.startswith("-")} <= known, "an option that is not there"


def commands_in(page: Path) -> list[str]:
    """The indented lines of a page that begin with our command."""
    return re.findall(r"^ {4}(ewok .*)$", page.read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_docs_could_be_typed(page: Path) -> None:
    for line in commands_in(page):
        _, name, *words = shlex.split(line, comments=True)
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, line


def test_the_first_page_names_every_command_whole_and_every_exit_code() -> None:
    _, text, _ = run("--help")
    assert "..." not in text.replace("COMMAND [ARGS]...", ""), "a summary is too long for its line"
    assert all(re.search(rf"^  {name} ", text, re.MULTILINE) for name in COMMANDS)
    assert all(f"{code} " in text for code in (0, root.FAILED, root.MISTAKE, root.MISSING, root.MACHINE, root.STOPPED))


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ArgumentError("`kappa` must be positive."), root.MISTAKE, "`kappa` must be positive."),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.zip"), root.MISTAKE, "a.zip: No such file"),
        (PermissionError(errno.EACCES, "Permission denied", "out"), root.MISTAKE, "out: Permission denied."),
        (MissingExtraError("optuna is not installed."), root.MISSING, "optuna is not installed."),
        (OSError(errno.ENOSPC, "No space left on device", "out"), root.MACHINE, "out: No space left on device."),
        (ConnectionError("no Ray answers at 10.0.0.1"), root.MACHINE, "no Ray answers at 10.0.0.1"),
        (ModuleNotFoundError("No module named 'mine'"), root.MISTAKE, "No module named 'mine'"),
        (KeyboardInterrupt(), root.STOPPED, ""),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_code(
    error: BaseException, code: int, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("ewok.worlds.listing.all_worlds", fail)
    ended, out, shown = run("worlds")
    assert (ended, out) == (code, "")
    assert shown.startswith(line)
    assert len(shown.splitlines()) == bool(line)
    if line:
        assert "Traceback" in run("worlds", "--debug")[2]
        assert run("--debug", "worlds")[0] == code, "showing the traceback changes nothing else"


def test_debug_after_two_dashes_is_an_argument() -> None:
    assert "'--debug'" in run("worlds", "--", "--debug")[2]


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ewok.worlds.listing.all_worlds", lambda: 1 / 0)
    assert isinstance(CliRunner().invoke(app, ["worlds"]).exception, ZeroDivisionError)


def test_unknown_names_come_with_the_nearest() -> None:
    for words, nearest in (
        (["sollve"], "'solve'"),
        (["worlds", "cartpol"], "'cartpole'"),
        (["solve", "--gama"], "--gamma"),
    ):
        code, _, shown = run(*words)
        assert code == root.MISTAKE
        assert nearest in shown


def test_warnings_are_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def warn() -> str:
        warnings.warn("this is allowed but odd", EwokWarning, stacklevel=2)
        return "done"

    monkeypatch.setattr("ewok.worlds.listing.all_worlds", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("worlds") == (0, "done\n", "warning: this is allowed but odd\n")


def test_a_missing_package_comes_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ewok.tabular.table", None)  # as if it were not to be found
    with pytest.raises(ModuleNotFoundError):
        root.load("ewok.tabular.table", extra="tabular")  # ours: a mistake that must show
    with pytest.raises(MissingExtraError, match=r"pip install 'ewok\[ray\]'"):
        root.load("nosuchpackage.module", extra="ray")


def test_modules_in_the_folder_where_one_stands_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_cart_world.py").write_text("from ewok.worlds.cartpole import world\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    assert "pole_mass" in run("worlds", "my_cart_world:world")[1]


def test_a_report_runs_nothing_of_the_folder_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="needs the lab: pip install 'ewok[lab]'")
    monkeypatch.chdir(write_study(tmp_path / "stranger", seeds=1, parameters=["gravity"]))
    for name in ("defusedxml", "uharfbuzz", "unicodedata2"):  # what drawing looks for, and does without
        Path(f"{name}.py").write_text(f"open('ran-{name}', 'w')")
    program = "from ewok.cli import app; app(['report', '.'])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, env=environment)
    assert list(Path().glob("ran-*")) == [], ended.stderr
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("words", ["status .", "report .", "doctor --no-render", "worlds", "worlds cartpole"])
def test_only_what_may_name_a_module_of_yours_looks_there(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    run(*words.split())
    assert str(tmp_path) not in sys.path

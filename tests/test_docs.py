"""Every snippet runs: in the README, in docs/, and in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import textwrap
import warnings
from pathlib import Path
from typing import Any

import pytest

import ewok
from tests.lab.finished import write_study

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NEEDS = {"ewok.tabular": "tabular", "stable_baselines3": "sb3", "mujoco": "dmc", "shimmy": "dmc", "ewok.agents": "sb3"}


def snippets(page: Path) -> str:
    """All Python blocks of a page, in order, as one program: later ones build on earlier ones."""
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore::ewok.EwokWarning")
def test_snippets_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = snippets(page)
    for package, extra in NEEDS.items():
        if package in program or package.replace(".", " import ") in program:
            pytest.importorskip(package, reason=f"{page.name} needs {package}: pip install 'ewok[{extra}]'")
    monkeypatch.chdir(tmp_path)
    if "runs/demo" in program:
        write_study(tmp_path / "runs" / "demo", seeds=2, parameters=("noise",))
    # Trainings are shown at full length and run at a hundredth of it.
    program = re.sub(r"learn\((\d[\d_]*)", lambda m: f"learn({max(64, int(m[1].replace('_', '')) // 500)}", program)
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program, str(page), "exec"), scope)
    if "ewok" in scope.get("info", {}):
        assert scope["info"]["ewok"]["spread"] > 0.0, "the value shown does not see the noise"


def excerpts(page: Path) -> list[tuple[str, str]]:
    """What a page shows of an example, in ```py under the heading that links to it."""
    sections = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)
    return [
        (linked[1], block)
        for section in sections
        if (linked := re.match(r"[^\n]*\(\.\./examples/([\w.]+)\)", section)) is not None
        for block in re.findall(r"```py\n(.*?)```", section, flags=re.DOTALL)
    ]


def test_what_is_shown_of_an_example_is_there() -> None:
    shown = excerpts(ROOT / "docs" / "bring-your-own.md")
    assert len(shown) >= 7
    assert len(re.findall("```py\n", (ROOT / "docs" / "bring-your-own.md").read_text())) == len(shown)
    for name, block in shown:
        program = without_gaps((ROOT / "examples" / name).read_text())
        assert without_gaps(textwrap.indent(block, "    ")) in program, f"{name} has not:\n{block}"


def without_gaps(program: str) -> str:
    return re.sub(r"\n{2,}", "\n", program)


def module_names() -> list[str]:
    return [name for _, name, _ in pkgutil.walk_packages(ewok.__path__, "ewok.")]


@pytest.mark.parametrize("name", module_names())
def test_docstring_examples_run(name: str) -> None:
    for package, extra in NEEDS.items():
        if name.startswith(package):
            pytest.importorskip("stable_baselines3", reason=f"{name} needs SB3: pip install 'ewok[{extra}]'")
        if name.startswith("ewok.agents") and "sbx" in name:
            pytest.importorskip("jax", reason=f"{name} needs SBX: pip install 'ewok[sbx]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what libraries warn of while they load
        module: Any = importlib.import_module(name)
    if name == "ewok.nominal.mujoco":
        pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'ewok[dmc]'")
    failures, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failures == 0


def test_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme


def test_wrappers_carry_an_example() -> None:
    for name in ("WorstKernel", "StateNoise", "ActionNoise", "RandomAction", "bind", "snapshot", "kernel_of"):
        assert ">>> " in (getattr(ewok, name).__doc__ or ""), name

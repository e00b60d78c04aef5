"""Imports point one way, and the base install needs neither torch nor jax."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "ewok"

# Each room, and what it may import of ours beside itself.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "named": {"errors"},
    "whole": set(),
    "nominal": {"errors"},
    "value": {"errors"},
    "worst": {"errors", "nominal", "value"},
    "worlds": {"errors", "named", "nominal", "worst"},
    "vector": {"errors", "nominal", "value", "worst"},
    "agents": {"errors", "named", "nominal", "value", "vector", "worst"},
    "testing": {"errors", "nominal", "worlds"},
    "cli": {"errors"},
    "tabular": {"errors", "named", "whole", "worst"},
    "lab": {"agents", "errors", "named", "nominal", "tabular", "value", "vector", "whole", "worlds", "worst"},
}

# The files that import by name, and why each has to.
IMPORT_BY_NAME = {
    "named.py": "what people name as text is theirs",
    "value.py": "whose adapter an agent needs is known when there is one, and no learning library is needed without",
    "cli/root.py": "a subcommand takes only the packages that it needs, and `ewok doctor` none",
    "lab/kinds.py": "studies of agents are read, run and told without numba, which tables take a second to import",
}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of_ours(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if (node.module or "").partition(".")[0] == "ewok":
                found += (
                    [(node, node.module)] if node.module != "ewok" else [(node, f"ewok.{a.name}") for a in node.names]
                )  # type: ignore[list-item]
        elif isinstance(node, ast.Import):
            found += [(node, alias.name) for alias in node.names if alias.name.partition(".")[0] == "ewok"]
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(path)
    assert room in MAY_IMPORT, f"say in MAY_IMPORT what the new room {room} may import"
    for _, name in imports_of_ours(ast.parse(path.read_text())):
        target = name.split(".")[1]
        assert target == room or target in MAY_IMPORT[room], f"{path.name} imports {name}"
        assert room != "tabular" or target != "worst" or name == "ewok.worst.tilt", "of the worst kernel, only the tilt"
        assert room != "lab" or target != "tabular" or path.name == "cliff.py", "tables are the cliff's alone"


def test_nothing_imports_the_command_line() -> None:
    assert all("cli" not in allowed for allowed in MAY_IMPORT.values())


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_function_imports_our_own_modules(path: Path) -> None:
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            assert imports_of_ours(function) == []


def test_modules_are_imported_by_name_where_they_have_to_be() -> None:
    by_name = [path for path in modules() if re.search(r"import_module|__import__", path.read_text())]
    assert {str(path.relative_to(SOURCE)) for path in by_name} == set(IMPORT_BY_NAME)


def test_no_cycles() -> None:
    graph = {
        ".".join(("ewok", *path.relative_to(SOURCE).with_suffix("").parts)): {
            name for _, name in imports_of_ours(ast.parse(path.read_text()))
        }
        for path in modules()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name in graph and name not in done:
            for target in graph[name]:
                visit(target, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_the_public_namespace_is_light() -> None:
    heavy = [
        "torch",
        "jax",
        "scipy",
        "numba",
        "mujoco",
        "stable_baselines3",
        "dm_control",
        "shimmy",
        "pandas",
        "matplotlib",
    ]
    script = f"import ewok, sys; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"

"""Compiled functions: right whichever is compiled first, from a cache that is empty."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ewok

SOURCE = Path(ewok.__file__).parent / "tabular"

FIRST = """
from ewok import tabular
lake = tabular.TabularMDP.from_gymnasium("FrozenLake-v1", discount=0.9)
for kind in (tabular.ChiSquare, tabular.L1, tabular.KL, tabular.LInf):
    assert tabular.{solver}(lake, kind(0.1)).robust_return > 0.0
"""


def test_every_function_says_how_it_is_compiled() -> None:
    """What is left open would be decided by whichever function happened to be compiled first, and be kept on disk."""
    for path in SOURCE.rglob("*.py"):
        if path.name not in ("compiled.py", "prefetch.py"):
            assert "numba" not in path.read_text().replace('"numba"', ""), f"{path.name}: use borrowing or owning"


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["robust_value_iteration", "modified_policy_iteration"])
def test_a_solver_may_be_the_first_thing_compiled(solver: str, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", FIRST.format(solver=solver)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*.nbi")), "and it is kept"

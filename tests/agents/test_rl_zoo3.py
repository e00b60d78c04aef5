"""RL Baselines3 Zoo replaces parts of Gymnasium when it is imported: its tests run in a process of their own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).with_name("in_rl_zoo3.py")


@pytest.mark.parametrize("marked", ["not slow", pytest.param("slow", marks=pytest.mark.slow)])
def test_it_works_from_yaml_alone(marked: str) -> None:
    if importlib.util.find_spec("rl_zoo3") is None:
        pytest.skip("needs rl_zoo3: pip install 'ewok[dev]'")
    command = [sys.executable, "-m", "pytest", "-m", marked, str(TESTS)]
    done = subprocess.run(command, cwd=TESTS.parents[2], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout

"""Every example runs, at a fraction of its size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(ROOT / "examples" / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cartpole_pair(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'ewok[lab]'")
    printed = run("cartpole_pair.py", "--steps", "64", "--seeds", "1", "--workers", "1", "--out", str(tmp_path))
    assert "pole length 0.5 (nominal)" in printed
    assert (tmp_path / "cartpole_pair.png").stat().st_size > 10_000

"""Every example runs, at a fraction of its size."""

from __future__ import annotations

import importlib.util
import re
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


def test_cliff_walking(tmp_path: Path) -> None:
    """A picture and a table for one seed; for several, which claims of the paper hold and by how much."""
    for package, extra in (("numba", "tabular"), ("matplotlib", "lab")):
        pytest.importorskip(package, reason=f"needs {package}: pip install 'ewok[{extra}]'")
    printed = run("cliff_walking.py", "--episodes", "300", "--out", str(tmp_path))
    assert "(e) exact KL-robust optimum" in printed
    assert (tmp_path / "cliff_walking.png").stat().st_size > 30_000
    printed = run("cliff_walking.py", "--episodes", "100", "--seeds", "2")
    assert "(c) optimum, paper's worst kernel" in printed
    assert "in 2 seeds:" in printed
    assert "of the way from the nominal optimum's -15.44 to the robust one's -9.52" in printed


# Each library's example: what it needs, and training steps for a run that shows that it works.
LIBRARIES = {
    "sb3_three_lines": ("stable_baselines3", "sb3", 64),
    "sbx_sac": ("sbx", "sbx", 150),
    "cleanrl_dqn": ("torch", "sb3", 600),
    "cleanrl_sac": ("torch", "sb3", 60),
    "tianshou_dqn": ("tianshou", "dev", 300),
    "torchrl_ppo": ("torchrl", "dev", 400),
    "skrl_ppo": ("skrl", "dev", 400),
    "rllib_ppo": ("ray.rllib.algorithms.ppo", "ray] 'ray[rllib]", 400),
    "numpy_agent": ("numpy", "", 600),
    "own_simulator": ("numpy", "", 2_000),
}


def installed(package: str) -> bool:
    """Asked of another process, where the package may load and warn as it likes."""
    return (
        subprocess.run([sys.executable, "-W", "ignore", "-c", f"import {package}"], capture_output=True).returncode == 0
    )


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_example_of_a_library_learns_in_its_worst_kernel(name: str) -> None:
    """It prints returns in shifted worlds, and its worst kernel had something to choose from."""
    package, extra, num_steps = LIBRARIES[name]
    if importlib.util.find_spec(package.partition(".")[0]) is None or ("." in package and not installed(package)):
        pytest.skip(f"{name} needs {package}: pip install 'ewok[{extra}]'")
    printed = run(f"{name}.py", "--steps", str(num_steps))
    assert "nominal" in printed
    told = re.search(r"while training: mean kl (\S+), mean spread (\S+)", printed)
    assert told is not None
    assert float(told[1]) > 0.0
    assert float(told[2]) > 0.0


@pytest.mark.parametrize("name", LIBRARIES)
def test_examples_of_libraries_are_short(name: str) -> None:
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) < 120

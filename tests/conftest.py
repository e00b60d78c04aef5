"""Which simulators are there, and how tests ask for those that may not be."""

from __future__ import annotations

import importlib.util
import os
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("MUJOCO_GL", "egl")  # a renderer that needs no screen
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import gymnasium as gym
import pytest

import ewok

_EXTRA = {"dm_control": "dmc", "minigrid": "dev", "highway": "dev", "ALE": "dev"}
_PACKAGES = {"dm_control": "shimmy", "minigrid": "minigrid", "highway": "highway_env", "ALE": "ale_py"}


def pytest_configure() -> None:
    """Compiled functions are kept on disk per file, though they hold code of other files: drop what is older."""
    folder = Path(ewok.__file__).parent / "tabular"
    newest = max(path.stat().st_mtime for path in folder.rglob("*.py"))
    for kept in [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]:
        if kept.stat().st_mtime < newest:
            kept.unlink(missing_ok=True)


def family_of(env_id: str) -> str:
    for prefix, family in (("dm_control/", "dm_control"), ("MiniGrid", "minigrid"), ("ALE/", "ALE")):
        if env_id.startswith(prefix):
            return family
    return "highway" if "highway" in env_id or "roundabout" in env_id else "gymnasium"


def make(env_id: str, **options: Any) -> gym.Env[Any, Any]:
    """`gym.make`, after the package that registers the environment; skips, saying why, without it."""
    package = _PACKAGES.get(family_of(env_id))
    if package is not None:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{env_id} needs {package}: pip install 'ewok[{_EXTRA[family_of(env_id)]}]'")
        gym.register_envs(__import__(package))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what simulators warn about while they load is not ours
        return gym.make(env_id, **options)


@pytest.fixture
def constant() -> Any:
    """A value function to which all states are alike."""
    import numpy as np

    from ewok.nominal.batch import leaves

    return lambda observations: np.zeros(len(leaves(observations)[0]))

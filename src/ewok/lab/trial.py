"""One trial, from its meaning to its files: trained, evaluated, written down."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ewok import errors, worlds
from ewok.lab.columns import write_columns
from ewok.lab.evaluate import evaluate, normaliser_of
from ewok.lab.folder import as_json
from ewok.lab.plan import Trial
from ewok.lab.training import Training, prepare
from ewok.named import named

Tell = Callable[[str, int, float], None]  # stage, steps so far, mean return of recent episodes
Evaluation = Callable[[Mapping[str, Any], Training, Path], None]  # of a meaning, once trained, into a folder

_PACKAGES = ("ewok", "numpy", "gymnasium", "torch", "stable-baselines3", "sb3-contrib", "jax", "sbx-rl")
_OTHERS = ("mujoco", "dm-control", "shimmy", "scipy", "numba", "ray")


def run_trial(trial: Trial, place: Path, tell: Tell) -> None:
    """Train, evaluate, and write all there is to know into the folder `place`. Same meaning, same numbers."""
    carry_out(trial, place, tell, _evaluate)


def carry_out(trial: Trial, place: Path, tell: Tell, evaluation: Evaluation) -> None:
    """Likewise, with an evaluation that writes what it finds into `place`."""
    meaning = trial.meaning
    named(meaning["agent"]["agent"], "agent")  # loading a library is no part of the time that training takes
    began = time.monotonic()
    tell("train", 0, float("nan"))
    training = prepare(meaning, place / "tensorboard", lambda steps, level: tell("train", steps, level))
    agent, recorder = training.agent, training.recorder
    ready = time.monotonic()
    try:
        training.learn()
    finally:
        training.close()
    trained = time.monotonic()
    tell("evaluate", recorder.num_steps, float("nan"))
    evaluation(meaning, training, place)
    evaluated = time.monotonic()
    _save(training, place)
    seconds = {
        "train": trained - ready,
        "evaluate": evaluated - trained,
        "total": time.monotonic() - began,
    }
    told = {
        **{name: getattr(trial, name) for name in ("id", "study", "method", "seed", "meaning")},
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "steps": recorder.num_steps,
        "versions": versions(),
        "git": commit(),
        "machine": machine(agent),
        "finished": now(),
    }
    (place / "trial.json").write_text(as_json(told), encoding="utf-8")


def _evaluate(meaning: Mapping[str, Any], training: Training, place: Path) -> None:
    told = meaning["evaluation"]
    world = worlds.get(meaning["world"])
    options: dict[str, Any] = {"episodes": told["episodes"], "seed": told["seed"]}
    evaluate(world, told["grids"], training.agent, **options).write(place / "returns.csv.gz")


def _save(training: Training, place: Path) -> None:
    """How it was trained, and the agent in its library's own files."""
    agent, diagnostics = training.agent, training.recorder.diagnostics()
    write_columns(place / "training.csv.gz", training.recorder.episodes())
    if diagnostics is not None:
        write_columns(place / "diagnostics.csv.gz", diagnostics)
    if hasattr(agent, "save"):
        agent.save(place / "model.zip")
    normaliser = normaliser_of(agent)
    if normaliser is not None:
        normaliser.save(place / "vecnormalize.pkl")


def now() -> str:
    """The time, for people and for sorting."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Of Python and of the packages that numbers depend on."""
    found = {"python": platform.python_version()}
    for package in (*_PACKAGES, *_OTHERS):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine(agent: Any = None) -> dict[str, Any]:
    """What it ran on."""
    device = getattr(agent, "device", None)
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": "cpu" if device is None else str(device),
    }


def commit() -> str | None:
    """The commit of this library's checkout, with a + where files differ from it; None for an installed one."""
    folder = Path(errors.__file__).parent
    told = []
    # A folder of somebody else's repository may well have an installed copy of this library in it.
    for question in (
        ["ls-files", "--error-unmatch", "__init__.py"],
        ["rev-parse", "HEAD"],
        ["status", "--porcelain", "--untracked-files=no", "."],
    ):
        try:
            done = subprocess.run(["git", "-C", str(folder), *question], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        told.append(done.stdout.strip())
    return f"{told[1]}{'+' if told[2] else ''}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()

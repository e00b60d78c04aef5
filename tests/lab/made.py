"""A study's folder with numbers known by hand: what reading, statistics and pages are tested on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ewok.lab.columns import write_columns
from ewok.lab.folder import as_json, held
from ewok.lab.store import Curve, Failed, Returns

GRIDS = {"gravity": (5.0, 9.8, 20.0), "noise": (0.0, 0.01)}
NOMINAL = {"gravity": 9.8, "noise": 0.01}


def trial_id(method: str, seed: int) -> str:
    return f"{method}-s{seed:03d}-00000000"


def made_returns(level: float, num_episodes: int = 4) -> Returns:
    """Return = level + the value's place in the grid + a hundredth of the episode's number."""
    curves = {}
    for name, grid in GRIDS.items():
        returns = level + np.arange(len(grid))[:, None] + np.arange(num_episodes) / 100.0
        lengths = np.full(returns.shape, 7, dtype=np.int64)
        curves[name] = Curve(np.array(grid), returns, lengths, np.zeros(returns.shape, dtype=bool))
    return Returns(curves)


def write_trial(place: Path, method: str, seed: int, level: float) -> None:
    made_returns(level).write(place / "returns.csv.gz")
    steps = np.array([10, 20])
    write_columns(place / "training.csv.gz", {"step": steps, "seconds": steps / 7, "return": steps, "length": [10, 10]})
    if method != "baseline":
        write_columns(place / "diagnostics.csv.gz", {"step": steps, "kl": [0.1, 0.2], "kappa": [0.1, 0.1]})
    told: dict[str, Any] = {"id": trial_id(method, seed), "study": "made", "method": method, "seed": seed}
    told |= {"meaning": {"method": method}, "steps": 20, "versions": {"numpy": "2"}, "git": None}
    told |= {"seconds": {"train": 2.0, "evaluate": 1.0, "total": 3.5}, "machine": {"cores": 2}, "finished": "2026"}
    (place / "trial.json").write_text(json.dumps(told))


def study_json(methods: tuple[str, ...], num_seeds: int) -> str:
    parameters = {
        name: {"unit": "", "nominal": NOMINAL[name], "grid": grid, "scale": "linear", "label": name}
        | {"low": grid[0], "high": grid[-1]}
        for name, grid in GRIDS.items()
    }
    trials = [{"id": trial_id(m, s), "method": m, "seed": s} for m in methods for s in range(num_seeds)]
    told = {"name": "made", "study": {"name": "made"}, "world": {"name": "cartpole", "parameters": parameters}}
    return as_json({**told, "methods": methods, "trials": trials})


def made_study(folder: Path, methods: tuple[str, ...] = ("baseline", "ewok"), num_seeds: int = 3) -> Path:
    """Every method's trial of seed s is at the level 10 * (number of the method) + s; the last one failed."""
    with held(folder) as open_folder:
        open_folder.write("study.json", study_json(methods, num_seeds))
        *done, last = [(i, m, s) for i, m in enumerate(methods) for s in range(num_seeds)]
        for number, method, seed in done:
            place = open_folder.workplace(trial_id(method, seed))
            write_trial(place, method, seed, 10.0 * number + seed)
            open_folder.keep(trial_id(method, seed), place)
        _, method, seed = last
        told = {"error": "ValueError: no", "traceback": "Traceback ...", "when": "2026-01-01T00:00:00+00:00"}
        open_folder.note_failure(Failed(trial_id(method, seed), method, seed, {}, **told))
    return folder

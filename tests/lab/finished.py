"""A study as a run leaves it, with returns that look like a CartPole's: what pages and figures are drawn from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ewok.lab.columns import write_columns
from ewok.lab.folder import Folder, as_json, held
from ewok.lab.store import Curve, Failed, Returns

STEPS = 50_000
PARAMETERS: dict[str, dict[str, Any]] = {
    "noise": {"unit": "m", "nominal": 0.01, "grid": [0.0, 0.01, 0.03, 0.05, 0.07, 0.1]},
    "pole_length": {"unit": "m", "nominal": 0.5, "grid": [0.25, 0.5, 1.0, 2.0, 3.5, 5.0]},
    "gravity": {"unit": "m/s^2", "nominal": 9.8, "grid": [0.1, 5.0, 9.8, 15.0, 20.0, 25.0, 30.0]},
    "damping": {"unit": "", "nominal": 0.1, "grid": [0.1, 0.3, 1.0, 3.0, 10.0], "scale": "log"},
}
# How well each method does in the nominal world, and how little it suffers in others.
LEVELS = {"baseline": (180.0, 0.5), "ewok": (360.0, 0.85), "randomized": (230.0, 0.8)}
BASELINE: dict[str, Any] = {"kind": "baseline"}
EWOK: dict[str, Any] = {"kind": "ewok", "num_samples": 15, "kappa": 0.1, "soft": False}
METHODS: dict[str, dict[str, Any]] = {"baseline": BASELINE, "ewok": EWOK}
SPECIALISTS = {
    f"randomized-{name}": {"kind": "randomized", "parameters": [name], "distribution": "uniform"} for name in PARAMETERS
}
SWEPT = {f"ewok-kappa-{kappa:g}": {**EWOK, "kappa": kappa} for kappa in (0.05, 0.2, 1.0)}
FULL = {**METHODS, **SPECIALISTS, **SWEPT}
HOSTILE = "<script>alert(1)</script> & \"'$x^{\\frac"


def write_study(
    folder: Path,
    methods: Mapping[str, Mapping[str, Any]] = METHODS,
    seeds: int | Mapping[str, int] = 6,
    *,
    parameters: Sequence[str] = tuple(PARAMETERS),
    episodes: int = 5,
    title: str = "CartPole, Double DQN",
    failed: Sequence[tuple[str, int]] = (),
    missing: Sequence[tuple[str, int]] = (),
    spoiled: Sequence[tuple[str, int]] = (),
    sweeps: Mapping[str, Any] | None = None,
) -> Path:
    """A finished study; what is `failed`, `missing` or has returns that are no numbers, as (method, seed)."""
    counts = {name: seeds if isinstance(seeds, int) else seeds[name] for name in methods}
    trials = [(method, seed) for method, count in counts.items() for seed in range(count)]
    with held(folder) as open_folder:
        open_folder.write("study.json", study_json(folder.name, title, methods, parameters, trials, episodes, sweeps))
        open_folder.write("study.toml", f'name = "{folder.name}"\ntitle = """{title}"""\nworld = "cartpole"\n')
        for method, seed in trials:
            if (method, seed) in failed:
                told = {"error": f"ValueError: {HOSTILE}", "traceback": f"Traceback\n  {HOSTILE}"}
                told["when"] = "2026-01-01T00:00:00+00:00"
                open_folder.note_failure(Failed(trial_id(method, seed), method, seed, {}, **told))
            elif (method, seed) not in missing:
                nan = np.nan if (method, seed) in spoiled else 0.0
                write_trial(open_folder, method, seed, methods[method], parameters, episodes, nan)
    return folder


def trial_id(method: str, seed: int) -> str:
    return f"{method}-s{seed:03d}-00000000"


def study_json(
    name: str,
    title: str,
    methods: Mapping[str, Mapping[str, Any]],
    parameters: Sequence[str],
    trials: Sequence[tuple[str, int]],
    episodes: int,
    sweeps: Mapping[str, Any] | None = None,
) -> str:
    told = {
        name: {"scale": "linear", "label": name.replace("_", " "), **PARAMETERS[name]}
        | {"low": PARAMETERS[name]["grid"][0], "high": PARAMETERS[name]["grid"][-1]}
        for name in parameters
    }
    if sweeps is None:
        sweeps = {"kappa": {"base": "ewok", "kappa": [0.05, 0.2, 1.0]}} if set(SWEPT) & set(methods) else {}
    study = {"name": name, "title": title, "world": "cartpole", "seeds": 6, "episodes": episodes}
    study |= {"agent": {"recipe": "ddqn"}, "methods": {"baseline": {}, "ewok": {"kappa": 0.1}}, "sweeps": sweeps}
    ids = [{"id": trial_id(method, seed), "method": method, "seed": seed} for method, seed in trials]
    world = {"name": "cartpole", "summary": "the paper's CartPole", "parameters": told}
    return as_json({"name": name, "study": study, "world": world, "methods": list(methods), "trials": ids})


def write_trial(
    folder: Folder,
    method: str,
    seed: int,
    settings: Mapping[str, Any],
    parameters: Sequence[str],
    episodes: int,
    nan: float,
) -> None:
    rng = np.random.default_rng([seed, *method.encode()])
    kind = str(settings["kind"])
    nominal, robust = LEVELS[kind]
    robust -= 0.1 * abs(np.log(float(settings.get("kappa") or 0.1) / 0.1))
    skill = nominal * rng.lognormal(0.0, 0.25)
    place = folder.workplace(trial_id(method, seed))
    curves = {name: _curve(PARAMETERS[name], skill, robust, episodes, rng) for name in parameters}
    curves[parameters[0]].returns[0, 0] += nan
    Returns(curves).write(place / "returns.csv.gz")
    ends = np.sort(rng.integers(50, STEPS, 200))
    rise = skill * (1.0 - np.exp(-ends / 15_000.0)) + rng.normal(0.0, 15.0, 200)
    write_columns(
        place / "training.csv.gz", {"step": ends, "seconds": ends / 900.0, "return": rise, "length": ends // 200}
    )
    if kind == "ewok":
        steps = np.arange(1000, STEPS + 1, 1000)
        kl = 0.4 * (1.0 - np.exp(-steps / 9000.0)) + rng.normal(0.0, 0.01, len(steps))
        told = {"step": steps, "kl": kl, "kappa": np.full(len(steps), settings.get("kappa") or 0.1)}
        write_columns(place / "diagnostics.csv.gz", {**told, "ess": 15.0 * np.exp(-kl), "spread": kl * 2.0})
    (place / "trial.json").write_text(json.dumps(_told(method, seed, settings, rng)))
    folder.keep(trial_id(method, seed), place)


def _told(method: str, seed: int, settings: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    train = 40.0 * (1.1 if settings["kind"] == "ewok" else 1.0) * rng.uniform(0.97, 1.03)
    told: dict[str, Any] = {"id": trial_id(method, seed), "study": "s", "method": method, "seed": seed, "steps": STEPS}
    told |= {"meaning": {"method": dict(settings), "seed": seed}, "git": "0123abc", "finished": "2026-01-02T03:04:05Z"}
    told |= {"seconds": {"train": train, "evaluate": 2.0, "total": train + 2.5}, "versions": {"numpy": "2.3.0"}}
    return {**told, "machine": {"processor": "A processor", "cores": 2, "system": "Linux"}}


def _curve(told: Mapping[str, Any], skill: float, robust: float, episodes: int, rng: np.random.Generator) -> Curve:
    grid = np.array(told["grid"])
    at = np.log(grid) if told.get("scale") == "log" else grid
    nominal = np.log(told["nominal"]) if told.get("scale") == "log" else told["nominal"]
    away = np.abs(at - nominal) / (np.ptp(at) or 1.0)
    means = 500.0 * np.tanh(skill / 500.0) * np.exp(-away * 3.0 * (1.0 - robust) * rng.uniform(0.7, 1.3))
    returns = np.clip(means[:, None] + rng.normal(0.0, 20.0, (len(grid), episodes)), 8.0, 500.0)
    return Curve(grid, returns, returns.astype(np.int64), np.zeros(returns.shape, dtype=bool))

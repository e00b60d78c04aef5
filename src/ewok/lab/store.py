"""What a study leaves in its folder, read back. All of it is JSON and CSV: reading runs no code.

DIR/study.json            the study, its world, its methods, the trials it is made of
DIR/study.toml            the file it was run from
DIR/trials/<id>/          present means whole: trial.json, returns.csv.gz, training.csv.gz,
                          diagnostics.csv.gz where a worst kernel was trained in, model.zip, tensorboard/
                          distances.csv.gz in place of returns in a study of the estimate
DIR/failed/<id>.json      the trials that raised, with their traceback
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ewok.errors import EwokError, require_known
from ewok.lab.columns import Columns, StoreError, read_numbers, write_columns

Plain = Mapping[str, Any]  # what JSON can say

_NAME = r"\w[\w.-]*"  # what may be part of a file's name: it leads nowhere else
DISTANCES = "distances.csv.gz"
DISTANCE_COLUMNS = (
    "num_samples",
    *(f"{name}_{part}" for name in ("tv", "kl") for part in ("lower", "median", "upper", "mean")),
)
_RETURNS = ("parameter", "value", "episode", "return", "length", "diverged")


class Curve(NamedTuple):
    """An agent's episodes over one parameter's grid.

    Attributes:
        values: (P,) where the parameter was, rising; the nominal value is among them.
        returns: (P, E) undiscounted.
        lengths: (P, E) in steps.
        diverged: (P, E) whether the physics came apart.
    """

    values: NDArray[np.float64]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    diverged: NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class Returns:
    """What an agent's episodes came to, for each parameter that was moved.

    Attributes:
        curves: by the parameter's name.
    """

    curves: Mapping[str, Curve]

    def of(self, parameter: str) -> Curve:
        """The episodes over this parameter's grid."""
        require_known(parameter, self.curves, "parameter", "a parameter that was moved")
        return self.curves[parameter]

    def __iter__(self) -> Any:
        return iter(self.curves)

    def write(self, path: Path) -> None:
        """As a table with a row for each episode."""
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _RETURNS}
        for parameter, (values, returns, lengths, diverged) in self.curves.items():
            num_values, num_episodes = returns.shape
            parts["parameter"].append(np.full(returns.size, parameter))
            parts["value"].append(np.repeat(values, num_episodes))
            parts["episode"].append(np.tile(np.arange(num_episodes), num_values))
            for name, array in (("return", returns), ("length", lengths), ("diverged", diverged)):
                parts[name].append(array.ravel())
        write_columns(path, {name: np.concatenate(arrays) for name, arrays in parts.items()})

    @classmethod
    def read(cls, path: Path) -> Returns:
        """From such a table, in whatever order its rows are."""
        table = read_numbers(path, _RETURNS, texts=("parameter",))
        order = np.lexsort((table["episode"], table["value"]))
        table = {name: column[order] for name, column in table.items()}
        names = dict.fromkeys(table["parameter"][np.argsort(order)].tolist())
        return cls({name: _curve(table, table["parameter"] == name, path) for name in names})


@final
@dataclass(frozen=True, eq=False)
class Finished:
    """One trial: trained, and evaluated.

    Attributes:
        id: names its folder.
        method: which of the study's methods.
        seed: of the training.
        meaning: everything that decides its numbers.
        seconds: "train", "evaluate" and "total", of wall time.
        steps: of the environment, while training.
        returns: of the evaluation.
        training: columns with a row for each episode of the training: step, seconds, return, length.
        diagnostics: columns step, kl, kappa, ess, spread of the worst kernel, means over windows of the
            training; None for a method without one.
        distances: of the worst kernel from its estimates, as `ewok.lab.distance` has them; None in other studies.
        versions: of the packages.
        machine: what it ran on.
        git: the library's commit; None where it is not known.
        path: the trial's folder, with its model and its logs.
    """

    id: str
    method: str
    seed: int
    meaning: Plain
    seconds: Mapping[str, float]
    steps: int
    returns: Returns = field(repr=False)
    training: Columns = field(repr=False)
    diagnostics: Columns | None = field(repr=False)
    distances: Columns | None = field(repr=False)
    versions: Mapping[str, str]
    machine: Plain
    git: str | None
    path: Path


@final
@dataclass(frozen=True)
class Failed:
    """One trial that raised."""

    id: str
    method: str
    seed: int
    meaning: Plain
    error: str
    traceback: str
    when: str


@final
@dataclass(frozen=True, eq=False)
class Results:
    """A study's folder, as it is now.

    Attributes:
        folder: which.
        study: the study as it was run, as plain data.
        world: "name" and "parameters", these by name with unit, nominal, grid, scale, label, low, high.
        methods: their names, in the order of the file.
        finished: trials of this study that are there, by method and seed. What is left of an earlier version of
            the study, whose trials meant something else, is not among them.
        failed: trials that raised.
        missing: ids of trials that are neither.
    """

    folder: Path
    study: Plain
    world: Plain
    methods: tuple[str, ...]
    finished: tuple[Finished, ...]
    failed: tuple[Failed, ...]
    missing: tuple[str, ...]

    def of(self, method: str) -> tuple[Finished, ...]:
        """This method's finished trials, by seed."""
        require_known(method, self.methods, "method", "a method of the study")
        return tuple(trial for trial in self.finished if trial.method == method)


def read(folder: Path | str) -> Results:
    """All that a study has left in its folder so far. Runs no code from there."""
    folder = Path(folder)
    try:
        return _read(folder)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, EwokError):
            raise
        told = f"{folder} must hold what `ewok run` wrote, but something in it has another shape"
        raise StoreError(
            f"{told} ({type(error).__name__}: {error}). Run the study again, into another folder."
        ) from error


def _read(folder: Path) -> Results:
    study = read_study(folder)
    for parameter in study["world"]["parameters"].values():
        np.array([parameter["nominal"], *parameter["grid"]], dtype=np.float64)  # raises unless they are numbers
    order = {method: place for place, method in enumerate(study["methods"])}
    trials = sorted(study["trials"], key=lambda trial: (order[trial["method"]], trial["seed"]))
    ids = [trial["id"] for trial in trials]
    finished = {name: read_trial(folder, name) for name in ids if (folder / "trials" / name).is_dir()}
    failed = {name: _read_failed(path) for name in ids if (path := folder / "failed" / f"{name}.json").is_file()}
    return Results(
        folder=folder,
        study=study["study"],
        world=study["world"],
        methods=tuple(study["methods"]),
        finished=tuple(finished.values()),
        failed=tuple(one for name, one in failed.items() if name not in finished),
        missing=tuple(name for name in ids if name not in finished and name not in failed),
    )


def read_study(folder: Path) -> Plain:
    """`study.json` of a study's folder."""
    if not folder.is_dir():
        near = "It is a file." if folder.exists() else "There is nothing there."
        raise StoreError(f"`folder` must be what `ewok run` wrote to, but it is {str(folder)!r}. {near}")
    if not (folder / "study.json").is_file():
        raise StoreError(
            f"`folder` must be what `ewok run` wrote to, but {str(folder)!r} has no study.json. Give the folder that "
            "holds it, or run a study: ewok run STUDY.toml --out DIR."
        )
    study = _json(folder / "study.json", ("name", "study", "world", "methods", "trials"))
    for what, name in _names(study):
        if not isinstance(name, str) or not re.fullmatch(_NAME, name):
            raise StoreError(f"{folder / 'study.json'} must name {what} by letters, digits, '.', '_', '-': {name!r}.")
    for trial in study["trials"]:
        if not re.fullmatch(_NAME, str(trial.get("id") or "")):
            raise StoreError(f"{folder / 'study.json'} has a trial whose id is none: {trial.get('id')!r}.")
        if trial.get("method") not in study["methods"] or not isinstance(trial.get("seed"), int):
            raise StoreError(f"{folder / 'study.json'} has a trial without method or seed: {trial['id']}.")
    return study


def _names(study: Plain) -> Iterator[tuple[str, Any]]:
    """What files of a report are named after, in a `study.json` that anybody may have written."""
    yield "the study", study["name"]
    yield from (("each method", name) for name in study["methods"])
    told = study["study"]
    if "name" in told:
        yield "the study", told["name"]
    for name, sweep in (told.get("sweeps") or {}).items():
        yield from (("each sweep, its base and its setting", part) for part in (name, sweep["base"], *sweep))


def read_trial(folder: Path, name: str) -> Finished:
    """One finished trial of a study's folder, by its id."""
    path = folder / "trials" / name
    told = _json(path / "trial.json", ("id", "method", "seed", "meaning", "seconds", "steps", "versions", "machine"))
    diagnostics, distances = path / "diagnostics.csv.gz", path / DISTANCES
    return Finished(
        id=name,
        method=told["method"],
        seed=told["seed"],
        meaning=told["meaning"],
        seconds={name: float(told["seconds"][name]) for name in ("train", "evaluate", "total")},
        steps=told["steps"],
        returns=Returns({}) if distances.exists() else Returns.read(path / "returns.csv.gz"),
        training=read_numbers(path / "training.csv.gz", ("step", "return", "length")),
        diagnostics=read_numbers(diagnostics, ("step",)) if diagnostics.exists() else None,
        distances=read_numbers(distances, DISTANCE_COLUMNS) if distances.exists() else None,
        versions=told["versions"],
        machine=told["machine"],
        git=told.get("git"),
        path=path,
    )


def _read_failed(path: Path) -> Failed:
    names = tuple(Failed.__dataclass_fields__)
    told = _json(path, names)
    texts = {name: told[name] for name in ("id", "method", "error", "traceback", "when")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise StoreError(f"{path} must say {', '.join(texts)} as text.")
    return Failed(**{name: told[name] for name in names})


def _curve(table: Mapping[str, NDArray[Any]], rows: NDArray[np.bool_], path: Path) -> Curve:
    values, counts = np.unique(table["value"][rows], return_counts=True)
    shape = len(values), int(counts[0])
    if not (counts == counts[0]).all():
        raise StoreError(f"{path} must have as many episodes at every value of a parameter, but has {counts.tolist()}.")
    columns = (table[name][rows].reshape(shape) for name in ("return", "length", "diverged"))
    returns, lengths, diverged = columns
    return Curve(values, returns, lengths.astype(np.int64), diverged.astype(bool))


def _json(path: Path, needed: tuple[str, ...]) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing. Delete {path.parent} and run the study again.") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} must be JSON that can be read: {error}.") from error
    missing = [name for name in needed if not isinstance(told, dict) or name not in told]
    if missing:
        raise StoreError(f"{path} must say {', '.join(needed)}, but does not say {', '.join(missing)}.")
    return told  # type: ignore[no-any-return]

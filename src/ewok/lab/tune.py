"""Choosing kappa, or the radius, and N: candidates that Optuna suggests, each trained on validation seeds.

DIR/tune.db                 Optuna's, SQLite
DIR/lock                    held while a command works on it
DIR/candidates/<settings>/  a study's folder each: `ewok report` reads it like any other
DIR/candidates.csv          settings and scores
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

import optuna
from optuna.exceptions import StorageInternalError
from optuna.trial import TrialState
from sqlalchemy.exc import SQLAlchemyError

from ewok.errors import ArgumentError, EwokError, require, require_known
from ewok.lab.folder import locked
from ewok.lab.launch import Outcome, run_study
from ewok.lab.meaning import settled
from ewok.lab.plan import hash_of, plan
from ewok.lab.store import Results, read
from ewok.lab.study import Study
from ewok.lab.validation import Scores, scores_of, validation_study
from ewok.whole import whole

Say = Callable[[str], None]
Temper = Literal["kappa", "radius"]
SCORES = {"nominal": "by its nominal return", "worst": "by its worst return", "both": "by both"}
_AT_RANDOM = 5  # candidates, before there is enough to learn from


@final
@dataclass(frozen=True, kw_only=True)
class Search:
    """What is searched, and by what it is judged.

    Attributes:
        method: of the study, whose kind is "ewok"; the first such by default.
        temper: "kappa" or "radius"; what the method has by default.
        tempers: the range of it, searched by its logarithm.
        samples: the range of N; both ends the same leave it there.
        score: "nominal", "worst", or "both": the front of settings that no other beats in both.
        num_candidates: in all, those of earlier runs among them.
        num_seeds: agents of each candidate.
        seed: of the suggestions.
    """

    method: str | None = None
    temper: Temper | None = None
    tempers: tuple[float, float] = (0.02, 2.0)
    samples: tuple[int, int] = (2, 30)
    score: str = "worst"
    num_candidates: int = 20
    num_seeds: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        require_known(self.score, SCORES, "score", "a score")
        if self.temper is not None:
            require_known(self.temper, ("kappa", "radius"), "tune", "a setting to tune")
        low, high = self.tempers
        require(0.0 < low <= high < math.inf, "range", "two numbers above 0, rising", self.tempers, "Try 0.02 2.")
        few, many = self.samples
        require(2 <= few <= many, "samples", "two whole numbers of at least 2, rising", self.samples, "Try 2 30.")
        require(self.num_candidates >= 1, "candidates", "at least 1", self.num_candidates, "Try 20.")
        require(self.num_seeds >= 1, "seeds", "at least 1", self.num_seeds, "Try 3, or more.")


@final
@dataclass(frozen=True)
class Candidate:
    """Settings, and what they came to."""

    settings: dict[str, float]
    scores: Scores


@final
@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes:
        method: whose settings.
        best: the best setting; the front, if there are two scores, best nominal first.
        candidates: all that could be trained, in the order they were.
        num_failed: candidates of which no agent could.
    """

    method: str
    best: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    num_failed: int


def tune(
    study: Study, search: Search, out: Path, *, num_workers: int | None = None, say: Say = lambda told: None
) -> Tuned:
    """Search, going on from what is in the folder already.

    Args:
        study: whose method is tuned; none of its own seeds and perturbed values is looked at.
        search: what to search.
        out: folder of the search; killed at any time, the same call goes on from it.
        num_workers: processes.
        say: is told what is being done.
    """
    method, temper = _subject(study, search)
    with locked(out), _quiet(), _named(out / "tune.db"):
        base = _opened(study, search, method, temper, out)
        while len(_tried(base)) < search.num_candidates:
            _step(base, study, search, (method, temper), out, num_workers, say)
            _write(out / "candidates.csv", base, temper)
        return _tuned(base, search, method)


def told(tuned: Tuned, score: str) -> list[str]:
    """What was found, in lines, with what to write into the study's file."""
    front = len(tuned.best) > 1
    lines = [f"{len(tuned.candidates)} candidates" + (f", and {tuned.num_failed} that failed" * bool(tuned.num_failed))]
    lines += ["No other candidate is better in both scores:"] if front else [f"best {SCORES[score]}:"]
    for one in tuned.best:
        lines.append(f"  {_text(one.settings)}: nominal {one.scores.nominal:.4g}, worst {one.scores.worst:.4g}")
    chosen = tuned.best[-1]
    start = "for the most robust of them, write into the study" if front else "write into the study"
    return [*lines, f"{start}:", f"  [methods.{tuned.method}]", *(f"  {k} = {v:g}" for k, v in chosen.settings.items())]


def _subject(study: Study, search: Search) -> tuple[str, Temper]:
    """Which method is tuned, and what of it."""
    remedy = "Give one with methods that train agents."
    require(isinstance(study, Study), "study", 'of kind "agents"', study.kind, remedy)
    kinds = {name: method.kind or name for name, method in study.methods.items()}
    known = [name for name, kind in kinds.items() if kind == "ewok"]
    if not known:
        raise ArgumentError(f"`study` must have a method of kind 'ewok', but {study.name} has {', '.join(kinds)}.")
    method = known[0] if search.method is None else search.method
    require_known(method, known, "method", "a method of kind 'ewok' in the study")
    has_radius = study.methods[method].radius is not None
    return method, search.temper or ("radius" if has_radius else "kappa")


def _opened(study: Study, search: Search, method: str, temper: Temper, out: Path) -> optuna.Study:
    """The search so far. One of another study, or by another score, has another name in the same file."""
    subject = validation_study(study, method, {temper: 1.0, "num_samples": 2}, search.num_seeds)
    meant = hash_of({"trials": [trial.meaning for trial in plan(subject)]})
    name = f"{study.name}-{method}-{temper}-{search.score}-{meant}"
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{out / 'tune.db'}")
    except RuntimeError as error:  # another version of Optuna wrote it
        raise TuningError(_unusable(out / "tune.db", error)) from error
    directions: Sequence[Literal["maximize"]] = ["maximize"] * (2 if search.score == "both" else 1)
    base = optuna.create_study(storage=storage, study_name=name, directions=directions, load_if_exists=True)
    for trial in base.trials:
        if trial.state == TrialState.RUNNING:  # the command was killed at it
            base.tell(trial.number, state=TrialState.FAIL)
            base.enqueue_trial(trial.params)
    if not base.trials:
        own = settled(study)[method].settings
        if temper in own and _inside(own[temper], search.tempers) and _inside(own["num_samples"], search.samples):
            base.enqueue_trial({temper: own[temper], "num_samples": own["num_samples"]})
    return base


def _step(
    base: optuna.Study,
    study: Study,
    search: Search,
    subject: tuple[str, Temper],
    out: Path,
    num_workers: int | None,
    say: Say,
) -> None:
    """One candidate: suggested, trained, scored."""
    method, temper = subject
    # One generator for each candidate: what is suggested does not depend on where an earlier run was stopped.
    base.sampler = optuna.samplers.TPESampler(seed=search.seed + len(_tried(base)), n_startup_trials=_AT_RANDOM)
    trial = base.ask()
    samples = trial.suggest_int("num_samples", *search.samples, log=True)
    value = float(f"{trial.suggest_float(temper, *search.tempers, log=True):.3g}")
    if temper == "radius":
        value = min(value, round(math.log(samples), 3) - 0.001)  # N samples can carry no more
    settings = {temper: value, "num_samples": samples}
    folder = out / "candidates" / "-".join(f"{name}-{number:g}" for name, number in settings.items())
    tried = validation_study(study, method, settings, search.num_seeds)
    folder.parent.mkdir(exist_ok=True)
    say(f"candidate {_text(settings)}")
    outcome = run_study(tried, folder, num_workers=num_workers)
    results = read(folder)
    trial.set_user_attr("settings", settings)
    try:
        scores = _scored(outcome, results, method)
    except TuningError as error:
        say(f"candidate {_text(settings)} failed: {error}")
        base.tell(trial, state=TrialState.FAIL)
        if not list(_complete(base)):
            told = f"the first candidate must be one that can be trained, but it cannot be: {error}."
            raise TuningError(told) from error
        return
    trial.set_user_attr("scores", list(scores))
    base.tell(trial, list(scores) if search.score == "both" else getattr(scores, search.score))
    say(f"candidate {_text(settings)}: nominal {scores.nominal:.4g}, worst {scores.worst:.4g}")


@final
class TuningError(EwokError):
    """Nothing can be tuned, for nothing can be trained."""


def _scored(outcome: Outcome, results: Results, method: str) -> Scores:
    """What a candidate's agents came to, if all of them came to an end, and to numbers."""
    if outcome.num_failed or not results.of(method):
        raise TuningError(results.failed[0].error if results.failed else "no agent was finished")
    try:
        return scores_of(results, method)
    except ArgumentError as error:
        raise TuningError(str(error).rstrip(".")) from error


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """What goes wrong with a database is told with its name."""
    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        raise TuningError(_unusable(path, error.__cause__ or error)) from error


def _unusable(path: Path, error: BaseException) -> str:
    reason = str(error).splitlines()[0].rstrip(".")
    return f"{path} must be a search of Optuna's that can be read and written, but cannot be: {reason}."


def _tuned(base: optuna.Study, search: Search, method: str) -> Tuned:
    best = sorted(base.best_trials, key=lambda trial: -trial.values[0])
    best = best if search.score == "both" else best[:1]
    complete = tuple(_complete(base))
    if not complete:
        raise TuningError(
            f"all {len(_tried(base))} candidates failed, so none is the best. Mend what they failed of, which is in "
            "candidates/*/failed, and search in another folder; or try more: --candidates N."
        )
    return Tuned(method, tuple(map(_candidate, best)), complete, len(_tried(base)) - len(complete))


def _tried(base: optuna.Study) -> list[Any]:
    """The candidates that came to an end, good or bad; not those that a kill left."""
    return [trial for trial in base.trials if "settings" in trial.user_attrs and trial.state.is_finished()]


def _complete(base: optuna.Study) -> Iterator[Candidate]:
    return (_candidate(trial) for trial in base.trials if trial.state == TrialState.COMPLETE)


def _candidate(trial: Any) -> Candidate:
    return Candidate(dict(trial.user_attrs["settings"]), Scores(*trial.user_attrs["scores"]))


def _write(path: Path, base: optuna.Study, temper: Temper) -> None:
    with whole(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([temper, "num_samples", "nominal", "worst"])
        for one in _complete(base):
            writer.writerow([*one.settings.values(), *one.scores])


def _inside(value: float, ends: tuple[float, float]) -> bool:
    return ends[0] <= value <= ends[1]


def _text(settings: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in settings.items())


@contextmanager
def _quiet() -> Iterator[None]:
    """Optuna tells what it does; we tell it ourselves."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)

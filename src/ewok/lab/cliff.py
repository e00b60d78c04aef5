"""The cliff's study: what Q-learning on worst-kernel samples learns, beside the exact answers, over seeds.

The one place in the lab that knows tables. What is learned is judged exactly: the value of the greedy policy at the
start, under the worst kernel of every radius, in the two senses of the paper's appendix and of its theorem.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from ewok import tabular
from ewok.lab.columns import read_numbers, write_columns
from ewok.lab.folder import as_json
from ewok.lab.plan import Trial, hash_of
from ewok.lab.stats import LEAST_TO_CUT, iqm
from ewok.lab.store import Curve, Results, Returns
from ewok.lab.study import Kappa, Name, NumSamples, Radius, Seeds, Table, fewer, first, seeds_of
from ewok.lab.summary import averages, too_few
from ewok.lab.trial import commit, machine, now, versions
from ewok.tabular.cliff import BETA, COLUMNS, DISCOUNT, GOAL, ROWS, START

Tell = Callable[[str, int, float], None]

OPTIMA = ("nominal-optimum", "paper-optimum", "robust-optimum")
RADII = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
_LABELS = {
    "exact_radius": "KL radius of the exact worst kernel",
    "paper_radius": "KL radius of the paper's worst kernel",
}
_TRIED = 200  # episodes, to tell how long all will take
_BYTES = 20_000  # of a trial, about
_ROWS = 200  # of the record of a training


@final
class Learning(Table):
    """How the tables are learned; the paper's numbers by default."""

    num_episodes: Annotated[int, Field(ge=1)] = 20_000
    learning_rate: Annotated[float, Field(gt=0.0, le=1.0)] = 0.01
    epsilon: Annotated[float, Field(ge=0.0, le=1.0)] = 0.2


@final
class Learner(Table):
    """One way to learn: N next states drawn, tilted by kappa or within a radius; or one of the exact optima.

    Attributes:
        kind: "q-learning", or an optimum: "nominal", of the "paper"'s worst kernel, or the "robust" one.
        seeds: the study's by default; an optimum has one.
        num_samples: N; 1 is plain Q-learning.
        kappa: the temperature, or
        radius: the KL radius.
        score_rewards: score candidates by r + gamma v(s') in place of v(s').
    """

    kind: Literal["q-learning", "nominal", "paper", "robust"] = "q-learning"
    seeds: Seeds | None = None
    num_samples: NumSamples = 1
    kappa: Kappa | None = None
    radius: Radius | None = None
    score_rewards: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> Learner:
        given = sum(one is not None for one in (self.kappa, self.radius))
        if given != (1 if self.num_samples > 1 else 0):
            raise ValueError("num_samples above 1 needs exactly one of kappa and radius, and 1 neither")
        return self


@final
class CliffStudy(Table):
    """All of the cliff's study: world and agent are what the paper's appendix has."""

    name: Name
    title: str = ""
    kind: Literal["tabular"]
    seeds: Seeds
    learning: Learning = Learning()
    methods: Annotated[dict[Name, Learner], Field(min_length=1)]
    radii: Annotated[tuple[Radius, ...], Field(min_length=1, strict=False)] = RADII

    def with_seeds(self, num: int) -> CliffStudy:
        """The first so many of all seeds."""
        methods = {name: fewer(one, num) for name, one in self.methods.items()}
        return self.model_copy(update={"seeds": first(self.seeds, num), "methods": methods})


def mistakes_of(raw: Mapping[str, Any]) -> dict[str, str]:
    """None that the tables do not know of: there are no names to look up."""
    return {}


def plan(study: CliffStudy) -> list[Trial]:
    """Every learner with every seed, seed by seed; every optimum once."""
    radii = sorted({0.0, *study.radii})
    trials = []
    for seed in sorted({seed for method in study.methods.values() for seed in _seeds(study, method)}):
        for name, method in study.methods.items():
            if seed in _seeds(study, method):
                told = method.model_dump(exclude={"seeds"}, mode="json")
                learning = study.learning.model_dump() if method.kind == "q-learning" else {}
                meaning = {"kind": "tabular", "learning": learning, "method": told, "radii": radii, "seed": seed}
                trials.append(Trial(f"{name}-s{seed:03d}-{hash_of(meaning)}", study.name, name, seed, meaning))
    return trials


def described(study: CliffStudy, trials: list[Trial]) -> dict[str, Any]:
    """What `study.json` says: the radii are the parameters that are moved."""
    radii = sorted({0.0, *study.radii})
    common = {"unit": "", "nominal": 0.0, "grid": radii, "scale": "linear", "low": radii[0], "high": radii[-1]}
    return {
        "name": study.name,
        "title": study.title,
        "kind": study.kind,
        "study": study.model_dump(mode="json"),
        "world": {
            "name": "cliff",
            "summary": "the paper's stochastic Cliff Walking",
            "parameters": {name: {**common, "label": label} for name, label in _LABELS.items()},
        },
        "methods": list(study.methods),
        "kinds": {name: method.model_dump(exclude={"seeds"}, mode="json") for name, method in study.methods.items()},
        "trials": [{"id": trial.id, "method": trial.method, "seed": trial.seed} for trial in trials],
    }


def run_trial(trial: Trial, place: Path, tell: Tell) -> None:
    """Learn a table, or solve for an optimum, and judge its policy exactly."""
    meaning, began = trial.meaning, time.monotonic()
    tell("train", 0, float("nan"))
    policy, value, returns = _answer(meaning)
    trained = time.monotonic()
    tell("evaluate", len(returns), float(returns[-100:].mean()) if len(returns) else float("nan"))
    _robust_returns(policy, meaning["radii"]).write(place / "returns.csv.gz")
    write_columns(place / "training.csv.gz", _thinned(returns))
    states = np.arange(ROWS * COLUMNS)
    write_columns(place / "table.csv.gz", {"state": states, "action": policy, "value": value})
    evaluated = time.monotonic()
    told = {
        **{name: getattr(trial, name) for name in ("id", "study", "method", "seed", "meaning")},
        "seconds": {
            "train": round(trained - began, 3),
            "evaluate": round(evaluated - trained, 3),
            "total": round(time.monotonic() - began, 3),
        },
        "steps": len(returns),
        "agreement": agreement(policy),
        "versions": versions(),
        "git": commit(),
        "machine": machine(),
        "finished": now(),
    }
    (place / "trial.json").write_text(as_json(told), encoding="utf-8")


def try_out(meaning: Mapping[str, Any]) -> tuple[float, float]:
    """Seconds and bytes that a trial will take, by a short one."""
    learning = meaning["learning"]
    num = learning.get("num_episodes", _TRIED)
    short = {**meaning, "learning": {**learning, "num_episodes": min(num, _TRIED)} if learning else {}}
    _answer(short)  # compiles
    began = time.monotonic()
    _answer(short)
    return (time.monotonic() - began) * max(1.0, num / _TRIED), float(_BYTES)


def agreement(policy: NDArray[np.int64]) -> dict[str, float]:
    """The share of states where the policy does as each optimum does, ties counted as agreeing; and how careful it is.

    "away" counts the ten neighbours of the cliff where it steps away from it.
    """
    standing = np.flatnonzero(~_nominal().terminal)
    shares = {name: float(best[standing, policy[standing]].mean()) for name, best in _best_actions().items()}
    beside = np.arange(START + 1, GOAL) - COLUMNS
    return {**shares, "away": int((policy[beside] == 0).sum())}


def table(results: Results) -> Iterator[str]:
    """One line for every method: exact values of what it learned, and whose policy it resembles.

    Of the radii it shows the one nearest to the paper's, and names it.
    Below it is said where seeds are too few to tell learners apart; of an optimum there is but one.
    """
    heads = [f"as {name}" for name in OPTIMA]
    width = max(map(len, results.methods))
    yield f"{'':<{width}}  {'':>5}  value at the start, worst kernel    share of states where the action is"
    radii = results.world["parameters"]["exact_radius"]["grid"]
    at = int(np.abs(np.array(radii) - BETA).argmin())
    columns = (f"{sense}, {radii[at]:g}" for sense in ("paper", "exact"))
    line = f"{'method':<{width}}  {'seeds':>5}  {'nominal':>8}" + "".join(f"  {column:>10}" for column in columns)
    yield line + "".join(f"  {head:>18}" for head in heads) + "  away from the cliff"
    for method in results.methods:
        trials = results.of(method)
        if not trials:
            continue
        exact, paper = (iqm(np.stack([t.returns.of(n).returns[:, 0] for t in trials])) for n in _LABELS)
        agreed = [agreement(_policy_in(trial.path)) for trial in trials]
        means = {name: float(np.mean([one[name] for one in agreed])) for name in (*OPTIMA, "away")}
        line = f"{method:<{width}}  {len(trials):>5}  {exact[0]:>8.2f}  {paper[at]:>10.2f}  {exact[at]:>10.2f}"
        yield line + "".join(f"  {means[name]:>18.0%}" for name in OPTIMA) + f"  {means['away']:>10.1f} of 10"
    learned = [trial.method for trial in results.finished if trial.meaning["method"]["kind"] == "q-learning"]
    counts = list(Counter(learned).values())
    if counts:
        yield f"{averages(counts)} over seeds" + "; of shares, means" * (max(counts) >= LEAST_TO_CUT)
    yield from too_few(counts)


def pictured(results: Results) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """By method, policy and value (S,) of its first seed: what the figure shows."""
    tables = {method: results.of(method)[0].path for method in results.methods if results.of(method)}
    return {method: (_policy_in(path), _columns_in(path)["value"]) for method, path in tables.items()}


def _seeds(study: CliffStudy, method: Learner) -> list[int]:
    if method.kind != "q-learning":
        return [0]
    return seeds_of(study.seeds if method.seeds is None else method.seeds)


def _answer(meaning: Mapping[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Policy (S,), value (S,), and the return of every episode it took to learn them."""
    method = dict(meaning["method"])
    kind = method.pop("kind")
    if kind != "q-learning":
        solution = _optimum(kind)
        return np.asarray(solution.policy, dtype=np.int64), np.asarray(solution.value), np.zeros(0)
    learned = tabular.ewok_q_learning(_nominal(), **meaning["learning"], **method, seed=meaning["seed"]).table
    return learned.policy, learned.value, learned.returns


def _robust_returns(policy: NDArray[np.int64], radii: list[float]) -> Returns:
    exact = [tabular.robust_policy_evaluation(_nominal(), policy, tabular.KL(r)).value[START] for r in radii]
    paper = [tabular.policy_value(tabular.paper_worst_kernel(r), policy)[START] for r in radii]
    column = (len(radii), 1)
    none, no = np.zeros(column, dtype=np.int64), np.zeros(column, dtype=bool)
    values = zip(_LABELS, (exact, paper), strict=True)
    return Returns({name: Curve(np.array(radii), np.reshape(v, column), none, no) for name, v in values})


def _thinned(returns: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Means of as many episodes as leave a short table; "step" counts episodes."""
    parts = np.array_split(returns, min(_ROWS, len(returns))) if len(returns) else []
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    means = np.array([part.mean() for part in parts])
    return {"step": ends, "return": means, "length": np.array([len(part) for part in parts], dtype=np.int64)}


@cache
def _nominal() -> tabular.TabularMDP:
    return tabular.cliff_walking(DISCOUNT)


@cache
def _optimum(kind: str) -> tabular.Solution:
    if kind == "robust":
        return tabular.robust_value_iteration(_nominal(), tabular.KL(BETA))
    return tabular.value_iteration(_nominal() if kind == "nominal" else tabular.paper_worst_kernel(BETA))


@cache
def _best_actions() -> dict[str, NDArray[np.bool_]]:
    """(S, 4) which actions are optimal under the kernel that each optimum is the optimum of."""
    robust = _optimum("robust")
    worst = tabular.worst_kernel(_nominal(), robust.value, tabular.KL(BETA)).kernel
    kernels = (_nominal(), tabular.paper_worst_kernel(BETA), worst)
    best = {}
    for name, kind, mdp in zip(OPTIMA, ("nominal", "paper", "robust"), kernels, strict=True):
        scores = mdp.entry_rewards + mdp.discount * np.asarray(_optimum(kind).value)[mdp.next_states]
        q = np.full((mdp.num_states, 4), -np.inf)
        q[mdp.states, mdp.actions] = np.add.reduceat(mdp.probabilities * scores, mdp.row_ptr[:-1])
        best[name] = q >= q.max(axis=1, keepdims=True) - 1e-5
    return best


def _columns_in(path: Path) -> dict[str, NDArray[Any]]:
    return read_numbers(path / "table.csv.gz", ("state", "action", "value"))


def _policy_in(path: Path) -> NDArray[np.int64]:
    return _columns_in(path)["action"].astype(np.int64)


TABLES = {(): CliffStudy, ("learning",): Learning, ("methods", "*"): Learner}

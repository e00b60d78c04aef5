"""The study of the estimate: how far the kernel that N samples amount to is from the exact worst kernel, by world.

Agents are trained in their worst kernels as in any other study. Then each walks nominal episodes, and at some of the
states it comes to many next states are drawn and valued: enough to stand for the nominal kernel itself, and so for the
exact worst kernel, and for the kernel that EWoK with any number of samples simulates in its place.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ewok import worlds
from ewok.lab import mistakes
from ewok.lab.columns import write_columns
from ewok.lab.evaluate import Deterministic
from ewok.lab.meaning import agent_meaning
from ewok.lab.plan import Trial, hash_of
from ewok.lab.store import DISTANCES, Results
from ewok.lab.study import Agent, Kappa, Name, NumSamples, Seeds, Table, fewer, first, seeds_of
from ewok.lab.training import Training
from ewok.lab.trial import Tell, carry_out
from ewok.nominal.batch import stack, take
from ewok.nominal.kernel import Candidates
from ewok.nominal.layers import wrappers_of
from ewok.nominal.seam import Seam
from ewok.worst.estimate import estimated_ratios, exact_ratio, kl_from_nominal, total_variation
from ewok.worst.kernel import WorstKernel
from ewok.worst.score import Critic

_QUARTILES = {"lower": 0.25, "median": 0.5, "upper": 0.75}
_APART = 20  # steps between two states that are looked at, on average
_TRIED = 3  # states, to tell how long all will take
_SEED = 1_000_000  # of the first nominal episode of seed 0


@final
class Trained(Table):
    """A world, and who is trained in its worst kernel.

    Attributes:
        world: its name, or "module:object"; the table's own name by default.
        agent: who learns, as in any study.
        seeds: the study's by default.
        num_samples: N of the training.
        kappa: its temperature, and that of the kernels that are compared.
    """

    world: str | None = None
    agent: Agent
    seeds: Seeds | None = None
    num_samples: NumSamples
    kappa: Kappa


@final
class EstimateStudy(Table):
    """All of a study of the estimate.

    Attributes:
        name: of the study, and of its folder by default.
        title: for the report.
        seeds: how many (0, 1, ...), or which.
        num_samples: each N whose kernel is compared with the exact one.
        num_states: at how many states of the nominal episodes.
        num_candidates: how many next states are drawn at each.
        worlds: in which worlds, and for whom.
    """

    name: Name
    title: str = ""
    kind: str = Field(pattern="^estimate$")
    seeds: Seeds
    num_samples: Annotated[list[NumSamples], Field(min_length=1)]
    num_states: Annotated[int, Field(ge=1)] = 200
    num_candidates: Annotated[int, Field(ge=2)] = 2000
    worlds: Annotated[dict[Name, Trained], Field(min_length=1)]

    def with_seeds(self, num: int) -> EstimateStudy:
        """The first so many of all seeds."""
        fewer_each = {name: fewer(one, num) for name, one in self.worlds.items()}
        return self.model_copy(update={"seeds": first(self.seeds, num), "worlds": fewer_each})


TABLES = {(): EstimateStudy, ("worlds", "*"): Trained, ("worlds", "*", "agent"): Agent}


def mistakes_of(raw: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with each world's table, as if it were a study of its own."""
    found: dict[str, str] = {}
    tables = raw.get("worlds")
    for name, table in tables.items() if isinstance(tables, dict) else ():
        if isinstance(table, dict):
            alone = {"world": table.get("world", name), "agent": table.get("agent")}
            found |= {f"worlds.{name}.{place}": told for place, told in mistakes.mistakes_of(alone).items()}
    return found


def plan(study: EstimateStudy) -> list[Trial]:
    """Every world's agent with every seed, seed by seed."""
    trials = []
    seeds = {name: seeds_of(study.seeds if one.seeds is None else one.seeds) for name, one in study.worlds.items()}
    for seed in sorted({seed for own in seeds.values() for seed in own}):
        for name, trained in study.worlds.items():
            if seed in seeds[name]:
                meaning = {
                    "kind": study.kind,
                    "world": trained.world or name,
                    "agent": agent_meaning(trained.agent),
                    "method": {"kind": "ewok", "num_samples": trained.num_samples, "kappa": trained.kappa},
                    "seed": seed,
                    "distance": {
                        "num_samples": sorted(set(study.num_samples)),
                        "num_states": study.num_states,
                        "num_candidates": study.num_candidates,
                    },
                }
                trials.append(Trial(f"{name}-s{seed:03d}-{hash_of(meaning)}", study.name, name, seed, meaning))
    return trials


def described(study: EstimateStudy, trials: list[Trial]) -> dict[str, Any]:
    """What `study.json` says: worlds take the place of methods, and no parameter is moved."""
    return {
        "name": study.name,
        "title": study.title,
        "kind": study.kind,
        "study": study.model_dump(mode="json"),
        "world": {"name": "", "summary": "each method's own", "parameters": {}},
        "methods": list(study.worlds),
        "trials": [{"id": trial.id, "method": trial.method, "seed": trial.seed} for trial in trials],
    }


def run_trial(trial: Trial, place: Path, tell: Tell) -> None:
    """Train, measure, and write all there is to know into the folder `place`."""
    carry_out(trial, place, tell, _measure)


def cost(meaning: Mapping[str, Any], training: Training) -> tuple[float, int]:
    """Seconds that measuring will take, by a few states of it; and the number of rows."""
    told = meaning["distance"]
    began = time.monotonic()
    distances({**meaning, "distance": {**told, "num_states": min(_TRIED, told["num_states"])}}, training)
    return (time.monotonic() - began) * max(1.0, told["num_states"] / _TRIED), len(told["num_samples"]) + 1


def distances(meaning: Mapping[str, Any], training: Training) -> dict[str, NDArray[np.float64]]:
    """Total variation from the exact worst kernel, and KL from the nominal one, for each N.

    Columns num_samples, in the last row infinity, for the exact kernel; and tv_lower, tv_median, tv_upper, quartiles
    over states, and tv_mean; kl_ likewise.
    """
    nums, kappa = meaning["distance"]["num_samples"], meaning["method"]["kappa"]
    measured = np.array([_at_one_state(scores, nums, kappa) for scores in _visited(meaning, training)])
    columns = {"num_samples": np.array([*nums, np.inf])}
    for name, values in zip(("tv", "kl"), np.moveaxis(measured, 1, 0), strict=True):
        columns |= {f"{name}_{part}": np.quantile(values, share, axis=0) for part, share in _QUARTILES.items()}
        columns[f"{name}_mean"] = values.mean(axis=0)
    return columns


def table(results: Results) -> Iterator[str]:
    """One line for every world and N: medians over states, their mean over seeds."""
    width = max(len("world"), *map(len, results.methods))
    yield f"{'world':<{width}}  {'seeds':>5}  {'N':>5}  {'total variation':>15}  {'KL':>7}"
    for method in results.methods:
        told = [trial.distances for trial in results.of(method) if trial.distances is not None]
        for row, num in enumerate(told[0]["num_samples"] if told else ()):
            tv, kl = (float(np.mean([one[f"{name}_median"][row] for one in told])) for name in ("tv", "kl"))
            label = "exact" if np.isinf(num) else f"{num:.0f}"
            yield f"{method:<{width}}  {len(told):>5}  {label:>5}  {tv:>15.3f}  {kl:>7.3f}"
    yield "from the exact worst kernel, and from the nominal one: means over seeds of medians over states"


def _measure(meaning: Mapping[str, Any], training: Training, place: Path) -> None:
    write_columns(place / DISTANCES, distances(meaning, training))


def _at_one_state(scores: NDArray[np.float64], nums: list[int], kappa: float) -> tuple[list[float], list[float]]:
    exact = exact_ratio(scores, kappa)
    ratios = [*estimated_ratios(scores, nums, kappa), exact]
    return [total_variation(ratio, exact) for ratio in ratios], [kl_from_nominal(ratio) for ratio in ratios]


def _visited(meaning: Mapping[str, Any], training: Training) -> Iterator[NDArray[np.float64]]:
    """Scores of many candidates, at some of the states and actions of the agent's nominal episodes."""
    told, seed = meaning["distance"], _SEED + 1000 * meaning["seed"]
    critic, policy = _critic_of(training), Deterministic(training.agent)
    env, generator = worlds.get(meaning["world"]).make(), np.random.default_rng(seed)
    seam, drawn = Seam(env, "the study of the estimate"), list[Candidates]()

    def commit_any(candidates: Candidates) -> int:
        drawn.append(candidates)
        return 0  # each is drawn from the nominal kernel

    observation, _ = env.reset(seed=seed)
    for _ in range(told["num_states"]):
        while not drawn:
            action = take(policy(stack([observation])), 0)
            looks = generator.random() < 1.0 / _APART
            taken = seam.step(action, told["num_candidates"], commit_any) if looks else env.step(action)
            observation, _, terminated, truncated, _ = taken
            if terminated or truncated:
                policy.forget()
                observation, _ = env.reset()
        yield critic.scores(drawn.pop())
    env.close()


def _critic_of(training: Training) -> Critic:
    """What told its worst kernel which next states are bad."""
    [kernel] = [layer for layer in wrappers_of(training.recorder) if isinstance(layer, WorstKernel)]
    assert isinstance(kernel.critic, Critic), "preparing an agent binds it, or raises"
    return kernel.critic

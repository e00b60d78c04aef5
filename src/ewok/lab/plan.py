"""From a study to its trials: which there are, and what each of them means."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, final

from ewok.lab.meaning import agent_meaning, grids, settled, world_as_plain
from ewok.lab.mistakes import mistakes_of as mistakes_of
from ewok.lab.study import Agent, Method, Study, Sweep

TABLES = {(): Study, ("agent",): Agent, ("methods", "*"): Method, ("sweeps", "*"): Sweep}
_APART = 1000  # evaluation seeds between one training seed and the next: at least as many as there are episodes


@final
@dataclass(frozen=True)
class Trial:
    """One agent to be trained and evaluated.

    Attributes:
        id: its method, its seed, and a hash of its meaning.
        study: whose it is.
        method: the method's name.
        seed: of the training.
        meaning: everything that decides its numbers: trials that mean the same give the same.
    """

    id: str
    study: str
    method: str
    seed: int
    meaning: dict[str, Any]

    @property
    def num_steps(self) -> int:
        """How long it learns: in steps; tables in episodes."""
        if "agent" in self.meaning:
            return int(self.meaning["agent"]["num_steps"])
        return int(self.meaning["learning"].get("num_episodes", 1))


def plan(study: Study) -> list[Trial]:
    """The study's trials, seed by seed, so that what is finished early can be compared."""
    agent, tested, methods = agent_meaning(study.agent), grids(study), list(settled(study).values())
    trials = []
    for seed in sorted({seed for method in methods for seed in method.seeds}):
        evaluation = {"grids": tested, "episodes": study.episodes, "seed": study.evaluation_seed + _APART * seed}
        for method in methods:
            if seed in method.seeds:
                meaning = {"world": study.world, "agent": agent, "method": method.plain, "seed": seed}
                meaning["evaluation"] = evaluation
                name = f"{method.name}-s{seed:03d}-{hash_of(meaning)}"
                trials.append(Trial(name, study.name, method.name, seed, meaning))
    return trials


def described(study: Study, trials: list[Trial]) -> dict[str, Any]:
    """What `study.json` says."""
    methods = settled(study)
    return {
        "name": study.name,
        "title": study.title,
        "kind": study.kind,
        "study": study.model_dump(mode="json"),
        "world": world_as_plain(study),
        "methods": list(methods),
        "kinds": {name: method.plain for name, method in methods.items()},
        "trials": [{"id": trial.id, "method": trial.method, "seed": trial.seed} for trial in trials],
    }


def hash_of(meaning: dict[str, Any]) -> str:
    """Eight hexadecimal digits that stand for a meaning."""
    canonical = json.dumps(meaning, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]

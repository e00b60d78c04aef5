"""What a study will take, before it is run: from what is there already, or from the first seconds of a trial."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ewok import worlds
from ewok.lab.columns import StoreError
from ewok.lab.evaluate import Deterministic
from ewok.lab.kinds import kind_of, planner
from ewok.lab.local import environment
from ewok.lab.plan import Trial
from ewok.lab.store import read_trial
from ewok.lab.study import AnyStudy
from ewok.lab.summary import spoken
from ewok.lab.training import prepare

_SECONDS = 10.0  # of training that are watched
_STEPS = 20  # of evaluation
_LIMIT = 1000  # steps of an episode that says nothing of its end
_BYTES_OF_EPISODE = 8  # in a packed table


@final
@dataclass(frozen=True)
class Cost:
    """Of one trial."""

    seconds: float
    num_bytes: float


def forecast(study: AnyStudy, folder: Path, num_workers: int) -> Iterator[str]:
    """The plan of a study in lines: what is there, what is missing, and what that will take."""
    trials: list[Trial] = planner(study.kind).plan(study)
    waiting = [trial for trial in trials if not (folder / "trials" / trial.id).is_dir()]
    yield f"{study.name}: {len(trials)} trials, {len(trials) - len(waiting)} there already, {len(waiting)} to run"
    costs: dict[str, Cost] = {}
    total = Cost(0.0, 0.0)
    for method in dict.fromkeys(trial.method for trial in trials):
        own = [trial for trial in trials if trial.method == method]
        missing = [trial for trial in own if trial in waiting]
        if not missing:
            yield f"  {method}: {len(own)} trials, all there"
            continue
        cost = _known(own, folder) or costs.get(_alike(own[0])) or measured(own[0])
        costs[_alike(own[0])] = cost
        total = Cost(total.seconds + cost.seconds * len(missing), total.num_bytes + cost.num_bytes * len(missing))
        steps = f"{own[0].num_steps:,} {'episodes' if study.kind == 'tabular' else 'steps'}"
        yield f"  {method}: {len(missing)} to run, {steps} each, about {spoken(cost.seconds)} a trial"
    num = min(num_workers, max(1, len(waiting)))
    wall = spoken(total.seconds / num)
    yield f"about {wall} with {num} worker{'s' * (num > 1)}, and {total.num_bytes / 1e6:,.0f} MB in {folder}"


def measured(trial: Trial, seconds: float = _SECONDS) -> Cost:
    """By the first seconds of a trial, in a process like those that run them."""
    question = json.dumps({"meaning": trial.meaning, "seconds": seconds})
    command = [sys.executable, "-m", "ewok.lab.forecast"]
    done = subprocess.run(command, input=question, capture_output=True, text=True, env=environment(), check=False)
    if done.returncode != 0:
        told = done.stderr.strip().splitlines()[-1:] or ["no word of why"]
        raise StoreError(f"`{trial.method}` cannot be tried out: {told[0]}.")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


class _Enough(Exception):
    """Of training: its speed is known."""


def try_out(meaning: Mapping[str, Any], seconds: float) -> Cost:
    """Train for some seconds, evaluate for some steps, and save: what the whole of it would cost."""
    if kind_of(meaning) == "tabular":
        return Cost(*planner("tabular").try_out(meaning))
    looks: list[tuple[float, int]] = []
    began = time.monotonic()

    def look(steps: int, level: float) -> None:
        looks.append((time.monotonic() - began, steps))
        if looks[-1][0] >= seconds:
            raise _Enough

    with tempfile.TemporaryDirectory() as place:
        training = prepare(meaning, Path(place) / "tensorboard", look)
        with suppress(_Enough):
            training.learn()
        looks.append((time.monotonic() - began, training.recorder.num_steps))
        training.close()
        if hasattr(training.agent, "save"):
            training.agent.save(Path(place) / "model.zip")
        num_bytes = float(sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file()))
    if kind_of(meaning) == "estimate":
        evaluation, rows = planner("estimate").cost(meaning, training)
    else:
        evaluation, rows = _evaluation(meaning, training.agent)
    left = int(meaning["agent"]["num_steps"]) - looks[-1][1]
    return Cost(looks[-1][0] + left / _rate(looks) + evaluation, num_bytes + rows * _BYTES_OF_EPISODE)


def _rate(looks: Sequence[tuple[float, int]]) -> float:
    """Steps a second in the second half of what was seen: at first agents only look around."""
    (time_before, before), (time_after, after) = looks[len(looks) // 2 - 1], looks[-1]
    return max(1, after - before) / max(1e-6, time_after - time_before)


def _evaluation(meaning: Mapping[str, Any], agent: Any) -> tuple[float, int]:
    """Seconds, were no episode to end before its limit; and the number of episodes."""
    world, told = worlds.get(meaning["world"]), meaning["evaluation"]
    points = [{name: value} for name, grid in told["grids"].items() for value in grid]
    vector = world.make_vector(points, told["episodes"])
    policy = Deterministic(agent)
    observations, _ = vector.reset(seed=0)
    began = time.monotonic()
    for _ in range(_STEPS):
        observations, *_ = vector.step(policy(observations))
    each = (time.monotonic() - began) / _STEPS
    vector.close()
    env = world.make()
    spec = env.spec
    env.close()
    limit = _LIMIT if spec is None or spec.max_episode_steps is None else spec.max_episode_steps
    return each * limit, len(points) * told["episodes"]


def _known(trials: Sequence[Trial], folder: Path) -> Cost | None:
    """The mean of those that are there."""
    costs = []
    for trial in trials:
        path = folder / "trials" / trial.id
        if path.is_dir():
            size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            costs.append(Cost(read_trial(folder, trial.id).seconds["total"], size))
    if not costs:
        return None
    return Cost(sum(c.seconds for c in costs) / len(costs), sum(c.num_bytes for c in costs) / len(costs))


def _alike(trial: Trial) -> str:
    """Methods that cost the same, in one world for as many steps."""
    method = trial.meaning["method"]
    return f"{trial.meaning.get('world')} {trial.num_steps} {method['kind']} {method.get('num_samples')}"


def main(read: Callable[[], str], write: Callable[[str], Any]) -> None:
    """Answer one question: a line of JSON for a line of JSON."""
    question = json.loads(read())
    write(json.dumps(vars(try_out(question["meaning"], question["seconds"]))) + "\n")


if __name__ == "__main__":
    main(sys.stdin.read, sys.stdout.write)

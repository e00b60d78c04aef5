"""What settings are chosen by: perturbations and seeds that no report of the study shows.

A setting that was chosen by the reported numbers would look better there than it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from ewok import worlds
from ewok.errors import require
from ewok.lab.meaning import grids, settled
from ewok.lab.stats import iqm, seed_means, worst
from ewok.lab.store import Results
from ewok.lab.study import LARGEST_SEED, Method, Study
from ewok.worlds.perturbation import Perturbation


@final
class Scores(NamedTuple):
    """Of one setting, over the seeds of its agents.

    Attributes:
        nominal: interquartile mean of the returns in the nominal world.
        worst: likewise of each agent's least return over all perturbations.
    """

    nominal: float
    worst: float


def validation_study(study: Study, method: str, settings: dict[str, Any], num_seeds: int) -> Study:
    """A study of one method with these settings, on seeds and perturbations that the study itself has not.

    Args:
        study: whose world, agent and episodes it has.
        method: the name of the method that is tuned.
        settings: of it, in place of what it has.
        num_seeds: how many agents.
    """
    own = study.methods[method]
    cleared = {"kappa": None, "radius": None, "seeds": None, "kind": own.kind or method}
    tuned = Method(**{**own.model_dump(), **cleared, **settings})
    changed = {
        "methods": {method: tuned},
        "sweeps": {},
        "seeds": other_seeds(study, num_seeds),
        "perturbations": other_values(study),
    }
    return study.model_copy(update=changed)


def other_seeds(study: Study, num: int) -> list[int]:
    """The last seeds there are, where no study grows to that begins at 0; those of evaluation follow from them."""
    start = LARGEST_SEED - num + 1
    last = max(seed for method in settled(study).values() for seed in method.seeds)
    remedy = f"Train with seeds far enough below {LARGEST_SEED}."
    require(last < start, "seeds", "such that some are left for validation", last, remedy)
    return list(range(start, start + num))


def other_values(study: Study) -> dict[str, list[float]]:
    """Of every parameter values between those that the study reports, half-way on the parameter's own scale.

    A parameter with no value between is left out. The nominal world, which is in every grid, is met with other seeds.
    """
    world = worlds.get(study.world)
    between = {name: _between(world.perturbation(name), grid) for name, grid in grids(study).items()}
    found = {name: values for name, values in between.items() if values}
    remedy = "Give the study parameters with at least two values."
    require(
        len(found) > 0, "perturbations", "such that there are values between them", dict(study.perturbations), remedy
    )
    return found


def _between(parameter: Perturbation, grid: list[float]) -> list[float]:
    log = parameter.log and min(grid) > 0.0
    at = np.log(grid) if log else np.array(grid)
    middle = 0.5 * (at[1:] + at[:-1])
    values = [float(f"{value:.6g}") for value in (np.exp(middle) if log else middle)]
    if parameter.whole:
        values = [float(int(value)) for value in values]
    return sorted(set(values) - set(grid))


def scores_of(results: Results, method: str) -> Scores:
    """From the folder of a validation study."""
    trials = results.of(method)
    parameters = results.world["parameters"]
    everywhere, nominal = [], None
    for name, told in parameters.items():
        curves = [trial.returns.of(name) for trial in trials]
        means = seed_means(np.stack([curve.returns for curve in curves]))
        everywhere.append(means)
        at = int(np.flatnonzero(curves[0].values == told["nominal"])[0])
        nominal = means[:, at] if nominal is None else nominal
    assert nominal is not None
    least = worst(np.concatenate(everywhere, axis=1))
    return Scores(float(iqm(nominal)), float(iqm(least)))

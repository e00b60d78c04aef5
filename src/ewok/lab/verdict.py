"""What a model's returns under stress mean, in words.

Returns are compared as shares: of what the model gains over random actions in the nominal world, how much it keeps.
A return of -150 may be good and one of 20 bad, so a ratio of returns would say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from ewok.lab.bootstrap import Bootstrap
from ewok.lab.stats import mean
from ewok.lab.store import Curve
from ewok.lab.stress import Mixture, Stress, is_better

HOLDS, BREAKS = 0.8, 0.5
Grade = Literal["holds", "bends", "breaks"]
Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Finding:
    """How a model fares over one axis.

    Attributes:
        name: of the parameter.
        unit: of its values.
        nominal: where it was trained.
        tested: the least and the greatest value.
        grade: "holds" if it keeps 80% everywhere, "breaks" if less than half somewhere, else "bends".
        kept: the range around the nominal value in which it keeps 80%, between values that were tested.
        worst: the value at which it returns least.
        least: what it returns there.
        share: what it keeps there.
    """

    name: str
    unit: str
    nominal: float
    tested: tuple[float, float]
    grade: Grade
    kept: tuple[float, float]
    worst: float
    least: float
    share: float


def shares(stress: Stress, returns: Array) -> Array:
    """Of what it gains over random actions in the nominal world, what it keeps: returns (..., E) -> (...)."""
    chance = stress.random.mean()
    return np.asarray((returns.mean(axis=-1) - chance) / (stress.nominal.mean() - chance))


def is_skilled(stress: Stress) -> bool:
    """Whether it returns more than random actions where it was trained, beyond what chance explains."""
    return is_better(stress.nominal, stress.random)


def findings(stress: Stress) -> list[Finding]:
    """One for each parameter, and one for the KL radius where there is one."""
    found = []
    for name, curve in stress.curves.curves.items():
        parameter = stress.world.perturbation(name)
        found.append(_finding(stress, name, parameter.unit, parameter.nominal, curve))
    if stress.radius is not None:
        found.append(_finding(stress, "KL radius", "", 0.0, stress.radius))
    return found


def verdict(stress: Stress) -> list[str]:
    """Sentences, the most important first."""
    where = f"In the nominal world {stress.world.name} {stress.model} ({stress.algorithm})"
    start = f"{where} returns {_mean(stress.nominal)}; random actions return {stress.random.mean():.4g}."
    if not is_skilled(stress):
        return [
            f"{stress.model} is no better than random actions in the nominal world: there is nothing that it could "
            "keep. Is this the world it was trained in, and was it trained behind a VecNormalize (--vecnormalize)?",
            start,
        ]
    found = findings(stress)
    return [_headline(stress, found), start, *_by_grade(found), *_opposition(stress, found), *_mixtures(stress)]


def comparison(one: Stress, other: Stress) -> list[str]:
    """How two models differ in the same episodes, at every point that both were tested at."""
    counts = {"better": 0, "worse": 0}
    num, places = 0, []
    for index, (name, curve) in enumerate(one.curves.curves.items()):
        difference = curve.returns - other.curves.of(name).returns
        low, high = _interval(difference)
        if index > 0:  # the nominal world is in every grid, and is counted once
            moved = curve.values != one.world.perturbation(name).nominal
            low, high = low[moved], high[moved]
        num += len(low)
        counts["better"] += int((low > 0).sum())
        counts["worse"] += int((high < 0).sum())
        places += [(float(d), name, float(v)) for d, v in zip(difference.mean(axis=1), curve.values, strict=True)]
    most, least = max(places), min(places)
    lines = [
        f"{one.model} against {other.model}, in the same episodes: better at {counts['better']} of {num} values, "
        f"worse at {counts['worse']}, no clear difference at the rest (95% intervals of the paired differences)."
    ]
    if most[0] > 0:
        lines.append(f"It gains most at {most[1]} {most[2]:g}, where it returns {most[0]:.4g} more.")
    if least[0] < 0:
        lines.append(f"It loses most at {least[1]} {least[2]:g}, where it returns {-least[0]:.4g} less.")
    if one.cloud and other.cloud:
        mine, theirs = (np.median([mixture.returns.mean() for mixture in s.cloud]) for s in (one, other))
        lines.append(f"Over the mixtures its median return is {mine:.4g}, and that of {other.model} {theirs:.4g}.")
    return lines


def _finding(stress: Stress, name: str, unit: str, nominal: float, curve: Curve) -> Finding:
    kept = shares(stress, curve.returns)
    worst = int(np.argmin(kept))
    grade: Grade = "holds" if kept.min() >= HOLDS else "breaks" if kept.min() < BREAKS else "bends"
    middle = int(np.argmin(np.abs(curve.values - nominal)))
    low = high = middle
    while low > 0 and kept[low - 1] >= HOLDS:
        low -= 1
    while high < len(kept) - 1 and kept[high + 1] >= HOLDS:
        high += 1
    return Finding(
        name=name,
        unit=unit,
        nominal=nominal,
        tested=(float(curve.values[0]), float(curve.values[-1])),
        grade=grade,
        kept=(float(curve.values[low]), float(curve.values[high])),
        worst=float(curve.values[worst]),
        least=float(curve.returns[worst].mean()),
        share=float(kept[worst]),
    )


def _headline(stress: Stress, found: Sequence[Finding]) -> str:
    moved = [one for one in found if one.name != "KL radius"]
    broken = [one.name for one in moved if one.grade == "breaks"]
    bent = [one.name for one in moved if one.grade == "bends"]
    held = [one.name for one in moved if one.grade == "holds"]
    if broken:
        graded = (("breaks", broken), ("bends", bent), ("holds", held))
        *parts, last = [f"{grade} under {_list(names)}" for grade, names in graded if names]
        return f"{stress.model} is fragile: it {', '.join([*parts, f'and {last}' if parts else last])}."
    if bent:
        return f"{stress.model} is fairly robust: it bends under {_list(bent)}, and breaks nowhere."
    return f"{stress.model} is robust: it keeps {HOLDS:.0%} or more wherever a single parameter was moved."


def _by_grade(found: Sequence[Finding]) -> list[str]:
    moved = [one for one in found if one.name != "KL radius"]
    lines = []
    holds = [one.name for one in moved if one.grade == "holds"]
    if holds:
        lines.append(f"It holds, keeping {HOLDS:.0%} of its gain over random actions or more, under {_list(holds)}.")
    for one in sorted(moved, key=lambda one: one.share):
        if one.grade != "holds":
            tested = f"nominal {one.nominal:g}, tested {one.tested[0]:g} to {one.tested[1]:g}"
            lines.append(
                f"It {one.grade} under {one.name}: {HOLDS:.0%} is kept from {one.kept[0]:g} to "
                f"{_with_unit(one.kept[1], one)} ({tested}), and {max(one.share, 0.0):.0%} at {one.worst:g}, where it "
                f"returns {one.least:.4g}."
            )
    return lines


def _opposition(stress: Stress, found: Sequence[Finding]) -> list[str]:
    if stress.radius is None:
        return [f"It was not set against its own critic: {stress.no_radius}"]
    one = next(one for one in found if one.name == "KL radius")
    start = "Against the worst kernel that its own critic picks it"
    if one.grade == "holds":
        return [f"{start} holds up to the largest radius tried, {one.kept[1]:g}."]
    kept = f"{start} keeps {HOLDS:.0%} up to a KL radius of {one.kept[1]:g}"
    return [f"{kept}, and {max(one.share, 0.0):.0%} at {one.worst:g}, where it returns {one.least:.4g}."]


def _mixtures(stress: Stress) -> list[str]:
    lines = []
    for what, several in (("pair of ends", stress.pairs), (f"of {len(stress.cloud)} random mixtures", stress.cloud)):
        worst = _worst(several)
        if worst is not None:
            at = ", ".join(f"{name} {value:.3g}" for name, value in worst.point.items())
            lines.append(f"The worst {what}: {at}, where it returns {worst.returns.mean():.4g}.")
    if stress.cloud:
        lost = sum(float(share) < BREAKS for share in shares(stress, np.array([m.returns for m in stress.cloud])))
        lines.append(f"It keeps less than half in {lost} of the {len(stress.cloud)} mixtures.")
    return lines


def _worst(several: Sequence[Mixture]) -> Mixture | None:
    return min(several, key=lambda mixture: float(mixture.returns.mean()), default=None)


def _interval(returns: Array) -> tuple[Array, Array]:
    """Of the mean of rows (points, E); the mean itself where episodes are too few."""
    estimate = Bootstrap().estimate(returns.T, aggregate=mean)
    if estimate.low is None or estimate.high is None:
        return estimate.value * np.nan, estimate.value * np.nan
    return estimate.low, estimate.high


def _mean(returns: Array) -> str:
    low, high = _interval(returns[None])
    text = f"{returns.mean():.4g}"
    return text if np.isnan(low[0]) else f"{text} (95% {low[0]:.4g} to {high[0]:.4g})"


def _with_unit(value: float, one: Finding) -> str:
    return f"{value:g} {one.unit}".rstrip()


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

"""A sweep, worked out: its methods over every parameter, and their scores against the setting that is moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ewok.lab.bootstrap import Bootstrap
from ewok.lab.panel import Line, Panel
from ewok.lab.roles import Ablation, Roles, settings_of
from ewok.lab.scores import AREA, NOMINAL, Score, robust_scores
from ewok.lab.stats import Scale
from ewok.lab.store import Results

_DECADE = 10.0  # of a setting's values, from which on their axis is logarithmic


@final
@dataclass(frozen=True, eq=False)
class Ablated:
    """A sweep.

    Attributes:
        ablation: which.
        labels: how each method is named in its legend.
        panels: return against each parameter, the baseline beside its methods.
        scores: of its methods, and of those that they are held against.
        settings: scores against the values of the setting, where these are numbers. Levels are the methods that do
            without what tempers the sweep's: the baseline, and in a sweep of kappa those of a fixed radius.
    """

    ablation: Ablation
    labels: Mapping[str, str]
    panels: tuple[Panel, ...]
    scores: tuple[Score, ...]
    settings: tuple[Panel, ...]

    @property
    def name(self) -> str:
        """Of its figures."""
        return f"ablation-{self.ablation.base}-{self.ablation.setting}"


def ablated(
    ablation: Ablation, results: Results, roles: Roles, panels: Sequence[Panel], bootstrap: Bootstrap
) -> Ablated:
    """Work out a sweep, from panels that have all of a study's methods."""
    baseline = [] if roles.baseline is None else [roles.names[roles.baseline]]
    labels = dict(zip(baseline, baseline, strict=True))
    values = zip(ablation.members, ablation.values, strict=True)
    labels |= {roles.names[name]: f"{ablation.setting} = {_short(value)}" for name, value in values}
    temper = "radius" if settings_of(results, ablation.base).get("kappa") is None else "kappa"
    held = [roles.names[name] for name in roles.main if settings_of(results, name).get(temper) is None]
    scores = robust_scores(tuple(panel.only(tuple(dict.fromkeys([*labels, *held]))) for panel in panels), bootstrap)
    return Ablated(
        ablation=ablation,
        labels=labels,
        panels=tuple(panel.only(list(labels)) for panel in panels),
        scores=scores,
        settings=_settings(ablation, roles, scores, list(dict.fromkeys(held)), bootstrap),
    )


def _settings(
    ablation: Ablation, roles: Roles, scores: Sequence[Score], held: Sequence[str], bootstrap: Bootstrap
) -> tuple[Panel, ...]:
    """A panel for the nominal world, and one for the range of each parameter."""
    values = np.array([value for value in ablation.values if isinstance(value, int | float)], dtype=np.float64)
    if len(values) < len(ablation.values) or len(values) < 2:
        return ()
    scale: Scale = "log" if values[0] > 0.0 and values[-1] >= _DECADE * values[0] else "linear"
    panels = []
    for score in scores:
        own = [line for name in ablation.members if (line := score.line(roles.names[name])) is not None]
        common = [seed for seed in own[0].seeds if all(seed in line.seeds for line in own)] if own else []
        shown = score.kind == AREA or (score.kind == NOMINAL and not score.label)
        if not shown or len(own) < len(values) or not common:
            continue
        rows = np.stack([line.scores[[line.seeds.index(seed) for seed in common]] for line in own], axis=1)
        line = Line(roles.names[ablation.base], tuple(common), rows, bootstrap.estimate(rows))
        levels = tuple(level for name in held if (level := score.line(name)) is not None)
        what = f"mean return over {score.label}" if score.kind == AREA else "return in the nominal world"
        name = f"{score.kind} {score.label}".strip().replace(" ", "-")
        panels.append(Panel(name, ablation.setting, "", what, values, scale, None, (line,), levels))
    return tuple(panels)


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)

"""What a study's folder comes to: all that figures and pages show, worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from ewok.errors import EwokError
from ewok.lab.ablated import Ablated, ablated
from ewok.lab.bootstrap import LEAST_SEEDS, Bootstrap
from ewok.lab.columns import StoreError
from ewok.lab.distance_panels import distance_panels
from ewok.lab.learning import diagnostic_panels, learning_panel
from ewok.lab.palette import Tone, tones
from ewok.lab.panel import Panel
from ewok.lab.robustness import LeftOut, robustness_panels, sound
from ewok.lab.roles import Roles, roles_of
from ewok.lab.scores import Comparison, Score, comparisons, robust_scores
from ewok.lab.store import Finished, Results


class NothingToReportError(EwokError):
    """A study's folder has no finished trial."""


@final
@dataclass(frozen=True, eq=False)
class Findings:
    """A study, worked out.

    Attributes:
        results: what it was worked out from.
        roles: of its methods.
        trials: by method, those whose returns are numbers.
        left_out: the others.
        panels: return against each parameter, the main methods.
        ablated: each sweep.
        scores: of the main methods.
        comparisons: of the main methods with the baseline.
        learning: returns while training; None where no episode ended.
        diagnostics: of the worst kernels.
        distances: of the estimated kernel from the exact one; none but in a study of the estimate.
        bootstrap: what intervals were drawn with.
    """

    results: Results
    roles: Roles
    trials: Mapping[str, tuple[Finished, ...]]
    left_out: tuple[LeftOut, ...]
    panels: tuple[Panel, ...]
    ablated: tuple[Ablated, ...]
    scores: tuple[Score, ...]
    comparisons: tuple[Comparison, ...]
    learning: Panel | None
    diagnostics: tuple[Panel, ...]
    distances: tuple[Panel, ...]
    bootstrap: Bootstrap

    @property
    def name(self) -> str:
        return str(self.results.study.get("name") or self.results.folder.name)

    @property
    def title(self) -> str:
        return str(self.results.study.get("title") or self.name)

    @property
    def baseline(self) -> str | None:
        """The shown name of the baseline."""
        return None if self.roles.baseline is None else self.roles.names[self.roles.baseline]

    @property
    def main(self) -> tuple[str, ...]:
        """Shown names of the main methods."""
        return tuple(dict.fromkeys(self.roles.names[name] for name in self.roles.main))

    @property
    def compared(self) -> tuple[str, ...]:
        """Shown names of the main methods but the baseline."""
        return tuple(name for name in self.main if name != self.baseline)

    @property
    def few(self) -> tuple[str, ...]:
        """Shown names of the methods with too few seeds for an interval, where there is chance in them."""
        few = (shown for name, shown in self.roles.names.items() if len(self.trials[name]) < LEAST_SEEDS)
        return tuple(shown for shown in dict.fromkeys(few) if shown not in self.roles.exact)

    def differences(self, panels: tuple[Panel, ...]) -> tuple[Panel, ...]:
        """These panels, as differences to the baseline; none without one."""
        if self.baseline is None:
            return ()
        less = (panel.less(self.baseline, self.bootstrap) for panel in panels)
        return tuple(panel for panel in less if panel.lines)


def findings_of(results: Results, bootstrap: Bootstrap | None = None, against: str | None = None) -> Findings:
    """Work out a folder.

    Args:
        results: the folder's.
        bootstrap: what intervals are drawn with.
        against: the method that others are compared with, in the baseline's place.
    """
    bootstrap = bootstrap or Bootstrap()
    _check(results)
    trials, left_out = sound(results)
    if not any(trials.values()):
        raise NothingToReportError(_nothing(results, len(left_out)))
    roles = roles_of(results, {name for name, own in trials.items() if own}, against)
    panels = robustness_panels(trials, results.world, roles, bootstrap)
    main = tuple(dict.fromkeys(roles.names[name] for name in roles.main))
    shown = tuple(panel.only(main) for panel in panels)
    scores = robust_scores(shown, bootstrap)
    compared: tuple[Comparison, ...] = ()
    if roles.baseline is not None:
        baseline = roles.names[roles.baseline]
        compared = comparisons(scores, [name for name in main if name != baseline], baseline, bootstrap)
    return Findings(
        results=results,
        roles=roles,
        trials=trials,
        left_out=left_out,
        panels=shown,
        ablated=tuple(ablated(ablation, results, roles, panels, bootstrap) for ablation in roles.ablations),
        scores=scores,
        comparisons=compared,
        learning=learning_panel(trials, roles, bootstrap),
        diagnostics=diagnostic_panels(trials, roles, bootstrap),
        distances=distance_panels(trials, roles, bootstrap),
        bootstrap=bootstrap,
    )


def tones_of(studies: tuple[Findings, ...]) -> Mapping[str, Tone]:
    """One tone for each method's name, over all studies of a report."""
    baselines = [one.baseline for one in studies if one.baseline is not None]
    main = [name for one in studies for name in one.compared]
    sweeps = [list(one.labels) for each in studies for one in each.ablated]
    return tones(baselines, list(dict.fromkeys(main)), sweeps)


def _check(results: Results) -> None:
    """What is relied on in a file that anybody may have written."""
    world: Any = results.world
    study: Any = results.study
    parameters = world.get("parameters") if isinstance(world, Mapping) else None
    known = isinstance(parameters, Mapping) and all(isinstance(told, Mapping) for told in parameters.values())
    if not known or not isinstance(study, Mapping):
        path = results.folder / "study.json"
        raise StoreError(f"{path} must tell a study, and the parameters of its world by name. Run the study again.")


def _nothing(results: Results, left_out: int) -> str:
    folder = str(results.folder)
    if left_out:
        return (
            f"{folder} has {left_out} finished trials, but all have returns that are not numbers. Look at its returns."
        )
    told = (
        f"{folder} has no finished trial to report: {len(results.missing)} are to be run, {len(results.failed)} failed."
    )
    if results.failed:
        return f"{told} The first failed with {results.failed[0].error!r}; its traceback is in {folder}/failed."
    return f"{told} Run them: ewok run STUDY.toml --out {folder}."

"""What a report says of one study, from the short of it to the last failed trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

from ewok.lab.ablated import Ablated
from ewok.lab.bootstrap import LEAST_SEEDS
from ewok.lab.figures import by_kind, improvement, single
from ewok.lab.findings import Findings
from ewok.lab.folded import folded
from ewok.lab.inline import inline
from ewok.lab.overview import sentences, warnings_of
from ewok.lab.palette import Tone
from ewok.lab.panel import Panel
from ewok.lab.tables import comparison_table, cost_table, distance_table, radius_table, score_table
from ewok.lab.tabulated import Swatches, legend_html, table_html

Tones = Mapping[str, Tone]


def study_section(found: Findings, tones: Tones, swatches: Swatches, index: int | None) -> str:
    """The section; the index tells one study's figures from another's where there are several."""
    mark = "" if index is None else f"{index}-"
    heading = "" if index is None else f"<h2>{escape(found.title)}</h2>{facts(found)}"
    notes = {name: _seeds(found, name) for name in found.main}
    parts = [heading, box("short", sentences(found)), box("notice", warnings_of(found))]
    parts.append(legend_html({name: name for name in found.main}, swatches, notes, sticky=True))
    parts += [_robustness(found, tones, swatches, mark), _comparison(found, tones, swatches, mark)]
    parts += [_ablation(found, ablated, tones, swatches, mark) for ablated in found.ablated]
    parts.append(_distance(found, tones, swatches, mark))
    parts += [_training(found, tones, swatches, mark), folded(found, swatches)]
    return f'<section id="study-{index or 0}">{"".join(parts)}</section>'


def facts(found: Findings) -> str:
    """World, agent, seeds and episodes in a line."""
    study, trials = found.results.study, sum(len(own) for own in found.trials.values())
    agent = study.get("agent")
    recipe = (agent.get("recipe") or agent.get("agent")) if isinstance(agent, Mapping) else agent
    told = {"world {}": found.results.world.get("name"), "agent {}": recipe, "{} finished trials": trials}
    told["{} evaluation episodes at each point"] = study.get("episodes")
    text = " \N{MIDDLE DOT} ".join(text.format(value) for text, value in told.items() if value)
    return f'<p class="facts">{escape(text)}</p>'


def _robustness(found: Findings, tones: Tones, swatches: Swatches, mark: str) -> str:
    if not found.panels:
        return ""
    caption = f"{_what(found)} {_interval(found)}"
    if found.roles.specialists:
        caption += " A method randomized over some parameters is shown for these alone."
    scores = (
        "Interquartile mean over seeds of one number for each seed: its return in the nominal world, and at both ends "
        "of each grid; the area under its curve over the width of the axis, which is its mean return over the range "
        "(over the logarithm, where the axis is logarithmic); its worst return over the grid. The highest of each row "
        "is bold."
    )
    panels = drawn_panels(found.panels, tones, f"{mark}robustness", found.panels)
    table = table_html(score_table(found), swatches)
    return f"<h3>Robustness</h3>{caption_html(caption)}{panels}<h3>Robust scores</h3>{caption_html(scores)}{table}"


def _comparison(found: Findings, tones: Tones, swatches: Swatches, mark: str) -> str:
    if not found.comparisons:
        return ""
    baseline = str(found.baseline)
    less = found.differences(found.panels)
    caption = (
        f"Interquartile mean of a method less that of {baseline}, on the seeds that both have, resampled together. "
        "P(improvement) is the probability that a seed of the method does better than one of "
        f"{baseline}: 0.5 is even. Bold: an interval that leaves out no difference."
    )
    panels = drawn_panels(less, tones, f"{mark}difference", less, zero=True) if less else ""
    charts = []
    for kind, part in by_kind(found.comparisons).items():
        told = f"probability of improvement over {baseline}, {kind}"
        draw = partial(improvement, kind, part, tones)
        charts.append(inline(draw, f"{mark}improvement-{kind}", told))
    table = table_html(comparison_table(found), swatches)
    return f"<h3>Against {escape(baseline)}</h3>{caption_html(caption)}{panels}{_grid(charts)}{table}"


def _ablation(found: Findings, ablated: Ablated, tones: Tones, swatches: Swatches, mark: str) -> str:
    setting, base = ablated.ablation.setting, ablated.ablation.base
    legend = legend_html(ablated.labels, swatches, {base: base} if base in ablated.labels else {})
    absolute = drawn_panels(ablated.panels, tones, f"{mark}{ablated.name}", ablated.panels)
    less = found.differences(ablated.panels)
    caption = f"The same, for other values of {setting}."
    caption += f" First the returns, then their difference to {found.baseline}." if less else ""
    differences = drawn_panels(less, tones, f"{mark}{ablated.name}-difference", less, zero=True) if less else ""
    parts = [f"<h3>{escape(base)}: {escape(setting)}</h3>{caption_html(caption)}{legend}{absolute}{differences}"]
    if ablated.settings:
        shown = dict.fromkeys(name for panel in ablated.settings for name in panel.methods)
        told = f"Scores against {setting}. Dotted: methods that have no such setting, or another in its place."
        parts += [caption_html(told), legend_html({name: name for name in shown}, swatches, {})]
        parts.append(drawn_panels(ablated.settings, tones, f"{mark}{ablated.name}-scores", ()))
    return "".join(parts)


def _distance(found: Findings, tones: Tones, swatches: Swatches, mark: str) -> str:
    if not found.distances:
        return ""
    caption = (
        "The kernel that N samples and one choice amount to, in expectation over the draws, against the exact worst "
        "kernel of the same kappa: medians over states of nominal episodes, interquartile mean over seeds. Total "
        "variation is the share of probability that lies elsewhere. KL is from the nominal kernel, the radius; dotted, "
        "that of the exact worst kernel. In the table medians and quartiles over states, means over seeds."
    )
    panels = drawn_panels(found.distances, tones, f"{mark}distance", ())
    table = table_html(distance_table(found), swatches)
    return f"<h3>The estimated worst kernel</h3>{caption_html(caption)}{panels}{table}"


def _training(found: Findings, tones: Tones, swatches: Swatches, mark: str) -> str:
    parts = []
    if found.learning is not None:
        caption = (
            "Returns of the training's own episodes: means over windows of steps, interquartile mean over seeds. They "
            "are earned where each method trains, EWoK's in its worst kernel: lower there is not worse."
        )
        if set(found.roles.names) - set(found.roles.names.values()):
            caption += " Agents randomized over one parameter each are left out."
        parts.append(f"<h3>Learning</h3>{caption_html(caption)}")
        parts.append(drawn_panels([found.learning], tones, f"{mark}learning", ()))
    if found.diagnostics:
        caption = (
            "What the worst kernel did while training. KL: how far its weights were from uniform, the radius it used. "
            "Effective sample size: how many candidates they amount to. Spread: the standard deviation of their "
            "scores; where it is zero there is nothing to choose from, and the kernel is the nominal one."
        )
        parts.append(f"<h3>The worst kernel</h3>{caption_html(caption)}")
        shown = dict.fromkeys(name for panel in found.diagnostics for name in panel.methods)
        if set(shown) - set(found.main):
            parts.append(legend_html({name: name for name in shown}, swatches, {}))
        parts.append(drawn_panels(found.diagnostics, tones, f"{mark}diagnostics", ()))
        told = "Means over the steps of a training, and of its last tenth: median, lowest and highest over seeds."
        parts += [caption_html(told), table_html(radius_table(found), swatches)]
    caption = "Wall time of one run, medians over runs; relative times are of runs of the same seed."
    return "".join([*parts, f"<h3>Time</h3>{caption_html(caption)}{table_html(cost_table(found), swatches)}"])


def drawn_panels(
    panels: Sequence[Panel], tones: Tones, mark: str, together: Sequence[Panel], *, zero: bool = False
) -> str:
    """Each panel a figure of its own, so that they stand side by side or one below the other as there is room."""
    drawn = []
    for panel in panels:
        told = f"{panel.height} against {panel.axis}: {', '.join(panel.methods)}"
        draw = partial(single, panel, tones, zero=zero, together=together)
        drawn.append(inline(draw, f"{mark}-{panel.name}", told))
    return _grid(drawn)


def _grid(drawn: Sequence[str]) -> str:
    figures = "".join(f"<figure>{one}</figure>" for one in drawn)
    return f'<div class="panels{" pairs" if len(drawn) in (1, 2, 4) else ""}">{figures}</div>'


def _what(found: Findings) -> str:
    """What a point of a curve is."""
    if found.results.study.get("kind") == "tabular":
        return "Exact value, at the start, of what was learned, in each of these worlds: interquartile mean over seeds."
    return (
        "Undiscounted return where one parameter is moved and all others are nominal: interquartile mean over seeds of "
        f"means over {found.results.study.get('episodes') or 'the'} episodes."
    )


def _interval(found: Findings) -> str:
    """How uncertainty is drawn, of what is drawn."""
    bootstrap = found.bootstrap
    text = ""
    if any(line.estimate.low is not None for panel in found.panels for line in panel.lines):
        text += (
            f"Shaded: {100.0 * bootstrap.confidence:g}% bootstrap intervals, {bootstrap.num_resamples} resamples of "
        )
        text += "seeds, each with its whole curve. "
    if found.few:
        text += f"Thin: single seeds, where there are fewer than {LEAST_SEEDS}. "
    return f"{text}Dashed: the nominal value."


def _seeds(found: Findings, shown: str) -> str:
    counts = {len(own) for name, own in found.trials.items() if found.roles.names.get(name) == shown}
    count = " or ".join(str(one) for one in sorted(counts))
    return f"{count} seed{'' if counts == {1} else 's'}"


def box(kind: str, texts: Sequence[str]) -> str:
    inside = "".join(f"<p>{escape(text)}</p>" for text in texts)
    return f'<div class="{kind}">{inside}</div>' if inside else ""


def caption_html(text: str) -> str:
    return f'<p class="caption">{escape(text)}</p>'

"""A study's folder in a few lines of text: how far it is, and what it came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ewok.lab.bootstrap import LEAST_SEEDS
from ewok.lab.kinds import kind_of, planner
from ewok.lab.robustness import sound
from ewok.lab.stats import LEAST_TO_CUT, iqm, seed_means, worst
from ewok.lab.store import Finished, Results, read

_ERRORS_SHOWN = 5


def so_far(folder: Path) -> Iterator[str]:
    """How far a study is, and its table as it is now."""
    results = read(folder)
    yield from map(_still, state(results))
    if results.finished:
        yield ""
        yield from map(_still, table_of(results))


def table_of(results: Results) -> Iterator[str]:
    """The table of a study of its kind."""
    kind = kind_of(results.study)
    return table(results) if kind == "agents" else planner(kind).table(results)


def state(results: Results) -> Iterator[str]:
    """How many trials of each method are there, failed or missing."""
    num = len(results.finished) + len(results.failed) + len(results.missing)
    seconds = [trial.seconds["total"] for trial in results.finished]
    took = f", {spoken(float(np.mean(seconds)))} each" if seconds else ""
    yield f"{results.study['name']}: {len(results.finished)} of {num} trials done{took}"
    missing = [name.rpartition("-s")[0] for name in results.missing]
    width = max(map(len, results.methods))
    for method in results.methods:
        done, failed = len(results.of(method)), sum(one.method == method for one in results.failed)
        yield f"  {method:<{width}}  {done:>4} done  {missing.count(method):>4} to run  {failed:>4} failed"
    yield from failures(results)


def failures(results: Results) -> Iterator[str]:
    """What the trials that raised said last."""
    for one in results.failed[:_ERRORS_SHOWN]:
        yield f"failed: {one.id}: {one.error.partition(chr(10))[0]}"
    if len(results.failed) > _ERRORS_SHOWN:
        yield f"and {len(results.failed) - _ERRORS_SHOWN} more: see {results.folder / 'failed'}"


def table(results: Results) -> Iterator[str]:
    """IQM over seeds of each method: in the nominal world, and where each parameter is worst for the seed.

    As in the report; trials whose returns are not all numbers are left out there too. Below it is said which averages
    these are, and where seeds are too few to tell methods apart.
    """
    parameters = results.world["parameters"]
    kept, _ = sound(results)
    methods = [method for method, trials in kept.items() if trials]
    if not methods:
        return
    width = max(len("method"), *map(len, methods))
    columns = [max(len(name), 7) for name in parameters]
    head = "  ".join(f"{name:>{column}}" for name, column in zip(parameters, columns, strict=True))
    yield f"{'':<{width}}  {'':>5}  {'':>7}  worst of each parameter's grid"
    yield f"{'method':<{width}}  {'seeds':>5}  {'nominal':>7}  {head}"
    for method in methods:
        trials = kept[method]
        first = next(iter(parameters))
        at = float(parameters[first]["nominal"])
        nominal = iqm(_means(trials, first))[trials[0].returns.of(first).values == at][0]
        lowest = (iqm(worst(_means(trials, name))) for name in parameters)
        row = "  ".join(f"{value:>{column}.1f}" for value, column in zip(lowest, columns, strict=True))
        yield f"{method:<{width}}  {len(trials):>5}  {nominal:>7.1f}  {row}"
    counts = [len(kept[method]) for method in methods]
    yield f"{averages(counts)} over seeds of mean returns over episodes"
    yield from too_few(counts)


def averages(counts: Sequence[int]) -> str:
    """What the numbers are: of fewer than four seeds an IQM cuts none."""
    if max(counts) < LEAST_TO_CUT:
        return "means"
    return "interquartile means" + (f" (means of fewer than {LEAST_TO_CUT})" if min(counts) < LEAST_TO_CUT else "")


def too_few(counts: Sequence[int]) -> Iterator[str]:
    """Of how many seeds intervals are not claimed, as in the report."""
    few = sorted({num for num in counts if num < LEAST_SEEDS})
    if few:
        num = f"{few[0]}" if len(few) == 1 else f"{few[0]} to {few[-1]}"
        yield f"{num} seed{'' if few == [1] else 's'}: too few to tell methods apart"


def spoken(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60.0:
        return f"{seconds:.0f} s" if seconds >= 10.0 else f"{seconds:.1f} s"
    minutes, hours = seconds / 60.0, seconds / 3600.0
    if minutes < 60.0:
        return f"{minutes:.0f} min"
    return f"{hours:.1f} h" if hours < 48.0 else f"{hours / 24.0:.1f} days"


def _still(line: str) -> str:
    """Without what would move a terminal's cursor: names and errors may be a stranger's."""
    return "".join(sign if sign.isprintable() else "?" for sign in line)


def _means(trials: Sequence[Finished], parameter: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return seed_means(np.stack([trial.returns.of(parameter).returns for trial in trials]))

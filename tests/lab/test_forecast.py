"""What a study will take, told before it runs."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from ewok.lab import forecast as forecasting
from ewok.lab import record
from ewok.lab.columns import StoreError
from ewok.lab.forecast import forecast, measured, try_out
from ewok.lab.launch import run_study
from ewok.lab.plan import plan
from tests.lab.test_launch import EWOK, study_of


def test_seconds_of_training_are_extrapolated_to_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that ticks when it is looked at."""
    clock = SimpleNamespace(monotonic=partial(next, count(0.0)))
    for module in (forecasting, record):
        monkeypatch.setattr(module, "time", clock)
    short, long, longer = (try_out(plan(study_of(num_steps=num * 10**6))[0].meaning, 200.0) for num in (1, 2, 3))
    more = long.seconds - short.seconds
    assert longer.seconds - long.seconds == pytest.approx(more)
    assert short.seconds == pytest.approx(more, rel=0.05), "but for what evaluation takes"
    assert more < 10**6 / 2, "which looks at the clock less often than at every other step"
    assert short.num_bytes > 0.0


def test_the_plan_is_told_without_running_it(tmp_path: Path) -> None:
    lines = list(forecast(study_of(), tmp_path / "out", 2))
    assert lines[0] == "small: 4 trials, 0 there already, 4 to run"
    assert "baseline: 2 to run, 60 steps each, about" in lines[1]
    assert "with 2 workers" in lines[-1]
    assert not (tmp_path / "out").exists()


def test_what_is_there_is_not_counted_and_tells_what_the_rest_will_take(tmp_path: Path) -> None:
    run_study(study_of(seeds=1), tmp_path, num_workers=1)
    lines = list(forecast(study_of(methods={"baseline": {"seeds": 1}, "ewok": EWOK}), tmp_path, 1))
    assert lines[0] == "small: 3 trials, 2 there already, 1 to run"
    assert lines[1] == "  baseline: 1 trials, all there"
    assert "ewok: 1 to run" in lines[2]


def test_what_raises_at_once_is_told() -> None:
    trials = plan(study_of("raises"))
    with pytest.raises(StoreError, match="this seed is unlucky"):
        measured(trials[-1], 0.1)

"""How far a study is: lines that move on a terminal, lines that stay elsewhere."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from ewok.lab import progress
from ewok.lab.events import Done, Failure, Lost, Progress, Quiet, Started
from ewok.lab.plan import plan
from ewok.lab.progress import Board
from tests.lab.test_launch import study_of

TRIALS = plan(study_of(num_steps=1000))


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_has_a_line_for_each_trial_that_ended(clock: Clock) -> None:
    log = io.StringIO()
    board = Board(4, 2, log)
    first, second, third, _ = TRIALS
    for trial in TRIALS[:3]:
        board.take(Started(trial))
    clock.now = 10.0
    board.take(Progress(first, "train", 500, 21.5))
    board.take(Done(first, Path()))
    board.take(Failure(second, None, "ValueError: no\nmore", "Traceback", full=False))
    board.take(Lost(third, None, "signal 9\nwrote"))
    lines = log.getvalue().splitlines()
    assert lines[0].startswith(f"done   {first.id} in 10 s, last returns 21.5 [1 of 4")
    assert lines[1].startswith(f"failed {second.id}: ValueError: no [2 of 4")
    assert lines[2].startswith(f"lost   {third.id}: signal 9 [2 of 4")
    assert (board.num_done, board.num_failed) == (1, 1)
    assert "\x1b" not in log.getvalue()


def test_a_log_says_now_and_then_how_far_running_trials_are(clock: Clock) -> None:
    log = io.StringIO()
    board = Board(4, 1, log)
    board.take(Started(TRIALS[0]))
    clock.now = 45.0
    board.take(Progress(TRIALS[0], "train", 500, 21.5))
    clock.now = 46.0
    board.take(Progress(TRIALS[0], "train", 510, 21.5))
    running, study = log.getvalue().splitlines()
    assert "baseline seed 0" in running
    assert "500 of 1,000 steps" in running
    assert "return     21.5" in running
    assert "55 s left" in running, "45 s for 45% of it"
    assert study.startswith("0 of 4 trials done, 45 s so far, about 6 min left")


def test_where_others_say_how_many_run_at_once_those_that_do_are_counted(clock: Clock) -> None:
    """A cluster has as many processors as it has, whatever this machine has."""
    log = io.StringIO()
    board = Board(4, None, log)
    for trial in TRIALS[:2]:
        board.take(Started(trial))
    clock.now = 60.0
    board.take(Done(TRIALS[0], Path()))
    assert "[1 of 4, about 2 min left]" in log.getvalue(), "three minutes of work, two at once"


def test_a_terminal_has_a_line_for_each_running_trial_and_one_for_the_study(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.shutil, "get_terminal_size", lambda: os.terminal_size((60, 24)))
    screen = Terminal()
    board = Board(4, 2, screen)
    board.take(Started(TRIALS[0]))
    board.take(Started(TRIALS[1]))
    clock.now = 1.0
    board.take(Progress(TRIALS[0], "train", 100, None))
    first = screen.getvalue()
    assert len(first.splitlines()) == 3
    assert max(map(len, first.splitlines())) < 60
    clock.now = 2.0
    board.take(Progress(TRIALS[0], "train", 200, 9.0))
    assert screen.getvalue().removeprefix(first).startswith("\x1b[3A\x1b[0J"), "drawn over what was there"
    board.take(Done(TRIALS[0], Path()))
    board.close()
    assert f"done   {TRIALS[0].id}" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[0J")


def test_the_clock_goes_on_while_nothing_is_heard(clock: Clock) -> None:
    screen, log = Terminal(), io.StringIO()
    boards = [Board(1, 1, screen), Board(1, 1, log)]
    for board in boards:
        board.take(Started(TRIALS[0]))
    clock.now = 20.0
    for board in boards:
        board.take(Quiet())
    assert "20 s so far" in screen.getvalue()
    assert log.getvalue() == ""


def test_no_time_is_left_when_nothing_is(clock: Clock) -> None:
    log = io.StringIO()
    board = Board(2, 1, log)
    for trial in TRIALS[:2]:
        board.take(Started(trial))
        clock.now += 100.0
        board.take(Done(trial, Path()))
    one, all_but_one, both, all_of_them = log.getvalue().splitlines()
    assert one.endswith("[1 of 2, about 2 min left]")
    assert all_but_one.endswith("so far, about 2 min left")
    assert both.endswith("[2 of 2]")
    assert all_of_them == "2 of 2 trials done, 3 min so far"


def test_time_left_is_for_all_workers_together(clock: Clock) -> None:
    log = io.StringIO()
    board = Board(4, 2, log)
    board.take(Started(TRIALS[0]))
    clock.now = 100.0
    board.take(Done(TRIALS[0], Path()))
    assert "about 2 min left" in log.getvalue(), "three trials of 100 s, two at a time"

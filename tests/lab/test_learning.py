"""Training over steps: returns by windows, and what the worst kernels told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ewok.lab.findings import Findings
from ewok.lab.learning import mean_used, windows


def test_diagnostics_are_of_worst_kernels_and_of_what_moves(found: Findings) -> None:
    assert [panel.name for panel in found.diagnostics] == ["kl", "ess", "spread"]  # kappa is constant in each
    assert found.diagnostics[0].methods == ("ewok", "ewok-kappa-0.05", "ewok-kappa-0.2", "ewok-kappa-1")


def test_means_of_what_was_used_are_over_all_or_the_end_of_a_training(found: Findings) -> None:
    trial = found.trials["ewok"][0]
    assert trial.diagnostics is not None
    steps, kl = trial.diagnostics["step"], trial.diagnostics["kl"].copy()
    assert mean_used(trial, "kl") == pytest.approx(kl.mean())
    assert mean_used(trial, "kl", 0.1) == pytest.approx(kl[steps > 45_000].mean())
    assert np.isnan(mean_used(trial, "kl", 0.0))
    assert np.isnan(mean_used(trial, "nothing"))
    endless = {**trial.diagnostics, "kappa": np.where(steps > 1000, np.inf, 0.5)}
    assert mean_used(replace(trial, diagnostics=endless), "kappa") == 0.5


def test_windows_of_training_by_hand() -> None:
    steps, returns = np.array([5.0, 10.0, 12.0, 40.0]), np.array([1.0, 3.0, 8.0, 9.0])
    edges = np.array([0.0, 10.0, 20.0, 30.0, 40.0])
    np.testing.assert_array_equal(windows(steps, returns, edges), [2.0, 8.0, 8.0, 9.0])
    np.testing.assert_array_equal(windows(steps[2:], returns[2:], edges), [8.0, 8.0, 8.0, 9.0])
    assert np.isnan(windows(np.array([]), np.array([]), np.array([0.0, 1.0]))).all()

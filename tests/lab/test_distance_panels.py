"""Distances against the number of samples: the exact kernel is a level, and no line goes on to it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ewok.lab.bootstrap import Bootstrap
from ewok.lab.columns import StoreError
from ewok.lab.distance_panels import distance_panels
from ewok.lab.roles import Roles

ROLES = Roles(None, ("ewok", "other"), (), {}, {"ewok": "EWoK", "other": "other"}, frozenset())
NUMS = (2.0, 15.0, np.inf)


def trial(seed: int, nums: Any = NUMS) -> Any:
    tv, kl = np.array([0.3, 0.1, 0.0]) + 0.01 * seed, np.array([0.2, 0.4, 0.5]) + 0.01 * seed
    distances = {"num_samples": np.array(nums), "tv_median": tv[: len(nums)], "kl_median": kl[: len(nums)]}
    return SimpleNamespace(id=f"t{seed}", seed=seed, path=Path(f"t{seed}"), distances=distances)


def panels(**trials: Any) -> Any:
    return distance_panels({"ewok": [], "other": [], **trials}, ROLES, Bootstrap())


def test_lines_are_of_each_n_and_the_exact_kl_is_a_level() -> None:
    tv, kl = panels(ewok=[trial(0), trial(3)])
    assert tv.values.tolist() == kl.values.tolist() == [2.0, 15.0]
    assert tv.levels == ()
    for panel, expected in ((tv, [[0.3, 0.1], [0.33, 0.13]]), (kl, [[0.2, 0.4], [0.23, 0.43]])):
        [line] = panel.lines
        assert (line.method, line.seeds) == ("EWoK", (0, 3))
        np.testing.assert_allclose(line.scores, expected)
    [level] = kl.levels
    np.testing.assert_allclose(level.scores, [0.5, 0.53])


def test_studies_that_measure_none_have_no_panels() -> None:
    assert panels(ewok=[SimpleNamespace(distances=None)]) == ()


@pytest.mark.parametrize(
    "nums", [(15.0, np.inf), (2.0, 15.0, 30.0), (15.0, 2.0, np.inf), (0.0, 15.0, np.inf), (np.inf,)]
)
def test_rows_must_be_the_same_n_rising_and_the_exact_kernel_last(nums: Any) -> None:
    with pytest.raises(StoreError, match="must have a row for each N, rising, the same in all of the study"):
        panels(ewok=[trial(0)], other=[trial(0, nums)])
    if nums != (15.0, np.inf):  # which is fine where all have it
        with pytest.raises(StoreError, match="must have a row for each N"):
            panels(ewok=[trial(0, nums)])

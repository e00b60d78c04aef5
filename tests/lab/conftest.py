"""A study with everything in it, worked out once."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="needs the lab extra: pip install 'ewok[lab]'")

from ewok.lab.findings import Findings, findings_of
from ewok.lab.store import Results, read
from tests.lab.finished import FULL, METHODS, write_study

NUM_SEEDS = {name: 6 if name in METHODS else 5 for name in FULL}


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One trial failed, another returned what is no number."""
    folder = tmp_path_factory.mktemp("full") / "f"
    return read(write_study(folder, FULL, NUM_SEEDS, failed=[("ewok", 2)], spoiled=[("baseline", 0)]))


@pytest.fixture(scope="session")
def found(results: Results) -> Findings:
    return findings_of(results)

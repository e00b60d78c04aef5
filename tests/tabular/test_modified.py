"""Modified policy iteration: the same answer, sooner, and never round in circles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ewok.errors import ArgumentError
from ewok.tabular import KL, L1, Burg, modified, modified_policy_iteration, robust_value_iteration, value_iteration

from .worlds import gambler, garnet, machine, river_swim


@given(
    seed=st.integers(0, 10_000),
    radius=st.floats(0.0, 2.0),
    evaluations=st.sampled_from([1, 3, 1_000]),
    make=st.sampled_from([KL, L1, Burg]),
)
@settings(max_examples=80, deadline=None)
def test_it_has_value_iterations_answer(seed: int, radius: float, evaluations: int, make: Any) -> None:
    mdp = garnet(8, 3, 3, seed=seed, discount=0.95)
    exact = robust_value_iteration(mdp, make(radius), tolerance=1e-8)
    solution = modified_policy_iteration(mdp, make(radius), evaluations=evaluations, tolerance=1e-6)
    assert solution.gap <= 1e-6
    assert np.all(solution.lower <= exact.upper)
    assert np.all(exact.lower <= solution.upper)


@pytest.mark.parametrize("mdp", [river_swim(0.99), machine(0.99)], ids=["river", "machine"])
@pytest.mark.parametrize("uncertainty", [None, KL(0.05)])
def test_it_needs_far_fewer_full_sweeps_near_discount_one(mdp: Any, uncertainty: Any) -> None:
    solution = modified_policy_iteration(mdp, uncertainty, tolerance=1e-4)
    slow = robust_value_iteration(mdp, KL(0.0) if uncertainty is None else uncertainty, tolerance=1e-4)
    np.testing.assert_allclose(solution.value, slow.value, atol=2e-4)
    assert solution.iterations * 5 < slow.iterations


@pytest.mark.parametrize("discount", [0.9, 0.99])
def test_cheap_sweeps_that_lead_astray_cost_a_few_sweeps_and_no_more(
    discount: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However wrong they are: ten full sweeps each time their number is halved, then about value iteration's own."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(modified, "_evaluated", lambda operator, value, new, num: new + rng.normal(size=len(new)))
    mdp = garnet(6, 4, 3, seed=1, discount=discount)
    for uncertainty in (KL(0.1), L1(1.0)):
        plain = robust_value_iteration(mdp, uncertainty, tolerance=1e-6)
        astray = modified_policy_iteration(mdp, uncertainty, evaluations=16, tolerance=1e-6)
        np.testing.assert_allclose(astray.value, plain.value, atol=2e-6)
        assert astray.iterations <= 1.5 * plain.iterations + 10 * 6


def test_a_policy_that_changes_at_every_sweep_costs_few_cheap_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up a river, news of the prize travels one state a full sweep: no evaluation pays until it has arrived."""
    asked: list[int] = []
    evaluated = modified._evaluated

    def counted(operator: Any, value: Any, new: Any, num: int) -> Any:
        asked.append(num)
        return evaluated(operator, value, new, num)

    monkeypatch.setattr(modified, "_evaluated", counted)
    mdp = river_swim(0.9, length=60)
    solution = modified_policy_iteration(mdp, evaluations=64, tolerance=1e-6)
    np.testing.assert_allclose(solution.value, value_iteration(mdp, tolerance=1e-6).value, atol=2e-6)
    assert asked[:7] == [32, 16, 8, 4, 2, 1, 64], "half as many while actions change, all once none has"
    assert len(asked) < solution.iterations - 1, "none at all where they go on changing"


def test_it_solves_without_discount() -> None:
    np.testing.assert_allclose(
        modified_policy_iteration(gambler(), tolerance=1e-8).value,
        value_iteration(gambler(), tolerance=1e-8).value,
        atol=1e-7,
    )


def test_what_it_does_not_do_is_refused() -> None:
    with pytest.raises(ArgumentError, match="per_state=True"):
        modified_policy_iteration(garnet(4, 2, 2), KL(0.1, per_state=True))
    with pytest.raises(ArgumentError, match="`evaluations` must be at least 1"):
        modified_policy_iteration(garnet(4, 2, 2), evaluations=0)

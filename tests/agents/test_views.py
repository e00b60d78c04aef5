"""Numpy views of torch's parameters: the same function, at every moment."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .worlds import needs

torch = needs("torch", "sb3")
needs("stable_baselines3", "sb3")

from torch import nn

from ewok.agents.views import WIDEST, view_of

torch.set_num_threads(1)

ACTIVATIONS = (nn.Tanh, nn.ReLU, nn.Identity)


def network(widths: list[int], activation: Any = nn.Tanh) -> nn.Sequential:
    layers = [layer for pair in pairwise(widths) for layer in (nn.Linear(*pair), activation())]
    return nn.Sequential(nn.Flatten(), nn.Sequential(*layers[:-1]))


def agree(view: Any, modules: nn.Module, num_inputs: int, num: int = 7) -> None:
    inputs = np.random.default_rng(0).normal(size=(num, num_inputs)).astype(np.float32)
    with torch.no_grad():
        np.testing.assert_allclose(view(inputs), modules(torch.as_tensor(inputs)).numpy(), atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    widths=st.lists(st.integers(1, 24), min_size=2, max_size=4),
    activation=st.sampled_from(ACTIVATIONS),
    num=st.integers(0, 20),
)
def test_any_row_of_layers_is_the_same_function(widths: list[int], activation: Any, num: int) -> None:
    modules = network(widths, activation)
    view = view_of([modules])
    assert view is not None
    agree(view, modules, widths[0], num)


@pytest.mark.parametrize("num", range(1, 10))
def test_batches_of_wide_layers_are_filled_up_without_a_trace(num: int) -> None:
    modules = network([4, 200, 2])
    view: Any = view_of([modules])
    agree(view, modules, 4, num)
    assert view(np.zeros((num, 4), np.float32)).shape == (num, 2)


def test_optimisers_and_new_weights_are_followed() -> None:
    modules = network([4, 16, 2])
    view = view_of([modules])
    optimizer = torch.optim.Adam(modules.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        modules(torch.ones(3, 4)).square().sum().backward()
        optimizer.step()
        agree(view, modules, 4)
    modules.load_state_dict(network([4, 16, 2]).state_dict())
    agree(view, modules, 4)


def test_parameters_that_move_are_followed() -> None:
    """`share_memory` and `to` give parameters other storage, and some libraries replace the parameter itself."""
    modules = network([4, 16, 2])
    view = view_of([modules])
    agree(view, modules, 4)
    modules.share_memory()
    for parameter in modules.parameters():
        parameter.data.add_(1.0)
    agree(view, modules, 4)
    for parameter in modules.parameters():
        parameter.data = parameter.data * -0.5
    agree(view, modules, 4)
    modules[1][0].weight = nn.Parameter(torch.ones(16, 4))
    agree(view, modules, 4)


@pytest.mark.parametrize(
    "modules",
    [
        network([4, WIDEST + 1, 2]),
        nn.Sequential(nn.Linear(4, 4, bias=False)),
        nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)),
        nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)),
        nn.Sequential(nn.Linear(4, 4).double()),
        nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))),
    ],
    ids=["wide", "without bias", "dropout", "batch norm", "double precision", "parametrised"],
)
def test_what_numpy_would_not_compute_as_well_is_left_to_torch(modules: Any) -> None:
    assert view_of([modules]) is None
    assert view_of([network([4, WIDEST, 2])]) is not None

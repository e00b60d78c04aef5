"""Small networks, computed by numpy on the parameters of torch themselves: no copy, so never stale.

A call of torch costs more than the arithmetic of a narrow network; see `benchmarks/`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ewok.errors import ArgumentError

Array = NDArray[np.float32]
WIDEST = 400  # layers up to this width are as fast here as in torch, or faster
# From this width on, batches are filled up to whole fours: 15 rows of 256 take 32 us, 16 take 23.
_WIDE, _ROWS = 128, 4

_ACTIVATIONS: dict[type, Callable[[Array], Array]] = {
    nn.Tanh: np.tanh,
    nn.ReLU: lambda x: np.maximum(x, 0.0),
    nn.Identity: lambda x: x,
    nn.Flatten: lambda x: x.reshape(len(x), math.prod(x.shape[1:])),
}


@final
class LayerView:
    """One linear layer, as two arrays that share their memory with its parameters."""

    def __init__(self, layer: nn.Linear) -> None:
        self._layer = layer
        self._look()

    def _look(self) -> None:
        if self._layer.weight.device.type != "cpu":
            raise ArgumentError(
                f"`agent` must stay where it is, but its parameters moved to {self._layer.weight.device}, and it was "
                "on the CPU when it was bound. Bind it again: ewok.bind(agent)."
            )
        self._weight, self._bias = self._layer.weight, self._layer.bias
        self._place = self._weight.data_ptr(), self._bias.data_ptr()
        self._w, self._b = self._weight.detach().numpy().T, self._bias.detach().numpy()

    def __call__(self, x: Array) -> Array:
        parameters: Any = self._layer._parameters
        kept = parameters["weight"] is self._weight and parameters["bias"] is self._bias
        if not kept or (self._weight.data_ptr(), self._bias.data_ptr()) != self._place:
            self._look()  # the parameters moved, as `share_memory` and `to` make them do
        y: Array = x @ self._w
        y += self._b
        return y


def view_of(modules: Iterable[nn.Module]) -> Callable[[Array], Array] | None:
    """The same function as these modules one after the other; None where torch is as fast, or needed."""
    steps: list[Callable[[Array], Array]] = []
    widest = 0
    for module in _flat(modules):
        if isinstance(module, nn.Linear):
            widest = max(widest, *module.weight.shape)
            if widest > WIDEST or not _is_plain(module):
                return None
            steps.append(LayerView(module))
        elif type(module) in _ACTIVATIONS:
            steps.append(_ACTIVATIONS[type(module)])
        else:
            return None

    def forward(x: Array) -> Array:
        num = len(x)
        if widest >= _WIDE:
            x = filled(x)
        for step in steps:
            x = step(x)
        return x[:num]

    return forward


def rows_of(observations: Any) -> Array:
    """One row of numbers for each observation, in single precision; there may be none."""
    batch = np.asarray(observations, dtype=np.float32)
    return batch.reshape(len(batch), math.prod(batch.shape[1:]))


def filled(x: Array) -> Array:
    """With rows of zeros up to a whole number of fours."""
    num = len(x)
    if num % _ROWS == 0 or num == 1:
        return x
    return np.concatenate([x, np.zeros((-num % _ROWS, x.shape[1]), dtype=x.dtype)])


def _is_plain(layer: nn.Linear) -> bool:
    on_cpu = layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
    hooked = layer._forward_hooks or layer._forward_pre_hooks or type(layer) is not nn.Linear
    return on_cpu and layer._parameters["bias"] is not None and not hooked


def _flat(modules: Iterable[nn.Module]) -> Iterable[nn.Module]:
    for module in modules:
        if type(module) is nn.Sequential:
            yield from _flat(module)
        else:
            yield module

"""Small networks of SBX, computed by numpy on the parameters of JAX themselves: fetched at each call, and not copied.

Asked over and over, a compiled call is the faster one (`benchmarks/`). Asked once between two updates, as in training,
it is handed to threads of JAX that have to be woken: 500 us of the processor for ten observations and 256 x 256 units,
260 in numpy, and on a busy machine a wait besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import numpy as np

from ewok.agents.views import WIDEST, Array

View = Callable[[Any, Array], Array]  # (what a network learned, (batch, inputs)) -> (..., batch, outputs)
MOST_ROWS = 32  # of larger batches the arithmetic counts, at which JAX is better

_ACTIVATIONS: dict[Any, Callable[[Array], Array]] = {nn.relu: lambda x: np.maximum(x, 0.0), nn.tanh: np.tanh}
_STACKED = "VmapContinuousCritic_0"  # several critics, their parameters stacked


def view_of(network: Any, kind: type, learned: Any) -> View | None:
    """The layers of a network one after the other; None where JAX is as fast, or needed.

    Args:
        network: a module of SBX's.
        kind: its class, if it is one whose layers alone tell what it computes.
        learned: its parameters.
    """
    plain = type(network) is kind and not getattr(network, "use_layer_norm", False) and jax.default_backend() == "cpu"
    activation = _ACTIVATIONS.get(getattr(network, "activation_fn", None))
    widest = max((size for leaf in jax.tree.leaves(learned) for size in leaf.shape), default=0)
    if not plain or activation is None or widest > WIDEST or getattr(network, "features_extractor", None) is not None:
        return None
    num_hidden = len(network.net_arch) if hasattr(network, "net_arch") else 2

    def forward(learned: Any, x: Array) -> Array:
        layers = learned["params"]
        layers = layers.get(_STACKED, layers)
        for index in range(num_hidden + 1):
            layer = layers[f"Dense_{index}"]
            x = x @ np.asarray(layer["kernel"])
            x += np.asarray(layer["bias"])[..., np.newaxis, :]
            if index < num_hidden:
                x = activation(x)
        return x

    return forward

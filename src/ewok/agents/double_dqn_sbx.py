"""Double DQN (van Hasselt, Guez and Silver 2016) on SBX's DQN, which is not double."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
from sbx import DQN


class DoubleDQN(DQN):
    """DQN whose next action is chosen by the online network and valued by the target network."""

    @staticmethod
    @jax.jit
    def _train(carry: Any, indices: Any) -> Any:
        state, data = carry["qf_state"], carry["data"]
        after = data.next_observations[indices]
        best = state.apply_fn(state.params, after).argmax(axis=1)[:, None]
        following = jnp.take_along_axis(state.apply_fn(state.target_params, after), best, axis=1)
        living = 1.0 - data.dones[indices][:, None]
        goals = data.rewards[indices][:, None] + living * data.discounts[indices][:, None] * following

        def loss_of(params: Any) -> Any:
            q = jnp.take_along_axis(state.apply_fn(params, data.observations[indices]), data.actions[indices], axis=1)
            return optax.huber_loss(q, goals).mean(), q.mean()

        (loss, mean), gradients = jax.value_and_grad(loss_of, has_aux=True)(state.params)
        carry["qf_state"] = state.apply_gradients(grads=gradients)
        carry["info"]["critic_loss"] += loss
        carry["info"]["qf_mean_value"] += mean
        return carry, None

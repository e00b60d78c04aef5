"""What a recurrent policy remembers of many episodes at once."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from ewok.nominal.batch import num_rows

Array = NDArray[Any]


@final
class Memory:
    """The memories of RecurrentPPO's actor and critic, a row for each episode.

    Args:
        agent: the model.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self.forget()

    def forget(self) -> None:
        """Begin new episodes."""
        self._actor: Any = None
        self._critic: Any = None

    def act(self, observations: Any, deterministic: bool) -> Array:
        """The next action of every episode, after these observations are taken in."""
        starts = np.full(num_rows(observations), self._actor is None)
        actions, after = self._agent.predict(observations, self._actor, starts, deterministic=deterministic)
        if self._agent.policy.lstm_critic is not None:
            self._critic = self._taken_in(observations, starts)
        elif self._agent.policy.shared_lstm:
            self._critic = tuple(torch.as_tensor(part) for part in after)
        self._actor = after
        return np.asarray(actions)

    def values(self, observations: Any, rows: NDArray[np.intp]) -> Array:
        """V of next observations, each as the episode of its row would go on."""
        policy = self._agent.policy
        with torch.no_grad():
            tensors, _ = policy.obs_to_tensor(observations)
            memory = None if self._critic is None else tuple(part[:, rows].contiguous() for part in self._critic)
            values = policy.predict_values(tensors, memory, torch.zeros(len(rows)))
        return np.asarray(values.squeeze(-1).numpy())

    def _taken_in(self, observations: Any, starts: NDArray[np.bool_]) -> Any:
        policy, lstm = self._agent.policy, self._agent.policy.lstm_critic
        with torch.no_grad():
            tensors, _ = policy.obs_to_tensor(observations)
            features = policy.extract_features(tensors, policy.vf_features_extractor)
            zeros = torch.zeros(lstm.num_layers, len(starts), lstm.hidden_size)
            before = (zeros, zeros) if self._critic is None else self._critic
            return policy._process_sequence(features, before, torch.as_tensor(starts, dtype=torch.float32), lstm)[1]

"""The value function of an agent whose critic remembers the episode."""

from __future__ import annotations

from typing import Any, final

import torch
from numpy.typing import NDArray

from ewok.errors import ArgumentError
from ewok.nominal.batch import take_rows

State = tuple[torch.Tensor, torch.Tensor]


@final
class RecurrentValue:
    """V(s') of RecurrentPPO, after its memory took in the observation that the action answered.

    While a step is taken the agent still holds its memory from before the latest observation, so that
    is taken in first. Which memory is meant depends on the environment: see `of_member`.
    """

    def __init__(self, agent: Any, index: int | None = None) -> None:
        self.agent, self._index = agent, index

    @property
    def discount(self) -> float:
        return float(self.agent.gamma)

    def of_member(self, index: int) -> RecurrentValue:
        """The value in one of the agent's environments."""
        return RecurrentValue(self.agent, index)

    def __call__(self, observations: Any) -> NDArray[Any]:
        policy = self.agent.policy
        with torch.no_grad():
            tensors, _ = policy.obs_to_tensor(observations)
            num = len(next(iter(tensors.values())) if isinstance(tensors, dict) else tensors)
            remembered = policy.lstm_critic is not None or policy.shared_lstm
            memory = tuple(part.expand(-1, num, -1).contiguous() for part in self._memory()) if remembered else None
            starts = torch.zeros(num, device=policy.device)
            values: NDArray[Any] = policy.predict_values(tensors, memory, starts).squeeze(-1).cpu().numpy()
        return values

    def _memory(self) -> State:
        """(layers, 1, hidden) after the latest observation."""
        agent, policy, i = self.agent, self.agent.policy, self._index
        if i is None or agent._last_obs is None:
            missing = "is of no environment" if i is None else "has not seen one yet"
            raise ArgumentError(
                f"`agent` must be learning in its own environment, since a {type(agent).__name__}'s critic "
                f"remembers the episode, but this value {missing}. Bind the agent itself, without `env`, and "
                "call `learn`."
            )
        own = policy.lstm_critic is not None
        before = agent._last_lstm_states.vf if own else agent._last_lstm_states.pi
        latest, _ = policy.obs_to_tensor(_row(agent._last_obs, i))
        features = policy.extract_features(latest, policy.vf_features_extractor)
        start = torch.as_tensor(agent._last_episode_starts[i : i + 1], dtype=torch.float32, device=policy.device)
        state = tuple(part[:, i : i + 1].contiguous() for part in before)
        lstm = policy.lstm_critic if own else policy.lstm_actor
        after: State = policy._process_sequence(features, state, start, lstm)[1]
        return after


def _row(batch: Any, index: int) -> Any:
    return take_rows(batch, [index])  # type: ignore[arg-type]

"""Double DQN (van Hasselt, Guez and Silver 2016) on Stable-Baselines3's DQN, which is not double."""

from __future__ import annotations

from typing import Any, final

import torch
from stable_baselines3 import DQN


@final
class _OnlineChoice:
    """Stands for the target network while training: Q_target(s', argmax_a Q(s', a)), (batch, 1)."""

    def __init__(self, online: Any, target: Any) -> None:
        self._online, self._target = online, target

    def __call__(self, observations: Any) -> torch.Tensor:
        best = self._online(observations).argmax(dim=1, keepdim=True)
        return self._target(observations).gather(1, best)  # type: ignore[no-any-return]


class DoubleDQN(DQN):
    """DQN whose next action is chosen by the online network and valued by the target network."""

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        target: Any = self.q_net_target
        choice: Any = _OnlineChoice(self.q_net, target)
        self.q_net_target = choice  # DQN takes the largest of what it returns, and it returns one
        try:
            super().train(gradient_steps, batch_size)
        finally:
            self.q_net_target = target

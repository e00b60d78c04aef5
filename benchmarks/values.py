"""What a value call costs: 15 observations through the library's own forward, over the same through `ewok.value_of`.

Seconds of the processor, of calls one after another. Networks of up to 400 units are computed by numpy on the library's
own parameters, wider ones are left to the library. Once between two updates, as in training, SBX's own takes 500 us and
ours 260.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import sbx
import stable_baselines3 as sb3
import torch

import ewok
from ratio import Row, in_turn

torch.set_num_threads(1)

CALLS = 300
Forward = Callable[[Any], Any]


def dqn(width: int) -> tuple[Any, Forward]:
    networks = {"net_arch": [width, width]}
    model = sb3.DQN("MlpPolicy", gym.make("CartPole-v1"), policy_kwargs=networks, buffer_size=10, device="cpu")

    def forward(observations: Any) -> Any:
        with torch.no_grad():
            return model.q_net(torch.as_tensor(observations)).max(1).values.numpy()

    return model, forward


def ppo() -> tuple[Any, Forward]:
    model = sb3.PPO("MlpPolicy", gym.make("CartPole-v1"), device="cpu")

    def forward(observations: Any) -> Any:
        with torch.no_grad():
            return model.policy.predict_values(torch.as_tensor(observations))[:, 0].numpy()

    return model, forward


def sac(width: int) -> tuple[Any, Forward]:
    networks = {"net_arch": [width, width]}
    model = sbx.SAC("MlpPolicy", gym.make("Pendulum-v1"), policy_kwargs=networks, buffer_size=10)
    actor, critic = model.policy.actor_state, model.policy.qf_state

    @jax.jit
    def compiled(actor_params: Any, critic_params: Any, observations: Any) -> Any:
        actions = actor.apply_fn(actor_params, observations).mode()
        return critic.apply_fn(critic_params, observations, actions).min(axis=0)[:, 0]

    return model, lambda observations: np.asarray(compiled(actor.params, critic.params, observations))


def rows() -> Iterator[Row]:
    made: dict[str, Callable[[], tuple[Any, Forward]]] = {
        "SB3 DQN, 64 x 64": partial(dqn, 64),
        "SB3 DQN, 256 x 256": partial(dqn, 256),
        "SB3 DQN, 1024 x 1024": partial(dqn, 1024),
        "SB3 PPO, 64 x 64": ppo,
        "SBX SAC, 256 x 256": partial(sac, 256),
    }
    for name, make in made.items():
        model, forward = make()
        value = ewok.value_of(model)
        observations = np.random.default_rng(0).normal(size=(15, *model.observation_space.shape)).astype(np.float32)
        np.testing.assert_allclose(value(observations), forward(observations), rtol=1e-4, atol=1e-5)
        sides = (partial(side, observations) for side in (value, forward))
        ours, peer = in_turn(*sides, steps=CALLS, processor=True)
        yield Row(f"{name}: ours over the library's own", ours, peer, "stated")

"""Double DQN: the online network chooses the next action, the target network says what it is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok

from .worlds import cartpole, needs

torch = needs("torch", "sb3")
sb3 = needs("stable_baselines3", "sb3")

from torch.nn import functional

from ewok.agents.double_dqn import DoubleDQN

torch.set_num_threads(1)

BATCH = 64
OPTIONS = {"learning_starts": 10, "buffer_size": 200, "batch_size": BATCH, "target_update_interval": 40, "seed": 0}


def trained(cls: Any, env: Any = None) -> Any:
    """An agent whose online and target networks disagree about which action is best."""
    model = cls("MlpPolicy", env or cartpole(), learning_rate=1e-2, **(OPTIONS if "sbx" in cls.__module__ else
                OPTIONS | {"device": "cpu"}))  # fmt: skip
    return model.learn(150)


def loss_by_hand(model: Any, double: bool) -> float:
    np.random.seed(7)
    batch = model.replay_buffer.sample(BATCH)
    with torch.no_grad():
        online, target = model.q_net(batch.next_observations), model.q_net_target(batch.next_observations)
        assert (online.argmax(1) != target.argmax(1)).any(), "the choice makes no difference here"
        after = target.gather(1, online.argmax(1, keepdim=True)) if double else target.max(1, keepdim=True).values
        goals = batch.rewards + (1 - batch.dones) * model.gamma * after
        now = model.q_net(batch.observations).gather(1, batch.actions)
        return float(functional.smooth_l1_loss(now, goals))


@pytest.mark.parametrize("cls", [DoubleDQN, sb3.DQN])
def test_its_loss_is_that_of_double_dqn(cls: Any) -> None:
    model = trained(cls)
    expected, other = (loss_by_hand(model, double) for double in (cls is DoubleDQN, cls is not DoubleDQN))
    np.random.seed(7)
    model.train(gradient_steps=1, batch_size=BATCH)
    assert model.logger.name_to_value["train/loss"] == pytest.approx(expected, rel=1e-5)
    assert expected != pytest.approx(other, rel=1e-3)


def test_the_target_network_is_in_its_place_again_after_training(tmp_path: Any) -> None:
    model = trained(DoubleDQN)
    assert model.q_net_target is model.policy.q_net_target
    model.save(tmp_path / "model")
    loaded = DoubleDQN.load(tmp_path / "model", device="cpu")
    observations = np.zeros((3, 4), np.float32)
    np.testing.assert_array_equal(ewok.value_of(loaded)(observations), ewok.value_of(model)(observations))
    model.replay_buffer.sample = None
    with pytest.raises(TypeError):
        model.train(gradient_steps=1, batch_size=BATCH)
    assert model.q_net_target is model.policy.q_net_target


def test_sbx() -> None:
    """The same loss, computed here by the library's own networks."""
    needs("sbx", "sbx")
    from ewok.agents.double_dqn_sbx import DoubleDQN as JaxDoubleDQN

    model = trained(JaxDoubleDQN)
    np.random.seed(7)
    batch = model.replay_buffer.sample(BATCH)
    state = model.policy.qf_state
    after = batch.next_observations.numpy()
    online, target = (np.asarray(state.apply_fn(p, after)) for p in (state.params, state.target_params))
    rows = np.arange(BATCH)
    best = online.argmax(1)
    assert (best != target.argmax(1)).any(), "the choice makes no difference here"

    def loss(following: Any) -> float:
        goals = batch.rewards.numpy()[:, 0] + (1 - batch.dones.numpy()[:, 0]) * model.gamma * following
        now = np.asarray(state.apply_fn(state.params, batch.observations.numpy()))[rows, batch.actions.numpy()[:, 0]]
        return float(functional.smooth_l1_loss(torch.as_tensor(now), torch.as_tensor(goals)))

    np.random.seed(7)
    model.train(gradient_steps=1, batch_size=BATCH)
    assert model.logger.name_to_value["train/critic_loss"] == pytest.approx(loss(target[rows, best]), rel=1e-4)
    assert loss(target[rows, best]) != pytest.approx(loss(target.max(1)), rel=1e-3)
    assert ewok.bind(model) is model

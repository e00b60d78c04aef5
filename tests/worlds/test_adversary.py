"""The worst kernel itself as a perturbation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError
from ewok.testing import check_perturbation
from ewok.worlds import adversary, along

CARTPOLE = ewok.worlds.get("cartpole")


def upright(observations: Any) -> Any:
    """Good is upright, still and in the middle: what any critic of CartPole has to learn. The end is worth 0."""
    return 5.0 - np.abs(observations) @ np.array([0.3, 0.1, 3.0, 0.3])


def balance(observations: Any) -> Any:
    return (observations @ np.array([0.1, 0.3, 3.0, 1.0]) > 0).astype(int)


def test_at_radius_zero_it_is_the_world_itself_stream_for_stream() -> None:
    against, plain = adversary(CARTPOLE, upright).make(gravity=20.0), CARTPOLE.make(gravity=20.0)
    np.testing.assert_array_equal(against.reset(seed=0)[0], plain.reset(seed=0)[0])
    for action in np.random.default_rng(0).integers(2, size=15):
        one, other = against.step(int(action)), plain.step(int(action))
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1:4] == other[1:4]


@pytest.mark.parametrize("radius", [0.03, 0.3, 1.0])
def test_the_radius_is_that_of_every_step(radius: float) -> None:
    env = adversary(CARTPOLE, upright).make(radius=radius)
    env.reset(seed=0)
    told = [env.step(1)[-1]["ewok"] for _ in range(5)]
    assert [info["kl"] for info in told] == pytest.approx([radius] * 5, abs=1e-6)
    assert all(info["bound"] for info in told)


def test_the_farther_it_may_go_the_less_is_earned() -> None:
    against = adversary(CARTPOLE, upright)
    points = [{"noise": 0.1, **point} for point in along(against, "radius", [0.0, 0.3, 1.5])]
    means = against.make_vector(points, episodes=8).run(balance, seed=0).returns.mean(axis=1)
    assert means[0] > 1.5 * means[1]
    assert means[1] > 1.2 * means[2]


def test_it_is_a_world_like_any_other() -> None:
    against = adversary("cartpole", upright, radii=(0.0, 0.5))
    assert list(against.perturbations) == ["radius", *CARTPOLE.perturbations]
    assert against.perturbations["radius"].grid == (0.0, 0.5)
    check_perturbation(against, num_steps=30)
    env = ewok.DomainRandomization(against.make(), against, "radius")
    assert 0.0 < env.reset(seed=0)[1]["world"]["radius"] < 0.5


def test_the_tested_agent_s_own_critic_drives_it_as_does_one_trained_for_it() -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="needs SB3: pip install 'ewok[sb3]'")
    model = sb3.PPO("MlpPolicy", CARTPOLE.make(), n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(128)
    critic = ewok.value_of(model)
    env: Any = adversary(CARTPOLE, model, num_samples=6).make(radius=0.5)
    env.reset(seed=0)
    # By hand: the same draws, and the agent's values for them.
    twin = CARTPOLE.make()
    twin.reset(seed=0)
    drawn = ewok.kernel_of(twin).draw(1, 6)
    values = np.asarray(critic(drawn.observations), dtype=float)
    spread = env.step(1)[-1]["ewok"]["spread"]
    assert spread == pytest.approx(values.std(), rel=1e-4)
    assert spread > 0.0
    other: Any = adversary(CARTPOLE, ewok.value_of(model), num_samples=6).make(radius=0.5)  # someone else's
    other.reset(seed=0)
    assert other.step(1)[-1]["ewok"]["spread"] == spread


def test_walkers_can_be_turned_against_an_agent_too() -> None:
    pytest.importorskip("shimmy")
    against = adversary("walker-walk", lambda seen: seen[:, 14], num_samples=8)
    env = against.make(radius=0.4, thigh_length=0.3)
    env.reset(seed=0)
    assert env.step(np.zeros(6))[-1]["ewok"]["kl"] == pytest.approx(0.4, abs=1e-6)
    assert env.unwrapped.values[0] == 0.3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"num_samples": 1}, "`num_samples` must be a whole number, at least 2"),
        ({"num_samples": 2.5}, "`num_samples` must be a whole number"),
        ({"radii": ()}, "`radii` must be one or more radii"),
        ({"radii": 0.3}, "`radii` must be one or more radii.* in a list, but it is 0.3"),
        ({"radii": ("0.3",)}, "`radii` must be one or more radii"),
        ({"radii": (0.0, -0.1)}, r"`radii` must be one or more radii, from 0 to log N = 2\.71"),
        ({"radii": (0.0, float("nan"))}, "`radii` must be one or more radii"),
        ({"num_samples": 4, "radii": (0.0, 2.0)}, r"`radii` must be .* to log N = 1\.39.*4 samples carry no more"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        adversary(CARTPOLE, upright, **arguments)


def test_an_agent_tested_against_itself_is_not_said_to_learn_there() -> None:
    class Learner:
        """An agent that counts its steps elsewhere, and so stands still here."""

        env, num_timesteps = None, 5

    @ewok.value_of.register(Learner)
    def _(agent: Learner, *, soft: bool, target: bool) -> Any:
        return upright

    env = adversary("cartpole", Learner(), num_samples=2, radii=[0.0, 0.1]).make(radius=0.1)
    env.reset(seed=0)
    for _ in range(1_100):  # warnings are errors
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()

"""What comes between the world and the agent's eyes."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError, WrapperError
from ewok.testing import check_kernel, check_snapshot
from ewok.worlds.sensors import DroppedSensors, ObservationDelay, ObservationNoise, StuckSensors

ALL: list[tuple[Any, dict[str, float]]] = [
    (ObservationNoise, {"std": 0.1}),
    (DroppedSensors, {"probability": 0.3}),
    (StuckSensors, {"probability": 0.3}),
    (ObservationDelay, {"delay": 3}),
]
IDS = [wrapper.__name__ for wrapper, _ in ALL]


def episode(env: gym.Env[Any, Any], num_steps: int = 60, seed: int = 0) -> tuple[np.ndarray, list[Any]]:
    """What is seen, and what is earned and ends; of Acrobot, which goes on."""
    seen, rest = [env.reset(seed=seed)[0]], []
    for action in np.random.default_rng(seed).integers(3, size=num_steps):
        observation, *others, _ = env.step(int(action))
        seen.append(observation)
        rest.append(others)
    return np.array(seen), rest


def acrobot() -> gym.Env[Any, Any]:
    return gym.make("Acrobot-v1")


@pytest.mark.parametrize(("wrapper", "arguments"), ALL, ids=IDS)
def test_at_its_nominal_value_each_does_nothing(wrapper: Any, arguments: dict[str, float]) -> None:
    np.testing.assert_array_equal(episode(wrapper(acrobot()))[0], episode(acrobot())[0])


@pytest.mark.parametrize(("wrapper", "arguments"), ALL, ids=IDS)
def test_rewards_ends_and_the_world_itself_stay_what_they_are(wrapper: Any, arguments: dict[str, float]) -> None:
    env, plain = wrapper(acrobot(), **arguments), acrobot()
    (seen, rest), (true, expected) = episode(env), episode(plain)
    assert rest == expected
    assert not np.array_equal(seen, true)
    np.testing.assert_array_equal(env.unwrapped.state, plain.unwrapped.state)  # type: ignore[attr-defined]
    assert env.observation_space.contains(seen[-1])


@pytest.mark.parametrize(("wrapper", "arguments"), ALL, ids=IDS)
def test_the_same_seed_shows_the_same(wrapper: Any, arguments: dict[str, float]) -> None:
    shown = [episode(wrapper(acrobot(), **arguments), seed=seed)[0] for seed in (1, 1)]
    np.testing.assert_array_equal(shown[0], shown[1])


@pytest.mark.parametrize(("wrapper", "arguments"), ALL, ids=IDS)
def test_they_are_saved_rebuilt_and_looked_through_by_a_worst_kernel(wrapper: Any, arguments: Any) -> None:
    def make() -> gym.Env[Any, Any]:
        return wrapper(ewok.RandomAction(acrobot(), 0.3), **arguments)  # type: ignore[no-any-return]

    check_snapshot(make(), twin=make(), num_steps=50)
    check_kernel(make(), twin=make(), num_steps=40)
    name, value = next(iter(arguments.items()))
    assert getattr(gym.make(make().spec), name) == value  # type: ignore[arg-type]


def test_noise_has_its_spread_and_stays_within_the_space() -> None:
    seen, _ = episode(ObservationNoise(acrobot(), std=0.05), num_steps=400)
    true, _ = episode(acrobot(), num_steps=400)
    assert (seen - true)[:, 4:].std() == pytest.approx(0.05, rel=0.05)
    assert np.abs(seen[:, :4]).max() <= 1.0


def test_a_dropped_sensor_shows_zero_for_as_long_as_it_lasts() -> None:
    seen, _ = episode(DroppedSensors(acrobot(), probability=0.2), num_steps=400)
    true, _ = episode(acrobot(), num_steps=400)
    dropped = seen[1:] == 0.0
    assert dropped.mean() == pytest.approx(0.2, abs=0.03)
    np.testing.assert_array_equal(seen[1:][~dropped], true[1:][~dropped])
    lasting, _ = episode(DroppedSensors(acrobot(), probability=0.05, num_steps=4), num_steps=400)
    runs = "".join("x" if zero else " " for zero in lasting[1:, 0] == 0.0).split()
    assert runs
    assert all(len(run) % 4 == 0 or run is runs[-1] for run in runs)


def test_a_stuck_sensor_goes_on_showing_what_it_last_showed() -> None:
    seen, _ = episode(StuckSensors(acrobot(), probability=0.1, num_steps=3), num_steps=300)
    true, _ = episode(acrobot(), num_steps=300)
    stuck = seen[1:] != true[1:]
    assert 0.1 < stuck.mean() < 0.4
    np.testing.assert_array_equal(seen[1:][stuck], seen[:-1][stuck])


def test_a_delay_shows_what_was_to_be_seen_before_and_first_of_all_the_first() -> None:
    seen, _ = episode(ObservationDelay(acrobot(), delay=3))
    true, _ = episode(acrobot())
    np.testing.assert_array_equal(seen[3:], true[:-3])
    np.testing.assert_array_equal(seen[:3], [true[0]] * 3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: ObservationNoise(gym.make("FrozenLake-v1")),
            "one array of floating-point numbers.*FlattenObservation",
        ),
        (lambda: StuckSensors(gym.make("FrozenLake-v1")), "`StuckSensors` needs observations"),
        (lambda: ObservationNoise(acrobot(), std=-1.0), "`std` must be a finite number at least 0"),
        (lambda: DroppedSensors(acrobot(), probability=1.5), "`probability` must be .*at most 1"),
        (lambda: StuckSensors(acrobot(), probability=float("nan")), "`probability` must be a finite number"),
        (lambda: StuckSensors(acrobot(), num_steps=0), "`num_steps` must be a whole number at least 1"),
        (lambda: ObservationDelay(acrobot(), delay=-1), "`delay` must be a whole number at least 0"),
    ],
)
def test_bad_input_is_named(make: Any, said: str) -> None:
    with pytest.raises((ArgumentError, WrapperError), match=said):
        make()


def test_images_of_whole_numbers_are_told_what_makes_them_numbers_that_noise_fits() -> None:
    class Images(gym.ObservationWrapper[Any, Any, Any]):
        observation_space = gym.spaces.Box(0, 255, (4, 4, 3), np.uint8)

        def observation(self, observation: Any) -> Any:
            return np.zeros((4, 4, 3), dtype=np.uint8)

    images = Images(gym.make("CartPole-v1"))
    with pytest.raises(WrapperError, match="one array of floating-point numbers.*uint8.*DtypeObservation"):
        ObservationNoise(images, std=0.1)
    ObservationNoise(gym.wrappers.DtypeObservation(images, np.float32), std=0.1).reset(seed=0)

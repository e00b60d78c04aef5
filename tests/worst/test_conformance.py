"""The worst kernel in the company of others: spaces, specs, pickles and environment checkers."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import ewok
from ewok.nominal.batch import leaves, same

from ..conftest import make
from .worlds import NOISY_CARTPOLE, bound, rollout

FAMILIES = [
    NOISY_CARTPOLE,
    "Acrobot-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
    "FrozenLake-v1",
    "CliffWalking-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "Hopper-v5",
    "HalfCheetah-v5",
    "dm_control/walker-walk-v0",
    "MiniGrid-DoorKey-5x5-v0",
    "highway-fast-v0",
    "ALE/Pong-v5",
]


def passes(check: Any, env: gym.Env[Any, Any]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(env)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("env_id", FAMILIES)
@pytest.mark.parametrize("is_bound", [False, True])
def test_passes_check_env_wherever_the_bare_environment_does(env_id: str, is_bound: bool) -> None:
    options = {"repeat_action_probability": 0} if env_id.startswith("ALE") else {}

    def wrapped() -> gym.Env[Any, Any]:
        env = make(env_id, **options)
        return bound(env, num_samples=3) if is_bound else ewok.WorstKernel(env, kappa=0.2)

    def gymnasium_check(env: gym.Env[Any, Any]) -> None:
        check_env(env, skip_render_check=True)

    sb3 = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs SB3: pip install 'ewok[sb3]'")
    checks = [check for check in (gymnasium_check, sb3.check_env) if passes(check, make(env_id))]
    if not checks:
        pytest.skip(f"the bare {env_id} passes neither checker")
    for check in checks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(wrapped())


class Boxes(gym.Env[Any, Any]):
    """Any spaces: observations and rewards are drawn at random."""

    def __init__(self, observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> None:
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return self._draw(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        return self._draw(), float(self.np_random.normal()), False, False, {"twice": 2 * np.asarray(action)}

    def _draw(self) -> Any:
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample()


@pytest.mark.parametrize(
    "observation_space",
    [
        spaces.Box(-1, 1, (3,), np.float32),
        spaces.Box(-1, 1, (2, 3), np.float64),
        spaces.Box(0, 255, (8, 8, 3), np.uint8),
        spaces.Box(-1, 1, (), np.float32),
        spaces.Discrete(5, start=2),
        spaces.MultiBinary(4),
        spaces.Dict(a=spaces.Box(-1, 1, (2,)), b=spaces.Dict(c=spaces.Discrete(3), d=spaces.MultiDiscrete([2, 3]))),
        spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,)))),
        spaces.Dict(words=spaces.Text(5), x=spaces.Box(-1, 1, (2,))),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "action_space",
    [spaces.Discrete(3), spaces.Box(-1, 1, (2,)), spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(3)],
    ids=str,
)
def test_all_spaces(observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> None:
    seen: list[Any] = []

    def value(observations: Any) -> np.ndarray:
        seen.append(observations)
        return np.arange(4.0)

    env = bound(Boxes(observation_space, action_space), value, num_samples=4, kappa=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is a wrapper, and that its spaces are unusual
        check_env(env, skip_render_check=True)
    env.reset(seed=0)
    seen.clear()
    observation, *_, info = env.step(action_space.sample())
    assert observation_space.contains(observation)
    batch = seen[0]
    assert all(len(leaf) == 4 for leaf in leaves(batch))
    assert info["ewok"]["index"] in range(4)


def test_spec_rebuilds_it_without_the_value() -> None:
    env = bound(
        ewok.ActionNoise(gym.make("Pendulum-v1"), 0.3, mean=0.1),
        num_samples=7,
        radius=0.4,
        discount=0.9,
        terminal_value=None,
    )
    again = gym.make(env.spec)  # type: ignore[arg-type]
    assert isinstance(again, ewok.WorstKernel)
    assert str(again) == str(env)
    assert (again.num_samples, again.kappa, again.radius) == (7, None, 0.4)
    assert (again.discount, again.terminal_value) == (0.9, None)
    assert not again.bound
    assert "value" not in env.spec.additional_wrappers[-1].kwargs  # type: ignore[union-attr,operator]
    assert gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json())).num_samples == 7  # type: ignore


def test_a_spec_of_numpys_numbers_can_be_written_down() -> None:
    noisy = ewok.StateNoise(gym.make("CartPole-v1"), [np.float32(0.5), 0.25], indices=range(2))
    env = ewok.WorstKernel(
        ewok.RandomAction(noisy, np.float32(0.5)),
        kappa=np.float32(0.5),
        num_samples=np.int64(4),
        discount=np.float32(0.5),
    )
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))  # type: ignore[union-attr]
    again.reset(seed=0)
    assert (again.kappa, again.num_samples, again.discount) == (0.5, 4, 0.5)  # type: ignore[attr-defined]


class Seen(gym.ObservationWrapper[Any, Any, Any]):
    def observation(self, observation: Any) -> Any:
        return observation


@pytest.mark.parametrize("env_id", [NOISY_CARTPOLE, "FrozenLake-v1", "Hopper-v5"])
def test_pickles_without_the_value(env_id: str) -> None:
    env = bound(Seen(make(env_id)), num_samples=5)
    rollout(env, 10)
    again = pickle.loads(pickle.dumps(env))
    assert not again.bound
    assert env.bound
    ewok.bind(lambda o: np.zeros(len(o)), again)
    assert same(rollout(again, 30), rollout(env, 30))


def test_snapshots_include_it() -> None:
    env = bound(gym.make(NOISY_CARTPOLE), lambda o: -np.abs(o[:, 0]))
    env.reset(seed=0)
    saved = ewok.snapshot(env)
    first = [env.step(i % 2) for i in range(10)]
    ewok.restore(env, saved)
    assert same(first, [env.step(i % 2) for i in range(10)])


def test_works_in_processes_of_stable_baselines3() -> None:
    vec = pytest.importorskip("stable_baselines3.common.vec_env", reason="needs SB3: pip install 'ewok[sb3]'")
    venv = vec.SubprocVecEnv([unbound_cartpole] * 2, start_method="fork")
    try:
        venv.seed(0)
        venv.reset()
        *_, infos = venv.step([0, 1])
        assert infos[0]["ewok"]["bound"] is False
    finally:
        venv.close()


def unbound_cartpole() -> ewok.WorstKernel:
    return ewok.WorstKernel(gym.make(NOISY_CARTPOLE), kappa=0.2)

"""The seam: what passes through it, what may stand above it, and what it does when something breaks."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw

import ewok
from ewok.errors import DivergedError, WrapperError
from ewok.nominal.batch import same
from ewok.nominal.kernel import Candidates
from ewok.nominal.layers import layers_of
from ewok.nominal.restore import gathered
from ewok.nominal.seam import Seam
from ewok.testing import Lottery

NOISY = "ewok/NoisyCartPole-v1"


def worst(env: gym.Env[Any, Any], **options: Any) -> ewok.WorstKernel:
    return ewok.WorstKernel(env, kappa=0.2, value=lambda o: np.zeros(len(o)), **options)


@pytest.mark.parametrize(
    ("wrap", "name", "reason"),
    [
        (lambda env: gw.RepeatAction(env, 2), "RepeatAction", "repeats actions"),
        (lambda env: gw.MaxAndSkipObservation(env, 4), "MaxAndSkipObservation", "repeats actions"),
        (lambda env: gw.NormalizeReward(env), "NormalizeReward", "changes the reward"),
        (lambda env: gw.TransformReward(env, lambda r: 2 * r), "TransformReward", "changes the reward"),
        (lambda env: gw.ClipReward(env, 0, 1), "ClipReward", "changes the reward"),
        (lambda env: gw.Autoreset(env), "Autoreset", "resets inside a step"),
    ],
)
def test_wrappers_that_break_the_draw_are_refused_by_name(wrap: Any, name: str, reason: str) -> None:
    with pytest.raises(WrapperError, match=rf"`{name}` {reason}.*Put it above instead: {name}\(WorstKernel"):
        ewok.WorstKernel(wrap(gym.make(NOISY)), kappa=0.2)
    wrap(worst(gym.make(NOISY))).reset(seed=0)  # above, it is welcome


class Doubling(gym.Wrapper[Any, Any, Any, Any]):
    """Changes the reward without saying so in its class."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, 2 * float(reward), *rest


class Ending(gym.Wrapper[Any, Any, Any, Any]):
    def step(self, action: Any) -> Any:
        observation, reward, _, *rest = self.env.step(action)
        return observation, reward, True, *rest


class Twice(gym.Wrapper[Any, Any, Any, Any]):
    def step(self, action: Any) -> Any:
        self.env.step(action)
        return self.env.step(action)


class Never(gym.Wrapper[Any, Any, Any, Any]):
    def step(self, action: Any) -> Any:
        return np.zeros(4, np.float32), 0.0, False, False, {}


class Halving(gym.Wrapper[Any, Any, Any, Any]):
    """Changes observations in `step` rather than in `observation`, where nobody can ask for them."""

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return observation / 2, *rest


class Counting(gym.Wrapper[Any, Any, Any, Any]):
    """Harmless, but of unknown kind."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.count = 0

    def step(self, action: Any) -> Any:
        self.count += 1
        return self.env.step(action)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Doubling, "changed the reward from 1.0 to 2.0: it is .*Doubling"),
        (Ending, "changed the termination from False to True: it is .*Ending"),
        (Halving, "changed the observation from .*Halving.*ObservationWrapper"),
        (Twice, "stepped more than once for one action: it is .*Twice"),
        (Never, "did not step the simulator: it is .*Never"),
    ],
)
def test_unknown_wrappers_are_watched(kind: Any, message: str) -> None:
    """What they break is said by name, and the environment is left where it was."""
    env = worst(Counting(kind(gym.make(NOISY))))
    env.reset(seed=0)
    before = ewok.snapshot(env)
    with pytest.raises(WrapperError, match=message):
        env.step(0)
    assert env.env.count == 0  # type: ignore[attr-defined]
    np.testing.assert_array_equal(env.unwrapped.state, before.simulator["state"])  # type: ignore[attr-defined]


def test_monitor_is_known_to_do_no_harm_its_subclasses_are_not() -> None:
    """Watching costs several times the step, and SB3 puts a Monitor beneath whatever it is asked to wrap."""
    monitor = pytest.importorskip("stable_baselines3.common.monitor", reason="needs SB3: pip install 'ewok[sb3]'")

    class Louder(monitor.Monitor):  # type: ignore[misc,name-defined]
        def step(self, action: Any) -> Any:
            return super().step(action)

    assert layers_of(monitor.Monitor(gym.make("CartPole-v1"))).watched == []
    assert [type(w) for w in layers_of(Louder(gym.make("CartPole-v1"))).watched] == [Louder]


def test_unknown_wrappers_that_do_no_harm_work() -> None:
    env = worst(Counting(gym.make(NOISY)))
    env.reset(seed=0)
    for step in range(5):
        env.step(step % 2)
    assert env.env.count == 5  # type: ignore[attr-defined]


class Diverging(gym.Env[Any, Any]):
    """Raises, or returns nonsense, for some of its random outcomes."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, how: str, probability: float) -> None:
        self.how, self.probability, self.position = how, probability, 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.position = 0.0
        return np.array([self.position]), {}

    def step(self, action: Any) -> Any:
        self.position += self.np_random.normal()
        bad = self.np_random.random() < self.probability
        if bad and self.how == "raises":
            raise FloatingPointError("the integrator left the reals")
        value = np.nan if bad and self.how == "nan" else self.position
        return np.array([value]), np.inf if bad and self.how == "reward" else 0.0, False, False, {}

    def snapshot(self) -> float:
        return self.position

    def restore(self, snapshot: float) -> None:
        self.position = snapshot


@pytest.mark.parametrize("how", ["raises", "nan", "reward"])
@pytest.mark.filterwarnings("ignore::ewok.errors.EwokWarning")
def test_diverged_candidates_are_left_out_and_counted(how: str) -> None:
    env = worst(Diverging(how, 0.5), num_samples=20)
    env.reset(seed=0)
    counts = []
    for _ in range(20):
        observation, _, _, _, info = env.step(0)
        assert np.isfinite(observation).all()
        assert info["ewok"]["ess"] == pytest.approx(20 - info["ewok"]["diverged"])
        counts.append(info["ewok"]["diverged"])
    assert 5 < np.mean(counts) < 15


def test_what_diverged_is_said_once() -> None:
    env = worst(Diverging("raises", 0.5), num_samples=20)
    env.reset(seed=0)
    with pytest.warns(ewok.EwokWarning, match="candidates were left out.*FloatingPointError: the integrator"):
        env.step(0)


def test_when_all_diverge_the_simulators_own_error_is_raised() -> None:
    env = worst(Diverging("raises", 1.0), num_samples=5)
    env.reset(seed=0)
    before, state = env.unwrapped.position, env.np_random.bit_generator.state  # type: ignore[attr-defined]
    with pytest.raises(FloatingPointError, match="the integrator left the reals"):
        env.step(0)
    assert (env.unwrapped.position, env.np_random.bit_generator.state) == (before, state)  # type: ignore[attr-defined]


def test_when_all_diverge_without_an_error_there_is_one_of_ours() -> None:
    env = worst(Diverging("nan", 1.0), num_samples=5)
    env.reset(seed=0)
    before, state = env.unwrapped.position, env.np_random.bit_generator.state  # type: ignore[attr-defined]
    with pytest.raises(DivergedError, match="all 5 candidates diverged"):
        env.step(0)
    assert (env.unwrapped.position, env.np_random.bit_generator.state) == (before, state)  # type: ignore[attr-defined]


class Coin:
    """A hand-written kernel for a simulator of one's own."""

    def __init__(self, env: Any) -> None:
        self.env, self.drawn = env, [0]

    def draw(self, action: Any, num: int) -> Candidates:
        self.drawn = [int(self.env.np_random.integers(2)) for _ in range(num)]
        return gathered([(side, float(side), False, False, {}) for side in self.drawn])

    def commit(self, index: int) -> None:
        self.env.side = self.drawn[index]


class CoinEnv(gym.Env[Any, Any]):
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)
    side = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: Any) -> Any:
        self.side = int(self.np_random.integers(2))
        return self.side, float(self.side), False, False, {}


def test_a_registered_kernel_is_used_and_cannot_be_disturbed() -> None:
    ewok.register_kernel(CoinEnv, Coin)
    env = ewok.WorstKernel(gw.TimeLimit(CoinEnv(), 50), radius=9.0, value=lambda o: o.astype(float), num_samples=10)
    env.reset(seed=0)
    sides = [env.step(0)[0] for _ in range(50)]
    assert sum(sides) <= 1  # tails, unless ten throws were all heads
    assert isinstance(ewok.kernel_of(env.env), Coin)
    with pytest.raises(WrapperError, match="RandomAction.*Coin.*draw_each"):
        ewok.WorstKernel(ewok.RandomAction(CoinEnv(), 0.5), kappa=0.2)


def test_a_seam_with_nothing_above_the_simulator() -> None:
    env = Lottery([0.5, 0.5])
    seam = Seam(env, "test")
    env.reset(seed=0)
    twin = Lottery([0.5, 0.5])
    twin.reset(seed=0)
    assert same(seam.step(0), twin.step(0))

"""Wrappers and environments from elsewhere: what works, what is refused, and that nothing is silently wrong."""

from __future__ import annotations

import random
import warnings
from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gw

import ewok
from ewok.errors import DivergedError, KernelError, NotResetError, ValueFunctionError, WrapperError
from ewok.nominal.batch import same
from ewok.nominal.generators import state_of
from ewok.testing import Lottery

from ..conftest import make

Env = gym.Env[Any, Any]
Wrapper = gym.Wrapper[Any, Any, Any, Any]


def noisy() -> Env:
    return ewok.StateNoise(gym.make("CartPole-v1"), 0.05)


def zeros(observations: Any) -> np.ndarray:
    return np.zeros(len(observations))


def worst(env: Env, value: Any = zeros, **options: Any) -> ewok.WorstKernel:
    return ewok.WorstKernel(env, **({"kappa": 0.2, "num_samples": 5, "value": value} | options))


class Counting(Wrapper):
    """Harmless, with a `step` of its own."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.actions: list[Any] = []

    def step(self, action: Any) -> Any:
        self.actions.append(action)
        return self.env.step(action)


class Smoothing(gym.ObservationWrapper[Any, Any, Any]):
    """Remembers: an exponential moving average, and the latest raw observations."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.mean, self.latest = np.zeros(4), deque(maxlen=3)  # type: ignore[var-annotated]

    def observation(self, observation: Any) -> Any:
        self.latest.append(observation)
        self.mean = 0.9 * self.mean + 0.1 * np.mean(self.latest, axis=0)
        return self.mean.astype(np.float32)


class Peeking(gym.ObservationWrapper[Any, Any, Any]):
    """Looks at the simulator rather than at its argument."""

    def observation(self, observation: Any) -> Any:
        return np.asarray(self.unwrapped.state, dtype=np.float32)  # type: ignore[attr-defined]


class Pricing(gym.ObservationWrapper[Any, Any, Any]):
    """An observation wrapper that changes rewards, too."""

    def observation(self, observation: Any) -> Any:
        return observation

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, 2 * float(reward), *rest


class Extending(gw.TimeLimit[Any, Any]):  # type: ignore[type-arg]
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, float(reward) + 5.0, *rest


class Reading(Wrapper):
    """Reads and writes attributes of the simulator on the way."""

    def step(self, action: Any) -> Any:
        self.env.force_mag = 2.0 + self.env.gravity  # type: ignore[attr-defined]
        return self.env.step(action)


# --- what works ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: Counting(gw.NormalizeObservation(env)),
        lambda env: Counting(gw.FrameStackObservation(env, 3)),
        lambda env: gw.FrameStackObservation(Counting(env), 3),
        lambda env: Counting(gw.DelayObservation(env, 1)),
        lambda env: Counting(gw.TimeAwareObservation(env)),
    ],
)
def test_harmless_wrappers_go_with_stateful_ones(wrap: Any) -> None:
    bound, free = worst(wrap(noisy()), num_samples=1), wrap(noisy())
    bound.reset(seed=0), free.reset(seed=0)
    for step in range(15):
        *one, _ = bound.step(step % 2)
        assert same(one, list(free.step(step % 2)[:4]))


def test_monitor_over_frames() -> None:
    monitor = pytest.importorskip("stable_baselines3.common.monitor", reason="needs SB3: pip install 'ewok[sb3]'")
    env = worst(monitor.Monitor(gw.FrameStackObservation(noisy(), 2)))
    env.reset(seed=0)
    for step in range(8):
        *_, terminated, truncated, _ = env.step(step % 2)
        if terminated or truncated:
            env.reset()


@pytest.mark.parametrize("above", [False, True])
def test_a_wrapper_that_remembers_is_looked_through_without_being_moved(above: bool) -> None:
    if above:
        env: Env = Smoothing(worst(noisy(), num_samples=1))
        ewok.bind(zeros, env)
    else:
        env = worst(Smoothing(noisy()), num_samples=1)
    free = Smoothing(noisy())
    env.reset(seed=0), free.reset(seed=0)
    for step in range(15):
        assert same(env.step(step % 2)[0], free.step(step % 2)[0])


def test_the_simulator_can_be_read_and_written_on_the_way() -> None:
    bound, free = (
        worst(Reading(gym.make("CartPole-v1").unwrapped), num_samples=2),
        Reading(gym.make("CartPole-v1").unwrapped),
    )
    bound.reset(seed=0), free.reset(seed=0)
    for step in range(5):
        assert same(bound.step(step % 2)[0], free.step(step % 2)[0])
    assert bound.unwrapped.force_mag == 11.8  # type: ignore[attr-defined]


def test_action_wrappers_beneath_the_noise_may_leave_the_simulators_range() -> None:
    def wrap(env: Env) -> Env:
        return ewok.ActionNoise(gw.TransformAction(env, lambda a: 5 * a, None), 0.2)

    bound = worst(wrap(gym.make("MountainCarContinuous-v0")), num_samples=1)
    free = wrap(gym.make("MountainCarContinuous-v0"))
    bound.reset(seed=0), free.reset(seed=0)
    for _ in range(20):
        *one, _ = bound.step(np.array([0.9], np.float32))
        assert same(one, list(free.step(np.array([0.9], np.float32))[:4]))


def test_a_value_function_may_do_what_it_likes_with_its_argument() -> None:
    def scribble(states: np.ndarray) -> np.ndarray:
        states += 7
        return np.zeros(len(states))

    for env in (worst(gym.make("FrozenLake-v1"), scribble), worst(Lottery([0.5, 0.5]), scribble)):
        env.reset(seed=0)
        observation, *_ = env.step(1)
        assert observation == env.unwrapped.get_wrapper_attr("s" if "Frozen" in str(env) else "state")


def test_attributes_that_rule_the_scores_can_be_changed() -> None:
    env = worst(Lottery([0.5, 0.5], rewards=[0.0, 1.0]), radius=9.0, kappa=None)
    env.reset(seed=0)
    assert env.step(0)[-1]["ewok"]["spread"] == 0.0
    env.discount = 0.5
    assert max(env.step(0)[-1]["ewok"]["spread"] for _ in range(5)) > 0.0
    env.terminal_value = None
    env.num_samples = 2
    assert env.step(0)[-1]["ewok"]["ess"] <= 2.0
    for name, value in (("discount", 2.0), ("terminal_value", "x"), ("num_samples", 0), ("discount", True)):
        before = getattr(env, name)
        with pytest.raises(ewok.errors.ArgumentError, match=f"`{name}` must be"):
            setattr(env, name, value)
        assert getattr(env, name) == before


# --- what is refused -------------------------------------------------------------------------------------


def test_a_wrapper_that_looks_at_the_simulator_is_refused() -> None:
    env = worst(Peeking(noisy()))
    env.reset(seed=0)
    with pytest.raises(WrapperError, match="changed the observation.*Peeking.*looks at its argument only"):
        env.step(0)
    above = Peeking(worst(noisy()))
    ewok.bind(zeros, above)
    above.reset(seed=0)
    with pytest.raises(WrapperError, match="`Peeking` does not compute the observation from its argument alone"):
        above.step(0)


def test_minigrids_wrappers_that_look_at_the_grid_are_refused() -> None:
    make("MiniGrid-DoorKey-5x5-v0")
    from minigrid.wrappers import FullyObsWrapper, ImgObsWrapper

    moving = make("MiniGrid-Dynamic-Obstacles-5x5-v0")
    env = worst(ImgObsWrapper(FullyObsWrapper(moving)))
    env.reset(seed=0)
    with pytest.raises(WrapperError, match="FullyObsWrapper"):
        for _ in range(20):
            env.step(2)
    fine = worst(ImgObsWrapper(make("MiniGrid-Dynamic-Obstacles-5x5-v0")))
    fine.reset(seed=0)
    fine.step(0)


@pytest.mark.parametrize(
    ("wrap", "message"),
    [
        (Pricing, "changed the reward from 1.0 to 2.0: it is Pricing"),
        (lambda env: Extending(env, 50), "changed the reward from 1.0 to 6.0: it is Extending"),
    ],
)
def test_subclasses_of_harmless_wrappers_are_watched(wrap: Any, message: str) -> None:
    env = worst(wrap(noisy()))
    env.reset(seed=0)
    with pytest.raises(WrapperError, match=message):
        env.step(0)
    env.reset(seed=0)


class Halving(Wrapper):
    def step(self, action: Any) -> Any:
        return self.env.step(0.5 * action)


def test_actions_changed_in_a_step_beneath_the_noise_are_refused() -> None:
    env = worst(ewok.ActionNoise(Halving(gym.make("Pendulum-v1")), 0.1))
    env.reset(seed=0)
    with pytest.raises(WrapperError, match=r"beneath `ActionNoise` changed the action from .*Halving.*ActionWrapper"):
        env.step(np.array([2.0], np.float32))


class Hundredfold(Wrapper):
    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return 100 * observation, *rest


class Stretching(Wrapper):
    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (8,))


def test_what_cannot_be_seen_above_is_said() -> None:
    with pytest.warns(ewok.EwokWarning, match="`Hundredfold` stands above a WorstKernel and has a `step` of its own"):
        ewok.bind(zeros, Hundredfold(worst(noisy())))
    with pytest.raises(WrapperError, match="`Hundredfold` has a `step` of its own, so it is not known whether"):
        ewok.bind(zeros, Hundredfold(worst(noisy(), discount=0.9)))

    class Both(Stretching, Hundredfold): ...

    with pytest.raises(WrapperError, match="`Both` changes the observation in its `step`"):
        ewok.bind(zeros, Both(worst(noisy())))
    with pytest.raises(WrapperError, match="`MaxAndSkipObservation` shows the larger of two observations"):
        ewok.bind(zeros, gw.MaxAndSkipObservation(worst(noisy()), 2))
    with pytest.raises(WrapperError, match="`RepeatAction` adds up rewards"):
        ewok.bind(zeros, gw.RepeatAction(worst(noisy(), discount=0.9), 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ewok.bind(zeros, gw.RepeatAction(gw.TimeLimit(worst(noisy()), 5), 2))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: ewok.StateNoise(env, 0.1),
        lambda env: ewok.RandomAction(gw.TimeLimit(env, 9), 0.1),
    ],
)
def test_noise_above_is_refused(wrap: Any) -> None:
    with pytest.raises(WrapperError, match=r"must stand beneath `WorstKernel`.*WorstKernel\("):
        wrap(worst(noisy()))


# --- environments from elsewhere -------------------------------------------------------------------------


def test_subclasses_with_randomness_of_their_own_keep_it() -> None:
    make("Hopper-v5")
    from gymnasium.envs.mujoco.hopper_v5 import HopperEnv

    class Windy(HopperEnv):
        def step(self, action: Any) -> Any:
            self.data.qvel[0] += self.np_random.normal()
            return super().step(action)

    env = Windy()
    env.reset(seed=0)
    before = env.data.qvel.copy()
    candidates = ewok.kernel_of(env).draw(np.zeros(3), 5)
    assert len(set(candidates.rewards)) == 5
    np.testing.assert_array_equal(env.data.qvel, before)


def test_tasks_with_randomness_of_their_own_keep_it() -> None:
    make("dm_control/walker-walk-v0")
    from dm_control.suite import walker
    from shimmy import DmControlCompatibilityV0

    base = make("dm_control/walker-walk-v0").unwrapped._env  # type: ignore[attr-defined]

    class Gusty(walker.PlanarWalker):
        def before_step(self, action: Any, physics: Any) -> None:
            super().before_step(action + self.random.normal(size=6), physics)

    base._task = Gusty(move_speed=1, random=0)
    env = DmControlCompatibilityV0(base)
    env.reset(seed=0)
    candidates = ewok.kernel_of(env).draw(np.zeros(6), 5)
    assert len(set(candidates.observations["height"].tolist())) == 5


def test_rendering_a_copied_environment_does_not_stop_it() -> None:
    pytest.importorskip("pygame", reason="needs pygame: pip install 'gymnasium[classic-control]'")
    from gymnasium.envs.classic_control.cartpole import CartPoleEnv

    class Mine(CartPoleEnv):
        def step(self, action: Any) -> Any:
            self.extra = getattr(self, "extra", 0) + 1
            return super().step(action)

    for env in (
        worst(Mine(render_mode="rgb_array"), num_samples=2),
        worst(make("highway-fast-v0", render_mode="rgb_array"), num_samples=2),
    ):
        env.reset(seed=0)
        for _ in range(3):
            env.step(0)
            assert env.render() is not None


class TwoGenerators(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def __init__(self) -> None:
        self.weather = random.Random(0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1), {}

    def step(self, action: Any) -> Any:
        return np.array([self.weather.random() + self.np_random.random()]), 0.0, False, False, {}


def test_after_a_failure_every_generator_inside_is_where_it_was() -> None:
    def fail(observations: Any) -> Any:
        raise KeyError("no value")

    env = worst(TwoGenerators(), fail)
    env.reset(seed=0)
    base: Any = env.unwrapped
    before = base.weather.getstate(), state_of(base.np_random)
    with pytest.raises(ValueFunctionError):
        env.step(0)
    assert (base.weather.getstate(), state_of(base.np_random)) == before
    sticky = worst(gw.StickyAction(gym.make("ewok/NoisyCartPole-v1"), 0.3), fail)
    sticky.reset(seed=0)
    state = state_of(sticky.np_random)
    for _ in range(3):
        with pytest.raises(ValueFunctionError):
            sticky.step(0)
    assert state_of(sticky.np_random) == state


class Bonus(Wrapper):
    """Changes the reward, but only now and then."""

    count = 0

    def step(self, action: Any) -> Any:
        self.count += 1
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + (self.count == 3), *rest


def test_a_late_refusal_asks_for_a_reset() -> None:
    """What was committed cannot be taken back, so the episode is over."""
    env = worst(Bonus(noisy()))
    env.reset(seed=0)
    env.step(0), env.step(1)
    with pytest.raises(WrapperError, match="changed the reward from 1.0 to 2.0: it is Bonus"):
        env.step(0)
    with pytest.raises(NotResetError):
        env.step(0)
    env.reset()
    env.step(0)


def test_memories_in_lists_are_put_back_too() -> None:
    failing = [True]

    def value(observations: Any) -> Any:
        if failing[0]:
            raise KeyError
        return zeros(observations)

    env = worst(Counting(noisy()), value)
    env.reset(seed=0)
    with pytest.raises(ValueFunctionError):
        env.step(0)
    failing[0] = False
    env.step(1)
    assert env.env.actions == [1]  # type: ignore[attr-defined]


def test_a_failed_draw_leaves_no_draw_to_commit() -> None:
    env = make("Hopper-v5")
    env.reset(seed=0)
    kernel = ewok.kernel_of(env)
    kernel.draw(np.zeros(3), 3)
    with pytest.raises(ValueError, match="Action dimension mismatch"):
        kernel.draw(np.zeros(2), 3)
    with pytest.raises(KernelError, match="no draw to choose from"):
        kernel.commit(2)


def test_a_reward_that_is_no_number_is_not_chosen_silently() -> None:
    class Bad(Lottery.__mro__[1]):  # type: ignore[misc]
        """A user's kernel that lets a NaN through."""

        observation_space = action_space = gym.spaces.Discrete(3)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            return 0, {}

    class BadKernel:
        def __init__(self, env: Any) -> None: ...

        def draw(self, action: Any, num: int) -> Any:
            no = np.zeros(num, bool)
            return ewok.Candidates(np.zeros(num, int), np.full(num, np.nan), no, no, [{}] * num)

        def commit(self, index: int) -> None: ...

    ewok.register_kernel(Bad, BadKernel)
    env = worst(Bad(), discount=0.9)
    env.reset(seed=0)
    with pytest.raises(DivergedError, match="candidate 0 of 5 has the reward nan"):
        env.step(0)


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        (lambda n: (1, 2), "must return `ewok.Candidates`, but it returned a tuple"),
        (lambda n: None, "it returned a NoneType"),
        (
            lambda n: ewok.Candidates(np.zeros(n), np.zeros(n - 1), np.zeros(n, bool), np.zeros(n, bool), [{}] * n),
            "sizes",
        ),
        (lambda n: ewok.Candidates(np.zeros(n), 1.0, np.zeros(n, bool), np.zeros(n, bool), [{}] * n), "sizes"),  # type: ignore
    ],
)
def test_what_a_users_kernel_returns_is_looked_at(drawn: Any, message: str) -> None:
    class Mine(TwoGenerators): ...

    class Kernel:
        def __init__(self, env: Any) -> None: ...

        def draw(self, action: Any, num: int) -> Any:
            return drawn(num)

        def commit(self, index: int) -> None: ...

    ewok.register_kernel(Mine, Kernel)
    env = worst(Mine())
    env.reset(seed=0)
    with pytest.raises(KernelError, match=message):
        env.step(0)


@pytest.mark.parametrize("env_cls", [TwoGenerators(), "CartPole-v1", None])
def test_only_classes_can_be_registered(env_cls: Any) -> None:
    with pytest.raises(ewok.errors.ArgumentError, match="`env_cls` must be a class"):
        ewok.register_kernel(env_cls, lambda env: env)
    with pytest.raises(ewok.errors.ArgumentError, match="`factory` must be a callable"):
        ewok.register_kernel(TwoGenerators, 3)  # type: ignore[arg-type]

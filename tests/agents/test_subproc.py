"""Worst kernels in other processes: the same trajectories, one value call, and nothing stale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import ArgumentError, ValueFunctionError, WrapperError

from .worlds import cartpole, needs

torch = needs("torch", "sb3")
sb3 = needs("stable_baselines3", "sb3")

from stable_baselines3.common.callbacks import ConvertCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack, VecNormalize

from ewok.agents.sb3 import SubprocWorstKernel, WorstKernelCallback

torch.set_num_threads(1)

NUM_ENVS = 3


@pytest.fixture
def apart() -> Iterator[Any]:
    """Makes vectors whose environments live in processes of their own, and ends these."""
    made: list[SubprocVecEnv] = []

    def make(env: Any = cartpole, num: int = NUM_ENVS) -> SubprocVecEnv:
        made.append(SubprocVecEnv([env] * num, start_method="fork"))
        return made[-1]

    yield make
    for vector in made:
        if not vector.closed:
            vector.close()


def ppo(vector: Any) -> Any:
    return sb3.PPO("MlpPolicy", vector, n_steps=16, batch_size=16, n_epochs=2, seed=0, device="cpu")


def trajectory(vector: Any, num_steps: int = 60) -> list[Any]:
    vector.seed(5)
    seen = [vector.reset()]
    for step in range(num_steps):
        observations, rewards, dones, infos = vector.step(np.full(vector.num_envs, step % 2))
        seen += [observations, rewards, dones, [info["ewok"]["index"] for info in infos]]
    return seen


def value(observations: Any) -> Any:
    return -np.abs(observations[:, 0].astype(np.float64))


def test_same_seeds_same_trajectories_as_in_one_process(apart: Any) -> None:
    remote, local = SubprocWorstKernel(apart()), DummyVecEnv([cartpole] * NUM_ENVS)
    ewok.bind(value, remote)
    ewok.bind(value, local)
    for one, other in zip(trajectory(remote), trajectory(local), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_agent_learns_the_same_as_in_one_process(apart: Any) -> None:
    """Through wrappers of the vector, whose statistics move; the value is asked here, so it is never stale."""
    wrap = [lambda v: VecNormalize(VecFrameStack(v, 2), gamma=0.9)]
    parameters = []
    for vector in (SubprocWorstKernel(apart()), DummyVecEnv([cartpole] * NUM_ENVS)):
        model = ppo(wrap[0](vector))
        ewok.bind(model)
        model.learn(16 * NUM_ENVS * 3)
        parameters.append([p.detach().numpy() for p in model.policy.parameters()])
    for one, other in zip(*parameters, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_one_call_of_the_value_for_all_candidates(apart: Any) -> None:
    vector, sizes = SubprocWorstKernel(apart()), []
    ewok.bind(lambda o: sizes.append(len(o)) or value(o), vector)  # type: ignore[func-returns-value]
    vector.reset()
    for _ in range(3):
        vector.step(np.zeros(NUM_ENVS, dtype=int))
    assert sizes == [10 * NUM_ENVS] * 3


def test_unbound_it_is_nominal_and_bound_later_it_is_not(apart: Any) -> None:
    vector = SubprocWorstKernel(apart())
    vector.seed(5)
    vector.reset()
    assert not any(info["ewok"]["bound"] for info in vector.step(np.zeros(NUM_ENVS, dtype=int))[3])
    model = ppo(vector)
    ewok.bind(model)
    assert all(info["ewok"]["bound"] for info in vector.step(np.zeros(NUM_ENVS, dtype=int))[3])
    with pytest.warns(ewok.EwokWarning, match="was bound to another PPO"):
        ewok.bind(ppo(vector))


def test_settings_change_while_training(apart: Any) -> None:
    model = ppo(SubprocWorstKernel(apart()))
    seen: list[float] = []

    def listen(scope: dict[str, Any], _: Any) -> bool:
        seen.extend(info["ewok"]["kappa"] for info in scope["infos"])
        return True

    schedule = WorstKernelCallback(kappa=lambda left: 1.0 + left)
    model.learn(16 * NUM_ENVS * 2, callback=[schedule, ConvertCallback(listen)])
    assert sorted(set(seen)) == [1.5, 2.0]
    model.get_env().env_method("set_wrapper_attr", "discount", 0.5)
    model.learn(16 * NUM_ENVS)
    assert all(kernel.discount == 0.5 for kernel in model.get_env().kernels)


def test_a_value_that_raises_says_so_here_and_the_workers_live_on(apart: Any) -> None:
    vector = SubprocWorstKernel(apart())

    def wrong(observations: Any) -> Any:
        raise ZeroDivisionError("nothing there")

    ewok.bind(wrong, vector)
    vector.reset()
    with pytest.raises(ValueFunctionError, match="raised ZeroDivisionError: nothing there"):
        vector.step(np.zeros(NUM_ENVS, dtype=int))
    ewok.bind(value, vector)
    assert all(info["ewok"]["bound"] for info in vector.step(np.zeros(NUM_ENVS, dtype=int))[3])


def test_what_cannot_be_wrapped_is_refused(apart: Any) -> None:
    with pytest.raises(WrapperError, match=r"Wrap it: SubprocWorstKernel\(vec_env\)"):
        ewok.bind(value, apart())
    with pytest.raises(ArgumentError, match="`venv` must be a SubprocVecEnv, but it is 'DummyVecEnv'"):
        SubprocWorstKernel(DummyVecEnv([cartpole]))  # type: ignore[arg-type]
    with pytest.raises(WrapperError, match="outermost in every process, but there it is"):
        SubprocWorstKernel(apart(lambda: gym.wrappers.TimeAwareObservation(cartpole()), 1))
    with pytest.raises(WrapperError, match="outermost in every process"):
        SubprocWorstKernel(apart(lambda: gym.make("CartPole-v1").unwrapped, 1))


def test_a_closed_vector_says_so(apart: Any) -> None:
    processes = apart()
    bound, unbound = SubprocWorstKernel(processes), SubprocWorstKernel(processes)
    ewok.bind(value, bound)
    bound.close()
    for call in (
        lambda: bound.step(np.zeros(NUM_ENVS, dtype=int)),
        bound.reset,
        lambda: ewok.bind(value, unbound),
        lambda: SubprocWorstKernel(processes),
    ):
        with pytest.raises(ArgumentError, match="`venv` must be open, but it is 'closed'. Its processes are gone"):
            call()


@pytest.mark.slow
def test_make_vec_env_with_processes_that_start_afresh() -> None:
    options: dict[str, Any] = {"wrapper_class": ewok.WorstKernel, "wrapper_kwargs": {"kappa": 0.2}, "seed": 3}
    vector = SubprocWorstKernel(make_vec_env("ewok/NoisyCartPole-v1", 2, vec_env_cls=SubprocVecEnv, **options))
    model = ppo(vector)
    ewok.bind(model)
    model.learn(64)
    vector.close()

"""A vector of environments that live in an estimate of their worst kernel."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Literal, final

import gymnasium as gym
from gymnasium.vector import AsyncVectorEnv, VectorEnv, VectorWrapper
from gymnasium.vector.utils import iterate

from ewok.errors import ArgumentError, WrapperError, require
from ewok.value import ValueFunction
from ewok.vector.batched import values_of_all
from ewok.vector.remote import RemoteKernel, linked, stepped
from ewok.worst.bind import bind
from ewok.worst.kernel import WorstKernel as SingleWorstKernel
from ewok.worst.score import Critic


@final
class WorstKernel(VectorWrapper):
    """`ewok.WorstKernel` for a vector: one call of the value function for the candidates of all environments.

    Same seeds, same trajectories as environments wrapped one by one.

    Args:
        envs: a vector whose environments live in this process, such as a `SyncVectorEnv`, with or without
            an `ewok.WorstKernel` each; or an `AsyncVectorEnv` whose environments have one each, outermost.
        kappa, radius, num_samples, discount, terminal_value: as for `ewok.WorstKernel`; left out where
            the environments have one already.
        value: a value function to start with; `ewok.bind` gives one later.

    Example:
        >>> import gymnasium as gym, ewok
        >>> envs = gym.make_vec("ewok/NoisyCartPole-v1", num_envs=3, vectorization_mode="sync")
        >>> envs = ewok.vector.WorstKernel(envs, num_samples=15, kappa=0.2)
        >>> value = ewok.bind(lambda observations: -abs(observations[:, 0]), envs)
        >>> observations, infos = envs.reset(seed=0)
        >>> envs.step(envs.action_space.sample())[-1]["ewok"]["bound"].all()
        np.True_
    """

    def __init__(
        self,
        envs: VectorEnv[Any, Any, Any],
        *,
        num_samples: int = 10,
        kappa: float | None = None,
        radius: float | None = None,
        discount: float | Literal["agent"] | None = None,
        terminal_value: float | None = 0.0,
        value: ValueFunction | None = None,
    ) -> None:
        super().__init__(envs)
        settings: dict[str, Any] = {"num_samples": num_samples, "kappa": kappa, "radius": radius}
        settings |= {"discount": discount, "terminal_value": terminal_value}
        given = kappa is not None or radius is not None
        if not given:
            _refuse_ignored(num_samples=num_samples, discount=discount, terminal_value=terminal_value)
        self.kernels: Sequence[SingleWorstKernel] | Sequence[RemoteKernel]
        if isinstance(envs, AsyncVectorEnv):
            self._workers = envs
            self.kernels = self._remote = _linked(envs, given)
            self._local: list[SingleWorstKernel] = []
        else:
            self.kernels = self._local = _wrapped(envs, settings if given else None)
            self._remote = []
        if value is not None:
            bind(value, self)

    def step(self, actions: Any) -> Any:
        if not self._remote:
            self._answer_ahead(actions)
            return self.env.step(actions)
        self._workers.step_async(actions)
        return stepped(self._remote, self._workers.parent_pipes, self._workers.step_wait)

    def _answer_ahead(self, actions: Any) -> None:
        """Draw for all environments, and ask once for the values by which their own steps will choose."""
        asked: list[tuple[SingleWorstKernel, Critic, Any]] = []
        try:
            for kernel, action in zip(self._local, iterate(self.action_space, actions), strict=True):
                if isinstance(kernel.critic, Critic) and not kernel.waiting:
                    asked.append((kernel, kernel.critic, None))
                    asked[-1] = (kernel, kernel.critic, kernel.ask(action))
            values = values_of_all([critic for _, critic, _ in asked], [seen for *_, seen in asked])
        except BaseException:
            for kernel, *_ in asked:
                kernel.answer(None)
            raise
        for (kernel, *_), answer in zip(asked, values, strict=True):
            kernel.answer(answer)


def _refuse_ignored(**settings: Any) -> None:
    """The environments have worst kernels with settings of their own, so any that is given here would do nothing."""
    for name, value in settings.items():
        default = inspect.signature(SingleWorstKernel).parameters[name].default
        remedy = f"Give `{name}` to each of them: ewok.WorstKernel(env, {name}={value!r}, ...)."
        require(
            value == default, name, "left out where the environments have worst kernels of their own", value, remedy
        )


def _wrapped(envs: VectorEnv[Any, Any, Any], settings: dict[str, Any] | None) -> list[SingleWorstKernel]:
    """The outermost worst kernel of each environment, made by `settings` where they are given."""
    singles = getattr(envs, "envs", None)
    if not isinstance(singles, list | tuple) or not all(isinstance(env, gym.Env) for env in singles):
        raise WrapperError(
            f"`envs` must be a vector that holds its environments, such as a SyncVectorEnv, but it is a "
            f"{type(envs).__name__}. Wrap that vector itself, and put wrappers of the vector around this one."
        )
    if settings is not None:
        kernels = [SingleWorstKernel(env, **settings) for env in singles]
        envs.envs = type(singles)(kernels)  # type: ignore[attr-defined]
        return kernels
    kernels = [env for env in singles if isinstance(env, SingleWorstKernel)]
    remedy = "Give kappa or radius here, or make every environment an ewok.WorstKernel, outermost."
    require(len(kernels) == len(singles), "kappa` or `radius", "given, exactly one of the two", "neither", remedy)
    return kernels


def _linked(envs: AsyncVectorEnv, given: bool) -> list[RemoteKernel]:
    """What stands for the worst kernels in the workers."""
    if given:
        raise ArgumentError(
            "`kappa` and `radius` must be given where the environments of an AsyncVectorEnv are made, but they are "
            "given here. Make each with `lambda: ewok.WorstKernel(gym.make(...), kappa=0.2)`."
        )
    most = getattr(envs, "max_concurrency", None)
    few = most is not None and most < envs.num_envs
    require(not few, "max_concurrency", "None, for all wait for one call of the value", most, "Leave it out.")

    def send(place: int, connection: Connection) -> None:
        envs.parent_pipes[place].send(("_call", ("listen", (connection,), {})))
        envs.parent_pipes[place].recv()

    remedy = "Make each environment with `lambda: ewok.WorstKernel(gym.make(...), kappa=0.2)`."
    return linked(envs, "envs", _called(envs, "class_name"), remedy, send)


def _called(envs: AsyncVectorEnv, name: str) -> Sequence[Any]:
    try:
        return envs.call(name)
    except AttributeError:
        return ["a bare simulator"]

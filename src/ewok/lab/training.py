"""Training one agent in one method's world, by the meaning of its trial."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import gymnasium as gym
import numpy as np

from ewok import worlds
from ewok.agents.recipes import exploration_noise
from ewok.errors import ArgumentError, require
from ewok.lab.record import Recorder, Tell
from ewok.named import named
from ewok.nominal.layers import wrappers_of
from ewok.value import value_of
from ewok.worlds import DomainRandomization, Perturbation, World
from ewok.worst.bind import bind
from ewok.worst.kernel import WorstKernel

Plain = Mapping[str, Any]
_OWN_STREAM = 1  # of a method's generator, beside the agent's


def training_world(meaning: Plain) -> gym.Env[Any, Any]:
    """The environment that a trial's method makes of the nominal one."""
    world, method = worlds.get(meaning["world"]), dict(meaning["method"])
    env, kind = world.make(), method.pop("kind")
    if kind == "baseline":
        return env
    if kind == "ewok":
        kept = {name: value for name, value in method.items() if name not in ("soft", "target")}
        return WorstKernel(env, **kept)
    if kind == "randomized":
        ranges = method.get("ranges", {})
        drawn = [_drawn(world, name, ranges.get(name)) for name in method["parameters"]]
        return DomainRandomization(env, world, drawn, method["distribution"])
    generator = np.random.default_rng([_OWN_STREAM, meaning["seed"]])
    before = {"observation": env.observation_space, "action": env.action_space}
    made = named(kind, "kind")(env, world, generator, **method["options"])
    require(isinstance(made, gym.Env), "kind", f"a function that returns an environment, as {kind}", made, "Return it.")
    after = {"observation": made.observation_space, "action": made.action_space}
    for name, space in before.items():  # agents are evaluated in the world as it is
        if after[name] != space:
            told = f"keeps the world's {name} space, {space}, but {kind} makes it {after[name]}"
            raise ArgumentError(
                f"`kind` must be a function that {' '.join(told.split())}. What scales or stacks belongs to the world."
            )
    return made  # type: ignore[no-any-return]


def _drawn(world: World, name: str, told: Plain | None) -> Perturbation:
    """A parameter with the range it is drawn from: the world's, unless the meaning says another."""
    parameter = world.perturbation(name)
    return parameter if told is None else replace(parameter, low=told["low"], high=told["high"], values=told["grid"])


def make_agent(meaning: Plain, env: gym.Env[Any, Any]) -> Any:
    """The agent, on `env`."""
    told, seed = meaning["agent"], meaning["seed"]
    made = named(told["agent"], "agent")
    is_class = inspect.isclass(made)
    if not is_class:
        env.reset(seed=seed)  # in case the function does not
        env.action_space.seed(seed)
        return made(env, seed)
    settings = dict(told["settings"])
    if told["networks"]:
        settings["policy_kwargs"] = dict(told["networks"])
    if told["exploration_std"] is not None:
        settings["action_noise"] = exploration_noise(env, told["exploration_std"])
    return made(told["policy"], env, seed=seed, **settings)


@final
@dataclass(frozen=True, eq=False)
class Training:
    """An agent in its world, before it learns.

    Attributes:
        agent: who learns.
        recorder: sees all of it.
        options: of the agent's `learn`.
        num_steps: for how long.
        logger: of what TensorBoard shows; None where there is none.
    """

    agent: Any
    recorder: Recorder
    options: Mapping[str, Any]
    num_steps: int
    logger: Any = None

    def learn(self) -> None:
        """All of it, from the first step to the last."""
        self.recorder.start()
        self.agent.learn(self.num_steps, **self.options)

    def close(self) -> None:
        """The world, and the files of the log; the agent stays as it is."""
        self.recorder.close()
        if self.logger is not None:
            self.logger.close()


def prepare(meaning: Plain, logs: Path | None = None, tell: Tell | None = None) -> Training:
    """Make a trial's world and agent, and bind the one to the other.

    Args:
        meaning: of the trial.
        logs: a folder for TensorBoard's files.
        tell: called now and then with the steps so far and the mean return of recent episodes.
    """
    num_steps = int(meaning["agent"]["num_steps"])
    env = Recorder(training_world(meaning), num_steps, tell)
    agent = make_agent(meaning, env)
    if not hasattr(agent, "learn"):
        path = meaning["agent"]["agent"]
        raise ArgumentError(f"`agent` must make something that has `learn(num_steps)`, but {path} does not.")
    told = {name: True for name in ("soft", "target") if meaning["method"].get(name, False)}
    callback = _bound(agent, env, told)
    logger = keep_log(agent, logs)
    return Training(agent, env, {} if callback is None else {"callback": callback}, num_steps, logger)


def keep_log(agent: Any, logs: Path | None) -> Any:
    """Let an agent of Stable-Baselines3's kind write what TensorBoard shows. Its logger; None for other agents."""
    if logs is None or not hasattr(agent, "set_logger"):
        return None
    configure = named("stable_baselines3.common.logger:configure", "logger")
    logger = configure(str(logs), ["tensorboard"])
    agent.set_logger(logger)
    return logger


def _bound(agent: Any, env: gym.Env[Any, Any], options: dict[str, bool]) -> Any:
    """Bind the agent if there is a worst kernel in its world. The callback that does it, where agents take one."""
    if not any(isinstance(layer, WorstKernel) for layer in wrappers_of(env)):
        return None
    if hasattr(agent, "set_logger"):
        return named("ewok.agents.callback:WorstKernelCallback", "callback")(**options)
    if value_of.knows(agent) or not hasattr(agent, "value"):
        bind(agent, env, **options)
    else:
        bind(agent.value, env)
    return None

"""Robust policies from any reinforcement-learning algorithm, by estimating the worst kernel."""

import gymnasium as gym

from ewok import errors, testing, vector
from ewok import nominal as nominal
from ewok import worlds as worlds
from ewok.errors import EwokError, EwokWarning
from ewok.nominal.kernel import Candidates, NominalKernel, register_kernel
from ewok.nominal.noise import ActionNoise, RandomAction, StateNoise
from ewok.nominal.passage import kernel_of
from ewok.nominal.snapshot import Snapshot, restore, snapshot
from ewok.value import ValueFunction, value_of
from ewok.worlds import cartpole
from ewok.worlds.randomize import DomainRandomization
from ewok.worst.bind import bind
from ewok.worst.kernel import WorstKernel

__version__ = "0.1.0"

__all__ = [
    "ActionNoise",
    "Candidates",
    "DomainRandomization",
    "EwokError",
    "EwokWarning",
    "NominalKernel",
    "RandomAction",
    "Snapshot",
    "StateNoise",
    "ValueFunction",
    "WorstKernel",
    "bind",
    "errors",
    "kernel_of",
    "register_kernel",
    "restore",
    "snapshot",
    "testing",
    "value_of",
    "vector",
]

cartpole.register()
gym.register(id="ewok/CliffWalking-v0", entry_point="ewok.tabular.cliff:CliffWalkingEnv", max_episode_steps=1_000)

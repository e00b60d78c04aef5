"""Families of environments whose physics can be moved on purpose: to train in one and test in many."""

from ewok.worlds import cartpole, classic, mujoco, walker
from ewok.worlds.adversary import adversary
from ewok.worlds.drift import Drift
from ewok.worlds.generic import GENERIC
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.points import across, along, cloud
from ewok.worlds.randomize import DomainRandomization
from ewok.worlds.vector import Episodes, WorldVector
from ewok.worlds.world import World, get, names, register, register_family

__all__ = [
    "GENERIC",
    "DomainRandomization",
    "Drift",
    "Episodes",
    "Perturbation",
    "World",
    "WorldVector",
    "across",
    "adversary",
    "along",
    "cloud",
    "get",
    "mujoco",
    "names",
    "register",
    "register_family",
]

walker.register()
for known in (cartpole.world, *walker.worlds, *classic.worlds, *mujoco.worlds):
    register(known)
register_family("dm_control", mujoco.suite_task, "any task of dm_control's suite, as in dm_control/cheetah-run [dmc]")

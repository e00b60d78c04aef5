"""Families of environments whose physics can be moved on purpose: to train in one and test in many."""

from ewok.worlds import cartpole, classic, walker
from ewok.worlds.adversary import adversary
from ewok.worlds.drift import Drift
from ewok.worlds.generic import GENERIC
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.points import across, along, cloud
from ewok.worlds.randomize import DomainRandomization
from ewok.worlds.vector import Episodes, WorldVector
from ewok.worlds.world import World, get, names, register

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
    "names",
    "register",
]

walker.register()
for world in (cartpole.world, *classic.worlds, *walker.worlds):
    register(world)

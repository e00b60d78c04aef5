"""Families of environments whose physics can be moved on purpose: to train in one and test in many."""

from ewok.worlds import cartpole, classic
from ewok.worlds.drift import Drift
from ewok.worlds.generic import GENERIC
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.randomize import DomainRandomization
from ewok.worlds.vector import WorldVector
from ewok.worlds.world import World, get, names, register

__all__ = [
    "GENERIC",
    "DomainRandomization",
    "Drift",
    "Perturbation",
    "World",
    "WorldVector",
    "get",
    "names",
    "register",
]

for world in (cartpole.world, *classic.worlds):
    register(world)

"""Families of environments whose physics can be moved on purpose: to train in one and test in many."""

from ewok.worlds import cartpole as cartpole
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.vector import WorldVector
from ewok.worlds.world import World, get, names, register

__all__ = ["Perturbation", "World", "WorldVector", "get", "names", "register"]

register(cartpole.world)

"""Many environments at once: one call of the value function for the candidates of all of them."""

from ewok.vector.kernel import WorstKernel
from ewok.vector.members import register_all

__all__ = ["WorstKernel"]

register_all()

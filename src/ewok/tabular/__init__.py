"""Exact robust MDPs: the ground truth the estimate is measured against, and solvers worth using alone.

Needs `pip install 'ewok[tabular]'`.
"""

from ewok.errors import require_package

for _package in ("scipy", "numba"):
    require_package(_package, "tabular")

from ewok.tabular.cliff import cliff_walking, paper_worst_kernel
from ewok.tabular.estimate import EstimatedKernel, estimated_kernel
from ewok.tabular.horizon import FiniteHorizonSolution, finite_horizon
from ewok.tabular.mdp import TabularMDP
from ewok.tabular.modified import modified_policy_iteration
from ewok.tabular.price import PriceOfRobustness, price_of_robustness
from ewok.tabular.qlearning import EWoKLearning, QTable, ewok_q_learning, q_learning
from ewok.tabular.samples import confidence_set
from ewok.tabular.sets import KL, L1, L2, TV, Burg, ChiSquare, Contamination, LInf, UncertaintySet
from ewok.tabular.solution import NotConvergedError, Solution
from ewok.tabular.solve import robust_policy_evaluation, robust_value_iteration, value_iteration
from ewok.tabular.worst import KLWorstKernel, kernel_iterates, policy_value, worst_kernel

__all__ = [
    "KL",
    "L1",
    "L2",
    "TV",
    "Burg",
    "ChiSquare",
    "Contamination",
    "EWoKLearning",
    "EstimatedKernel",
    "FiniteHorizonSolution",
    "KLWorstKernel",
    "LInf",
    "NotConvergedError",
    "PriceOfRobustness",
    "QTable",
    "Solution",
    "TabularMDP",
    "UncertaintySet",
    "cliff_walking",
    "confidence_set",
    "estimated_kernel",
    "ewok_q_learning",
    "finite_horizon",
    "kernel_iterates",
    "modified_policy_iteration",
    "paper_worst_kernel",
    "policy_value",
    "price_of_robustness",
    "q_learning",
    "robust_policy_evaluation",
    "robust_value_iteration",
    "value_iteration",
    "worst_kernel",
]

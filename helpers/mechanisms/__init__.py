"""Noise on one count: what error it leaves in closed form, how to simulate it, and what it promises.

One file a mechanism, behind the interface of `base`. `guarantees` translates what a budget promises.
"""

from .base import Mechanism, check_mechanism
from .discrete_laplace import DISCRETE_LAPLACE
from .gaussian import GAUSSIAN
from .laplace import LAPLACE, bias, mse, variance

MECHANISMS: tuple[Mechanism, ...] = (LAPLACE, DISCRETE_LAPLACE, GAUSSIAN)

__all__ = [
    "DISCRETE_LAPLACE",
    "GAUSSIAN",
    "LAPLACE",
    "MECHANISMS",
    "Mechanism",
    "bias",
    "check_mechanism",
    "mse",
    "variance",
]

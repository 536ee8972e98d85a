"""What every noise can be asked: the error of one clipped count, what the solver needs to know of it, and a draw.

A mechanism releases Ñ = max(0, N + X) with noise X that a budget b scales. What b buys depends on the mechanism:

    LAPLACE           X ~ Lap(1/ε)                       b = ε, pure differential privacy
    DISCRETE_LAPLACE  P(X = k) ∝ exp(−ε|k|), k whole     b = ε, pure differential privacy
    GAUSSIAN          X ~ Normal(0, 1/(2ρ))              b = ρ, zero-concentrated differential privacy (zCDP)

    n: true count · b: budget

Bias is in people, variance and MSE are in people squared. A count may be a fraction (a prior spread evenly): for whole
noise, the formulas then run smoothly between whole counts.
"""

from abc import ABC, abstractmethod
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import checks

# exp(-746) is 0.0 in double precision, so a larger x changes nothing, and capping it keeps x³·exp(-x) from being inf·0.
X_MAX = 4000.0


class Mechanism(ABC):
    """Noise on one count, clipped at zero: its error in closed form, and a way to simulate it.

    `bias`, `variance` and `mse` check what they get. `bias_unchecked`, `mse_unchecked` and `derivatives`, which are called
    with counts and budgets that were checked before, do not.
    """

    name: ClassVar[str]
    symbol: ClassVar[str]  # of the budget
    power: ClassVar[int]  # the marginal error −∂MSE/∂b of a large count falls like b^(−power), for small b at least
    scale_free: ClassVar[bool] = True  # is the noise one shape that b stretches? Then it falls like that at every b
    empty_mse: ClassVar[float] = 1.0  # MSE·b^(power−1) of an empty count, for small b; a large count has twice that
    largest: ClassVar[float] = inf  # a larger budget leaves an error that doubles cannot tell from zero

    def bias(self, n: ArrayLike, budget: ArrayLike) -> np.ndarray:
        """E[Ñ] − N, in people.

        >>> from helpers.mechanisms import GAUSSIAN
        >>> float(GAUSSIAN.bias(0, 0.5).round(4))
        0.3989
        """
        return self.bias_unchecked(*self._checked(n, budget))

    def variance(self, n: ArrayLike, budget: ArrayLike) -> np.ndarray:
        """Var(Ñ) = MSE − bias², in people squared. Bias² is at most a third of the MSE, so nothing cancels.

        >>> from helpers.mechanisms import DISCRETE_LAPLACE
        >>> float(DISCRETE_LAPLACE.variance(1000, 1).round(4))
        1.8413
        """
        return self.mse(n, budget) - self.bias(n, budget) ** 2

    def mse(self, n: ArrayLike, budget: ArrayLike) -> np.ndarray:
        """E[(Ñ − N)²], in people squared.

        >>> from helpers.mechanisms import MECHANISMS
        >>> [float(kind.mse(1000, 0.5).round(4)) for kind in MECHANISMS]
        [8.0, 7.8354, 1.0]
        """
        return self.mse_unchecked(*self._checked(n, budget))

    def noise_variance(self, budget: ArrayLike) -> np.ndarray:
        """Var(X) of the noise itself, before any clipping, in people squared: the most that the MSE of a count can be.

        >>> from helpers.mechanisms import MECHANISMS
        >>> [round(float(kind.noise_variance(0.5)), 4) for kind in MECHANISMS]
        [8.0, 7.8354, 1.0]
        """
        return 2 * self.mse(0, budget)  # the noise is symmetric, so clipping at zero takes off half of its square

    @abstractmethod
    def bias_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The bias, of arguments that are known to be right."""

    @abstractmethod
    def mse_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The MSE, of arguments that are known to be right."""

    @abstractmethod
    def derivatives(self, n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Marginal error −∂MSE/∂b and curvature ∂²MSE/∂b², both above zero, of arguments that are known to be right."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, budget: float, out: np.ndarray) -> None:
        """Fill `out` with simulated noise of this kind."""

    def _checked(self, n: ArrayLike, budget: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        counts, b = checks.counts("n", n), checks.positives("budget", budget)
        checks.fitting(n=counts, budget=b)
        self.check_largest("budget", b)
        return counts, b

    def check_largest(self, name: str, b: np.ndarray | float) -> None:
        """Refuse budgets that leave no error at all."""
        if self.largest < inf and np.any(b > self.largest):
            raise ValueError(f"{name} must be at most {self.largest:g} for {self.name} noise, got {np.max(b):g}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)  # it has no state, so a copy, from another process say, is the same mechanism

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"<{self.name} noise, budget {self.symbol}>"


def check_mechanism(value: Any) -> Mechanism:
    """Return `value` if it is a mechanism.

    >>> check_mechanism("gauss")
    Traceback (most recent call last):
    TypeError: mechanism must be one of helpers.mechanisms, such as LAPLACE, got 'gauss'
    """
    if not isinstance(value, Mechanism):
        raise TypeError(f"mechanism must be one of helpers.mechanisms, such as LAPLACE, got {value!r}")
    return value

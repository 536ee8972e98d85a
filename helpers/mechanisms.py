"""Three noises behind one interface: the error of one clipped count, and what the solver needs to know of it.

A mechanism releases Ñ = max(0, N + X) with noise X that a budget b scales. What b buys depends on the mechanism:

    LAPLACE           X ~ Lap(1/ε)                       b = ε, pure differential privacy
    DISCRETE_LAPLACE  P(X = k) ∝ exp(−ε|k|), k whole     b = ε, pure differential privacy
    GAUSSIAN          X ~ Normal(0, 1/(2ρ))              b = ρ, zero-concentrated differential privacy (zCDP)

    n: true count · b: budget · x = εN · t = tanh(ε/2) · v = N t · a = N/σ; all but n and b are pure numbers

Bias is in people, variance and MSE are in people squared. As in `mechanism`, a count may be a fraction (a prior spread
evenly): for the discrete noise, the formulas then run smoothly between whole counts.
"""

from abc import ABC, abstractmethod
from math import inf, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from . import checks, mechanism, noise
from .mechanism import X_MAX


class Mechanism(ABC):
    """Noise on one count, clipped at zero: its error in closed form, and a way to simulate it.

    `bias`, `variance` and `mse` check what they get. `error` and `derivatives`, which the solver calls, do not.
    """

    name: ClassVar[str]
    symbol: ClassVar[str]  # of the budget
    power: ClassVar[int]  # the marginal error −∂MSE/∂b of a large count falls like b^(−power), for small b at least
    least: ClassVar[float] = 1.0  # MSE·b^(power−1) of an empty count, for small b; a large count has twice that
    steady: ClassVar[bool] = True  # does it fall like that power at every b?
    largest: ClassVar[float] = inf  # a larger budget leaves an error that doubles cannot tell from zero

    def bias(self, n: ArrayLike, budget: ArrayLike) -> np.ndarray | float:
        """E[Ñ] − N, in people.

        >>> float(GAUSSIAN.bias(0, 0.5).round(4))
        0.3989
        """
        return self._bias(*self._checked(n, budget))

    def variance(self, n: ArrayLike, budget: ArrayLike) -> np.ndarray | float:
        """Var(Ñ) = MSE − bias², in people squared. Bias² is at most a third of the MSE, so nothing cancels.

        >>> float(DISCRETE_LAPLACE.variance(1000, 1).round(4))
        1.8413
        """
        return self.mse(n, budget) - self.bias(n, budget) ** 2

    def mse(self, n: ArrayLike, budget: ArrayLike) -> np.ndarray | float:
        """E[(Ñ − N)²], in people squared.

        >>> [float(kind.mse(1000, 0.5).round(4)) for kind in MECHANISMS]
        [8.0, 7.8354, 1.0]
        """
        return self.error(*self._checked(n, budget))

    def noise_variance(self, budget: ArrayLike) -> np.ndarray | float:
        """Var(X) of the noise itself, before any clipping, in people squared: twice the MSE of an empty count.

        >>> [round(float(kind.noise_variance(0.5)), 4) for kind in MECHANISMS]
        [8.0, 7.8354, 1.0]
        """
        return 2 * self.mse(0, budget)  # the noise is symmetric, so clipping at zero takes off half of its square

    @abstractmethod
    def error(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The MSE, of arguments that are known to be right."""

    @abstractmethod
    def derivatives(self, n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Marginal error −∂MSE/∂b and curvature ∂²MSE/∂b², both above zero, of arguments that are known to be right."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, budget: float, out: np.ndarray) -> None:
        """Fill `out` with simulated noise of this kind."""

    @abstractmethod
    def _bias(self, n: np.ndarray, b: np.ndarray) -> np.ndarray: ...

    def _checked(self, n: ArrayLike, budget: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        n, b = checks.counts("n", n), checks.positives("budget", budget)
        checks.fitting(n=n, budget=b)
        self.check_largest("budget", b)
        return n, b

    def check_largest(self, name: str, b: np.ndarray | float) -> None:
        """Refuse budgets that leave no error at all."""
        if self.largest < inf and np.any(b > self.largest):
            raise ValueError(f"{name} must be at most {self.largest:g} for {self.name} noise, got {np.max(b):g}")

    def __repr__(self) -> str:
        return f"<{self.name} noise, budget {self.symbol}>"


class _Laplace(Mechanism):
    """X ~ Lap(1/ε): the formulas of `mechanism`, Propositions 1 to 3."""

    name, symbol, power = "Laplace", "ε", 3

    def error(self, n, b):
        return mechanism.h(n * b) / b / b

    def derivatives(self, n, b):
        slope, curvature = mechanism.h_slope_and_curvature(n * b)
        unit = 1 / (b * b * b)  # products, because powers of arrays are slow
        return slope * unit, curvature * (unit / b)

    def draw(self, rng, budget, out):
        noise.simulated_laplace(rng, 1 / budget, out)

    def _bias(self, n, b):
        return mechanism.bias(n, b)


class _DiscreteLaplace(Mechanism):
    """P(X = k) = t exp(−ε|k|) with t = tanh(ε/2).

        bias = exp(−x) / (2 sinh ε)
        MSE  = q [2 − (1 + 2v) exp(−x)],   q = 1/(4 sinh²(ε/2))
        −MSE′ = (q/t) A,                   A = 2 − (1 + 2v + 2v² + v t²) exp(−x)
        MSE″ = (q/t²) [(3 − t²)/2 · A − v (2v² + 3v t² + (3t² − 1) t²/2) exp(−x)]

    For small ε, 2v is x and 4 sinh²(ε/2) is ε²: the Laplace formulas.
    """

    name, symbol, power, steady = "discrete Laplace", "ε", 3, False  # whole noise: exp(−b) for large b
    largest = 600.0  # the error is then below 1e-260

    def error(self, n, b):
        v, _, decay, q = self._parts(n, b)
        return q * (2 - (1 + 2 * v) * decay)

    def derivatives(self, n, b):
        v, t, decay, q = self._parts(n, b)
        t2 = t * t
        a = 2 - (1 + v * (2 + 2 * v + t2)) * decay
        return q / t * a, q / t2 * ((3 - t2) / 2 * a - v * (v * (2 * v + 3 * t2) + (3 * t2 - 1) * t2 / 2) * decay)

    def draw(self, rng, budget, out):
        noise.simulated_discrete_laplace(rng, 1 / budget, out)

    def _bias(self, n, b):
        root = np.exp(-np.minimum(n * b, X_MAX) / 2)  # in two halves, as in `mechanism.bias`
        return root / (2 * np.sinh(b)) * root

    @staticmethod
    def _parts(n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
        t = np.tanh(b / 2)
        return np.minimum(n * t, X_MAX), t, np.exp(-np.minimum(n * b, X_MAX)), 1 / (2 * np.sinh(b / 2)) ** 2


class _Gaussian(Mechanism):
    """X ~ Normal(0, σ²) with σ² = 1/(2ρ); φ and Φ are the standard normal density and distribution.

        bias = σ [φ(a) − a Φ(−a)]
        MSE  = σ² [Φ(a) − a φ(a) + a² Φ(−a)]
        −MSE′ = A/(2ρ²),  A = Φ(a) − a φ(a)
        MSE″ = (A − a³ φ(a)/4)/ρ³
    """

    name, symbol, power, least = "Gaussian", "ρ", 2, 0.25

    def error(self, n, b):
        from scipy.special import ndtr

        a, density, below = self._parts(n, b)
        return (ndtr(a) - a * density + a * a * below) / (2 * b)

    def derivatives(self, n, b):
        from scipy.special import ndtr

        a, density, _ = self._parts(n, b)
        slope = ndtr(a) - a * density
        return slope / (2 * b * b), (slope - a**3 * density / 4) / b**3

    def draw(self, rng, budget, out):
        noise.simulated_gaussian(rng, 1 / sqrt(2 * budget), out)

    def _bias(self, n, b):
        from scipy.special import erfcx

        a, _, _ = self._parts(n, b)
        mills = sqrt(np.pi / 2) * erfcx(a / sqrt(2))  # Φ(−a)/φ(a): as a quotient it does not underflow
        root = np.exp(-a * a / 4)  # φ(a) in two halves, as in `mechanism.bias`
        return root * ((1 - a * mills) / np.sqrt(4 * np.pi * b)) * root

    @staticmethod
    def _parts(n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
        from scipy.special import ndtr

        a = np.minimum(n * np.sqrt(2 * b), X_MAX)
        return a, np.exp(-a * a / 2) / sqrt(2 * np.pi), ndtr(-a)


LAPLACE, DISCRETE_LAPLACE, GAUSSIAN = _Laplace(), _DiscreteLaplace(), _Gaussian()
MECHANISMS = (LAPLACE, DISCRETE_LAPLACE, GAUSSIAN)


def check_mechanism(value: Any) -> Mechanism:
    """Return `value` if it is a mechanism.

    >>> check_mechanism("gauss")
    Traceback (most recent call last):
    TypeError: mechanism must be LAPLACE, DISCRETE_LAPLACE or GAUSSIAN of helpers.mechanisms, got 'gauss'
    """
    if not isinstance(value, Mechanism):
        raise TypeError(f"mechanism must be LAPLACE, DISCRETE_LAPLACE or GAUSSIAN of helpers.mechanisms, got {value!r}")
    return value

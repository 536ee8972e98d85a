"""Normal noise, X ~ Normal(0, 1/(2ρ)): weaker than pure differential privacy, and cheaper over many levels.

σ² = 1/(2ρ), in people squared · a = N/σ, a pure number · φ, Φ: the standard normal density and distribution
"""

from math import sqrt

import numpy as np

from .base import X_MAX, Mechanism


class _Gaussian(Mechanism):
    """X ~ Normal(0, σ²) with σ² = 1/(2ρ).

    bias = σ [φ(a) − a Φ(−a)]
    MSE  = σ² [Φ(a) − a φ(a) + a² Φ(−a)]
    −MSE′ = A/(2ρ²),  A = Φ(a) − a φ(a)
    MSE″ = (A − a³ φ(a)/4)/ρ³
    """

    name, symbol, power, empty_mse = "Gaussian", "ρ", 2, 0.25

    def bias_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        from scipy.special import erfcx

        a, _, _ = self._parts(n, b)
        mills = sqrt(np.pi / 2) * erfcx(a / sqrt(2))  # Φ(−a)/φ(a): as a quotient it does not underflow
        root = np.exp(-a * a / 4)  # φ(a) in two halves, as for Laplace noise
        return root * ((1 - a * mills) / np.sqrt(4 * np.pi * b)) * root

    def mse_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr

        a, density, below = self._parts(n, b)
        return (ndtr(a) - a * density + a * a * below) / (2 * b)

    def derivatives(self, n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from scipy.special import ndtr

        a, density, _ = self._parts(n, b)
        slope = ndtr(a) - a * density
        return slope / (2 * b * b), (slope - a**3 * density / 4) / b**3

    def draw(self, rng: np.random.Generator, budget: float, out: np.ndarray) -> None:
        simulated_gaussian(rng, 1 / sqrt(2 * budget), out)

    @staticmethod
    def _parts(n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
        from scipy.special import ndtr

        a = np.minimum(n * np.sqrt(2 * b), X_MAX)
        return a, np.exp(-a * a / 2) / sqrt(2 * np.pi), ndtr(-a)


GAUSSIAN = _Gaussian()


def simulated_gaussian(rng: np.random.Generator, scale: float, out: np.ndarray) -> None:
    """Fill `out` with normal noise of standard deviation `scale`, for simulation only.

    >>> noise = np.empty(1000)
    >>> simulated_gaussian(np.random.default_rng(1), 2.0, noise)
    >>> float(noise.std().round(0))
    2.0
    """
    rng.standard_normal(out=out)
    out *= scale

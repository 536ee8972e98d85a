"""Laplace noise in whole numbers: P(X = k) ∝ exp(−ε|k|), what a release that may be published is made with.

x = ε N · t = tanh(ε/2) · v = N t, all of them pure numbers
"""

import numpy as np

from .base import X_MAX, Mechanism


class _DiscreteLaplace(Mechanism):
    """P(X = k) = t exp(−ε|k|) with t = tanh(ε/2).

        bias = exp(−x) / (2 sinh ε)
        MSE  = q [2 − (1 + 2v) exp(−x)],   q = 1/(4 sinh²(ε/2))
        −MSE′ = (q/t) A,                   A = 2 − (1 + 2v + 2v² + v t²) exp(−x)
        MSE″ = (q/t²) [(3 − t²)/2 · A − v (2v² + 3v t² + (3t² − 1) t²/2) exp(−x)]

    For small ε, 2v is x and 4 sinh²(ε/2) is ε²: the Laplace formulas.
    """

    name, symbol, power, scale_free = "discrete Laplace", "ε", 3, False  # whole noise: exp(−b) for large b
    largest = 600.0  # the error is then below 1e-260

    def bias_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        root = np.exp(-np.minimum(n * b, X_MAX) / 2)  # in two halves, as for Laplace noise
        return root / (2 * np.sinh(b)) * root

    def mse_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        v, _, decay, q = self._parts(n, b)
        return q * (2 - (1 + 2 * v) * decay)

    def derivatives(self, n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        v, t, decay, q = self._parts(n, b)
        t2 = t * t
        a = 2 - (1 + v * (2 + 2 * v + t2)) * decay
        return q / t * a, q / t2 * ((3 - t2) / 2 * a - v * (v * (2 * v + 3 * t2) + (3 * t2 - 1) * t2 / 2) * decay)

    def draw(self, rng: np.random.Generator, budget: float, out: np.ndarray) -> None:
        simulated_discrete_laplace(rng, 1 / budget, out)

    @staticmethod
    def _parts(n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
        t = np.tanh(b / 2)
        return np.minimum(n * t, X_MAX), t, np.exp(-np.minimum(n * b, X_MAX)), 1 / (2 * np.sinh(b / 2)) ** 2


DISCRETE_LAPLACE = _DiscreteLaplace()


def simulated_discrete_laplace(rng: np.random.Generator, scale: float, out: np.ndarray) -> None:
    """Fill `out` with whole numbers k of probability ∝ exp(−|k|/scale), for simulation only.

    An exponential number rounded down is geometric, and the difference of two geometric numbers is discrete Laplace.

    >>> noise = np.empty(1000)
    >>> simulated_discrete_laplace(np.random.default_rng(1), 1.0, noise)
    >>> bool((noise == noise.round()).all())
    True
    """
    rng.standard_exponential(out=out)
    out *= scale
    np.floor(out, out=out)
    out -= np.floor(scale * rng.standard_exponential(out.size))

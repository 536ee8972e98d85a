"""One count: the error of Laplace noise that is clipped at zero, in closed form (Propositions 1 to 4).

The mechanism is  Ñ = max(0, N + Lap(1/ε))  for a true count N ≥ 0 and a budget ε > 0.

    n: true count, in people · eps: budget ε of the count · x = ε N, a pure number

All functions broadcast. Bias is in people; variance and MSE are in people squared. Nothing here cancels:
each bracket below lies between two positive constants, so the results are exact to a few units in the last place.
"""

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .base import X_MAX, Mechanism

# From here on, h and its derivatives are at their limits, to the last bit; and exp(−x) is far from the numbers below
# 1e-308, which are slow to compute with.
_FLAT = 100.0
# (256, 8) the bits of every byte as signs: one look-up turns a random byte into eight random signs.
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)


def bias(n: ArrayLike, eps: ArrayLike) -> np.ndarray:
    """E[Ñ] − N = exp(−εN) / (2ε), Proposition 1, in people.

    >>> float(bias(0, 0.5))
    1.0
    """
    return LAPLACE.bias_unchecked(*_checked(n, eps))


def variance(n: ArrayLike, eps: ArrayLike) -> np.ndarray:
    """Var(Ñ) = [2 − (1+x) exp(−x) − exp(−2x)/4] / ε² with x = εN, Proposition 2, in people squared.

    >>> float(variance(0, 0.5)), float(variance(1e6, 0.5))
    (3.0, 8.0)
    """
    counts, e = _checked(n, eps)
    x = np.minimum(counts * e, X_MAX)
    return (h(x) - np.exp(-2 * x) / 4) / e / e


def mse(n: ArrayLike, eps: ArrayLike) -> np.ndarray:
    """E[(Ñ − N)²] = h(εN) / ε², the paper's equation for the MSE, in people squared.

    >>> float(mse(0, 0.5)), float(mse(1e6, 0.5))
    (4.0, 8.0)
    """
    return LAPLACE.mse_unchecked(*_checked(n, eps))


def h(x: np.ndarray) -> np.ndarray:
    """The shape of the MSE: h(x) = 2 − (1+x) exp(−x), growing from 1 at x = 0 towards 2 (Proposition 4).

    >>> float(h(np.array(0.0)))
    1.0
    """
    x = np.minimum(x, _FLAT)
    return 2 - (1 + x) * np.exp(-x)


def h_slope_and_curvature(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shapes of the derivatives: ∂MSE/∂ε = −a(x)/ε³ and ∂²MSE/∂ε² = b(x)/ε⁴, as the pair (a, b).

    a(x) = 4 − (x² + 2x + 2) exp(−x) grows from 2 towards 4; b(x) = 12 − (x³ + 3x² + 6x + 6) exp(−x) grows from 6
    towards 12. So the MSE falls in ε and is strictly convex (Proposition 3), at N = 0 too.

    >>> [float(v) for v in h_slope_and_curvature(np.array(0.0))]
    [2.0, 6.0]
    """
    x = np.minimum(x, _FLAT)
    decay = np.exp(-x)
    x_decay = x * decay
    xx_decay = x * x_decay
    a = 4 - xx_decay - 2 * (x_decay + decay)
    return a, 3 * a - x * xx_decay


def _checked(n: ArrayLike, eps: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    counts, e = checks.counts("n", n), checks.positives("eps", eps)
    checks.fitting(n=counts, eps=e)
    return counts, e


class _Laplace(Mechanism):
    """X ~ Lap(1/ε): the formulas above."""

    name, symbol, power = "Laplace", "ε", 3

    def bias_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        root = np.exp(-np.minimum(n * b, X_MAX) / 2)  # in two halves: exp(−x) may underflow where a tiny ε lifts the bias
        return root / (2 * b) * root

    def mse_unchecked(self, n: np.ndarray, b: np.ndarray) -> np.ndarray:
        return h(n * b) / b / b  # not / b**2, which overflows where the quotient is merely tiny

    def derivatives(self, n: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope, curvature = h_slope_and_curvature(n * b)
        cube = b * b * b  # products, because powers of arrays are slow
        return slope / cube, curvature / (cube * b)

    def draw(self, rng: np.random.Generator, budget: float, out: np.ndarray) -> None:
        simulated_laplace(rng, 1 / budget, out)


LAPLACE = _Laplace()


def simulated_laplace(rng: np.random.Generator, scale: float, out: np.ndarray) -> None:
    """Fill `out` with Laplace noise, for simulation only: exponential sizes with random signs, without a logarithm.

    >>> noise = np.empty(1000)
    >>> simulated_laplace(np.random.default_rng(1), 2.0, noise)
    >>> float(np.abs(noise).mean().round(1))  # the mean size is the scale
    2.0
    """
    rng.standard_exponential(out=out)
    coins = np.frombuffer(rng.bytes(-(-out.size // 8)), dtype=np.uint8)
    out *= (scale * _SIGNS).take(coins, axis=0).ravel()[: out.size]

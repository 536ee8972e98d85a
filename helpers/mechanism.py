"""One count: the error of Laplace noise that is clipped at zero, in closed form.

The mechanism is  Ñ = max(0, N + Lap(1/ε))  for a true count N ≥ 0 and a budget ε > 0.

    n: true count, in people · eps: budget ε of the count · x = ε N, a pure number

All functions broadcast. Bias is in people; variance and MSE are in people squared. Nothing here cancels:
each bracket below lies between two positive constants, so the results are exact to a few units in the last place.
"""

import numpy as np
from numpy.typing import ArrayLike

from . import checks

# exp(-746) is 0.0 in double precision, so a larger x changes nothing, and capping it keeps x³·exp(-x) from being inf·0.
X_MAX = 4000.0


def bias(n: ArrayLike, eps: ArrayLike) -> np.ndarray | float:
    """E[Ñ] − N = exp(−εN) / (2ε), Proposition 1, in people.

    >>> float(bias(0, 0.5))
    1.0
    """
    x, eps = _scaled(n, eps)
    root = np.exp(-x / 2)  # in two halves: exp(-x) alone may underflow where a tiny ε lifts the bias back into range
    return root / (2 * eps) * root


def variance(n: ArrayLike, eps: ArrayLike) -> np.ndarray | float:
    """Var(Ñ) = [2 − (1+x) exp(−x) − exp(−2x)/4] / ε² with x = εN, Proposition 2, in people squared.

    >>> float(variance(0, 0.5)), float(variance(1e6, 0.5))
    (3.0, 8.0)
    """
    x, eps = _scaled(n, eps)
    return (h(x) - np.exp(-2 * x) / 4) / eps / eps


def mse(n: ArrayLike, eps: ArrayLike) -> np.ndarray | float:
    """E[(Ñ − N)²] = h(εN) / ε², the paper's equation for the MSE, in people squared.

    >>> float(mse(0, 0.5)), float(mse(1e6, 0.5))
    (4.0, 8.0)
    """
    x, eps = _scaled(n, eps)
    return h(x) / eps / eps  # not / eps**2, which overflows where the quotient is merely tiny


def h(x: np.ndarray) -> np.ndarray:
    """The shape of the MSE: h(x) = 2 − (1+x) exp(−x), growing from 1 at x = 0 towards 2 (Proposition 4).

    >>> float(h(np.array(0.0)))
    1.0
    """
    x = np.minimum(x, X_MAX)
    return 2 - (1 + x) * np.exp(-x)


def h_slope_and_curvature(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shapes of the derivatives: ∂MSE/∂ε = −a(x)/ε³ and ∂²MSE/∂ε² = b(x)/ε⁴, as the pair (a, b).

    a(x) = 4 − (x² + 2x + 2) exp(−x) grows from 2 towards 4; b(x) = 12 − (x³ + 3x² + 6x + 6) exp(−x) grows from 6
    towards 12. So the MSE falls in ε and is strictly convex (Proposition 3), at N = 0 too.

    >>> [float(v) for v in h_slope_and_curvature(np.array(0.0))]
    [2.0, 6.0]
    """
    x = np.minimum(x, X_MAX)
    decay = np.exp(-x)
    x_decay = x * decay
    xx_decay = x * x_decay
    a = 4 - xx_decay - 2 * (x_decay + decay)
    return a, 3 * a - x * xx_decay


def _scaled(n: ArrayLike, eps: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Checked inputs as (x, ε) with x = εN."""
    n, eps = checks.counts("n", n), checks.positives("eps", eps)
    checks.fitting(n=n, eps=eps)
    return np.minimum(n * eps, X_MAX), eps

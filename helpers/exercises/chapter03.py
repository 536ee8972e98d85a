"""The exercises of chapter 3."""

import numpy as np
from scipy.special import ndtr

from .. import bias, mse, variance
from . import Exercise, FunctionExercise


def _five(
    full: float | None = None, empty: float = 1, safe: float = 1.0, nodes: int = 1000, eps: float = 0.5
) -> list[float]:
    """Both bounds, the error with 20 people each and with none, in units of 1/ε² a node; and the safe budget."""
    each = eps**2 * mse(20, eps) if full is None else full
    return [*(np.array([1, 2, each, empty]) * nodes / eps**2), safe]


def _gauss(a: float) -> float:
    """MSE of a clipped count, Gaussian noise of variance 1, at a = N/σ."""
    density = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi)
    return ndtr(a) - a * density + a**2 * ndtr(-a)


def _layers(end: float, eps: float) -> np.ndarray:
    """The integral of y exp(−εy) from 0 to `end`."""
    return mse(end, eps) - mse(0, eps)


EXERCISES = {
    "ex-03-bounds": Exercise(
        _five,
        "One node's error lies between 1/ε² and 2/ε². Five numbers: two bounds, full, empty, and the budget.",
        (lambda: _five(full=2), "Twenty people are many, but the upper bound is never reached. What is missing at x = εN?"),
        (lambda: _five(safe=np.sqrt(0.5)), "The budget is safe if even the *upper* bound stays within the limit."),
        (lambda: _five(full=1, empty=2), "The ends are swapped: clipping helps an empty node most."),
        (lambda: _five(eps=1.0), "These belong to ε = 1. Here the budget is half of that."),
        (lambda: _five(nodes=1), "These are the errors of one node. The level has many."),
        (lambda: [*np.array(_five()[:4]) / 2, 1.0], "The error falls with the *square* of ε."),
        rtol=1e-4,
    ),
    "ex-03-share": FunctionExercise(
        lambda: lambda x: bias(x, 1) ** 2 / mse(x, 1),
        "Divide the square of the bias by the MSE. With x = εN, the powers of ε cancel.",
        (lambda: lambda x: bias(x, 1) / mse(x, 1), "Square the bias: the MSE is Bias² + Var."),
        (lambda: lambda x: bias(x, 1) ** 2 / variance(x, 1), "That is Bias² over the variance. The share is of their sum."),
        (lambda: lambda x: np.exp(-2 * x) / mse(x, 1), "The bias is *half* of exp(−εN)/ε, and the half is squared too."),
        (lambda: lambda x: variance(x, 1) / mse(x, 1), "That is the share of the variance."),
        cases=[(0.0,), (0.5,), (1.0,), (3.0,)],
    ),
    "ex-03-gauss": FunctionExercise(
        lambda: lambda n, s: s**2 * _gauss(n / s),
        "S(y) = 2Φ(−y/σ). Integrate y S(y) once to infinity and once to N, by parts, and add the two.",
        (lambda: lambda n, s: s**2, "That is the error without clipping."),
        (lambda: lambda n, s: s**2 * _gauss(n), "Right for σ = 1. Measure the count in units of σ, too."),
        (lambda: lambda n, s: _gauss(n / s), "The scale is missing: errors have the unit of σ²."),
        (lambda: lambda n, s: s**2 * _gauss(n / s) / 2, "S(y) counts both tails of the noise."),
        (lambda: lambda n, s: s**2 * (_gauss(n / s) - 0.5), "The errors upwards are missing: the integral to infinity."),
        cases=[(0.0, 1.0), (1.5, 1.0), (3.0, 2.0), (0.3, 0.5)],
    ),
    "ex-03-both": FunctionExercise(
        lambda: lambda n, m, e: _layers(n, e) + _layers(m - n, e),
        "Downwards the layers stop at N, upwards at M − N. Put S(y) = exp(−εy) into both integrals, and add them.",
        (lambda: lambda n, m, e: mse(n, e), "That is clipping at zero alone. Errors upwards now end somewhere, too."),
        (lambda: lambda n, m, e: _layers(n, e) + _layers(m, e), "How large can an error upwards be? Less than M."),
        (lambda: lambda n, m, e: _layers(n, e) - _layers(m - n, e), "Squares add up. It is for the bias that you subtract."),
        (
            lambda: lambda n, m, e: 2 * (_layers(n, e) + _layers(m - n, e)),
            "Each tail has half of S(y), which takes the 2 of 2y away.",
        ),
        cases=[(0, 6, 0.5), (1, 6, 0.5), (3, 6, 0.5), (4, 20, 0.1)],
    ),
}

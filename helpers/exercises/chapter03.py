"""The exercises of chapter 3."""

import numpy as np
from scipy.special import ndtr

from .. import bias, mse, variance
from . import Exercise, FunctionExercise, Mistake


def _answers(low=1, high=2, full=None, empty=1, safe=1.0, nodes=1000, eps=0.5):
    """Both bounds, the error with 20 people each and with none, in units of 1/ε² a node; and the safe budget."""
    full = eps**2 * mse(20, eps) if full is None else full
    return [*(np.array([low, high, full, empty]) * nodes / eps**2), safe]


def _gauss(a):
    """MSE of a clipped count, Gaussian noise of variance 1, at a = N/σ."""
    density = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi)
    return ndtr(a) - a * density + a**2 * ndtr(-a)


def _layers(end, eps):
    """The integral of y exp(−εy) from 0 to `end`."""
    return mse(end, eps) - mse(0, eps)


EXERCISES = {
    "ex-03-bounds": Exercise(
        right=_answers,
        mistakes=[
            Mistake(
                lambda: _answers(full=2),
                "Twenty people are many, but the upper bound is never reached. What is missing at x = εN?",
            ),
            Mistake(
                lambda: _answers(safe=np.sqrt(0.5)), "The budget is safe if even the *upper* bound stays within the limit."
            ),
            Mistake(lambda: _answers(full=1, empty=2), "The ends are swapped: clipping helps an empty node most."),
            Mistake(lambda: _answers(eps=1.0), "These belong to ε = 1. Here the budget is half of that."),
            Mistake(lambda: _answers(nodes=1), "These are the errors of one node. The level has many."),
            Mistake(
                lambda: [*np.array(_answers()[:4]) / 2, 1.0],
                "The error falls with the *square* of ε.",
            ),
        ],
        hint="One node's error lies between 1/ε² and 2/ε². Five numbers: two bounds, full, empty, and the budget.",
        rtol=1e-4,
    ),
    "ex-03-share": FunctionExercise(
        right=lambda: lambda x: bias(x, 1) ** 2 / mse(x, 1),
        mistakes=[
            Mistake(lambda: lambda x: bias(x, 1) / mse(x, 1), "Square the bias: the MSE is Bias² + Var."),
            Mistake(
                lambda: lambda x: bias(x, 1) ** 2 / variance(x, 1),
                "That is Bias² over the variance. The share is of their sum.",
            ),
            Mistake(
                lambda: lambda x: 4 * bias(x, 1) ** 2 / mse(x, 1),
                "The bias is *half* of exp(−εN)/ε, and the half is squared too.",
            ),
            Mistake(lambda: lambda x: variance(x, 1) / mse(x, 1), "That is the share of the variance."),
        ],
        hint="Divide the square of the bias by the MSE. With x = εN, the powers of ε cancel.",
        cases=[(0.0,), (0.5,), (1.0,), (3.0,)],
    ),
    "ex-03-gauss": FunctionExercise(
        right=lambda: lambda n, sigma: sigma**2 * _gauss(n / sigma),
        mistakes=[
            Mistake(lambda: lambda n, sigma: sigma**2, "That is the error without clipping."),
            Mistake(lambda: lambda n, sigma: sigma**2 * _gauss(n), "Right for σ = 1. Measure the count in units of σ, too."),
            Mistake(lambda: lambda n, sigma: _gauss(n / sigma), "The scale is missing: errors have the unit of σ²."),
            Mistake(lambda: lambda n, sigma: sigma**2 * _gauss(n / sigma) / 2, "S(y) counts both tails of the noise."),
            Mistake(
                lambda: lambda n, sigma: sigma**2 * (_gauss(n / sigma) - 0.5),
                "The errors upwards are missing: the integral to infinity.",
            ),
        ],
        hint="S(y) = 2Φ(−y/σ). Integrate y S(y) once to infinity and once to N, by parts, and add the two.",
        cases=[(0.0, 1.0), (1.5, 1.0), (3.0, 2.0), (0.3, 0.5)],
    ),
    "ex-03-both": FunctionExercise(
        right=lambda: lambda n, m, eps: _layers(n, eps) + _layers(m - n, eps),
        mistakes=[
            Mistake(
                lambda: lambda n, m, eps: mse(n, eps),
                "That is clipping at zero alone. Errors upwards now end somewhere, too.",
            ),
            Mistake(
                lambda: lambda n, m, eps: _layers(n, eps) + _layers(m, eps),
                "How large can an error upwards be? Less than M.",
            ),
            Mistake(
                lambda: lambda n, m, eps: _layers(n, eps) - _layers(m - n, eps),
                "Squares add up. It is for the bias that you subtract.",
            ),
            Mistake(
                lambda: lambda n, m, eps: 2 * (_layers(n, eps) + _layers(m - n, eps)),
                "Each tail has half of S(y), which takes the 2 of 2y away.",
            ),
        ],
        hint="Downwards the layers stop at N, upwards at M − N. Put S(y) = exp(−εy) into both integrals, and add them.",
        cases=[(0, 6, 0.5), (1, 6, 0.5), (3, 6, 0.5), (4, 20, 0.1)],
    ),
}

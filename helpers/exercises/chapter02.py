"""The exercises of chapter 2."""

import numpy as np

from .. import bias, mse, variance
from . import Exercise, FunctionExercise


def _dv(x: float) -> float:
    """v′(x) of the variance's shape v(x) = variance(x, 1)."""
    return x * np.exp(-x) + np.exp(-2 * x) / 2


EXERCISES = {
    "ex-02-empty": Exercise(
        lambda: 10_000 * bias(0, 0.5),
        "Add up the biases of the blocks, each with N = 0.",
        (0, "The noise is fair, but it is clipped at zero. What is left of it when nobody is there?"),
        (lambda: bias(0, 0.5), "That is one block. There are many."),
        (10_000 / 0.5, "You used the scale of the noise, 1/ε. Half of the noise points down, and is cut off."),
        (lambda: 10_000 * mse(0, 0.5), "That is a sum of squared errors. Expected people are a sum of biases."),
        (10_000 * 0.5 / 2, "The budget stands in the denominator: less budget, more bias."),
    ),
    "ex-02-harmless": FunctionExercise(
        lambda: lambda r: -np.log(2 * r),
        "Write the bias as a share of the noise scale, exp(−x)/2, set it equal to r, and solve for x.",
        (lambda: lambda r: -np.log(r), "The bias of an empty node is half of the noise scale, not all of it."),
        (
            lambda: lambda r: -np.log(r / 2),
            "The factor of one half is on the other side of the equation: solve again for exp(−x).",
        ),
        (lambda: lambda r: np.log(2 * r), "The sign: a smaller share needs a larger count."),
        cases=[(0.01,), (0.05,), (0.001,)],
    ),
    "ex-02-monotone": FunctionExercise(
        lambda: lambda x: x * _dv(x) - 2 * variance(x, 1),
        "First v: the formula of the variance times ε², with x for εN. Then v′, and put both together.",
        (lambda: lambda x: 2 * variance(x, 1) - x * _dv(x), "The sign is turned: this would show that the variance grows."),
        (lambda: lambda x: _dv(x) - 2 * variance(x, 1), "The inner derivative is missing: x depends on ε as well."),
        (lambda: lambda x: x * _dv(x) - 2 * mse(x, 1), "That v is the shape of the MSE. Take off the squared bias."),
        (lambda: lambda x: -2 * variance(x, 1), "Only 1/ε² was differentiated. v depends on ε too, through x."),
        cases=[(0.5,), (1.0,), (2.0,), (4.0,)],
    ),
    "ex-02-both": FunctionExercise(
        lambda: lambda n, m, e: bias(n, e) - bias(m - n, e),
        "Cut the line at 0, N and M. Above M the released count is M; add up the four parts, and take off N.",
        (lambda: lambda n, m, e: bias(n, e) + bias(m - n, e), "The upper cut moves counts down, so its part is negative."),
        (lambda: lambda n, m, e: bias(n, e) - bias(m, e), "How far is the count from the upper cut? It is not M."),
        (lambda: lambda n, m, e: bias(n, e), "That is the bias of clipping at zero alone."),
        (lambda: lambda n, m, e: n + bias(n, e) - bias(m - n, e), "That is the mean. Take off N."),
        cases=[(2, 6, 0.5), (5, 6, 0.5), (1, 10, 0.1)],
    ),
}

"""The exercises of chapter 2."""

import numpy as np

from .. import bias, mse, variance
from . import Exercise, FunctionExercise, Mistake

_X = [(0.5,), (1.0,), (2.0,), (4.0,)]


def _slope(x):
    """v′(x) of the variance's shape v(x) = variance(x, 1)."""
    return x * np.exp(-x) + np.exp(-2 * x) / 2


EXERCISES = {
    "ex-02-empty": Exercise(
        right=lambda: 10_000 * bias(0, 0.5),
        mistakes=[
            Mistake(lambda: 0, "The noise is fair, but it is clipped at zero. What is left of it when nobody is there?"),
            Mistake(lambda: bias(0, 0.5), "That is one block. There are many."),
            Mistake(
                lambda: 10_000 / 0.5, "You used the scale of the noise, 1/ε. Half of the noise points down, and is cut off."
            ),
            Mistake(lambda: 10_000 * mse(0, 0.5), "That is a sum of squared errors. Expected people are a sum of biases."),
            Mistake(lambda: 10_000 * 0.5 / 2, "The budget stands in the denominator: less budget, more bias."),
        ],
        hint="Add up the biases of the blocks, each with N = 0.",
    ),
    "ex-02-harmless": FunctionExercise(
        right=lambda: lambda r: -np.log(2 * r),
        mistakes=[
            Mistake(lambda: lambda r: -np.log(r), "The bias of an empty node is half of the noise scale, not all of it."),
            Mistake(
                lambda: lambda r: -np.log(r / 2),
                "The factor of one half is on the other side of the equation: solve again for exp(−x).",
            ),
            Mistake(lambda: lambda r: np.log(2 * r), "The sign: a smaller share needs a larger count."),
        ],
        hint="Write the bias as a share of the noise scale, exp(−x)/2, set it equal to r, and solve for x.",
        cases=[(0.01,), (0.05,), (0.001,)],
    ),
    "ex-02-monotone": FunctionExercise(
        right=lambda: lambda x: x * _slope(x) - 2 * variance(x, 1),
        mistakes=[
            Mistake(
                lambda: lambda x: 2 * variance(x, 1) - x * _slope(x),
                "The sign is turned: this would show that the variance grows.",
            ),
            Mistake(
                lambda: lambda x: _slope(x) - 2 * variance(x, 1), "The inner derivative is missing: x depends on ε as well."
            ),
            Mistake(
                lambda: lambda x: x * _slope(x) - 2 * mse(x, 1), "That v is the shape of the MSE. Take off the squared bias."
            ),
            Mistake(lambda: lambda x: -2 * variance(x, 1), "Only 1/ε² was differentiated. v depends on ε too, through x."),
        ],
        hint="First v: the formula of the variance times ε², with x for εN. Then v′, and put both together.",
        cases=_X,
    ),
    "ex-02-both": FunctionExercise(
        right=lambda: lambda n, m, eps: bias(n, eps) - bias(m - n, eps),
        mistakes=[
            Mistake(
                lambda: lambda n, m, eps: bias(n, eps) + bias(m - n, eps),
                "The upper cut moves counts down, so its part is negative.",
            ),
            Mistake(
                lambda: lambda n, m, eps: bias(n, eps) - bias(m, eps),
                "How far is the count from the upper cut? It is not M.",
            ),
            Mistake(lambda: lambda n, m, eps: bias(n, eps), "That is the bias of clipping at zero alone."),
            Mistake(lambda: lambda n, m, eps: n + bias(n, eps) - bias(m - n, eps), "That is the mean. Take off N."),
        ],
        hint="Cut the line at 0, N and M. Above M the released count is M; add up the four parts, and take off N.",
        cases=[(2, 6, 0.5), (5, 6, 0.5), (1, 10, 0.1)],
    ),
}

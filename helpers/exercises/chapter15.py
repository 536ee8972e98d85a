"""The exercises of chapter 15."""

import numpy as np

from .. import DISCRETE_LAPLACE, LAPLACE
from . import Exercise, Mistake

_ROUNDED_AT = np.array([0.5, 2, 8])
_RENYI_AT = np.array([0.1, 1, 4])
_CELLS = np.array([1, 63, 2, 2, 3, 8, 126, 126, 4, 252, 2016])
_PARTS = np.array([5, 9, 5, 5, 5, 5, 21, 21, 5, 71, 3945])  # of the block level's budget, as in the chapter
_NODES = np.array([1, 51, 3_143, 84_414, 239_780, 8_132_968])
_SHARES = np.array([104, 1440, 447, 687, 1256, 165]) / 4099


def _saved():
    """What whole noise saves of the error at ε = 0.1, as a share: empty count, large count."""
    counts = np.array([0, 10_000])
    return 1 - DISCRETE_LAPLACE.mse(counts, 0.1) / LAPLACE.mse(counts, 0.1)


def _rounded(eps):
    """MSE of Laplace noise that is rounded to whole numbers."""
    far = np.arange(2000)
    return float((far**2 * np.exp(-eps * (far - 0.5)) * -np.expm1(-eps)).sum())


def _at_one_half(clip=True):
    """MSE of half a person with discrete Laplace noise at ε = 1, by adding up all outcomes."""
    noise = np.arange(-60, 61)
    chance = np.tanh(0.5) * np.exp(-np.abs(noise))
    released = np.maximum(0, 0.5 + noise) if clip else 0.5 + noise
    return float((chance * (released - 0.5) ** 2).sum())


def _renyi_over_order(order):
    """Rényi divergence of Laplace noise over its order."""
    gain, loss = np.log(order) + (order - 1) * _RENYI_AT, np.log(order - 1) - order * _RENYI_AT
    return (np.logaddexp(gain, loss) - np.log(2 * order - 1)) / (order - 1) / order


def _tables(worth, variance=1.0):
    """The budget of a block's total, in units of its own table's, and its standard deviation in people."""
    alone = (542 / 339) ** 2 * _SHARES[-1] * _PARTS[0] / _PARTS.sum()
    return worth, (variance / (alone * worth)) ** 0.5


def _slope():
    return np.polyfit(np.log(_NODES), np.log(_SHARES), 1)[0]


EXERCISES = {
    "ex-15-limit": Exercise(
        right=lambda: 100 * _saved(),
        mistakes=[
            Mistake(_saved, "These are shares. The answer is asked for in percent."),
            Mistake(lambda: 100 * (1 - _saved()), "That is what is left of the error. By how much is it smaller?"),
            Mistake(
                lambda: 100 * _saved() * [0.5, 1],
                "An empty count has half the error with either noise, so the half cancels when you compare them.",
            ),
        ],
        hint="Compare DISCRETE_LAPLACE.mse with LAPLACE.mse at the same budget, for the count 0 and for a very large one.",
        rtol=5e-3,
    ),
    "ex-15-round": Exercise(
        right=lambda: [_rounded(eps) for eps in _ROUNDED_AT],
        mistakes=[
            Mistake(lambda: 2 / _ROUNDED_AT**2, "That is Laplace noise before rounding."),
            Mistake(
                lambda: DISCRETE_LAPLACE.mse(10**6, _ROUNDED_AT), "That is discrete noise. Round continuous noise instead."
            ),
            Mistake(
                lambda: [_rounded(eps) / 2 for eps in _ROUNDED_AT], "Noise can point up and down. Did you count both signs?"
            ),
            Mistake(
                lambda: 2 / _ROUNDED_AT**2 + 1 / 12,
                "That takes the rounding error for independent of the noise. For a large budget it cancels the noise.",
            ),
        ],
        hint="A noise between k − ½ and k + ½ becomes k. Add up k² times the chance of that, over k and both signs.",
        rtol=5e-3,
    ),
    "ex-15-half": Exercise(
        right=lambda: [_at_one_half(), DISCRETE_LAPLACE.mse(0.5, 1)],
        mistakes=[
            Mistake(
                lambda: [DISCRETE_LAPLACE.mse(0.5, 1), _at_one_half()], "The true error comes first, then the formula's."
            ),
            Mistake(
                lambda: [_at_one_half(clip=False), DISCRETE_LAPLACE.mse(0.5, 1)],
                "Your true error leaves out the clipping at zero.",
            ),
            Mistake(
                lambda: [DISCRETE_LAPLACE.mse([0, 1], 1).mean(), DISCRETE_LAPLACE.mse(0.5, 1)],
                "Your true error is the mean of two whole counts. Half a person is neither: add up all outcomes.",
            ),
            Mistake(
                lambda: [_at_one_half(), LAPLACE.mse(0.5, 1)],
                "Your formula is that of continuous noise. Take DISCRETE_LAPLACE.",
            ),
        ],
        hint="Noise k has the chance tanh(ε/2) exp(−ε|k|). Add up (max(0, N + k) − N)² over all k, and compare.",
    ),
    "ex-15-renyi": Exercise(
        right=lambda: _RENYI_AT - 1 + np.exp(-_RENYI_AT),
        mistakes=[
            Mistake(lambda: _RENYI_AT**2 / 2, "That is the general conversion. Laplace noise does better."),
            Mistake(
                lambda: 2 * (_RENYI_AT - 1 + np.exp(-_RENYI_AT)) / _RENYI_AT**2,
                "That is ρ in units of ε²/2. The answer is ρ itself.",
            ),
            Mistake(lambda: _RENYI_AT, "That is the largest divergence. Divide by the order first, then take the largest."),
            Mistake(lambda: _renyi_over_order(2.0), "That is the value at one order. Look at orders near 1, too."),
        ],
        hint="Compute divergence over order on a wide grid of orders, from just above 1, and take the largest for each ε.",
        rtol=3e-3,
    ),
    "ex-15-tables": Exercise(
        right=lambda: _tables((_PARTS / _CELLS).sum() / _PARTS[0]),
        mistakes=[
            Mistake(
                lambda: _tables(_PARTS.sum() / _PARTS[0]),
                "You added the tables' budgets as they are. A sum over many cells is noisier than one cell.",
            ),
            Mistake(
                lambda: _tables((_PARTS / _CELLS).sum() / _PARTS[0], variance=0.5),
                "The factor is right. In this release the variance is 1/ρ, because a neighbour changes two counts.",
            ),
            Mistake(
                lambda: _tables((_PARTS / np.sqrt(_CELLS)).sum() / _PARTS[0]),
                "The sum of c independent cells has c times the variance of one, not √c times.",
            ),
            Mistake(
                lambda: [(_PARTS / _CELLS).sum() / _PARTS[0], _tables(1.0)[1]],
                "The factor is right. The standard deviation is that of the first table alone.",
            ),
        ],
        hint="Each table's sum is worth its budget over its number of cells. Add these up, and compare with the first.",
        rtol=0.01,
    ),
    "ex-15-people": Exercise(
        right=lambda: 1 - 2 * _slope(),
        mistakes=[
            Mistake(_slope, "That is the slope of the shares. Which κ has that slope?"),
            Mistake(lambda: 1 - _slope(), "The shares go with a square root, also of the power of n."),
            Mistake(
                lambda: 1 + 2 * _slope(), "Check the sign: a larger κ favours levels with few nodes, so the slope falls."
            ),
            Mistake(lambda: 1 - 3 * _slope(), "That is the cube root of Laplace noise. The shares are shares of ρ."),
        ],
        hint="Shares are proportional to √(w n). Put in w, fit a line to log share over log n, and read κ from its slope.",
    ),
}

"""The exercises of chapter 15."""

import numpy as np

from .. import DISCRETE_LAPLACE, LAPLACE
from . import Exercise

_ROUNDED_AT = np.array([0.5, 2, 8])
_RENYI_AT = np.array([0.1, 1, 4])
_CELLS = np.array([1, 63, 2, 2, 3, 8, 126, 126, 4, 252, 2016])
_PARTS = np.array([5, 9, 5, 5, 5, 5, 21, 21, 5, 71, 3945])  # of the block level's budget, as in the chapter
_NODES = np.array([1, 51, 3_143, 84_414, 239_780, 8_132_968])
_SHARES = np.array([104, 1440, 447, 687, 1256, 165]) / 4099
_ALONE = (542 / 339) ** 2 * _SHARES[-1] * _PARTS[0] / _PARTS.sum()  # the budget of a block's total in its own table


def _saved() -> np.ndarray:
    """What whole noise saves of the error at ε = 0.1, as a share: empty count, large count."""
    counts = np.array([0, 10_000])
    return 1 - DISCRETE_LAPLACE.mse(counts, 0.1) / LAPLACE.mse(counts, 0.1)


def _rounded(eps: float) -> float:
    """MSE of Laplace noise that is rounded to whole numbers."""
    far = np.arange(2000)
    return float((far**2 * np.exp(-eps * (far - 0.5)) * -np.expm1(-eps)).sum())


def _half(clip: bool = True) -> float:
    """MSE of half a person with discrete Laplace noise at ε = 1, by adding up all outcomes."""
    noise = np.arange(-60, 61)
    chance = np.tanh(0.5) * np.exp(-np.abs(noise))
    released = np.maximum(0, 0.5 + noise) if clip else 0.5 + noise
    return float((chance * (released - 0.5) ** 2).sum())


def _renyi_over_order(order: float) -> np.ndarray:
    """Rényi divergence of Laplace noise over its order."""
    gain, loss = np.log(order) + (order - 1) * _RENYI_AT, np.log(order - 1) - order * _RENYI_AT
    return (np.logaddexp(gain, loss) - np.log(2 * order - 1)) / (order - 1) / order


def _tables(cells: int | np.ndarray = _CELLS, variance: float = 1.0) -> tuple[float, float]:
    """The budget of a block's total, in units of its own table's, and its standard deviation in people."""
    worth = (_PARTS / cells).sum() / _PARTS[0]
    return worth, (variance / (_ALONE * worth)) ** 0.5


def _slope() -> float:
    return np.polyfit(np.log(_NODES), np.log(_SHARES), 1)[0]


EXERCISES = {
    "ex-15-limit": Exercise(
        lambda: 100 * _saved(),
        "Compare DISCRETE_LAPLACE.mse with LAPLACE.mse at the same budget, for the count 0 and for a very large one.",
        (_saved, "These are shares. The answer is asked for in percent."),
        (lambda: 100 * (1 - _saved()), "That is what is left of the error. By how much is it smaller?"),
        (
            lambda: 100 * _saved() * [0.5, 1],
            "An empty count has half the error with either noise, so the half cancels when you compare them.",
        ),
        rtol=5e-3,
    ),
    "ex-15-round": Exercise(
        lambda: [_rounded(eps) for eps in _ROUNDED_AT],
        "A noise between k − ½ and k + ½ becomes k. Add up k² times the chance of that, over k and both signs.",
        (2 / _ROUNDED_AT**2, "That is Laplace noise before rounding."),
        (lambda: DISCRETE_LAPLACE.mse(10**6, _ROUNDED_AT), "That is discrete noise. Round continuous noise instead."),
        (lambda: [_rounded(eps) / 2 for eps in _ROUNDED_AT], "Noise can point up and down. Did you count both signs?"),
        (
            2 / _ROUNDED_AT**2 + 1 / 12,
            "That takes the rounding error for independent of the noise. For a large budget it cancels the noise.",
        ),
        rtol=5e-3,
    ),
    "ex-15-half": Exercise(
        lambda: [_half(), DISCRETE_LAPLACE.mse(0.5, 1)],
        "Noise k has the chance tanh(ε/2) exp(−ε|k|). Add up (max(0, N + k) − N)² over all k, and compare.",
        (lambda: [DISCRETE_LAPLACE.mse(0.5, 1), _half()], "The true error comes first, then the formula's."),
        (lambda: [_half(clip=False), DISCRETE_LAPLACE.mse(0.5, 1)], "Your true error leaves out the clipping at zero."),
        (
            lambda: [DISCRETE_LAPLACE.mse([0, 1], 1).mean(), DISCRETE_LAPLACE.mse(0.5, 1)],
            "Your true error is the mean of two whole counts. Half a person is neither: add up all outcomes.",
        ),
        (lambda: [_half(), LAPLACE.mse(0.5, 1)], "Your formula is that of continuous noise. Take DISCRETE_LAPLACE."),
    ),
    "ex-15-renyi": Exercise(
        _RENYI_AT - 1 + np.exp(-_RENYI_AT),
        "Compute divergence over order on a wide grid of orders, from just above 1, and take the largest for each ε.",
        (_RENYI_AT**2 / 2, "That is the general conversion. Laplace noise does better."),
        (2 * (_RENYI_AT - 1 + np.exp(-_RENYI_AT)) / _RENYI_AT**2, "That is ρ in units of ε²/2. The answer is ρ itself."),
        (_RENYI_AT, "That is the largest divergence. Divide by the order first, then take the largest."),
        (lambda: _renyi_over_order(2.0), "That is the value at one order. Look at orders near 1, too."),
        rtol=3e-3,
    ),
    "ex-15-tables": Exercise(
        _tables,
        "Each table's sum is worth its budget over its number of cells. Add these up, and compare with the first.",
        (lambda: _tables(1), "You added the tables' budgets as they are. A sum over many cells is noisier than one cell."),
        (
            lambda: _tables(variance=0.5),
            "The factor is right. In this release the variance is 1/ρ, because a neighbour changes two counts.",
        ),
        (lambda: _tables(np.sqrt(_CELLS)), "The sum of c independent cells has c times the variance of one, not √c times."),
        ([_tables()[0], _ALONE**-0.5], "The factor is right. The standard deviation is that of the first table alone."),
        rtol=0.01,
    ),
    "ex-15-people": Exercise(
        lambda: 1 - 2 * _slope(),
        "Shares are proportional to √(w n). Put in w, fit a line to log share over log n, and read κ from its slope.",
        (_slope, "That is the slope of the shares. Which κ has that slope?"),
        (lambda: 1 - _slope(), "The shares go with a square root, also of the power of n."),
        (lambda: 1 + 2 * _slope(), "Check the sign: a larger κ favours levels with few nodes, so the slope falls."),
        (lambda: 1 - 3 * _slope(), "That is the cube root of Laplace noise. The shares are shares of ρ."),
    ),
}

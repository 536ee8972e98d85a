"""The exercises of chapter 6."""

from collections.abc import Callable

import numpy as np

from .. import bias, mse
from . import Exercise
from .chapter05 import smaller_child

_LAM = 10 / 2 * np.exp(-0.1 * 10)  # λ: the slope w exp(−εN)/2 of region 1, where all ten people live


def _totals(error: Callable[[np.ndarray, float], np.ndarray], eps: float = 0.05) -> list[float]:
    return [float(error(np.array(counts), eps).sum()) for counts in [(60, 40), (80, 20)]]


def _recipe(w: tuple[float, float] = (10, 1), eps: float = 0.1, people: float = 10) -> list[float]:
    apart = np.log(w[0] / w[1]) / eps
    return [(people + apart) / 2, (people - apart) / 2, 0, 0]


def _biases(after: bool = True) -> list[float]:
    """Of children with 95 and 5 people, ε = 0.1: without consistency, and with it."""
    plain = [float(bias(95, 0.1)), float(bias(5, 0.1))]
    moved = smaller_child(5, 0.1) - 5
    return [*plain, float(bias(100, 0.1)) - moved, moved] if after else [*plain, *plain]


def _three(total: float = 2.8, smallest: float | None = None) -> np.ndarray:
    """The split of three regions with the least total MSE, in units of the noise, smallest region first."""
    a, b = np.meshgrid(*2 * [np.linspace(0, total, 561)])
    inside = (a <= b) & (b <= total - a - b + 1e-9)
    if smallest is not None:
        inside &= np.isclose(a, smallest)
    splits = np.array([a[inside], b[inside], total - a[inside] - b[inside]]).T
    return splits[mse(np.maximum(0, splits), 1).sum(axis=1).argmin()]


EXERCISES = {
    "ex-06-hand": Exercise(
        lambda: _totals(bias),
        "For each region, exp(−εN)/(2ε). Add up the two regions of a map.",
        (lambda: _totals(bias)[::-1], "Both numbers are right, and the order is not: (60, 40) first."),
        (lambda: 2 * np.array(_totals(bias)), "A factor of two: the bias has 2ε in its denominator."),
        (lambda: np.array(_totals(bias)) * 0.1, "That is the sum of the exponentials. Divide it by 2ε."),
        (lambda: _totals(mse), "That is the MSE. The question is about bias."),
        ([bias(100, 0.05)] * 2, "The bias of a sum of people is not the sum of the biases: take each region by itself."),
    ),
    "ex-06-max": Exercise(
        lambda: bias(200, 0.01),
        "The largest bias belongs to the smallest region. Make that one as large as you can, and take its bias.",
        (lambda: 5 * bias(200, 0.01), "That is the total bias of the best population. The question is about one region."),
        (lambda: bias(0, 0.01), "That is the worst that can happen: an empty region. Which population avoids it best?"),
        (lambda: bias(1000, 0.01), "Somebody else is left without people then, and has the largest bias of all."),
    ),
    "ex-06-weights": Exercise(
        [10, 0, 0, _LAM - 0.5],
        "Region 2 is at its bound. λ follows from region 1, and each multiplier is λ minus w exp(−εN)/2.",
        (
            _recipe,
            "That is the recipe, with a region of less than nobody. Where is the minimum if counts may not be negative?",
        ),
        ([10, 0, 0, _LAM], "The optimum is right. The last number is λ: take off what the empty region's own slope brings."),
        ([10, 0, 0, 0], "The optimum is right. But a region at its bound may have a multiplier above zero."),
        ([10, 0, _LAM - 0.5, 0], "The multiplier of a region with people in it is zero."),
        rtol=5e-3,
        atol=2e-3,
    ),
    "ex-06-consistent": Exercise(
        _biases,
        "Four means over all copies: both children without consistency, the larger first, then both with it.",
        (lambda: _biases(False), "The last two are those without consistency: compare the fitted children with the truth."),
        (lambda: -np.array(_biases()), "The signs: an error is the released count minus the true one."),
        (lambda: np.array(_biases())[[2, 3, 0, 1]], "First without consistency, then with it."),
        (lambda: np.array(_biases())[[1, 0, 3, 2]], "The larger child comes first."),
        rtol=0.0,
        atol=0.45,
    ),
    "ex-06-three": Exercise(
        _three,
        "Try all pairs of shares on a fine grid, the third being what is left, and take the split with the least sum.",
        ([2.8 / 3] * 3, "That is the even split: a local minimum still, but look further away."),
        (lambda: _three()[::-1], "The smallest region comes first."),
        (lambda: _three(smallest=0.0), "That is the best with one region empty. Let all three vary."),
        (
            [0, 0, 2.8],
            "Empty regions have the least error, but a few people there cost next to nothing: the MSE starts out flat.",
        ),
        rtol=0.0,
        atol=0.03,
    ),
}

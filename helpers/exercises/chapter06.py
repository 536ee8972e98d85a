"""The exercises of chapter 6."""

import numpy as np

from .. import bias, mse
from . import Exercise, Mistake
from .chapter05 import smaller_child


def _totals(error, eps=0.05):
    return [float(error(np.array(counts), eps).sum()) for counts in [(60, 40), (80, 20)]]


def _weighted(w=(10, 1), eps=0.1, people=10):
    """Optimum and multipliers, when all people live in the region of the larger weight."""
    return [people, 0, 0, w[0] / 2 * np.exp(-eps * people) - w[1] / 2]


def _recipe(w=(10, 1), eps=0.1, people=10):
    apart = np.log(w[0] / w[1]) / eps
    return [(people + apart) / 2, (people - apart) / 2, 0, 0]


def _biases(after=True):
    """Of children with 95 and 5 people, ε = 0.1: without consistency, and with it."""
    plain = [float(bias(95, 0.1)), float(bias(5, 0.1))]
    moved = smaller_child(5, 0.1) - 5
    return [*plain, float(bias(100, 0.1)) - moved, moved] if after else [*plain, *plain]


def _three(total=2.8, smallest=None):
    """The split of three regions with the least total MSE, in units of the noise, smallest region first."""
    a, b = np.meshgrid(*2 * [np.linspace(0, total, 561)])
    inside = (a <= b) & (b <= total - a - b + 1e-9)
    if smallest is not None:
        inside &= np.isclose(a, smallest)
    splits = np.array([a[inside], b[inside], total - a[inside] - b[inside]]).T
    return splits[mse(np.maximum(0, splits), 1).sum(axis=1).argmin()]


EXERCISES = {
    "ex-06-hand": Exercise(
        right=lambda: _totals(bias),
        mistakes=[
            Mistake(lambda: _totals(bias)[::-1], "Both numbers are right, and the order is not: (60, 40) first."),
            Mistake(lambda: 2 * np.array(_totals(bias)), "A factor of two: the bias has 2ε in its denominator."),
            Mistake(lambda: np.array(_totals(bias)) * 0.1, "That is the sum of the exponentials. Divide it by 2ε."),
            Mistake(lambda: _totals(mse), "That is the MSE. The question is about bias."),
            Mistake(
                lambda: [bias(100, 0.05)] * 2,
                "The bias of a sum of people is not the sum of the biases: take each region by itself.",
            ),
        ],
        hint="For each region, exp(−εN)/(2ε). Add up the two regions of a map.",
    ),
    "ex-06-max": Exercise(
        right=lambda: bias(200, 0.01),
        mistakes=[
            Mistake(
                lambda: 5 * bias(200, 0.01),
                "That is the total bias of the best population. The question is about one region.",
            ),
            Mistake(
                lambda: bias(0, 0.01), "That is the worst that can happen: an empty region. Which population avoids it best?"
            ),
            Mistake(lambda: bias(1000, 0.01), "Somebody else is left without people then, and has the largest bias of all."),
        ],
        hint="The largest bias belongs to the smallest region. Make that one as large as you can, and take its bias.",
    ),
    "ex-06-weights": Exercise(
        right=_weighted,
        mistakes=[
            Mistake(
                _recipe,
                "That is the recipe, with a region of less than nobody. Where is the minimum if counts may not be negative?",
            ),
            Mistake(
                lambda: [*_weighted()[:3], _weighted()[3] + 0.5],
                "The optimum is right. The last number is λ: take off what the empty region's own slope brings.",
            ),
            Mistake(
                lambda: [*_weighted()[:3], 0],
                "The optimum is right. But a region at its bound may have a multiplier above zero.",
            ),
            Mistake(
                lambda: [*_weighted()[:2], *_weighted()[:1:-1]], "The multiplier of a region with people in it is zero."
            ),
        ],
        hint="Region 2 is at its bound. λ follows from region 1, and each multiplier is λ minus w exp(−εN)/2.",
        rtol=5e-3,
        atol=2e-3,
    ),
    "ex-06-consistent": Exercise(
        right=_biases,
        mistakes=[
            Mistake(
                lambda: _biases(after=False),
                "The last two are those without consistency: compare the fitted children with the truth.",
            ),
            Mistake(lambda: -np.array(_biases()), "The signs: an error is the released count minus the true one."),
            Mistake(lambda: np.array(_biases())[[2, 3, 0, 1]], "First without consistency, then with it."),
            Mistake(lambda: np.array(_biases())[[1, 0, 3, 2]], "The larger child comes first."),
        ],
        hint="Four means over all copies: both children without consistency, the larger first, then both with it.",
        rtol=0.0,
        atol=0.45,  # the means of 20,000 copies have standard errors of 0.1
    ),
    "ex-06-three": Exercise(
        right=_three,
        mistakes=[
            Mistake(lambda: [2.8 / 3] * 3, "That is the even split: a local minimum still, but look further away."),
            Mistake(lambda: _three()[::-1], "The smallest region comes first."),
            Mistake(lambda: _three(smallest=0.0), "That is the best with one region empty. Let all three vary."),
            Mistake(
                lambda: [0, 0, 2.8],
                "Empty regions have the least error, but a few people there cost next to nothing: the MSE starts out flat.",
            ),
        ],
        hint="Try all pairs of shares on a fine grid, the third being what is left, and take the split with the least sum.",
        rtol=0.0,
        atol=0.03,  # the grid of the solution has steps of 0.01
    ),
}

"""The exercises of chapter 5.

sizes: how many blocks each tract has · part: what one tract adds to the sum of 1/k over all tracts
"""

from typing import Any

import numpy as np
from scipy.integrate import quad

from .. import load_state, project_simplex
from . import Exercise


def _theta(values: list[float], total: float) -> float:
    return max(values) - project_simplex(values, total).max()


def _single(dropped: int = 1, power: float = -1, mean: float = -1) -> list[float]:
    """The part of the smallest tract in a sum of powers, and the border of a power mean without the smallest ones."""
    sizes = np.sort(np.bincount(load_state("wyoming").links[1])).astype(float)
    ratio = (sizes[dropped:] ** mean).mean() ** (1.5 / mean) / sizes.mean()
    return [sizes[0] ** power / (sizes**power).sum(), ratio / (ratio + 2)]


def smaller_child(n: float, eps: float) -> float:
    """Mean of the smaller of two children after the fit, counts n and very many, all budgets ε.

    The fit gives it (x + n + D)/2, or zero: x is its clipped count, and D the difference of two noises, of the parent and
    of the large child. In units of 1/ε, the mean over D of max(0, y + D) is y + (3 + y) exp(−y)/4.

    >>> round(smaller_child(0, 0.5), 4)
    1.0938
    """
    n = eps * n

    def after(x: float) -> float:
        y = x + n
        return y + (3 + y) * np.exp(-y) / 4

    density = [quad(lambda x: after(x) * np.exp(-abs(x - n)) / 2, *ends)[0] for ends in [(0, n), (n, n + 50)]]
    return float((after(0) * np.exp(-n) / 2 + sum(density)) / 2 / eps)


class _Apart(Exercise):
    """Two families: how much further apart does scaling to 100 move them, in powers of ten?"""

    def _numbers(self, answer: Any) -> np.ndarray:
        pair = super()._numbers(answer)
        if pair.ndim != 2 or len(pair) != 2 or (pair < 0).any():
            raise ValueError("The answer is a list of two families, each a list of counts that are zero or more.")
        sums = pair.sum(axis=1, keepdims=True)
        if (sums == 0).any() or (pair[0] == pair[1]).all():
            return np.array(-1.0)
        scaled = pair * 100 / sums
        factor = np.linalg.norm(scaled[0] - scaled[1]) / np.linalg.norm(pair[0] - pair[1])
        return np.array(float(np.digitize(factor, [1 + 1e-9, 10])))


EXERCISES = {
    "ex-05-hand": Exercise(
        lambda: _theta([7, 2, 1], 4),
        "Share the excess equally, clip, and go on with those above zero. Add up what the first block gave.",
        ((7 + 2 + 1 - 4) / 3, "That is what each gives in the first round. Somebody falls below zero: go on without them."),
        ((7 + 2 - 4) / 2, "That is a candidate, for two blocks that keep people. Take the largest of all candidates."),
        (1, "That is what the last round takes. θ is the sum over all rounds."),
    ),
    "ex-05-scale": _Apart(
        [[1, 0], [0, 1]],
        "The factor is the parent's count over the sum of the children. When is it large?",
        (100 * np.eye(2), "Scaling moves these no further apart than they are. What if the sums are far from the parent's?"),
        ([[25, 25], [30, 20]], "Further apart, but not by enough. Make the sums smaller beside the parent."),
        ([[0, 0], [1, 0]], "The families must differ, and a family without people cannot be scaled."),
        praise="The smaller the children beside their parent, the more their noise is blown up.",
    ),
    "ex-05-single": Exercise(
        _single,
        "The parent's variance is the same in every family, so only the 1/k differ. `border_weight` gives the border.",
        (lambda: _single(power=0), "The border is right. But the tracts do not count alike: each adds its 1/k to the sum."),
        (lambda: _single(0), "The part is right. The border is that of all tracts: leave out the one with a single block."),
        (lambda: _single(mean=1), "The part is right. For the border, the *harmonic* mean of the family sizes counts."),
        rtol=1e-2,
    ),
    "ex-05-childless": Exercise(
        lambda: smaller_child(0, 0.5),
        "For each release, subtract the sum of the blocks from the state's count. Then take the mean.",
        (0, "Tracts add up to the state, and blocks to their tract. But which blocks stand for the empty tract?"),
        (lambda: -smaller_child(0, 0.5), "The size is right. Give what the blocks *lack*: state minus blocks, on average."),
        (lambda: smaller_child(0, 0.5) / 2, "That is for each block. There are two."),
        (2, "That is the scale of the noise. Average the differences that you see over all releases."),
        rtol=0.2,
    ),
}

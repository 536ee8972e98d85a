"""The exercises of chapter 5.

sizes: how many blocks each tract has · part: what one tract adds to the sum of 1/k over all tracts
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad

from .. import load_state, project_simplex
from . import Exercise, Mistake


def _theta(values, total):
    return max(values) - project_simplex(values, total).max()


def _sizes():
    return np.sort(np.bincount(load_state("wyoming").parents[2]))


def _border(size, average):
    ratio = size**1.5 / average
    return ratio / (ratio + 2)


def _single(dropped=1, part=None, mean=lambda sizes: 1 / np.mean(1 / sizes)):
    """The part of the smallest tract, and the border when the smallest ones are dropped."""
    sizes = _sizes()
    part = (1 / sizes[0]) / (1 / sizes).sum() if part is None else part
    return [part, _border(mean(sizes[dropped:]), sizes.mean())]


def smaller_child(n: float, eps: float) -> float:
    """Mean of the smaller of two children after the fit, counts n and very many, all budgets ε.

    The fit gives it (x + n + D)/2, or zero: x is its clipped count, and D the difference of two noises, of the parent and
    of the large child. In units of 1/ε, the mean over D of max(0, y + D) is y + (3 + y) exp(−y)/4.

    >>> round(smaller_child(0, 0.5), 4)
    1.0938
    """
    n = eps * n

    def after(x):
        y = x + n
        return y + (3 + y) * np.exp(-y) / 4

    density = [quad(lambda x: after(x) * np.exp(-abs(x - n)) / 2, *ends)[0] for ends in [(0, n), (n, n + 50)]]
    return float((after(0) * np.exp(-n) / 2 + sum(density)) / 2 / eps)


@dataclass(frozen=True)
class _Apart(Exercise):
    """Two families: how much further apart does scaling to 100 move them, in powers of ten?"""

    def _numbers(self, answer):
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
        right=lambda: _theta([7, 2, 1], 4),
        mistakes=[
            Mistake(
                lambda: (7 + 2 + 1 - 4) / 3,
                "That is what each gives in the first round. Somebody falls below zero: go on without them.",
            ),
            Mistake(
                lambda: (7 + 2 - 4) / 2,
                "That is a candidate, for two blocks that keep people. Take the largest of all candidates.",
            ),
            Mistake(lambda: 1, "That is what the last round takes. θ is the sum over all rounds."),
        ],
        hint="Share the excess equally, clip, and go on with those above zero. Add up what the first block gave.",
    ),
    "ex-05-scale": _Apart(
        right=lambda: [[1, 0], [0, 1]],
        mistakes=[
            Mistake(
                lambda: [[60, 40], [40, 60]],
                "Scaling moves these no further apart than they are. What if the sums are far from the parent's?",
            ),
            Mistake(
                lambda: [[25, 25], [30, 20]], "Further apart, but not by enough. Make the sums smaller beside the parent."
            ),
            Mistake(lambda: [[0, 0], [1, 0]], "The families must differ, and a family without people cannot be scaled."),
        ],
        hint="The factor is the parent's count over the sum of the children. When is it large?",
        praise="The smaller the children beside their parent, the more their noise is blown up.",
    ),
    "ex-05-single": Exercise(
        right=_single,
        mistakes=[
            Mistake(
                lambda: _single(part=1 / len(_sizes())),
                "The border is right. But the tracts do not count alike: each adds its 1/k to the sum.",
            ),
            Mistake(
                lambda: _single(dropped=0),
                "The part is right. The border is that of all tracts: leave out the one with a single block.",
            ),
            Mistake(
                lambda: _single(mean=np.mean),
                "The part is right. For the border, the *harmonic* mean of the family sizes counts.",
            ),
        ],
        hint="The parent's variance is the same in every family, so only the 1/k differ. `border_weight` gives the border.",
        rtol=1e-2,
    ),
    "ex-05-childless": Exercise(
        right=lambda: smaller_child(0, 0.5),
        mistakes=[
            Mistake(
                lambda: 0,
                "Tracts add up to the state, and blocks to their tract. But which blocks stand for the empty tract?",
            ),
            Mistake(
                lambda: -smaller_child(0, 0.5),
                "The size is right. Give what the blocks *lack*: state minus blocks, on average.",
            ),
            Mistake(lambda: smaller_child(0, 0.5) / 2, "That is for each block. There are two."),
            Mistake(lambda: 2, "That is the scale of the noise. Average the differences that you see over all releases."),
        ],
        hint="For each release, subtract the sum of the blocks from the state's count. Then take the mean.",
        rtol=0.2,  # the mean of a thousand releases has a standard error of 0.05
    ),
}

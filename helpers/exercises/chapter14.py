"""The exercises of chapter 14."""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from .. import Hierarchy, cube_root, load_state, minimize_error
from . import Exercise

_CHAIN = ("state", "county", "tract", "block group", "block")
_TOTALS = np.geomspace(0.001, 20, 70)


def _clinics(shares: ArrayLike, power: float = 2) -> list[float]:
    """Budgets of 2.8 in these shares, and the two bounds of the least error."""
    least = np.cbrt([1, 27, 1000]).sum() ** 3 / 2.8**power
    return [*(2.8 * np.array(shares) / np.sum(shares)), least, 2 * least]


def _lonely() -> tuple[float, ...]:
    """The rule's error over the best split's, of the tract and of the blocks, and both errors in all."""
    tree = Hierarchy.from_counts([[10**6], [10**6] + [0] * 999], [None, [0] * 1000])
    rule, best = cube_root(tree, 1), minimize_error(tree, 1)
    return *(rule.mse_by_level / best.mse_by_level), rule.mse / best.mse


@cache
def _worst(state: str, tree: str = "geography", levels: tuple[str, ...] = _CHAIN) -> float:
    """Extra error of the rule in percent, at the worst of the chapter's totals."""
    found = load_state(state, tree, levels=levels)
    return max(100 * (cube_root(found, total).mse / minimize_error(found, total).mse - 1) for total in _TOTALS)


@cache
def _newcomer() -> tuple[float, float]:
    """What the tracts' budget loses when somebody moves in with a person who lives alone, and what is left of it."""
    tree = load_state("wyoming")
    block, after = int(tree.counts[2].argmin()), [level.copy() for level in tree.counts]
    for level, node in enumerate((0, tree.links[1][block], block)):
        after[level][node] += 1
    left = minimize_error(Hierarchy.from_counts(after, tree.parents, tree.levels), 1).eps[1]
    return minimize_error(tree, 1).eps[1] - left, left


def _delta(coins: int = 3, tail: float = 1.0, relative: bool = True) -> float:
    lost, left = _newcomer()
    return 0.5**coins * np.exp(-tail) * lost / (left if relative else 1)


@cache
def _path_ratios() -> np.ndarray:
    """Least error with a budget for each node over the least with one for each level: published tree, geography."""
    ratios = []
    for kind in ("published", "geography"):
        tree = load_state("wyoming", kind)
        constants = np.ones(tree.sizes[-1])
        for parents, size in zip(tree.links[::-1], tree.sizes[-2::-1], strict=True):
            constants = (1 + np.cbrt(np.bincount(parents, weights=constants, minlength=size))) ** 3
        ratios.append(constants[0] / np.cbrt(tree.sizes).sum() ** 3)
    return np.array(ratios)


EXERCISES = {
    "ex-14-clinics": Exercise(
        lambda: _clinics([1, 3, 10]),
        "Budgets go with the cube roots. The error of a level lies between n/ε² and twice that: add up the levels.",
        (lambda: _clinics([1, 1, 1]), "Your budgets are the uniform split. Do the node counts not matter?"),
        (lambda: _clinics([1, 27, 1000]), "You split by the node counts themselves. Take their cube roots."),
        (lambda: _clinics([10, 3, 1]), "Your budgets are in the wrong order: the country comes first."),
        (
            lambda: _clinics([1, 3, 10], power=1),
            "The budgets are right. The bounds are not: with which power does an error fall in the budget?",
        ),
        rtol=5e-3,
    ),
    "ex-14-level": Exercise(
        lambda: _lonely()[0],
        "Divide `cube_root(tree, 1).mse_by_level` by the same of `minimize_error`, and take the tract's entry.",
        (lambda: 1 / _lonely()[0], "That is upside down: the error of the rule goes on top."),
        (lambda: _lonely()[1], "That is the factor of the blocks, which gain. Look at the tract."),
        (lambda: _lonely()[2], "That is the factor of the total error, which the theorem bounds. Look at the tract."),
        (2 ** (2 / 3), "That is the bound. This tree comes close to it; compute how close."),
        (lambda: _lonely()[0] ** 0.5, "That is the factor of the root of the error, or of the budget."),
    ),
    "ex-14-deep": Exercise(
        lambda: _worst("wyoming"),
        'Load Wyoming with tree="geography" and all five levels, and take the largest of `percent(tree, totals)`.',
        (lambda: _worst("wyoming") / 100, "That is a share. The answer is asked for in percent."),
        (lambda: _worst("wyoming", levels=("state", "tract", "block")), "That is the tree with three levels."),
        (lambda: _worst("wyoming", "published"), "That is the published tree. Take the geography, where empty blocks stay."),
        (lambda: _worst("delaware"), "That is Delaware."),
    ),
    "ex-14-wyoming": Exercise(
        _delta,
        "Maximise the chance of the event times Δ(t − N′) over t. It has a factor for each level, and a tail in t.",
        (lambda: _delta(coins=0), "How likely is it that none of the person's noisy counts is below its true one?"),
        (lambda: _delta(coins=1), "The noise must point up at every level, not only at the one that you watch."),
        (lambda: _delta(tail=0.0), "At the best t, what is left of the tail of the watched level?"),
        (lambda: _delta(relative=False), "Δ alone has the wrong unit: what is t measured in, at the best t?"),
        rtol=0.02,
    ),
    "ex-14-nodes": Exercise(
        lambda: 100 * (1 - _path_ratios()),
        "Go from the leaves up with C = (1 + ∛ΣC)³, and compare C of the root with (Σ∛n)³.",
        (lambda: 1 - _path_ratios(), "These are shares. The answer is asked for in percent."),
        (lambda: 100 * _path_ratios(), "That is what is left of the error. What is gained?"),
        (lambda: 100 * (1 - _path_ratios()[::-1]), "The published tree comes first."),
        (
            lambda: 100 * (1 / _path_ratios() - 1),
            "You divide by the smaller error. The gain is a part of the error with one budget a level.",
        ),
    ),
}

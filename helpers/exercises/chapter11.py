"""The exercises of chapter 11."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from .. import Hierarchy, expected_error, load_state, minimize_error, mse, prior, top_down
from . import Exercise


def _weight(ratio: ArrayLike, shared_by: int = 2) -> np.ndarray:
    """w₃ when w₃/w₂ is a ratio, and so many levels share the rest."""
    return np.asarray(ratio) / (np.asarray(ratio) + shared_by)


def _errors(eps: np.ndarray) -> np.ndarray:
    """Errors of Wyoming's levels in 2020."""
    return expected_error(load_state("WY"), eps).mse.to_numpy()


def _split(tree: Hierarchy, w: float) -> np.ndarray:
    return minimize_error(tree, 2.0, weights=[(1 - w) / 2, (1 - w) / 2, w]).eps


def _doubled(load: Callable[[str], Hierarchy] = load_state, w: float = 0.5) -> np.ndarray:
    """Factor of ε₃/ε₂, and changes of blocks, tracts and total in percent, from equal weights to a weight w."""
    equal, more = _split(load("WY"), 1 / 3), _split(load("WY"), w)
    old, new = _errors(equal), _errors(more)
    percents = 100 * (np.array([new[2] / old[2], new[1] / old[1], new.sum() / old.sum()]) - 1)
    return np.array([more[2] / more[1] / (equal[2] / equal[1]), *percents])


def _fair(power: float) -> np.ndarray:
    """Budgets of Wyoming at ε = 2 with weights that are a power of the numbers of nodes, and the total over the least."""
    tree = load_state("WY")
    found = minimize_error(tree, 2.0, weights=tree.sizes.astype(float) ** power)
    return np.array([*found.eps, found.mse / minimize_error(tree, 2.0).mse])


def _turned() -> tuple[np.ndarray, np.ndarray]:
    """The weights of tracts and blocks at which the total is ten percent above the least, and their errors over the old."""
    tree = load_state("WY")

    def error(w: float, level: int) -> np.ndarray:
        weights = [w if i == level else (1 - w) / 2 for i in range(3)]
        return minimize_error(tree, 2.0, weights).mse_by_level

    least = error(1 / 3, 2)
    at = [brentq(lambda w, i: error(w, i).sum() / least.sum() - 1.1, 1 / 3, 0.999, args=(i,)) for i in (1, 2)]
    return np.array(at), np.array([error(w, i)[i] / least[i] for i, w in enumerate(at, start=1)])


def _fitted(tree: str, trials: int = 12) -> float:
    """The blocks' error at ε = 2, summed up before clipping and fitted down, over a few releases."""
    truth, rng, found = load_state("WY", tree), np.random.default_rng(11), []
    for _ in range(trials):
        raw = truth.counts[2] + rng.laplace(scale=1 / 2, size=truth.sizes[2])
        tracts = np.bincount(truth.links[1], raw)
        found.append(((top_down(truth, [[tracts.sum()], tracts, raw])[2] - truth.counts[2]) ** 2).sum())
    return np.mean(found)


def _clipped(tree: str) -> float:
    return mse(load_state("WY", tree).counts[2], 2.0).sum()


EXERCISES = {
    "ex-11-shops": Exercise(
        lambda: _weight([10, 1000**0.5]),
        "The errors cross where w₃/w₂ is the square root of the ratio of the numbers of nodes, and w₂ = (1 − w₃)/2.",
        ([10, 1000**0.5], "These are the ratios of the weights. Which shop weight has such a ratio?"),
        (lambda: _weight([10, 1000**0.5], 1), "Two levels share the rest, so each of them has half of it."),
        (lambda: _weight([100, 1000]), "Take the square root of the ratio of the numbers of nodes."),
        (lambda: _weight([100 ** (1 / 3), 10]), "That is the cube root, which rules budgets. Errors cross at another root."),
        (lambda: _weight([1000**0.5, 10]), "The right two numbers. The regions come first."),
    ),
    "ex-11-gentle": Exercise(
        _doubled,
        "weight(2) is the w₃ that you need. Compare split and errors at it with those at one third.",
        (
            lambda: _doubled() * [0, 1, 1, 1] + [2, 0, 0, 0],
            "The percents are right. The ratio of the budgets does not double: budgets follow a root of the weights.",
        ),
        (lambda: _doubled(w=2 / 3), "You doubled w₃ itself. Then the others fall as well, and the ratio grows by more."),
        (lambda: _doubled(prior), "That split was chosen on the counts of 2010. Take the tree wyoming."),
        (lambda: _doubled() / [1, 100, 100, 100], "Give the changes in percent."),
        (lambda: np.abs(_doubled()), "An error that falls has a negative change."),
        rtol=1e-2,
    ),
    "ex-11-fair": Exercise(
        lambda: _fair(1 / 2),
        "The error of a level is proportional to n^(1/3) w^(−2/3). Which w makes that the same at all levels?",
        (lambda: _fair(-1), "These weights make the error of a *node* the same at all levels."),
        (lambda: _fair(0), "These are equal weights. Then the error is larger where there are more nodes."),
        (lambda: _fair(1), "That overshoots: now the level with the fewest nodes has the largest error."),
        (lambda: _fair(1 / 3), "Nearly. The error goes with a cube root of n, but with another power of w. Set them equal."),
        rtol=2e-2,
    ),
    "ex-11-tracts": Exercise(
        lambda: 100 * (1 - _turned()[1]),
        "For each of the two levels, find the weight (brentq) that makes the total 1.1 of the least. And its error?",
        (lambda: 100 * _turned()[1], "That is what is left of the errors. How much lower are they?"),
        (lambda: _turned()[0], "These are the weights. What do they do to the errors of their levels?"),
        (lambda: 1 - _turned()[1], "Give percents."),
        (lambda: 100 * (1 - _turned()[1])[::-1], "The right two numbers. The tracts come first."),
        rtol=5e-3,
    ),
    "ex-11-up-down": Exercise(
        lambda: [_fitted("geography"), _clipped("geography")],
        "Add Laplace noise of scale ½ to the blocks, sum up with bottom_up, and call top_down on the result. Average "
        "the squared errors of the blocks over some releases.",
        (lambda: [_fitted("published"), _clipped("published")], "That is the published tree. Take the geography."),
        (lambda: [_clipped("geography"), _fitted("geography")], "The right two numbers. The fitted blocks come first."),
        (
            lambda: [load_state("WY", "geography").sizes[2] / 2, _clipped("geography")],
            "Your blocks are as they were before clipping. Fit them down to the sums: that makes them non-negative.",
        ),
        (
            lambda: [_clipped("geography")] * 2,
            "Both are clipped blocks. For the first, sum up before you clip, and call top_down with these sums.",
        ),
        rtol=2e-2,
    ),
}

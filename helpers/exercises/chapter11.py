"""The exercises of chapter 11."""

import numpy as np
from scipy.optimize import brentq

from .. import expected_error, load_state, minimize_error, mse, prior, top_down
from . import Exercise, Mistake


def _weight(ratio, shared_by=2):
    """w₃ when w₃/w₂ is a ratio, and so many levels share the rest."""
    return np.asarray(ratio) / (np.asarray(ratio) + shared_by)


def _errors(eps):
    """Errors of Wyoming's levels in 2020."""
    return expected_error(load_state("WY"), eps).mse.to_numpy()


def _split(tree, w):
    return minimize_error(tree, 2.0, weights=[(1 - w) / 2, (1 - w) / 2, w]).eps


def _doubled(tree, w=0.5):
    """Factor of ε₃/ε₂, and changes of blocks, tracts and total in percent, from equal weights to a weight w."""
    equal, more = _split(tree, 1 / 3), _split(tree, w)
    old, new = _errors(equal), _errors(more)
    percents = 100 * (np.array([new[2] / old[2], new[1] / old[1], new.sum() / old.sum()]) - 1)
    return np.array([more[2] / more[1] / (equal[2] / equal[1]), *percents])


def _by_power(power):
    """Budgets of Wyoming at ε = 2 with weights that are a power of the numbers of nodes, and the total over the least."""
    tree = load_state("WY")
    found = minimize_error(tree, 2.0, weights=tree.sizes.astype(float) ** power)
    return np.array([*found.eps, found.mse / minimize_error(tree, 2.0).mse])


def _turned():
    """The weights of tracts and blocks at which the total is ten percent above the least, and their errors over the old."""
    tree = load_state("WY")

    def error(w, level):
        weights = [w if i == level else (1 - w) / 2 for i in range(3)]
        return minimize_error(tree, 2.0, weights).mse_by_level

    least = error(1 / 3, 2)
    at = [brentq(lambda w, i: error(w, i).sum() / least.sum() - 1.1, 1 / 3, 0.999, args=(i,)) for i in (1, 2)]
    return np.array(at), np.array([error(w, i)[i] / least[i] for i, w in enumerate(at, start=1)])


def _fitted(tree, trials=12):
    """The blocks' error at ε = 2, summed up before clipping and fitted down, over a few releases."""
    truth, rng, found = load_state("WY", tree), np.random.default_rng(11), []
    for _ in range(trials):
        raw = truth.counts[2] + rng.laplace(scale=1 / 2, size=truth.sizes[2])
        tracts = np.bincount(truth.parents[2], raw)
        found.append(((top_down(truth, [[tracts.sum()], tracts, raw])[2] - truth.counts[2]) ** 2).sum())
    return np.mean(found)


def _clipped(tree):
    return mse(load_state("WY", tree).counts[2], 2.0).sum()


EXERCISES = {
    "ex-11-shops": Exercise(
        right=lambda: _weight([10, 1000**0.5]),
        mistakes=[
            Mistake(lambda: [10, 1000**0.5], "These are the ratios of the weights. Which shop weight has such a ratio?"),
            Mistake(lambda: _weight([10, 1000**0.5], 1), "Two levels share the rest, so each of them has half of it."),
            Mistake(lambda: _weight([100, 1000]), "Take the square root of the ratio of the numbers of nodes."),
            Mistake(
                lambda: _weight([100 ** (1 / 3), 10]),
                "That is the cube root, which rules budgets. Errors cross at another root.",
            ),
            Mistake(lambda: _weight([1000**0.5, 10]), "The right two numbers. The regions come first."),
        ],
        hint="The errors cross where w₃/w₂ is the square root of the ratio of the numbers of nodes, and w₂ = (1 − w₃)/2.",
    ),
    "ex-11-gentle": Exercise(
        right=lambda: _doubled(load_state("WY")),
        mistakes=[
            Mistake(
                lambda: _doubled(load_state("WY")) * [0, 1, 1, 1] + [2, 0, 0, 0],
                "The percents are right. The ratio of the budgets does not double: budgets follow a root of the weights.",
            ),
            Mistake(
                lambda: _doubled(load_state("WY"), 2 / 3),
                "You doubled w₃ itself. Then the others fall as well, and the ratio grows by more.",
            ),
            Mistake(lambda: _doubled(prior("WY")), "That split was chosen on the counts of 2010. Take the tree wyoming."),
            Mistake(lambda: _doubled(load_state("WY")) / [1, 100, 100, 100], "Give the changes in percent."),
            Mistake(lambda: np.abs(_doubled(load_state("WY"))), "An error that falls has a negative change."),
        ],
        hint="weight(2) is the w₃ that you need. Compare split and errors at it with those at one third.",
        rtol=1e-2,  # the factor is meant for large counts
    ),
    "ex-11-fair": Exercise(
        right=lambda: _by_power(1 / 2),
        mistakes=[
            Mistake(lambda: _by_power(-1), "These weights make the error of a *node* the same at all levels."),
            Mistake(lambda: _by_power(0), "These are equal weights. Then the error is larger where there are more nodes."),
            Mistake(lambda: _by_power(1), "That overshoots: now the level with the fewest nodes has the largest error."),
            Mistake(
                lambda: _by_power(1 / 3),
                "Nearly. The error goes with a cube root of n, but with another power of w. Set them equal.",
            ),
        ],
        hint="The error of a level is proportional to n^(1/3) w^(−2/3). Which w makes that the same at all levels?",
        rtol=2e-2,  # the rule is meant for large counts
    ),
    "ex-11-tracts": Exercise(
        right=lambda: 100 * (1 - _turned()[1]),
        mistakes=[
            Mistake(lambda: 100 * _turned()[1], "That is what is left of the errors. How much lower are they?"),
            Mistake(lambda: _turned()[0], "These are the weights. What do they do to the errors of their levels?"),
            Mistake(lambda: 1 - _turned()[1], "Give percents."),
            Mistake(lambda: 100 * (1 - _turned()[1])[::-1], "The right two numbers. The tracts come first."),
        ],
        hint="For each of the two levels, find the weight (brentq) that makes the total 1.1 of the least. And its error?",
        rtol=5e-3,
    ),
    "ex-11-up-down": Exercise(
        right=lambda: [_fitted("geography"), _clipped("geography")],
        mistakes=[
            Mistake(
                lambda: [_fitted("published"), _clipped("published")], "That is the published tree. Take the geography."
            ),
            Mistake(
                lambda: [_clipped("geography"), _fitted("geography")], "The right two numbers. The fitted blocks come first."
            ),
            Mistake(
                lambda: [load_state("WY", "geography").sizes[2] / 2, _clipped("geography")],
                "Your blocks are as they were before clipping. Fit them down to the sums: that makes them non-negative.",
            ),
            Mistake(
                lambda: [_clipped("geography")] * 2,
                "Both are clipped blocks. For the first, sum up before you clip, and call top_down with these sums.",
            ),
        ],
        hint="Add Laplace noise of scale ½ to the blocks, sum up with bottom_up, and call top_down on the result. Average "
        "the squared errors of the blocks over some releases.",
        rtol=2e-2,  # a dozen releases here and forty there have a standard error of half a percent together
    ),
}

"""The exercises of chapter 12."""

from functools import cache

import numpy as np

from .. import Hierarchy, cube_root, downstream, load_state, minimize_error, prior, uniform
from . import Exercise, Mistake


@cache
def _picked():
    """Which tract of Wyoming the chapter draws, and the counts of its blocks."""
    tree = load_state("WY")
    tract = int(np.random.default_rng(12).integers(tree.sizes[1]))
    return tract, tree.counts[2][tree.parents[2] == tract]


def _pruned():
    """Wyoming with the blocks of the drawn tract only: the chapter's tree."""
    (tract, blocks), tree = _picked(), load_state("WY")
    people = tree.counts[1]
    below = [blocks if i == tract else [n] for i, n in enumerate(people)]
    parents = np.repeat(np.arange(len(people)), [len(b) for b in below])
    return Hierarchy.from_counts([tree.counts[0], people, np.concatenate(below)], [None, 0 * people, parents])


@cache
def _tract_error(rule="uniform", weight="linear"):
    """The row of the chapter's table at ε = 0.5: 400 releases, from the same seed if it is the first row."""
    eps = uniform(load_state("WY"), 0.5) if rule == "uniform" else minimize_error(prior("WY"), 0.5)
    table = downstream.simulate_misallocation(
        _pruned(), eps.eps, 400, np.random.default_rng(12), {weight: downstream.WEIGHTS[weight]}
    )
    return table.loc[(weight, _picked()[0])]


def _needed(rule="uniform", weight="linear", part=0.1, raw=False):
    row = _tract_error(rule, weight)
    return row.variance / (part * (row.bias2 + raw * row.variance / 400))


def _sensitivity(power, consistent=True):
    """Sum of squared derivatives of the drawn tract's shares by p**power, with or without the tract's total held."""
    n = _picked()[1]
    step = 1e-3 * (np.eye(len(n)) - consistent / len(n))
    up, down = (downstream.shares(n + s, lambda p: p**power) for s in (step, -step))
    return ((up - down) ** 2).sum()


def _best_power(consistent=True):
    """The power on the grid with the least variance, and that variance over the one of linear weights."""
    noise = {a: _sensitivity(a, consistent) for a in np.linspace(0.2, 2, 19).round(1)}
    best = min(noise, key=noise.get)
    return [best, noise[best] / noise[1.0]]


def _predicted(power=2):
    """(Blocks' budget over a third) to a power, under the cube-root rule and under the optimal split of 2010."""
    blocks = np.array([cube_root(load_state("WY"), 1.0).eps[2], minimize_error(prior("WY"), 1.0).eps[2]])
    return (3 * blocks) ** power


def _zero(level=1, factor=0.5):
    """How often the tract's total is clipped to zero at ε = 0.001, under both splits, with the budget of a level."""
    splits = uniform(load_state("WY"), 0.001), minimize_error(prior("WY"), 0.001)
    return [factor * np.exp(-split.eps[level] * _picked()[1].sum()) for split in splits]


EXERCISES = {
    "ex-12-trials": Exercise(
        right=_needed,
        mistakes=[
            Mistake(lambda: _needed(part=1), "With that many the estimate is twice as large as Bias². Allow a tenth of it."),
            Mistake(
                lambda: _needed(raw=True),
                "Your Bias² is the squared mean error, which is too high already. Take the debiased one.",
            ),
            Mistake(lambda: _needed(rule="optimal"), "That is the optimal split. Take the row of the uniform one."),
            Mistake(lambda: _needed(weight="quadratic"), "These are quadratic weights. Take the row of the linear ones."),
        ],
        hint="The estimate is too high by variance/T on average. When is that a tenth of Bias²?",
        rtol=0.2,  # Bias² of the table has a standard error of 12 percent
    ),
    "ex-12-power": Exercise(
        right=_best_power,
        mistakes=[
            Mistake(lambda: [0.2, 0.2**2], "That is the variance of an even tract. The blocks of this tract differ."),
            Mistake(lambda: [0.2, _best_power()[1] ** 0.5], "That is a ratio of standard deviations. Square it."),
            Mistake(
                lambda: [0.2, _best_power(consistent=False)[1]],
                "Consistency holds the tract's total: move one block against the mean of all.",
            ),
            Mistake(
                lambda: [0.5, _sensitivity(0.5) / _sensitivity(1.0)],
                "That is the square root. Other powers have less variance.",
            ),
        ],
        hint="For each power, divide the sensitivity of its shares by that of linear ones, along np.eye(k) − 1/k.",
    ),
    "ex-12-cube": Exercise(
        right=_predicted,
        mistakes=[
            Mistake(lambda: _predicted(1), "These are ratios of budgets. The squared error goes with their squares."),
            Mistake(lambda: _predicted(-2), "Upside down: more budget, less error."),
            Mistake(lambda: _predicted()[::-1], "The right two numbers. The cube-root rule comes first."),
            Mistake(lambda: _predicted(2) / 9, "The uniform split gives the blocks a third, not all of the budget."),
        ],
        hint="The gain is the squared ratio of the blocks' budgets. Under the uniform split that budget is a third.",
    ),
    "ex-12-tiny": Exercise(
        right=_zero,
        mistakes=[
            Mistake(lambda: _zero(factor=1), "Only half of the noise is negative."),
            Mistake(lambda: _zero(level=2), "That is the budget of the blocks. The tract's total has its own."),
            Mistake(lambda: _zero(level=0), "That is the budget of the state. The tract's total has its own."),
            Mistake(lambda: _zero()[::-1], "The right two numbers. The uniform split comes first."),
            Mistake(
                lambda: [0.5 * np.exp(-0.001 * _picked()[1].sum())] * 2,
                "You spent the whole budget on the tract. It is shared by three levels.",
            ),
        ],
        hint="The total is clipped when the noise is below minus the number of people in the tract. The tail of Laplace "
        "noise gives the chance of that.",
    ),
}

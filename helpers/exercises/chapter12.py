"""The exercises of chapter 12."""

from functools import cache

import numpy as np
import pandas as pd

from .. import Hierarchy, cube_root, downstream, load_state, minimize_error, prior, uniform
from . import Exercise


@cache
def _picked() -> tuple[int, np.ndarray]:
    """Which tract of Wyoming the chapter draws, and the counts of its blocks."""
    tree = load_state("WY")
    tract = int(np.random.default_rng(12).integers(tree.sizes[1]))
    return tract, tree.counts[2][tree.links[1] == tract]


def _pruned() -> Hierarchy:
    """Wyoming with the blocks of the drawn tract only: the chapter's tree."""
    (tract, blocks), tree = _picked(), load_state("WY")
    people = tree.counts[1]
    below = [blocks if i == tract else [n] for i, n in enumerate(people)]
    parents = np.repeat(np.arange(len(people)), [len(b) for b in below])
    return Hierarchy.from_counts([tree.counts[0], people, np.concatenate(below)], [None, 0 * people, parents])


@cache
def _tract_error(rule: str = "uniform", weight: str = "linear") -> pd.Series:
    """The row of the chapter's table at ε = 0.5: 400 releases, from the same seed if it is the first row."""
    eps = uniform(load_state("WY"), 0.5) if rule == "uniform" else minimize_error(prior("WY"), 0.5)
    rng, weights = np.random.default_rng(12), {weight: downstream.WEIGHTS[weight]}
    table = downstream.simulate_misallocation(_pruned(), eps.eps, 400, rng, weights)
    return table.loc[(weight, _picked()[0])]


def _needed(rule: str = "uniform", weight: str = "linear", part: float = 0.1, raw: int = 0) -> float:
    row = _tract_error(rule, weight)
    return row.variance / (part * (row.bias2 + raw * row.variance / 400))


def _sensitivity(power: float, consistent: bool = True) -> float:
    """Sum of squared derivatives of the drawn tract's shares by p**power, with or without the tract's total held."""
    n = _picked()[1]
    step = 1e-3 * (np.eye(len(n)) - consistent / len(n))
    up, down = (downstream.shares(n + s, lambda p: p**power) for s in (step, -step))
    return ((up - down) ** 2).sum()


def _best(consistent: bool = True) -> list[float]:
    """The power on the grid with the least variance, and that variance over the one of linear weights."""
    noise = {a: _sensitivity(a, consistent) for a in np.linspace(0.2, 2, 19).round(1)}
    best = min(noise, key=lambda a: noise[a])
    return [best, noise[best] / noise[1.0]]


def _predicted(power: float = 2) -> np.ndarray:
    """(Blocks' budget over a third) to a power, under the cube-root rule and under the optimal split of 2010."""
    blocks = np.array([cube_root(load_state("WY"), 1.0).eps[2], minimize_error(prior("WY"), 1.0).eps[2]])
    return (3 * blocks) ** power


def _zero(level: int | slice = 1, factor: float = 0.5) -> list[float]:
    """How often the tract's total is clipped to zero at ε = 0.001, under both splits, with the budget of a level or more."""
    splits = uniform(load_state("WY"), 0.001), minimize_error(prior("WY"), 0.001)
    return [factor * np.exp(-split.eps[level].sum() * _picked()[1].sum()) for split in splits]


EXERCISES = {
    "ex-12-trials": Exercise(
        _needed,
        "The estimate is too high by variance/T on average. When is that a tenth of Bias²?",
        (lambda: _needed(part=1), "With that many the estimate is twice as large as Bias². Allow a tenth of it."),
        (lambda: _needed(raw=1), "Your Bias² is the squared mean error, which is too high already. Take the debiased one."),
        (lambda: _needed(rule="optimal"), "That is the optimal split. Take the row of the uniform one."),
        (lambda: _needed(weight="quadratic"), "These are quadratic weights. Take the row of the linear ones."),
        rtol=0.05,
    ),
    "ex-12-power": Exercise(
        _best,
        "For each power, divide the sensitivity of its shares by that of linear ones, along np.eye(k) − 1/k.",
        ([0.2, 0.2**2], "That is the variance of an even tract. The blocks of this tract differ."),
        (lambda: [0.2, _best()[1] ** 0.5], "That is a ratio of standard deviations. Square it."),
        (lambda: [0.2, _best(False)[1]], "Consistency holds the tract's total: move one block against the mean of all."),
        (lambda: [0.5, _sensitivity(0.5) / _sensitivity(1.0)], "That is the square root. Other powers have less variance."),
    ),
    "ex-12-cube": Exercise(
        _predicted,
        "The gain is the squared ratio of the blocks' budgets. Under the uniform split that budget is a third.",
        (lambda: _predicted(1), "These are ratios of budgets. The squared error goes with their squares."),
        (lambda: _predicted(-2), "Upside down: more budget, less error."),
        (lambda: _predicted()[::-1], "The right two numbers. The cube-root rule comes first."),
        (lambda: _predicted(2) / 9, "The uniform split gives the blocks a third, not all of the budget."),
    ),
    "ex-12-tiny": Exercise(
        _zero,
        "The total is clipped when the noise is below minus the number of people in the tract. The tail of Laplace "
        "noise gives the chance of that.",
        (lambda: _zero(factor=1), "Only half of the noise is negative."),
        (lambda: _zero(level=2), "That is the budget of the blocks. The tract's total has its own."),
        (lambda: _zero(level=0), "That is the budget of the state. The tract's total has its own."),
        (lambda: _zero()[::-1], "The right two numbers. The uniform split comes first."),
        (lambda: _zero(level=slice(3)), "You spent the whole budget on the tract. It is shared by three levels."),
    ),
}

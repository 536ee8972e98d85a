"""The exercises of chapter 7."""

from collections.abc import Callable, Sequence

import numpy as np

from .. import Allocation, Hierarchy, bias, census, cube_root, expected_error, load_state, minimize_error, prior, uniform
from . import Exercise

Rule = Callable[[Hierarchy, float], Allocation]
THREE, FOUR = ("state", "tract", "block"), ("state", "county", "tract", "block")


def _ends(digits: int, empty: bool = True) -> list[float]:
    """Largest and smallest share of empty (or inhabited) blocks over the places that share so many digits."""
    blocks = census.blocks("WY")
    share = ((blocks.population == 0) == empty).groupby(blocks.geoid.str[:digits]).mean()
    return [share.max(), share.min()]


def _levels(rule: Rule = minimize_error, names: Sequence[str] = FOUR) -> list[float]:
    tree = load_state("WY", levels=names)
    return [*tree.sizes[-2:], rule(tree, 1.0).eps[-1]]


def _delaware(rule: Rule = minimize_error, of: str = "bias2", tree: str = "populated") -> list[float]:
    """An error of the smallest tract, and of all blocks together, at ε = 1."""
    state = load_state("DE", tree)
    split = rule(state, 1.0)
    one = Hierarchy.from_counts([[state.counts[1].min()]], [None])
    return [expected_error(one, split.eps[1:2])[of].iloc[0], expected_error(state, split)[of].iloc[2]]


def _delaware_biases() -> list[float]:
    """Biases instead of their squares: of the smallest tract, and summed over the blocks."""
    state = load_state("DE", "populated")
    _, tract, block = minimize_error(state, 1.0).eps
    return [bias(state.counts[1].min(), tract), bias(state.counts[2], block).sum()]


def _above(threshold: float) -> list[float]:
    """The threshold, how many inhabited blocks are expected above it, and the share of the people in them."""
    n = census.blocks("WY").query("population > 0").population.to_numpy()
    tail = np.exp(-0.8 * np.abs(threshold - n)) / 2
    shown = np.where(threshold < n, 1 - tail, tail)
    return [threshold, shown.sum(), (shown * n).sum() / n.sum()]


def _truly_above(threshold: float) -> list[float]:
    n = census.blocks("WY").population
    return [threshold, (n > threshold).sum(), n[n > threshold].sum() / n.sum()]


def _regrets(spread_people: bool = True, of_own: bool = False) -> list[float]:
    """Error above the least, in percent, with none, a quarter and half of each group's blocks left empty."""
    truth, spread = load_state("WY", "geography"), prior("WY", "geography")
    k = round(truth.sizes[2] / len(census.leaves_2010("WY", "geography", ["block group"])))
    groups, least = spread.counts[2].reshape(-1, k), minimize_error(truth, 1.0).mse
    found = []
    for part in (0, 0.25, 0.5):
        keep = round(k * (1 - part))
        blocks = np.where(np.arange(k) < keep, groups * (k / keep if spread_people else 1), 0.0).ravel()
        tracts = np.bincount(spread.links[1], blocks)
        split = minimize_error(Hierarchy.from_counts([[tracts.sum()], tracts, blocks], spread.parents), 1.0)
        found.append(100 * ((split.mse if of_own else expected_error(truth, split).mse.sum()) / least - 1))
    return found


_T = 1 + np.log(1 / 2e-6) / 0.8

EXERCISES = {
    "ex-07-county": Exercise(
        lambda: _ends(5),
        "State and county are the first digits of a block's code. Group by them, and take the mean of population == 0.",
        (lambda: _ends(5)[::-1], "The right shares, but the largest comes first."),
        (lambda: _ends(11), "These are tracts: you cut the code too late. How many digits has a county's code?"),
        (lambda: _ends(5, empty=False), "These are shares of blocks *with* people. Which count has an empty block?"),
    ),
    "ex-07-four-levels": Exercise(
        _levels,
        "load_state takes levels. The tree has sizes, one for each level, and minimize_error gives eps, top first.",
        (lambda: _levels(names=THREE), "That is the tree of three levels. Pass the four names as levels."),
        (lambda: _levels(uniform), "The tree is right. The budget is that of the even split; take the best one."),
        (lambda: _levels(cube_root), "The tree is right. The budget is that of the cube-root rule; solve the program."),
    ),
    "ex-07-delaware": Exercise(
        _delaware,
        "Which tract of the tree populated is nearly empty? Take its bias at the tracts' budget, and square it.",
        (lambda: _delaware()[::-1], "The right two numbers, but the tract comes first."),
        (lambda: _delaware(rule=uniform), "That is the even split. Under the best one the tracts get less."),
        (lambda: _delaware(of="mse"), "That is the whole squared error. Only Bias² is asked for."),
        (lambda: _delaware(tree="published"), "In the published tree the tract is joined with another. Look at populated."),
        (_delaware_biases, "These are biases. Square each node's bias before you add up."),
    ),
    "ex-07-threshold": Exercise(
        lambda: _above(_T),
        "Set ½ exp(−ε (T − 1)) to one in a million. Each block appears with the chance that its noisy count exceeds T.",
        (lambda: _above(1 + np.log(1e6) / 0.8), "Only half of the noise is above zero: δ has a factor of one half."),
        (lambda: _above(_T - 1), "Kim herself is counted: the noise starts from one, not from zero."),
        (lambda: _truly_above(_T), "The threshold is right. But the noisy counts are compared with it, not the true ones."),
        (lambda: [*_above(_T)[:2], 100 * _above(_T)[2]], "Give the share of the people as a part of one, not in percent."),
    ),
    "ex-07-prior": Exercise(
        _regrets,
        "Fill a part of each group's blocks with all of its people, choose the split on that tree, and compare its "
        "error on geography with the least one.",
        (lambda: _regrets(of_own=True), "Choose the split on the prior, but take its error on the counts of 2020."),
        (
            lambda: _regrets(spread_people=False),
            "The people of the blocks that you emptied are lost. They live in the other blocks of their group.",
        ),
        (lambda: np.array(_regrets()) / 100, "Give percents, not parts of one."),
        rtol=2e-2,
    ),
}

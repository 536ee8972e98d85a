"""The exercises of chapter 8."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from .. import Allocation, cube_root, expected_error, load_state, minimize_error, prior, uniform
from ..experiments import compared_rules, over_levels, ratio, sweep
from . import Exercise


def _needed(split: Allocation, times: float = 10.0, of: str = "variance") -> float:
    """So many times variance over Bias², of Wyoming in 2020 under a split of ε = 2."""
    error = expected_error(load_state("WY"), split).sum()
    return times * error[of] / error.bias2


def _of_2010() -> Allocation:
    return minimize_error(prior("WY"), 2.0)


def _weighted(power: float, rule: Callable[..., Allocation] = minimize_error) -> np.ndarray:
    """Budgets at ε = 1, with weights that are a power of the numbers of nodes."""
    truth = load_state("WY")
    return rule(truth, 1.0, weights=truth.sizes.astype(float) ** power).eps


def ratios(
    tree: str = "geography", column: str = "bias2", known: bool = False, levels: Callable[..., pd.DataFrame] = over_levels
) -> np.ndarray:
    """An error of Wyoming, uniform split over optimal one, at four totals. The optimal one knows 2010, or the truth."""
    truth = load_state("WY", tree)
    rules = compared_rules(truth, truth if known else prior("WY", tree))
    table = levels(sweep(rules, [0.5, 1.0, 2.0, 5.0], lambda eps: expected_error(truth, eps)))
    return ratio(table)[column].to_numpy()


EXERCISES = {
    "ex-08-needed": Exercise(
        lambda: _needed(_of_2010()),
        "Solve Var/T = Bias²/10 for T, with both summed over the whole tree.",
        (lambda: _needed(_of_2010(), times=1), "Here the floor is as large as Bias². It should be a tenth of it."),
        (lambda: _needed(uniform(load_state("WY"), 2.0)), "That is the uniform split. The optimal one has less of both."),
        (
            lambda: _needed(minimize_error(load_state("WY"), 2.0)),
            "That split was chosen on the counts of 2020. The chapter chooses it on those of 2010.",
        ),
        (lambda: _needed(_of_2010(), times=0.1), "The tenth is on the wrong side: the floor is the small one."),
    ),
    "ex-08-relative": Exercise(
        lambda: _weighted(-1),
        "The mean over a level is its sum, divided by its number of nodes. Which weight does that to the sum?",
        (
            lambda: _weighted(-1, cube_root),
            "That is what the cube-root rule gives with the right weights, and nearly the answer. Blocks have small "
            "counts, so solve the program.",
        ),
        (lambda: _weighted(0), "These are equal weights: the error of all nodes added up, not the mean of each level."),
        (lambda: _weighted(1), "You multiplied by the numbers of nodes. A mean divides by them."),
        rtol=5e-3,
    ),
    "ex-08-geography": Exercise(
        ratios,
        "Load the tree geography and its prior. Then as in the chapter: compared_rules, sweep, over_levels, ratio.",
        (lambda: ratios("published"), "That is the published tree, which has no empty blocks."),
        (lambda: ratios(known=True), "That split was chosen on the counts of 2020. Choose it on those of 2010, with prior."),
        (lambda: 1 / ratios(), "Upside down: the uniform split has more Bias²."),
        (lambda: ratios(column="mse"), "That is the ratio of the whole squared errors."),
        (lambda: ratios(column="variance"), "That is the ratio of the variances."),
        rtol=5e-3,
    ),
}

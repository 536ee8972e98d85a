"""The exercises of chapter 13."""

import numpy as np

from .. import expected_error, load_state, prior
from ..experiments import compared_rules, over_levels, ratio, sweep
from . import Exercise, Mistake


def _ratios(column="variance", levels=over_levels, of_2020=False):
    """An error of Wyoming under the uniform split over that under the optimal one, at four totals."""
    truth = load_state("WY")
    rules = compared_rules(truth, truth if of_2020 else prior("WY"))
    table = sweep(rules, [0.5, 1.0, 2.0, 5.0], lambda eps: expected_error(truth, eps))
    return ratio(levels(table))[column].to_numpy()


EXERCISES = {
    "ex-13-strict": Exercise(
        right=_ratios,
        mistakes=[
            Mistake(lambda: _ratios("bias2"), "That is the ratio of Bias². The claim is about the variance."),
            Mistake(
                lambda: _ratios("mse"), "That is the ratio of the whole squared errors. The claim is about the variance."
            ),
            Mistake(lambda: 1 / _ratios(), "Upside down: the uniform split has the larger variance."),
            Mistake(
                lambda: _ratios(levels=lambda table: table.xs("block", level="level")),
                "That is the level of the blocks alone. The claim is about the whole tree: over_levels adds up.",
            ),
            Mistake(lambda: np.sqrt(_ratios()), "These are ratios of standard deviations. Square them."),
            Mistake(
                lambda: _ratios(of_2020=True),
                "The split was chosen on the counts of 2020. Choose it on those of 2010, with prior.",
            ),
        ],
        hint="compared_rules, sweep with expected_error, over_levels and ratio give the table. Take its column variance.",
    ),
}

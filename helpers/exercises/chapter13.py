"""The exercises of chapter 13."""

from functools import partial

import numpy as np

from . import Exercise
from .chapter08 import ratios

_ratios = partial(ratios, tree="published", column="variance")

EXERCISES = {
    "ex-13-strict": Exercise(
        _ratios,
        "compared_rules, sweep with expected_error, over_levels and ratio give the table. Take its column variance.",
        (lambda: _ratios(column="bias2"), "That is the ratio of Bias². The claim is about the variance."),
        (lambda: _ratios(column="mse"), "That is the ratio of the whole squared errors. The claim is about the variance."),
        (lambda: 1 / _ratios(), "Upside down: the uniform split has the larger variance."),
        (
            lambda: _ratios(levels=lambda table: table.xs("block", level="level")),
            "That is the level of the blocks alone. The claim is about the whole tree: over_levels adds up.",
        ),
        (lambda: np.sqrt(_ratios()), "These are ratios of standard deviations. Square them."),
        (lambda: _ratios(known=True), "The split was chosen on the counts of 2020. Choose it on those of 2010, with prior."),
    ),
}

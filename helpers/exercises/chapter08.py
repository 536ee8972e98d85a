"""The exercises of chapter 8."""

from .. import cube_root, expected_error, load_state, minimize_error, prior, uniform
from ..experiments import compared_rules, over_levels, ratio, sweep
from . import Exercise, Mistake


def _of_variance(split, times=10.0, of="variance"):
    """So many times variance over Bias², of Wyoming in 2020 under a split of ε = 2."""
    error = expected_error(load_state("WY"), split).sum()
    return times * error[of] / error.bias2


def _of_2010():
    return minimize_error(prior("WY"), 2.0)


def _weighted(power, rule=minimize_error):
    """Budgets at ε = 1, with weights that are a power of the numbers of nodes."""
    truth = load_state("WY")
    return rule(truth, 1.0, weights=truth.sizes.astype(float) ** power).eps


def _ratios(tree, column="bias2", of_2020=False):
    """An error under the uniform split over that under the optimal one, at four totals."""
    truth = load_state("WY", tree)
    rules = compared_rules(truth, truth if of_2020 else prior("WY", tree))
    table = over_levels(sweep(rules, [0.5, 1.0, 2.0, 5.0], lambda eps: expected_error(truth, eps)))
    return ratio(table)[column].to_numpy()


EXERCISES = {
    "ex-08-needed": Exercise(
        right=lambda: _of_variance(_of_2010()),
        mistakes=[
            Mistake(
                lambda: _of_variance(_of_2010(), times=1), "Here the floor is as large as Bias². It should be a tenth of it."
            ),
            Mistake(
                lambda: _of_variance(uniform(load_state("WY"), 2.0)),
                "That is the uniform split. The optimal one has less of both.",
            ),
            Mistake(
                lambda: _of_variance(minimize_error(load_state("WY"), 2.0)),
                "That split was chosen on the counts of 2020. The chapter chooses it on those of 2010.",
            ),
            Mistake(
                lambda: _of_variance(_of_2010(), times=0.1), "The tenth is on the wrong side: the floor is the small one."
            ),
        ],
        hint="Solve Var/T = Bias²/10 for T, with both summed over the whole tree.",
    ),
    "ex-08-relative": Exercise(
        right=lambda: _weighted(-1),
        mistakes=[
            Mistake(
                lambda: _weighted(-1, cube_root),
                "That is what the cube-root rule gives with the right weights, and nearly the answer. Blocks have small "
                "counts, so solve the program.",
            ),
            Mistake(
                lambda: _weighted(0), "These are equal weights: the error of all nodes added up, not the mean of each level."
            ),
            Mistake(lambda: _weighted(1), "You multiplied by the numbers of nodes. A mean divides by them."),
        ],
        hint="The mean over a level is its sum, divided by its number of nodes. Which weight does that to the sum?",
        rtol=5e-3,
    ),
    "ex-08-geography": Exercise(
        right=lambda: _ratios("geography"),
        mistakes=[
            Mistake(lambda: _ratios("published"), "That is the published tree, which has no empty blocks."),
            Mistake(
                lambda: _ratios("geography", of_2020=True),
                "That split was chosen on the counts of 2020. Choose it on those of 2010, with prior.",
            ),
            Mistake(lambda: 1 / _ratios("geography"), "Upside down: the uniform split has more Bias²."),
            Mistake(lambda: _ratios("geography", "mse"), "That is the ratio of the whole squared errors."),
            Mistake(lambda: _ratios("geography", "variance"), "That is the ratio of the variances."),
        ],
        hint="Load the tree geography and its prior. Then as in the chapter: compared_rules, sweep, over_levels, ratio.",
        rtol=5e-3,
    ),
}

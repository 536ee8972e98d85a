"""The exercises of chapter 9."""

import numpy as np

from .. import cube_root, load_state, minimize_error, prior, uniform
from ..experiments import predicted_gain, regret
from . import Exercise, Mistake

FIVE = ("state", "county", "tract", "block group", "block")


def _gains(tree):
    """The predicted gain of a tree, and the exact one at ε = 1."""
    return np.array([predicted_gain(tree.sizes), uniform(tree, 1.0).mse / minimize_error(tree, 1.0).mse])


def _five():
    return load_state("NM", "populated", levels=FIVE)


def _extra(truth, sizes_of):
    """Extra error in percent at ε = 1: cube-root rule with the nodes of a tree, and the optimal split of 2010."""
    earlier = prior("NM")
    rules = {"rule": lambda t: cube_root(sizes_of, t), "optimal": lambda t: minimize_error(earlier, t)}
    return regret(truth, rules, [1.0]).iloc[0].to_numpy()


EXERCISES = {
    "ex-09-deeper": Exercise(
        right=lambda: _gains(_five()),
        mistakes=[
            Mistake(lambda: _gains(_five())[::-1], "The right two numbers. The prediction comes first."),
            Mistake(
                lambda: _gains(load_state("NM")),
                "That is the published tree with three levels. Pass the five names as levels.",
            ),
            Mistake(
                lambda: _gains(load_state("NM", "populated")),
                "That tree has three levels only. Pass the five names as levels.",
            ),
            Mistake(
                lambda: _gains(_five()) * [9 / 25, 1],
                "In the prediction, L is the number of levels of *this* tree. It is squared.",
            ),
            Mistake(lambda: 1 / _gains(_five()), "Upside down: the uniform split makes the larger error."),
        ],
        hint="predicted_gain takes the sizes of the tree. The exact gain is the mse of uniform over that of minimize_error.",
    ),
    "ex-09-tracts": Exercise(
        right=lambda: _extra(load_state("NM"), prior("NM")),
        mistakes=[
            Mistake(
                lambda: _extra(load_state("NM"), load_state("NM")),
                "Your cube-root rule knows the nodes of 2020. Give it those of nm.earlier.",
            ),
            Mistake(
                lambda: _extra(load_state("NM"), prior("NM"))[::-1], "The right two numbers. The cube-root rule comes first."
            ),
            Mistake(
                lambda: _extra(prior("NM"), prior("NM")),
                "You judged the splits on the tree of 2010. The release is that of 2020.",
            ),
            Mistake(
                lambda: 1 + _extra(load_state("NM"), prior("NM")) / 100, "Give the extra error in percent, as regret does."
            ),
        ],
        hint="regret takes the truth, a dictionary of rules and a list of totals. A rule is a function of the total.",
        rtol=3e-3,
        atol=1e-4,
    ),
}

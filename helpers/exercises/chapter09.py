"""The exercises of chapter 9."""

from collections.abc import Callable, Sequence

import numpy as np

from .. import Hierarchy, cube_root, load_state, minimize_error, prior, uniform
from ..experiments import predicted_gain, regret
from . import Exercise

Tree = Callable[[str], Hierarchy]
THREE, FIVE = ("state", "tract", "block"), ("state", "county", "tract", "block group", "block")


def _gains(kind: str = "populated", levels: Sequence[str] = FIVE) -> np.ndarray:
    """The predicted gain of New Mexico's tree, and the exact one at ε = 1."""
    tree = load_state("NM", kind, levels)
    return np.array([predicted_gain(tree.sizes), uniform(tree, 1.0).mse / minimize_error(tree, 1.0).mse])


def _extra(truth: Tree = load_state, sizes_of: Tree = prior) -> np.ndarray:
    """Extra error in percent at ε = 1: cube-root rule with the nodes of a tree, and the optimal split of 2010."""
    earlier, sized = prior("NM"), sizes_of("NM")
    rules = {"rule": lambda t: cube_root(sized, t), "optimal": lambda t: minimize_error(earlier, t)}
    return regret(truth("NM"), rules, [1.0]).iloc[0].to_numpy()


EXERCISES = {
    "ex-09-deeper": Exercise(
        _gains,
        "predicted_gain takes the sizes of the tree. The exact gain is the mse of uniform over that of minimize_error.",
        (lambda: _gains()[::-1], "The right two numbers. The prediction comes first."),
        (lambda: _gains("published", THREE), "That is the published tree with three levels. Pass the five names as levels."),
        (lambda: _gains(levels=THREE), "That tree has three levels only. Pass the five names as levels."),
        (lambda: _gains() * [9 / 25, 1], "In the prediction, L is the number of levels of *this* tree. It is squared."),
        (lambda: 1 / _gains(), "Upside down: the uniform split makes the larger error."),
    ),
    "ex-09-tracts": Exercise(
        _extra,
        "regret takes the truth, a dictionary of rules and a list of totals. A rule is a function of the total.",
        (lambda: _extra(sizes_of=load_state), "Your cube-root rule knows the nodes of 2020. Give it those of nm.earlier."),
        (lambda: _extra()[::-1], "The right two numbers. The cube-root rule comes first."),
        (lambda: _extra(truth=prior), "You judged the splits on the tree of 2010. The release is that of 2020."),
        (lambda: 1 + _extra() / 100, "Give the extra error in percent, as regret does."),
        rtol=3e-3,
        atol=1e-4,
    ),
}

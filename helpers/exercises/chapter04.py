"""The exercises of chapter 4.

n: numbers of nodes, top first · excess: how many percent a rule's error lies above the least
"""

import numpy as np

from .. import Hierarchy, cube_root, load_state, minimize_error, uniform
from . import Exercise, Mistake


def _shares(*roots):
    return 1.3 * np.array(roots) / sum(roots)


def _weights(power):
    """Weights of Wyoming's levels that grow with a power of the numbers of nodes, and add up to 1."""
    w = load_state("wyoming").sizes.astype(float) ** power
    return w / w.sum()


def _family(people):
    return Hierarchy.from_counts([[20 * people], [people] * 20], [None, [0] * 20])


def _excess(rule, people):
    tree = _family(people)
    return 100 * (rule(tree, 1).mse / minimize_error(tree, 1).mse - 1)


def _worst():
    """The count in each child that is worst for the cube-root rule, and its excess there."""
    excess = [_excess(cube_root, people) for people in range(41)]
    return int(np.argmax(excess)), max(excess)


def _factors(counts=10, total=0.1):
    """What happens to the best budgets and to their error when all counts and the total are multiplied."""
    tree, small = _family(3 * counts), _family(3)
    new, old = minimize_error(tree, total), minimize_error(small, 1)
    return [new.eps[0] / old.eps[0], new.mse / old.mse]


EXERCISES = {
    "ex-04-rule": Exercise(
        right=lambda: _shares(1, 2, 10),
        mistakes=[
            Mistake(lambda: _shares(1, 1, 1), "That is the uniform split, which does not look at the numbers of nodes."),
            Mistake(lambda: _shares(1, 8, 1000), "You split by the numbers of nodes. Take their cube roots."),
            Mistake(
                lambda: _shares(1, 8**0.5, 1000**0.5),
                "That is the square root. With which power of ε does the marginal error fall?",
            ),
            Mistake(lambda: _shares(10, 2, 1), "The levels are listed top first."),
            Mistake(lambda: _shares(10, 2, 10), "That is the second question, with the weight. Give the split without it."),
        ],
        hint="Take the cube root of each number of nodes, and scale the three so that they add up to 1.3.",
        rtol=5e-3,
    ),
    "ex-04-uniform": Exercise(
        right=lambda: _weights(-1),
        mistakes=[
            Mistake(lambda: _weights(0), "With equal weights the cube-root rule gives more to levels with more nodes."),
            Mistake(lambda: _weights(1), "These make it worse: they favour the level with most nodes once more."),
            Mistake(
                lambda: _weights(-1 / 3),
                "The cube root is taken of the product of weight and nodes. What must the product be?",
            ),
            Mistake(lambda: _weights(-1)[::-1], "The levels are listed top first."),
        ],
        hint="Budgets follow the cube root of weight times nodes. Make that product the same for all levels.",
    ),
    "ex-04-factor": Exercise(
        right=_worst,
        mistakes=[
            Mistake(
                lambda: [_worst()[0], _excess(uniform, _worst()[0])],
                "That is the uniform split's excess. Compare the rule with the optimum.",
            ),
            Mistake(lambda: [_worst()[0], _worst()[1] / 100], "The count is right. Give the excess in percent."),
            Mistake(
                lambda: [_worst()[0], 100 + _worst()[1]],
                "That is the whole error in percent of the least. How much lies above it?",
            ),
            Mistake(lambda: [0, 0.0], "With empty children the rule is the optimum. Look at a few people in each."),
        ],
        hint="For each count from 0 to 40, build the tree, and divide the error of `cube_root` by that of `minimize_error`.",
        rtol=5e-3,
    ),
    "ex-04-units": Exercise(
        right=_factors,
        mistakes=[
            Mistake(lambda: [0.1, 10], "The error is squared: its unit is people²."),
            Mistake(
                lambda: [0.1, 1], "εN stays the same for each node, but the error is in people², and there are more people."
            ),
            Mistake(lambda: [10, 0.01], "Upside down: compare the new budgets and the new error with the old ones."),
            Mistake(lambda: [1, 100], "The *shares* stay the same. The budgets do not, since their total has changed."),
        ],
        hint="Write f(ε/c, cN) with the formula of one count: εN does not change, and ε² in the denominator does.",
    ),
}

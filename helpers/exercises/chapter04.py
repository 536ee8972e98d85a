"""The exercises of chapter 4.

n: numbers of nodes, top first · excess: how many percent a rule's error lies above the least
"""

from collections.abc import Callable

import numpy as np

from .. import Allocation, Hierarchy, cube_root, load_state, minimize_error, uniform
from . import Exercise

Rule = Callable[[Hierarchy, float], Allocation]


def _shares(*roots: float) -> np.ndarray:
    return 1.3 * np.array(roots) / sum(roots)


def _weights(power: float) -> np.ndarray:
    """Weights of Wyoming's levels that grow with a power of the numbers of nodes, and add up to 1."""
    w = load_state("wyoming").sizes.astype(float) ** power
    return w / w.sum()


def _family(people: int) -> Hierarchy:
    return Hierarchy.from_counts([[20 * people], [people] * 20], [None, [0] * 20])


def _excess(rule: Rule, people: int) -> float:
    tree = _family(people)
    return 100 * (rule(tree, 1).mse / minimize_error(tree, 1).mse - 1)


def _worst(rule: Rule = cube_root) -> np.ndarray:
    """The count in each child that is worst for the cube-root rule, and the excess of a rule there."""
    excess = [_excess(cube_root, people) for people in range(41)]
    return np.array([np.argmax(excess), _excess(rule, int(np.argmax(excess)))])


def _factors(counts: int = 10, total: float = 0.1) -> list[float]:
    """What happens to the best budgets and to their error when all counts and the total are multiplied."""
    new, old = minimize_error(_family(3 * counts), total), minimize_error(_family(3), 1)
    return [new.eps[0] / old.eps[0], new.mse / old.mse]


EXERCISES = {
    "ex-04-rule": Exercise(
        lambda: _shares(1, 2, 10),
        "Take the cube root of each number of nodes, and scale the three so that they add up to 1.3.",
        (lambda: _shares(1, 1, 1), "That is the uniform split, which does not look at the numbers of nodes."),
        (lambda: _shares(1, 8, 1000), "You split by the numbers of nodes. Take their cube roots."),
        (_shares(1, 8**0.5, 1000**0.5), "That is the square root. With which power of ε does the marginal error fall?"),
        (lambda: _shares(10, 2, 1), "The levels are listed top first."),
        (lambda: _shares(10, 2, 10), "That is the second question, with the weight. Give the split without it."),
        rtol=5e-3,
    ),
    "ex-04-uniform": Exercise(
        lambda: _weights(-1),
        "Budgets follow the cube root of weight times nodes. Make that product the same for all levels.",
        (lambda: _weights(0), "With equal weights the cube-root rule gives more to levels with more nodes."),
        (lambda: _weights(1), "These make it worse: they favour the level with most nodes once more."),
        (lambda: _weights(-1 / 3), "The cube root is taken of the product of weight and nodes. What must the product be?"),
        (lambda: _weights(-1)[::-1], "The levels are listed top first."),
    ),
    "ex-04-factor": Exercise(
        _worst,
        "For each count from 0 to 40, build the tree, and divide the error of `cube_root` by that of `minimize_error`.",
        (lambda: _worst(uniform), "That is the uniform split's excess. Compare the rule with the optimum."),
        (lambda: _worst() / [1, 100], "The count is right. Give the excess in percent."),
        (lambda: np.add(_worst(), [0, 100]), "That is the whole error in percent of the least. How much lies above it?"),
        ([0, 0.0], "With empty children the rule is the optimum. Look at a few people in each."),
        rtol=5e-3,
    ),
    "ex-04-units": Exercise(
        _factors,
        "Write f(ε/c, cN) with the formula of one count: εN does not change, and ε² in the denominator does.",
        ([0.1, 10], "The error is squared: its unit is people²."),
        ([0.1, 1], "εN stays the same for each node, but the error is in people², and there are more people."),
        ([10, 0.01], "Upside down: compare the new budgets and the new error with the old ones."),
        ([1, 100], "The *shares* stay the same. The budgets do not, since their total has changed."),
    ),
}

"""The exercises of chapter 4."""

import numpy as np

from . import Exercise, Mistake


def _shares(*roots):
    return 1.3 * np.array(roots) / sum(roots)


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
        ],
        hint="Take the cube root of each number of nodes, and scale the three so that they add up to 1.3.",
        rtol=5e-3,
    ),
}

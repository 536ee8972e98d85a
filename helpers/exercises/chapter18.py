"""The exercises of chapter 18. They know the nation by its numbers of nodes, and load no block."""

import numpy as np

from .. import bias
from ..experiments import predicted_gain
from . import Exercise

_NODES = np.array([1, 51, 3_143, 84_414, 239_771, 8_131_456])
_FEWER = _NODES[[0, 1, 2, 3, 5]]  # no block groups
_TEXAS = 694_546  # nodes of the largest state, all levels
_UNITS = np.array([20, 20, 350, 1456, 1759, 495]) / 4100  # the Bureau's shares for housing units
_PERSONS = np.array([104, 1440, 447, 687, 1256, 165]) / 4099
_BLOCKS, _EMPTY, _PEOPLE = 84_566, 44_368, 779_094  # of North Dakota


def _ends(root: np.ndarray) -> np.ndarray:
    """Percent of the budget for the country and for the blocks."""
    return (100 * root / root.sum())[[0, -1]]


def _over_least(shares: np.ndarray, power: float = 1) -> float:
    """Total error of these shares over the least, if a node's error falls with this power of its budget."""
    return (_NODES / shares**power).sum() / (_NODES ** (1 / (power + 1))).sum() ** (power + 1)


EXERCISES = {
    "ex-18-hand": Exercise(
        lambda: _ends(np.cbrt(_NODES)),
        "Add up the six cube roots. What part of the sum is the first, and what part the last?",
        (lambda: _ends(np.ones(6)), "That is the uniform split."),
        (lambda: _ends(1.0 * _NODES), "Those are shares of the nodes. Take the cube roots."),
        (lambda: _ends(np.sqrt(_NODES)), "That is the square root, the rule for Gaussian noise."),
        (lambda: _ends(np.cbrt(_NODES)) / 100, "These are shares. The answer is asked for in percent."),
        (lambda: _ends(np.cbrt(_NODES))[::-1], "The country comes first."),
        rtol=0.03,
    ),
    "ex-18-level": Exercise(
        lambda: predicted_gain(_FEWER),
        "The prediction is L² Σn / (Σ∛n)³, over the levels that are left.",
        (lambda: predicted_gain(_NODES), "That is the gain with all six levels."),
        (lambda: predicted_gain(_FEWER) * 36 / 25, "How many levels are left? Their number enters the formula, squared."),
        (lambda: predicted_gain(_FEWER) / 25, "You left out the square of the number of levels."),
        (lambda: predicted_gain(_NODES[:5]), "You left out the blocks. Leave out the level above them."),
    ),
    "ex-18-units": Exercise(
        lambda: _over_least(_UNITS),
        "The total error is Σ n/(2ρ). For the least one, put in shares proportional to √n.",
        (lambda: _over_least(_PERSONS), "Those are the shares for persons."),
        (lambda: 1 / _over_least(_UNITS), "Upside down: the error of these shares goes on top."),
        (
            lambda: _over_least(_UNITS, power=2),
            "That is for Laplace noise, whose error falls with the square of ε. Gaussian noise has variance 1/(2ρ).",
        ),
        (
            lambda: _over_least(_UNITS) / _over_least(np.full(6, 1 / 6)),
            "You compare with the uniform shares. The least error belongs to shares proportional to √n.",
        ),
        rtol=5e-3,
    ),
    "ex-18-pieces": Exercise(
        32 * _TEXAS / 1e6,
        "Find the state with most nodes, over all levels, and multiply by the bytes of a node in tree and release.",
        (32 * _NODES.sum() / 1e6, "That is the whole nation."),
        (8 * _TEXAS / 1e6, "That is the release alone. The tree has counts and parents, too."),
        (32 * _NODES.sum() / 51 / 1e6, "That is the mean piece. The largest needs more."),
        (32 * _TEXAS / 2**20, "Those are units of 1024 times 1024 bytes. Count in millions of bytes."),
        rtol=0.01,
    ),
    "ex-18-moved": Exercise(
        100 * _EMPTY * bias(0, 0.6) / _PEOPLE,
        "The bias of an empty block is 1/(2ε). Multiply by the number of empty blocks, and divide by the people.",
        (_EMPTY * bias(0, 0.6) / _PEOPLE, "That is a share. The answer is asked for in percent."),
        (
            100 * _EMPTY / 0.6 / _PEOPLE,
            "You took the size of the noise. Half of it points down and is clipped: look up the bias of an empty count.",
        ),
        (100 * _BLOCKS * bias(0, 0.6) / _PEOPLE, "You counted all blocks. Only the empty ones are asked for."),
        rtol=5e-3,
    ),
}

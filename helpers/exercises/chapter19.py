"""The exercises of chapter 19."""

from functools import cache

import numpy as np

from .. import Hierarchy, cube_root, expected_error, load_example, mse
from ..checks import Numbers
from . import Exercise

_LEVELS = ["region", "hospital", "ward", "diagnosis"]
_WIDE = np.array([4, 36, 360, 5040])  # nodes, with ten kinds of wards in each of 36 hospitals and 14 groups in each


def _shares(nodes: Numbers, power: float = 1) -> np.ndarray:
    roots = np.cbrt(np.float_power(nodes, power))
    return roots / roots.sum()


@cache
def _tree() -> Hierarchy:
    return Hierarchy.from_frame(load_example(2024), _LEVELS, count="patients")


def _network(root: int = 1, unit: float = 100.0, power: float = 1) -> np.ndarray:
    """What a level on top gets of ε = 1, and by how much the leaves' MSE (or a root of it) grows."""
    leaves, nodes = _tree().counts[-1], _tree().sizes
    five, four = _shares(np.append(1, nodes), power), _shares(nodes, power)
    grown = mse(leaves, five[-1]).sum() / mse(leaves, four[-1]).sum()
    return np.array([five[0], unit * (grown ** (1 / root) - 1)])


def _shops(one: float = 2**0.5, total: float = 1.3) -> list[float]:
    """Smallest counts good to a fifth, of a shop and of a region, and the budget for shops with 20 customers."""
    return [one / 0.2 / 1.0, one / 0.2 / 0.3, total * one / (0.2 * 20)]


def _without_one(eps: float | None = None, power: float = 1) -> float:
    """By how much the level's error falls when the only patient of a row is gone."""
    eps = _shares(_tree().sizes)[-1] if eps is None else eps
    return float(mse(1, eps) ** power - mse(0, eps) ** power)


def _wide(nodes: Numbers = _WIDE) -> np.ndarray:
    """Extra error in percent when rows are listed that nobody can be in: of all rows, of the real ones."""
    eps = _shares(nodes)
    least, real = cube_root(_tree(), 1).mse, expected_error(_tree(), eps).mse.sum()
    vacant = ((_WIDE - _tree().sizes) / eps**2).sum()
    return 100 * (np.array([real + vacant, real]) / least - 1)


EXERCISES = {
    "ex-19-total": Exercise(
        _network,
        "Add a column with the same word in every row, put it first in the levels, and compare the cube-root splits.",
        (lambda: _network(unit=1.0), "The growth is asked for in percent."),
        (lambda: _network(root=2), "That is the growth of the *root* of the leaves' error. Take the mean squared error."),
        (
            lambda: [_network()[0], 100 * ((1 - _network()[0]) ** -2 - 1)],
            "That growth is for large counts. Many leaves are empty or small: use their counts.",
        ),
        (lambda: _network(power=0), "That is the uniform split. Take cube roots of node counts."),
        rtol=5e-3,
    ),
    "ex-19-threshold": Exercise(
        _shops,
        "Split by cube roots, and use the observation on the smallest count worth printing, with r for a fifth.",
        (lambda: _shops(one=1.0), "The error of a large count is √2/ε, not 1/ε: the variance of Laplace noise is 2/ε²."),
        (lambda: _shops(one=2.0), "You took the variance's 2. The error that you compare with a count is its root."),
        (lambda: _shops(total=1.0), "The last number is what the shops need. What total gives the shops that much?"),
        (lambda: [_shops()[1], _shops()[0], _shops()[2]], "The shop comes first, then the region."),
        rtol=0.01,
    ),
    "ex-19-report": Exercise(
        _without_one,
        "Only one term of the sum over the level changes: that of the row which had one patient.",
        (lambda: -_without_one(), "The right size, but the sign is for the change. By how much does it fall?"),
        (lambda: _without_one() / _tree().sizes[-1], "That is the fall of the mean over the level. Take the sum."),
        (lambda: _without_one(0.25), "That is for the uniform split."),
        (lambda: _without_one(power=0.5), "That is a difference of roots. The level's error is a sum of squares."),
        rtol=5e-3,
    ),
    "ex-19-catalogue": Exercise(
        lambda: _shares([2, 3, 6]),
        "Write the CSV with all six rows, and name the levels from the top: category, product, shop.",
        (lambda: _shares([2, 2, 4]), "You have two products. Codes are known by their whole path: there are more."),
        (lambda: _shares([2, 3, 2]), "A shop of one product is another node than the same shop of another."),
        (np.full(3, 1 / 3), "That is the uniform split. The default rule of `allocate` is another."),
        (lambda: _shares([6, 3, 2]), "The levels are in the wrong order: the category is on top."),
        rtol=5e-3,
    ),
    "ex-19-universe": Exercise(
        _wide,
        "Cross hospitals, wards and groups, fill in zeros, and split again. Judge both lists by the new split.",
        (lambda: _wide()[::-1], "The error of all rows comes first."),
        (lambda: _wide() / 100, "The answer is asked for in percent."),
        (
            lambda: _wide(_tree().sizes),
            "You kept the old split. The rule looks at the longer list, so the budgets move a little.",
        ),
        rtol=0.01,
    ),
}

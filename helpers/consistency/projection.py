"""Make the children of every parent add up to it, with no count below zero: program (3), level by level.

x: (m,) noisy counts of a run of families · t: (f,) what each family must add up to
excess: (f,) how much a family has too much · active: (f,) how many of its members share in it
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, layout
from ..hierarchy import Hierarchy, check_like
from ..layout import Run

# Members up to a million times what the family must add up to lose six of sixteen digits to rounding, which is harmless.
_WITHIN_REACH = 1e6
_LARGEST_SUM = 1e300  # a sum of such numbers is still a double


def project_simplex(values: ArrayLike, total: float) -> np.ndarray:
    """Nearest v ≥ 0 (least squares) to `values` with v.sum() == total: program (3) for one family.

    The solution is v_i = max(0, values_i − θ), with one θ for the whole family.

    >>> project_simplex([5, 3, -1], total=6)
    array([4., 2., 0.])
    """
    x = checks.numbers("values", values).astype(np.float64)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"values must be a flat array with at least one number, got shape {x.shape}")
    t = np.array([checks.between("total", checks.not_negative("total", total), 0, _LARGEST_SUM)])
    [family] = layout.runs(np.zeros(x.size, dtype=int))  # all have the same parent
    bring_within_reach(x, t, family)
    fit_families(x, t, family)
    return x


def top_down(hierarchy: Hierarchy, noisy: Sequence[ArrayLike]) -> list[np.ndarray]:
    """Project each family onto the total its parent was given, from the top to the leaves.

    The top level is clipped at zero; below it, program (3) is solved for every family at once.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [level.tolist() for level in top_down(tree, [[6.0], [1.0, 3.0]])]
    [[6.0], [2.0, 4.0]]
    """
    out = [x.copy() for x in check_like("noisy", noisy, hierarchy)]
    np.maximum(out[0], 0.0, out=out[0])
    for level, runs in enumerate(hierarchy.runs, start=1):
        for run in runs:
            x, t = out[level][run.nodes], out[level - 1][run.parents]
            bring_within_reach(x, t, run)
            fit_families(x, t, run)
    return out


def fit_families(x: np.ndarray, t: np.ndarray, run: Run) -> None:
    """Program (3), in place: x ≥ 0 becomes the nearest v ≥ 0 whose families add up to t.

    Michelot's iteration: take the excess of a family off its active members, in equal
    parts, clip at zero, and repeat until nobody drops out. Where people are missing,
    everybody receives; where there are too many, only members above zero give. The
    excess never turns negative, so whoever dropped out stays out, and nothing has to
    be sorted.
    """
    excess = np.add.reduceat(x, run.starts) - t  # (f,)
    # (f,) how many members give or receive
    active = np.where(excess > 0, _above_zero(x, run), run.sizes)
    while True:
        x -= (excess / np.maximum(active, 1)).repeat(run.sizes)
        np.maximum(x, 0.0, out=x)
        left = _above_zero(x, run)
        if (left >= active).all():  # nobody dropped out
            return
        active = np.minimum(left, active)
        excess = np.maximum(np.add.reduceat(x, run.starts) - t, 0.0)


def _above_zero(x: np.ndarray, run: Run) -> np.ndarray:
    """(f,) how many members of each family are above zero."""
    return np.add.reduceat((x > 0).view(np.int8), run.starts, dtype=np.int32)


def bring_within_reach(x: np.ndarray, t: np.ndarray, run: Run) -> None:
    """Move each family so that its largest member is t, and clip at zero, in place: its projection stays the same.

    Moving all members alike changes nothing, because the sum is given. Nobody can keep more than t, so a member that is now
    below zero gets nothing in any case. What is left is of the size of t: no rounding error can drown it.
    """
    largest = np.maximum.reduceat(x, run.starts)  # (f,)
    if x.min() >= 0 and (largest <= _WITHIN_REACH * t).all():
        return
    with np.errstate(over="ignore"):  # a member below the largest by more than the largest double is out all the same
        x -= largest.repeat(run.sizes)
    x += t.repeat(run.sizes)
    np.maximum(x, 0.0, out=x)

"""Make the children of every parent add up to it, with no count below zero: program (3), level by level.

    x: (m,) noisy counts of a run of families · t: (f,) what each family must add up to
    theta: what is taken off every member of a family before clipping at zero
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .hierarchy import Hierarchy, Run, check_like


def project_simplex(values: ArrayLike, total: float) -> np.ndarray:
    """Nearest v ≥ 0 (least squares) to `values` with v.sum() == total: program (3) for one family.

    The solution is v_i = max(0, values_i − θ), with one θ for the whole family.

    >>> project_simplex([5, 3, -1], total=6)
    array([4., 2., 0.])
    """
    x = checks.numbers("values", values).astype(np.float64)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"values must be a flat array with at least one number, got shape {x.shape}")
    t = checks.not_negative("total", total)
    fit_families(x, np.array([t]), Run(slice(0, x.size), slice(0, 1), np.array([0]), np.array([x.size])))
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
    for above, x, runs in zip(out, out[1:], hierarchy.runs, strict=False):
        for run in runs:
            fit_families(x[run.nodes], above[run.parents], run)
    return out


def fit_families(x: np.ndarray, t: np.ndarray, run: Run) -> None:
    """Program (3) for all families of a run, in place: x becomes the nearest v ≥ 0 whose families add up to t.

    Michelot's iteration: take the mean excess of the members still above zero off each of them, clip at zero, and repeat
    until nobody drops out. The excess is never negative, so whoever dropped out stays out, and nothing has to be sorted.

    Nobody can keep more than t, so the first cut leaves the largest member at most t. From there on all numbers are of the
    size of t, and nothing is lost to rounding, however large the noise was.
    """
    with np.errstate(over="ignore"):  # a member below the largest by more than the largest double is out all the same
        x -= np.maximum.reduceat(x, run.starts).repeat(run.sizes)
        cut = np.maximum((np.add.reduceat(x, run.starts) - t) / run.sizes, -t)
    active = run.sizes + 1  # (f,) members still above zero; one too many, because the first cut is never the last
    while True:
        x -= cut.repeat(run.sizes)
        np.maximum(x, 0.0, out=x)
        above = np.add.reduceat((x > 0).view(np.int8), run.starts, dtype=np.int32)
        if (above >= active).all():  # nobody dropped out
            return
        active = np.minimum(above, active)
        cut = (np.add.reduceat(x, run.starts) - t) / np.maximum(active, 1)

"""Consistency that keeps whole numbers: children add up to their parents exactly, and no count is below zero.

    x: (m,) noisy whole counts of a run of families · t: (f,) what each family must add up to
    kept: (m,) members that keep people · k: (f,) how many those are · s: (f,) how much they have too much, all together

The nearest family of real numbers is max(0, x − θ) with θ = s/k. All x are whole, so all kept members have the same
fraction: rounding down takes the ceiling of s/k from each, and what is then missing goes to some of them, one person each.
Everything is done in whole numbers, so nothing is ever rounded by accident.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Seed
from ..hierarchy import Hierarchy, check_like
from ..layout import Run

_LARGEST = 2**62  # a noisy count times the size of its family must stay below it, so that no int64 overflows


def integer_top_down(hierarchy: Hierarchy, noisy: Sequence[ArrayLike], seed: Seed = None) -> list[np.ndarray]:
    """Nearest whole v ≥ 0 (least squares) of each family with v.sum() equal to its parent, from the top to the leaves.

    Program (3) among whole numbers. The top level is clipped at zero. Where several answers are equally near, `seed` decides
    who gets the odd person; that draw protects nobody and needs no secrecy. Only noisy counts go in, so this is
    post-processing and costs no budget. A node without children keeps what it was given.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [level.tolist() for level in integer_top_down(tree, [[7], [1, 4]])]
    [[7], [2, 5]]
    """
    out = _whole(hierarchy, noisy)
    rng = checks.generator(seed)
    np.maximum(out[0], 0, out=out[0])
    for level, runs in enumerate(hierarchy.runs, start=1):
        for run in runs:
            out[level][run.nodes] = fit_whole_families(out[level][run.nodes], out[level - 1][run.parents], run, rng)
    return out


def fit_whole_families(x: np.ndarray, t: np.ndarray, run: Run, rng: np.random.Generator) -> np.ndarray:
    """(m,) the nearest whole v ≥ 0 to x whose families add up to t, for all families of a run at once.

    >>> one = Run(slice(0, 3), slice(0, 1), np.array([0]), np.array([3]))
    >>> fit_whole_families(np.array([5, 3, -1]), np.array([6]), one, np.random.default_rng(1))
    array([4, 2, 0])
    """
    kept, k, s = _kept(x, t, run)
    each = -(-s // np.maximum(k, 1))  # (f,) ceiling of θ
    missing = each * k - s  # (f,) from 0 to k − 1
    base = np.where(kept, x - each.repeat(run.sizes), 0)
    return base + (_draw_order(kept, run, rng) < missing.repeat(run.sizes))


def _kept(x: np.ndarray, t: np.ndarray, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(m,) who keeps people, (f,) how many, (f,) their excess: Michelot's iteration, with x > s/k as k·x > s."""
    kept = np.ones(len(x), dtype=bool)
    while True:
        k = np.add.reduceat(kept, run.starts, dtype=np.int64)
        s = np.add.reduceat(np.where(kept, x, 0), run.starts) - t
        still = kept & (k.repeat(run.sizes) * x > s.repeat(run.sizes))
        if (still == kept).all():
            return kept, k, s
        kept = still


def _draw_order(kept: np.ndarray, run: Run, rng: np.random.Generator) -> np.ndarray:
    """(m,) each member's place in its family, from 0: those that keep people first, in random order."""
    family = np.arange(len(run.sizes)).repeat(run.sizes)
    order = np.lexsort((rng.random(len(kept)), ~kept, family))
    place = np.empty_like(order)
    place[order] = np.arange(len(kept)) - run.starts.repeat(run.sizes)
    return place


def _whole(hierarchy: Hierarchy, noisy: Sequence[ArrayLike]) -> list[np.ndarray]:
    """Copies of the noisy counts as int64; fractions, and numbers so large that sums could overflow, are refused."""
    arrays = check_like("noisy", noisy, hierarchy)
    widest = max([int(run.sizes.max()) for runs in hierarchy.runs for run in runs], default=1) + 1
    for i, array in enumerate(arrays):
        checks.refuse_if_any(f"noisy[{i}]", "whole numbers", array, array != np.floor(array))
        limit = _LARGEST // widest
        checks.refuse_if_any(f"noisy[{i}]", f"between −{limit} and {limit}", array, np.abs(array) > limit)
    return [np.array(level, dtype=np.int64) for level in noisy]  # not by way of the floats above: large numbers stay exact

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
from ..hierarchy import Hierarchy, check_hierarchy, check_like
from ..layout import Run
from .projection import bring_within_reach, fit_families

# A family adds up to less than this, signs left out, and so does its parent: their difference is no trouble for an int64.
_HALF = 2**61
_EXACT = 1e15  # up to here a double knows tenths of a person
_MOST_PEOPLE = 2**40  # in a node of a tree that is published


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


def integer_fit(hierarchy: Hierarchy, estimates: Sequence[ArrayLike], seed: Seed = None) -> list[np.ndarray]:
    """As `integer_top_down`, for estimates that are no whole numbers, such as those of `gls`.

    The nearest whole v ≥ 0 of a family is its nearest real one, rounded down, with one more for those who lost most.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [level.tolist() for level in integer_fit(tree, [[6.6], [2.1, 4.5]])]
    [[7], [2, 5]]
    """
    x = check_like("estimates", estimates, hierarchy)
    for i, array in enumerate(x):
        checks.refuse_if_any(f"estimates[{i}]", f"between −{_EXACT:g} and {_EXACT:g}", array, np.abs(array) > _EXACT)
    rng = checks.generator(seed)
    out = [np.rint(np.maximum(x[0], 0.0)).astype(np.int64)]
    for level, runs in enumerate(hierarchy.runs, start=1):
        whole = np.zeros(len(x[level]), dtype=np.int64)
        for run in runs:
            whole[run.nodes] = _nearest_whole(x[level][run.nodes].copy(), out[-1][run.parents], run, rng)
        out.append(whole)
    return out


def _nearest_whole(x: np.ndarray, t: np.ndarray, run: Run, rng: np.random.Generator) -> np.ndarray:
    """(m,) the nearest whole v ≥ 0 to x whose families add up to t: by largest remainders; equal ones draw lots."""
    bring_within_reach(x, t.astype(np.float64), run)
    fit_families(x, t.astype(np.float64), run)
    whole = np.floor(x).astype(np.int64)
    lost = np.round(x - whole, 6)  # what is equal but for rounding is equal
    missing = t - np.add.reduceat(whole, run.starts)
    family = np.arange(len(run.sizes)).repeat(run.sizes)
    order = np.lexsort((rng.random(len(x)), -lost, family))
    place = np.empty(len(x), dtype=np.int64)
    place[order] = np.arange(len(x)) - run.starts.repeat(run.sizes)
    whole += place < missing.repeat(run.sizes)
    return fit_whole_families(whole, t, run, rng)  # changes nothing, unless floats were too coarse for so many people


def fit_whole_families(x: np.ndarray, t: np.ndarray, run: Run, rng: np.random.Generator) -> np.ndarray:
    """(m,) the nearest whole v ≥ 0 to x whose families add up to t, for all families of a run at once.

    >>> one = Run(slice(0, 3), slice(0, 1), np.array([0]), np.array([3]))
    >>> fit_whole_families(np.array([5, 3, -1]), np.array([6]), one, np.random.default_rng(1))
    array([4, 2, 0])
    """
    kept, k, s = _kept(x, t, run)
    each = -(-s // np.maximum(k, 1))  # (f,) ceiling of θ
    out = np.where(kept, x - each.repeat(run.sizes), 0)
    out[_odd_members(kept, k, each * k - s, run, rng)] += 1
    return out


def check_width(hierarchy: Hierarchy, noise: Sequence[float]) -> None:
    """Refuse a tree with families so wide that, noise included, their sums could be too large for an int64.

    `noise` is the most that it moves a count, level by level. Of the tree, only the shape is looked at: each count may be as
    large as 2**40, which the members of a family then share. So this can be asked before a budget is spent, and tells nobody
    anything about the counts. What passes here, `integer_top_down` takes.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> check_width(tree, noise=[1e18, 1e18])
    >>> check_width(tree, noise=[1e18, 2e18])
    Traceback (most recent call last):
    ValueError: hierarchy must have families of at most 1 at level 2, where noise may move each count by 2e+18, got one of 2
    """
    check_hierarchy(hierarchy)
    levels = zip(hierarchy.families, hierarchy.sizes[1:], strict=True)
    widest = [1, *(int(np.diff(starts, append=size).max()) for (_, starts), size in levels)]
    for level, width, most in zip(hierarchy.levels, widest, noise, strict=True):
        if width * most > _HALF - _MOST_PEOPLE:
            limit = f"{(_HALF - _MOST_PEOPLE) // most:.0f} at {level}, where noise may move each count by {most:g}"
            raise ValueError(f"hierarchy must have families of at most {limit}, got one of {width}")


def _kept(x: np.ndarray, t: np.ndarray, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(m,) who keeps people, (f,) how many, (f,) their excess: Michelot's iteration, with x > s/k as x > ⌊s/k⌋."""
    kept = np.ones(len(x), dtype=bool)
    while True:
        k = np.add.reduceat(kept, run.starts, dtype=np.int64)
        s = np.add.reduceat(np.where(kept, x, 0), run.starts) - t
        still = kept & (x > (s // np.maximum(k, 1)).repeat(run.sizes))
        if (still == kept).all():
            return kept, k, s
        kept = still


def _odd_members(kept: np.ndarray, k: np.ndarray, missing: np.ndarray, run: Run, rng: np.random.Generator) -> np.ndarray:
    """The members that get one person more: `missing` of the k kept ones of each family, drawn alike and without repeats."""
    odd = missing > 0  # the other families need no draw
    members = np.flatnonzero(kept & odd.repeat(run.sizes))
    k, missing = k[odd], missing[odd]
    spread = 2**62 // max(len(k), 1)  # one key sorts by family and, within it, at random
    keys = rng.integers(spread, size=len(members))
    keys += (np.arange(len(k)) * spread).repeat(k)
    shuffled = members[np.argsort(keys)]
    skipped = np.cumsum(k - missing) - (k - missing)  # (f,) members of earlier families that get nobody
    return shuffled[np.arange(missing.sum()) + skipped.repeat(missing)]


def _whole(hierarchy: Hierarchy, noisy: Sequence[ArrayLike]) -> list[np.ndarray]:
    """Copies of the noisy counts as int64; fractions, and families so large that sums could overflow, are refused."""
    arrays = check_like("noisy", noisy, hierarchy)
    for i, array in enumerate(arrays):
        checks.refuse_if_any(f"noisy[{i}]", "whole numbers", array, array != np.floor(array))
    checks.refuse_if_any("noisy[0]", f"between −{_HALF} and {_HALF}", arrays[0], np.abs(arrays[0]) > _HALF)
    room = 2 * _HALF - max(int(arrays[0].max()), 0)  # no parent is larger than the largest top
    for i, array in enumerate(arrays[1:]):
        sums = hierarchy.sum_children(i, np.abs(array))
        right = f"at most {room} in each family, all members together and signs left out"
        checks.refuse_if_any(f"noisy[{i + 1}]", right, sums, sums > room)
    return [np.array(level, dtype=np.int64) for level in noisy]  # not by way of the floats above: large numbers stay exact

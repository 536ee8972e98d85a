"""How the levels of a tree lie in memory: unchangeable, families in runs that fit the cache, counts without their repeats.

family: the children of one parent, which are neighbours · run: a stretch of whole families
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

# Runs of 65,536 nodes: long enough that NumPy's cost per call vanishes, short enough (512 KiB) to stay in the cache.
RUN_NODES = 1 << 16


class Run(NamedTuple):
    """A stretch of neighbouring families at one level."""

    nodes: slice  #: where the run's nodes lie in their level
    parents: slice | np.ndarray  #: where their parents lie in the level above
    starts: np.ndarray  #: (f,) where each family starts within the run
    sizes: np.ndarray  #: (f,) how many nodes each family has


class Repeated(NamedTuple):
    """All levels of a tree, compressed to distinct counts and laid end to end."""

    counts: np.ndarray  #: (u,) distinct counts, level after level
    times: np.ndarray  #: (u,) how many nodes have each
    starts: np.ndarray  #: (L,) where each level starts
    lengths: np.ndarray  #: (L,) how many distinct counts each level has


def freeze(array: np.ndarray) -> np.ndarray:
    """A copy of a flat array in memory that nobody can write to: NumPy never opens the bytes of a `bytes` object again."""
    if array.dtype.hasobject:  # labels of mixed kinds, which have no bytes
        closed = array.copy()
        closed.setflags(write=False)
        return closed.view()
    return np.frombuffer(array.tobytes(), array.dtype)


def frozen(array: np.ndarray) -> np.ndarray:
    """The same numbers in an array that cannot change: itself if `freeze` made it, and else a copy.

    >>> mine = np.array([1, 2])
    >>> kept = frozen(mine)
    >>> mine[0] = 7
    >>> kept, frozen(kept) is kept
    (array([1, 2]), True)
    """
    return array if isinstance(array.base, bytes) else freeze(array)


def families(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(f,) the parents that have children, and (f,) where the family of each starts; siblings are neighbours.

    >>> families(np.array([0, 0, 2]))  # a node without people, here 1, may have no children
    (array([0, 2]), array([0, 2]))
    """
    starts = np.append(0, np.flatnonzero(parents[1:] != parents[:-1]) + 1)
    return freeze(parents[starts]), freeze(starts)


def runs(parents: np.ndarray) -> tuple[Run, ...]:
    """The families of a level in runs of RUN_NODES nodes at most; a family that is larger is a run of its own.

    >>> [run] = runs(np.array([0, 0, 2]))
    >>> run.nodes, run.sizes.tolist(), run.parents.tolist()
    (slice(0, 3, None), [2, 1], [0, 2])
    """
    fertile, starts = families(parents)
    ends = np.append(starts[1:], len(parents))
    sizes = ends - starts
    found, f, many = [], 0, len(fertile)
    while f < many:
        start = starts[f]
        g = max(f + 1, int(np.searchsorted(ends, start + RUN_NODES, side="right")))
        childless = fertile[g - 1] - fertile[f] > g - 1 - f
        owners = fertile[f:g] if childless else slice(int(fertile[f]), int(fertile[g - 1]) + 1)
        nodes = slice(int(start), int(ends[g - 1]))
        found.append(Run(nodes, owners, freeze(starts[f:g] - start), freeze(sizes[f:g])))
        f = g
    return tuple(found)


def distinct(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(u,) distinct counts and (u,) how often each occurs, as floats; a small level is left as it is.

    >>> distinct(np.array([3, 0] * 400))
    (array([0., 3.]), array([400., 400.]))
    """
    if len(counts) < 512:  # as fast to sum as to compress
        return counts.astype(np.float64), np.ones(len(counts))
    if counts.dtype.kind == "i" and counts.max() < 4 * len(counts):  # small whole numbers: counting beats sorting
        times = np.bincount(counts)
        values = times.nonzero()[0]
        times = times[values]
    else:
        values, times = np.unique(counts, return_counts=True)
    return values.astype(np.float64), times.astype(np.float64)


def digest(levels: Iterable[tuple[np.ndarray, np.ndarray]]) -> str:
    """SHA-256 of the numbers of each level, given as values and how often each occurs; order and zeros make no difference.

    >>> one = [(np.array([3.0, 0.0, 2.0, 3.0]), np.ones(4))]
    >>> same = [(np.array([2.0, 3.0]), np.array([1.0, 2.0]))]
    >>> digest(one) == digest(same), digest(one) == digest([*same, *same])
    (True, False)
    """
    found = hashlib.sha256()
    for values, times in levels:
        distinct_values, which = np.unique(values, return_inverse=True)
        rows = np.column_stack([distinct_values, np.bincount(which, times)])
        rows = rows[distinct_values != 0].astype("<f8")  # the same bytes on every machine
        found.update(len(rows).to_bytes(8, "little") + rows.tobytes())
    return found.hexdigest()

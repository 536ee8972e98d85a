"""The shape of a tree, with alike subtrees taken once.

kind: nodes of one level whose subtrees are alike · c: kinds of a level · f: pairs of a kind and a kind of its children
"""

from typing import NamedTuple

import numpy as np

from .hierarchy import Hierarchy

_HASHES = 0x9E3779B97F4A7C15  # seed of the numbers that stand for kinds


class Families(NamedTuple):
    """The kinds of a level, by what children they have; a kind without children has no pair."""

    kinds: int  #: c
    fertile: np.ndarray  #: (g,) which kinds have children
    starts: np.ndarray  #: (g,) where the pairs of each start
    sizes: np.ndarray  #: (g,) how many pairs each has
    child: np.ndarray  #: (f,) a kind of the level below
    times: np.ndarray  #: (f,) how many children of that kind

    def sums(self, below: np.ndarray) -> np.ndarray:
        """(c,) for each kind, the sum over its children of what their kinds have in `below`."""
        out = np.zeros(self.kinds)
        if len(self.fertile):
            out[self.fertile] = np.add.reduceat(below[self.child] * self.times, self.starts)
        return out

    def spread(self, above: np.ndarray, kinds: int) -> np.ndarray:
        """(kinds,) for each kind of the level below, the sum over its parents' kinds of what these have in `above`."""
        return np.bincount(self.child, above[self.fertile].repeat(self.sizes) * self.times, minlength=kinds)


class Shape(NamedTuple):
    """Nodes and parents of a tree, without counts, up to the order of siblings."""

    levels: tuple[Families, ...]  #: of each level but the lowest, top first; the lowest has one kind
    top: np.ndarray  #: (c,) how many nodes of the top level are of each kind

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> "Shape":
        """The shape of a tree.

        >>> tree = Hierarchy.from_counts([[6], [1, 3, 2], [1, 1, 1, 1, 1, 1]], [None, [0, 0, 0], [0, 1, 1, 1, 2, 2]])
        >>> [families.kinds for families in Shape.of(tree).levels]  # tracts of one, three and two blocks
        [1, 3]
        """
        rng = np.random.default_rng(_HASHES)
        kind, kinds, found = np.zeros(hierarchy.sizes[-1], dtype=np.int64), 1, list[Families]()
        for level in range(len(hierarchy.levels) - 2, -1, -1):
            fertile, starts = hierarchy.families[level]
            # Families are alike if their sums of two random numbers a kind are: by chance once in 2^128 pairs.
            marks = np.zeros((hierarchy.sizes[level], 2), dtype=np.uint64)
            mark = rng.integers(0, 2**64, (kinds, 2), dtype=np.uint64)
            sizes = np.diff(starts, append=len(kind)).astype(np.uint64)[:, None]
            marks[fertile] = sizes * mark if kinds == 1 else np.add.reduceat(mark[kind], starts)
            _, one_of, above = np.unique(marks.view("V16").ravel(), return_index=True, return_inverse=True)
            found.insert(0, _families(fertile, np.append(starts, len(kind)), kind, one_of, kinds))
            kind, kinds = above, len(one_of)
        return cls(tuple(found), np.bincount(kind, minlength=kinds).astype(np.float64))

    @classmethod
    def regular(cls, sizes: np.ndarray) -> "Shape":
        """The tree with as many nodes at each level, all families of a level being equal, if need be with parts of nodes.

        >>> Shape.regular(np.array([1, 2, 5])).levels[1].times
        array([2.5])
        """
        one, first = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        ratios = np.maximum(sizes[1:] / sizes[:-1], 1.0)  # where some have no children, the others have one at least
        return cls(tuple(Families(1, first, first, one, first, np.array([r])) for r in ratios), sizes[:1].astype(float))

    def coarse(self, bins: int = 12) -> "Shape":
        """A much smaller shape that is nearly this one: at each level, kinds with about as many leaves become their mean.

        Each level has at most `bins` kinds, which hold about as many nodes each. Numbers of nodes and of children stay.

        >>> tree = Hierarchy.from_counts([[6], [1, 3, 2], [1, 1, 1, 1, 1, 1]], [None, [0, 0, 0], [0, 1, 1, 1, 2, 2]])
        >>> Shape.of(tree).coarse(bins=1).levels[1].times  # three tracts of two blocks on average
        array([2.])
        """
        leaves = [np.ones(1)]
        for families in reversed(self.levels):
            leaves.insert(0, families.sums(leaves[0]))
        nodes, found = self.top, list[Families]()
        group, top = _grouped(leaves[0], nodes, bins)
        sizes = top
        for families, below in zip(self.levels, leaves[1:], strict=True):
            owner = families.fertile.repeat(families.sizes)
            children = nodes[owner] * families.times
            nodes = families.spread(nodes, len(below))
            group_below, sizes_below = _grouped(below, nodes, bins)
            pairs, place = np.unique(group[owner] * len(sizes_below) + group_below[families.child], return_inverse=True)
            parent, child = np.divmod(pairs, len(sizes_below))
            begin = np.flatnonzero(np.diff(parent, prepend=-1))
            times = np.bincount(place, children) / sizes[parent]
            found.append(Families(len(sizes), parent[begin], begin, np.diff(begin, append=len(pairs)), child, times))
            group, sizes = group_below, sizes_below
        return Shape(tuple(found), top)


def _grouped(leaves: np.ndarray, nodes: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """(c,) a group of each kind, by its number of leaves, and (g,) how many nodes are in each group."""
    order = np.argsort(leaves, kind="stable")
    ends = np.cumsum(nodes[order])
    group = np.empty(len(leaves), dtype=np.int64)
    group[order] = bins * (ends - nodes[order] / 2) / ends[-1]
    group = np.unique(group, return_inverse=True)[1]
    return group, np.bincount(group, nodes)


def _families(fertile: np.ndarray, starts: np.ndarray, kind: np.ndarray, one_of: np.ndarray, kinds: int) -> Families:
    """What children one node of each kind has: nodes `one_of` of a level, whose families start at `starts` of the next."""
    place = np.searchsorted(fertile, one_of)  # of each node among those with children
    with_children = (place < len(fertile)) & (fertile[np.minimum(place, len(fertile) - 1)] == one_of)
    which = np.flatnonzero(with_children)
    first, last = starts[place[which]], starts[place[which] + 1]
    rows = np.repeat(which, last - first)
    children = np.arange(len(rows)) + np.repeat(first - (np.cumsum(last - first) - (last - first)), last - first)
    pairs, times = np.unique(rows * kinds + kind[children], return_counts=True)
    owner = pairs // kinds
    begin = np.flatnonzero(np.diff(owner, prepend=-1))
    sizes = np.diff(begin, append=len(owner))
    return Families(len(one_of), owner[begin], begin, sizes, pairs % kinds, times.astype(np.float64))

"""A tree of counts, stored level by level: the data type that everything else takes.

    levels: names, top first · counts[l]: (n_l,) counts of level l · parents[l]: (n_l,) index of the parent at level l−1

Siblings are adjacent and in their parents' order, so a family is a slice and a whole level is one flat array.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from . import checks, layout
from .checks import Numbers
from .layout import Repeated, Run


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Counts in a tree where every parent is the sum of its children. Nothing in it can be changed afterwards.

    Build one with `from_frame` (a table of leaves) or `from_counts` (arrays). A node with a count of zero may have no
    children; any other node above the lowest level has at least one.
    """

    levels: tuple[str, ...]
    counts: tuple[np.ndarray, ...]
    parents: tuple[np.ndarray | None, ...]
    labels: tuple[np.ndarray, ...] | None = None

    def __post_init__(self) -> None:
        """Check everything, put siblings side by side in their parents' order, and close the arrays."""
        counts, links = _check_counts(self.counts, self.parents)
        levels = check_level_names(self.levels)
        if len(levels) != len(counts):
            raise ValueError(f"levels must name each of the {len(counts)} levels in counts, got {len(levels)} names")
        labels = None if self.labels is None else _check_labels(self.labels, counts)
        order = None  # (n,) the old index of each node of the level above, in its new place
        for level, link in enumerate(links, start=1):
            parent = link if order is None else np.argsort(order)[link]
            order = None if np.all(parent[1:] >= parent[:-1]) else np.argsort(parent, kind="stable")
            links[level - 1] = parent if order is None else parent[order]
            if order is not None:
                counts[level] = counts[level][order]
                if labels is not None:
                    labels[level] = labels[level][order]
        self._close(levels, counts, links, labels)
        self._check_sums()

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, levels: Sequence[str], count: str = "population") -> "Hierarchy":
        """Build the tree from a table of leaves: one key column a level, top first, and a column of counts.

        A node is known by its whole path, so two tracts may share a code if their counties differ. Rows with the same
        path are added up. Nodes come out sorted by path.

        >>> blocks = pd.DataFrame({"tract": [200, 100, 100], "block": [1, 1, 2], "population": [90, 120, 80]})
        >>> tree = Hierarchy.from_frame(blocks, levels=["tract", "block"])
        >>> [c.tolist() for c in tree.counts], tree.parents[1].tolist()
        ([[200, 90], [120, 80, 90]], [0, 0, 1])
        """
        names_of_levels = _check_frame(frame, levels, count)
        people = _summable(checks.counts(f"frame[{count!r}]", frame[count].to_numpy()))  # (rows,)
        path = np.zeros(len(frame), dtype=np.int64)  # (rows,) each row's node at the level above
        counts, parents, labels = [], [], []
        for level in names_of_levels:
            keys, names = _keys(frame, level)
            # The pair (parent, key) as one number: sorting it puts siblings together in their parents' order.
            path *= len(names)
            path += keys
            del keys  # with millions of rows, whatever is held too long is felt; so each array is closed at once, too
            pair, path = _distinct(path)
            sums = np.zeros(len(pair), dtype=people.dtype)
            np.add.at(sums, path, people)  # whole numbers stay whole, which bincount would make floats
            counts.append(layout.freeze(sums))
            parents.append(layout.freeze(pair // len(names)))
            labels.append(np.asarray(names)[pair % len(names)])
        tree = cls.__new__(cls)  # right by construction, so that nothing is left to check
        tree._close(names_of_levels, counts, parents[1:], labels)
        return tree

    @classmethod
    def from_counts(
        cls,
        counts: Sequence[Numbers],
        parents: Sequence[Numbers | None],
        levels: Sequence[str] | None = None,
    ) -> "Hierarchy":
        """Build the tree from one array of counts a level and, below the top, each node's parent index.

        Nodes are put into their parents' order (those of one parent keep the order given).

        >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
        >>> tree.levels, tree.sizes.tolist()
        (('level 1', 'level 2'), [1, 2])
        """
        _check_list("counts", counts)
        names = [f"level {i + 1}" for i in range(len(counts))] if levels is None else levels
        unchecked: tuple[Any, ...] = names, counts, parents  # __post_init__ says what is wrong with them
        return cls(*unchecked)

    @property
    def links(self) -> tuple[np.ndarray, ...]:
        """`parents` of the levels below the top, the only ones that have any: links[l] leads from level l + 1 to level l."""
        return tuple(link for link in self.parents if link is not None)

    @cached_property
    def sizes(self) -> np.ndarray:
        """(L,) number of nodes at each level."""
        return layout.freeze(np.array([len(c) for c in self.counts]))

    @cached_property
    def floats(self) -> tuple[np.ndarray, ...]:
        """`counts` as floats: noise is added and taken off faster when nothing has to be converted on the way."""
        return tuple(c if c.dtype == np.float64 else layout.freeze(c.astype(np.float64)) for c in self.counts)

    @cached_property
    def families(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """For each level but the lowest, which of its nodes have children, and where below their families start."""
        return tuple(map(layout.families, self.links))

    def sum_children(self, level: int, below: np.ndarray) -> np.ndarray:
        """(n,) for each node of a level, the sum of what its children have in `below`; zero without children.

        >>> tree = Hierarchy.from_counts([[5, 0], [2, 3]], [None, [0, 0]])
        >>> tree.sum_children(0, np.array([10, 20]))
        array([30,  0])
        """
        fertile, starts = self.families[level]
        out = np.zeros(self.sizes[level], dtype=below.dtype)  # whole numbers stay whole
        out[fertile] = np.add.reduceat(below, starts)
        return out

    @cached_property
    def runs(self) -> tuple[tuple[Run, ...], ...]:
        """For each level below the top, its families in cache-sized runs, in order."""
        return tuple(map(layout.runs, self.links))

    @cached_property
    def repeated(self) -> Repeated:
        """The distinct counts of each large level, and how often each occurs: thousands of blocks share a few hundred."""
        values, times = zip(*map(layout.distinct, self.counts), strict=True)
        lengths = np.array([len(v) for v in values])
        arrays = np.concatenate(values), np.concatenate(times), np.cumsum(lengths) - lengths, lengths
        return Repeated(*map(layout.freeze, arrays))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the counts of the leaves, whatever their order, names and groups, without those that are zero.

        The same counts have the same digest however their file is written, and with empty places added: so a split can say
        which counts it was chosen on, without holding them. Do not publish the digest of confidential counts: whoever can
        guess them can check the guess.

        >>> one = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
        >>> other = Hierarchy.from_counts([[5], [3, 0, 2]], [None, [0, 0, 0]])
        >>> one.digest == other.digest
        True
        """
        leaves = slice(self.repeated.starts[-1], None)
        return layout.digest([(self.repeated.counts[leaves], self.repeated.times[leaves])])

    @cached_property
    def shape_digest(self) -> str:
        """SHA-256 of the number of nodes and of the sizes of families at each level: of what is public."""
        sizes = [np.bincount(link, minlength=n).astype(float) for link, n in zip(self.links, self.sizes[:-1], strict=True)]
        none = np.zeros(1)  # of the leaves, which have no families: with it, no digest of counts is that of a shape
        return layout.digest((level, np.ones(len(level))) for level in [self.sizes.astype(float), *sizes, none])

    def _close(
        self, levels: list[str], counts: list[np.ndarray], links: list[np.ndarray], labels: list[np.ndarray] | None
    ) -> None:
        """Take these arrays, which are right and in order, in a form that nobody can change."""
        closed_labels = None if labels is None else tuple(map(layout.frozen, labels))
        fields = tuple(levels), tuple(map(layout.frozen, counts)), (None, *map(layout.frozen, links)), closed_labels
        for name, value in zip(("levels", "counts", "parents", "labels"), fields, strict=True):
            object.__setattr__(self, name, value)  # the only way into a frozen dataclass, and only from here

    def _check_sums(self) -> None:
        for level, (above, below) in enumerate(pairwise(self.counts)):
            sums = self.sum_children(level, below)
            # Whole numbers add up exactly; fractions (a prior spread evenly) only to rounding.
            exact = above.dtype.kind == below.dtype.kind == "i"
            wrong = sums != above if exact else ~np.isclose(sums, above, rtol=1e-9, atol=0)
            if wrong.any():  # no number is shown: these may be people's
                node = f"node {wrong.argmax()} of {self.levels[level]}"
                raise ValueError(
                    f"counts[{level + 1}] must sum to its parents, but the children of {node} do not add up to its count"
                )

    def __reduce__(self) -> tuple:
        return type(self), (self.levels, self.counts, self.parents, self.labels)  # a copy is closed, too

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n:,} {name}" for name, n in zip(self.levels, self.sizes, strict=True))
        return f"Hierarchy({sizes}; total {self.counts[0].sum():,})"


def check_hierarchy(value: Any) -> None:
    """Refuse anything but a `Hierarchy`.

    >>> check_hierarchy([1, 2])
    Traceback (most recent call last):
    TypeError: hierarchy must be a Hierarchy (see Hierarchy.from_frame and load_state), got list
    """
    if not isinstance(value, Hierarchy):
        kind = type(value).__name__
        raise TypeError(f"hierarchy must be a Hierarchy (see Hierarchy.from_frame and load_state), got {kind}")


def check_like(name: str, values: Sequence[ArrayLike], hierarchy: Hierarchy) -> list[np.ndarray]:
    """Return `values` as float arrays if they match the tree: one finite number a node, one array a level.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> check_like("noisy", [[5], [2, 3, 4]], tree)
    Traceback (most recent call last):
    ValueError: noisy[1] must have one entry for each of the 2 nodes of level 2, got shape (3,)
    """
    check_hierarchy(hierarchy)
    _check_list(name, values)
    if len(values) != len(hierarchy.levels):
        raise ValueError(f"{name} must have one array for each of the {len(hierarchy.levels)} levels, got {len(values)}")
    arrays = [checks.numbers(f"{name}[{i}]", v).astype(np.float64, copy=False) for i, v in enumerate(values)]
    for i, (array, level, size) in enumerate(zip(arrays, hierarchy.levels, hierarchy.sizes, strict=True)):
        if array.shape != (size,):
            raise ValueError(
                f"{name}[{i}] must have one entry for each of the {size} nodes of {level}, got shape {array.shape}"
            )
    return arrays


def _check_list(name: str, values: Any) -> None:
    """Refuse what has no length; a single number in an array has none."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str) or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a list with one array a level, got {values!r}")


def check_level_names(levels: Sequence[str]) -> list[str]:
    """Return `levels` as a list if they are distinct names, as text.

    >>> check_level_names(["state", "state"])
    Traceback (most recent call last):
    ValueError: levels must be distinct, got ['state', 'state']
    """
    if not isinstance(levels, Iterable) or isinstance(levels, str) or getattr(levels, "ndim", 1) != 1:
        raise TypeError(f"levels must be a list of names, top first, got {levels!r}")
    levels = list(levels)
    if not levels:
        raise ValueError("levels must name at least one level, got none")
    if not all(isinstance(level, str) for level in levels):
        raise TypeError(f"levels must be names, as text, got {levels}")
    if len(set(levels)) < len(levels):
        raise ValueError(f"levels must be distinct, got {levels}")
    return levels


def _check_frame(frame: pd.DataFrame, levels: Sequence[str], count: str) -> list[str]:
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be a pandas DataFrame with one row a leaf, got {type(frame).__name__}")
    levels = check_level_names(levels)
    if not isinstance(count, str):
        raise TypeError(f"count must be the name of a column, as text, got {count!r}")
    for argument, column in [*(("levels", level) for level in levels), ("count", count)]:
        if list(frame.columns).count(column) != 1:
            known = ", ".join(map(str, frame))
            raise ValueError(f"{argument} must name one column each of the frame ({known}), got {column!r}")
    if count in levels:
        raise ValueError(f"count must be a column apart from the levels, got {count!r}, which is one of them")
    if frame.empty:
        raise ValueError("frame must have at least one row, got an empty table")
    return levels


def _summable(counts: np.ndarray) -> np.ndarray:
    """Whole numbers stay whole, unless their sum, which floats only know to rounding, could be too large for an int64."""
    return counts if counts.sum(dtype=np.float64) < 0.99 * 2**63 else counts.astype(np.float64)


def _keys(frame: pd.DataFrame, level: str) -> tuple[np.ndarray, pd.Index]:
    """(rows,) the place of each row's key among the keys in order, and these keys."""
    keys = frame[level]
    missing = keys.isna().to_numpy()
    if missing.any():
        raise ValueError(f"frame[{level!r}] must name a node in every row, got a missing value in row {missing.argmax()}")
    try:
        return pd.factorize(keys, sort=True)
    except TypeError:
        raise TypeError(f"frame[{level!r}] must have keys that can be put in order, such as text, got a mixture") from None


def _distinct(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(u,) the distinct numbers in order, and for each number its place among them; fast if they are in order already."""
    if (numbers[1:] < numbers[:-1]).any():
        return np.unique(numbers, return_inverse=True)
    first = np.append(True, numbers[1:] != numbers[:-1])
    place = np.cumsum(first)
    place -= 1
    return numbers[first], place


def _check_counts(counts: Any, parents: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The arrays of every level, and the parents of those below the top."""
    for name, value in (("counts", counts), ("parents", parents)):
        _check_list(name, value)
    if len(counts) == 0:
        raise ValueError("counts must hold at least one level, got none")
    if len(parents) != len(counts):
        raise ValueError(f"parents must have as many levels as counts ({len(counts)}), got {len(parents)}")
    if parents[0] is not None:
        raise ValueError(f"parents[0] must be None, because the top level has no parents, got {parents[0]!r}")
    arrays = [_level_counts(level, c) for level, c in enumerate(counts)]
    return arrays, [_level_parents(level, parents[level], arrays) for level in range(1, len(counts))]


def _check_labels(labels: Any, counts: list[np.ndarray]) -> list[np.ndarray]:
    _check_list("labels", labels)
    arrays = [np.asarray(names) for names in labels]
    sizes, found = [c.shape for c in counts], [names.shape for names in arrays]
    if found != sizes:
        raise ValueError(f"labels must have one entry for each node, as counts has (shapes {sizes}), got shapes {found}")
    return arrays


def _level_counts(level: int, values: Any) -> np.ndarray:
    array = checks.counts(f"counts[{level}]", values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"counts[{level}] must be a flat array with at least one node, got shape {array.shape}")
    return _summable(array)


def _level_parents(level: int, values: Any, arrays: list[np.ndarray]) -> np.ndarray:
    name, above = f"parents[{level}]", len(arrays[level - 1])
    if values is None:
        raise ValueError(f"{name} must hold a parent index for each node, got None")
    array = checks.numbers(name, values)
    if array.dtype.kind != "i":
        raise TypeError(f"{name} must be whole numbers, got {array.dtype}")
    if array.shape != arrays[level].shape:
        raise ValueError(f"{name} must have one entry for each of the {len(arrays[level])} nodes, got {array.size}")
    outside = (array < 0) | (array >= above)
    if outside.any():
        i = outside.argmax()
        raise ValueError(f"{name} must be from 0 to {above - 1}, an index of a node above, got {array[i]} at index {i}")
    return array

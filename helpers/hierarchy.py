"""A tree of counts, stored level by level: the data type that everything else takes.

    levels: names, top first · counts[l]: (n_l,) counts of level l · parents[l]: (n_l,) index of the parent at level l−1

Siblings are adjacent and in their parents' order, so a family is a slice and a whole level is one flat array.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from . import census, checks, layout
from .layout import Repeated, Run


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Counts in a tree where every parent is the sum of its children.

    Build one with `from_frame` (a table of leaves) or `from_counts` (arrays). A node with a count of zero may have no
    children; any other node above the lowest level has at least one.
    """

    levels: tuple[str, ...]
    counts: tuple[np.ndarray, ...]
    parents: tuple[np.ndarray | None, ...]
    labels: tuple[np.ndarray, ...] | None = None

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
        levels = _check_frame(frame, levels, count)
        leaf_counts = _column(frame, count)
        path = np.zeros(len(frame), dtype=np.int64)  # (rows,) each row's node at the level above
        counts, parents, labels = [], [], []
        for level in levels:
            keys, names = _keys(frame, level)
            # The pair (parent, key) as one number: sorting it puts siblings together in their parents' order.
            pair, path = np.unique(path * len(names) + keys, return_inverse=True)
            parents.append(pair // len(names))
            labels.append(np.asarray(names)[pair % len(names)])
            counts.append(_sum_by(path, leaf_counts, len(pair)))
        return cls(tuple(levels), tuple(counts), (None, *parents[1:]), tuple(labels))

    @classmethod
    def from_counts(
        cls,
        counts: Sequence[Sequence[float]],
        parents: Sequence[Sequence[int] | None],
        levels: Sequence[str] | None = None,
    ) -> "Hierarchy":
        """Build the tree from one array of counts a level and, below the top, each node's parent index.

        Nodes are put into their parents' order (those of one parent keep the order given).

        >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
        >>> tree.levels, tree.sizes.tolist()
        (('level 1', 'level 2'), [1, 2])
        """
        arrays, indices = _check_counts(counts, parents)
        levels = _check_level_names([f"level {i + 1}" for i in range(len(arrays))] if levels is None else levels)
        if len(levels) != len(arrays):
            raise ValueError(f"levels must name each of the {len(arrays)} levels in counts, got {len(levels)} names")
        order = None  # (n,) the old index of each node of the level above, in its new place
        for level in range(1, len(arrays)):
            parent = indices[level]
            if order is not None:
                parent = np.argsort(order)[parent]
            order = None if np.all(parent[1:] >= parent[:-1]) else np.argsort(parent, kind="stable")
            indices[level] = parent if order is None else parent[order]
            arrays[level] = arrays[level] if order is None else arrays[level][order]
        _check_sums(levels, arrays, indices)
        return cls(tuple(levels), tuple(arrays), tuple(indices))

    @cached_property
    def sizes(self) -> np.ndarray:
        """(L,) number of nodes at each level."""
        return np.array([len(c) for c in self.counts])

    @cached_property
    def floats(self) -> tuple[np.ndarray, ...]:
        """`counts` as floats: noise is added and taken off faster when nothing has to be converted on the way."""
        return tuple(c.astype(np.float64, copy=False) for c in self.counts)

    @cached_property
    def runs(self) -> tuple[tuple[Run, ...], ...]:
        """For each level below the top, its families in cache-sized runs, in order."""
        return tuple(map(layout.runs, self.parents[1:]))

    @cached_property
    def repeated(self) -> Repeated:
        """The distinct counts of each large level, and how often each occurs: thousands of blocks share a few hundred."""
        values, times = zip(*map(layout.distinct, self.counts), strict=True)
        lengths = np.array([len(v) for v in values])
        return Repeated(np.concatenate(values), np.concatenate(times), np.cumsum(lengths) - lengths, lengths)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n:,} {name}" for name, n in zip(self.levels, self.sizes, strict=True))
        return f"Hierarchy({sizes}; total {self.counts[0].sum():,})"


def load_state(
    state: str,
    tree: str = "published",
    levels: Sequence[str] = ("state", "tract", "block"),
    source: str = "embedded",
) -> Hierarchy:
    """The 2020 census counts of a state ("wyoming", "WY" or "56") as a tree.

    Trees: `published` (the paper's: blocks with people, the county left out of the codes), `populated` (blocks with people)
    and `geography` (every block). `levels` is any chain out of state, county, tract, block group, block. `source` is
    "embedded" (three states, without any network), "official" (any state: its redistricting file, downloaded on first use)
    or "ppmf" (the microdata of the paper: a very large download).

    >>> load_state("wyoming")
    Hierarchy(1 state, 128 tract, 20,975 block; total 576,851)
    """
    levels = census.check_levels(levels)
    return Hierarchy.from_frame(census.leaves(state, tree, levels, source), levels)


def load_nation(levels: Sequence[str] = census.NATION_LEVELS) -> Hierarchy:
    """The 2020 census counts of the 50 states and D.C. as a tree with every block, without any network, in about a second.

    `levels` is any chain out of country, state, county, tract, block group, block. The tree has labels, the Bureau's codes,
    unless it goes down to the blocks, whose own codes are not in the file. It holds about 130 MB.

    >>> load_nation(["country", "state", "county"])
    Hierarchy(1 country, 51 state, 3,143 county; total 331,449,281)
    """
    levels = census.check_levels(levels, census.NATION_LEVELS)
    counts, parents, labels = census.nation(levels)
    return Hierarchy(tuple(levels), tuple(counts), tuple(parents), labels and tuple(labels))


def prior(
    state: str,
    tree: str = "published",
    levels: Sequence[str] = ("state", "tract", "block"),
    source: str = "embedded",
) -> Hierarchy:
    """A public stand-in for `load_state`: the state in 2010, for choosing a split before looking at 2020.

    With `source` "official" or "ppmf" these are the true blocks of 2010 (downloaded on first use). What lies on a computer
    already never changes the default, "embedded". There, counts down to the block group are those of 2010, and each group is
    spread evenly over k blocks, where k is the average number of blocks a group has: blocks of the 2020 tree over groups of
    2010, rounded. (With the tree `geography` that number is public geography; with the other two it is the number of blocks
    with people.)

    >>> prior("wyoming")
    Hierarchy(1 state, 100 tract, 21,125 block; total 563,626)
    """
    levels, source = census.check_levels(levels), checks.one_of("source", source, census.SOURCES)
    upper = [level for level in levels if level != "block"]
    if upper == levels or source != "embedded":
        return Hierarchy.from_frame(census.leaves_2010(state, tree, levels, source), levels)
    to_groups = upper if "block group" in upper else [*upper, "block group"]
    groups = Hierarchy.from_frame(census.leaves_2010(state, tree, to_groups), to_groups)
    k = round(load_state(state, tree, levels).sizes[-1] / groups.sizes[-1])
    parent = np.arange(groups.sizes[-1]) if "block group" in upper else groups.parents[-1]
    return Hierarchy.from_counts(
        [*groups.counts[: len(upper)], np.repeat(groups.counts[-1] / k, k)],
        [*groups.parents[: len(upper)], np.repeat(parent, k) if upper else None],
        levels,
    )


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


def _sum_by(index: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """(size,) sums of the values that share an index, in the values' own type (bincount would make floats)."""
    out = np.zeros(size, dtype=values.dtype)
    np.add.at(out, index, values)
    return out


def _check_level_names(levels: Sequence[str]) -> list[str]:
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
    levels = _check_level_names(levels)
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


def _column(frame: pd.DataFrame, count: str) -> np.ndarray:
    return _summable(checks.counts(f"frame[{count!r}]", frame[count].to_numpy()))


def _summable(counts: np.ndarray) -> np.ndarray:
    """Whole numbers stay whole, unless their sum is too large for an int64."""
    return counts if counts.sum(dtype=np.float64) < 2**63 else counts.astype(np.float64)


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


def _check_counts(counts, parents) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
    for name, value in (("counts", counts), ("parents", parents)):
        _check_list(name, value)
    if len(counts) == 0:
        raise ValueError("counts must hold at least one level, got none")
    if len(parents) != len(counts):
        raise ValueError(f"parents must have as many levels as counts ({len(counts)}), got {len(parents)}")
    if parents[0] is not None:
        raise ValueError(f"parents[0] must be None, because the top level has no parents, got {parents[0]!r}")
    arrays = [_level_counts(level, c) for level, c in enumerate(counts)]
    below = [_level_parents(level, parents[level], arrays) for level in range(1, len(counts))]
    return arrays, [None, *below]


def _level_counts(level: int, values) -> np.ndarray:
    array = checks.counts(f"counts[{level}]", values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"counts[{level}] must be a flat array with at least one node, got shape {array.shape}")
    return _summable(array).copy()  # the tree keeps sums of it, so nobody else may change it


def _level_parents(level: int, values, arrays: list[np.ndarray]) -> np.ndarray:
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
    return array.copy()


def _check_sums(levels: list[str], arrays: list[np.ndarray], indices: list[np.ndarray | None]) -> None:
    for level in range(1, len(arrays)):
        above, below = arrays[level - 1], arrays[level]
        sums = _sum_by(indices[level], below, len(above))
        # Whole numbers add up exactly; fractions (a prior spread evenly) only to rounding.
        exact = above.dtype.kind == below.dtype.kind == "i"
        wrong = sums != above if exact else ~np.isclose(sums, above, rtol=1e-9, atol=0)
        if wrong.any():
            i = wrong.argmax()
            raise ValueError(
                f"counts[{level}] must sum to its parents: node {i} of {levels[level - 1]} "
                f"has {above[i]}, but its children add up to {sums[i]}"
            )

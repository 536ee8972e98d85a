"""The vocabulary of the property tests.

maybe(percent) · powers(low, high) · counts() · budgets() · amounts() · seeds() · families() · frames()
trees() · per_level(tree, low, high) · weights(tree) · noisy(tree) · noisy_trees() · splits(levels)
"""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from helpers import Hierarchy
from helpers.publishing.split import RULES


@dataclass(frozen=True)
class Family:
    """What program (3) starts from: noisy values and the total they should add up to."""

    values: np.ndarray
    total: float

    @property
    def scale(self):
        """The size of the numbers involved, the yardstick for rounding."""
        return np.abs(self.values).max() + self.total + 1e-300


def maybe(percent):
    """True in about so many cases of a hundred."""
    return st.integers(0, 99).map(lambda i: i >= 100 - percent)


def powers(low, high):
    """10 to a power between the two."""
    return st.floats(low, high).map(lambda power: 10.0**power)


def counts():
    """People in a node: often none or few, sometimes a great many."""
    return st.one_of(st.integers(0, 3), st.integers(0, 1_000), st.integers(0, 100_000_000))


def budgets():
    """Positive numbers from 1e-4 to 1e4, evenly on the logarithmic scale."""
    return powers(-4, 4)


def amounts():
    """Budgets mostly of the size that people use, at times far from it."""
    return powers(-3, 2) | powers(-3, 2) | powers(-3, 2) | powers(-12, 2.5)


def weights(tree):
    """One positive weight a level, over eight orders of magnitude."""
    return st.lists(budgets(), min_size=len(tree.levels), max_size=len(tree.levels)).map(np.array)


def per_level(tree, low, high):
    """A power of ten for each level, in any of the forms that a list may have."""
    values = st.lists(powers(low, high), min_size=len(tree.levels), max_size=len(tree.levels))
    return st.tuples(st.sampled_from([list, tuple, np.array]), values).map(lambda drawn: drawn[0](drawn[1]))


def seeds():
    """Seeds of a random generator."""
    return st.integers(0, 2**32 - 1)


@st.composite
def families(draw):
    """Up to twelve values with ties, and a total that may be zero, tiny, or larger than all of them."""
    value = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.floats(-1, 1))
    values = draw(st.lists(value, min_size=1, max_size=12))
    total = draw(st.one_of(st.sampled_from([0.0, 1e-9, 1.0]), st.floats(0, 1e7)))
    return Family(np.array(values), total)


@st.composite
def trees(draw, least_levels=1, childless=True, fractions=False):
    """Trees of up to four levels with several tops; if `childless`, some empty nodes have no children.

    Counts are whole; with `fractions`, now and then eighths, as in a prior.
    """
    sizes, parents = [draw(st.integers(1, 3))], [None]
    for _ in range(draw(st.integers(least_levels, 4)) - 1):
        fanout = draw(st.lists(st.integers(0 if childless else 1, 3), min_size=sizes[-1], max_size=sizes[-1]))
        fanout = fanout if any(fanout) else [1] * sizes[-1]
        parents.append(np.repeat(np.arange(sizes[-1]), fanout))
        sizes.append(sum(fanout))
    leaves = np.array(draw(st.lists(counts(), min_size=sizes[-1], max_size=sizes[-1])))
    leaves = leaves / 8 if fractions and draw(maybe(20)) else leaves
    return Hierarchy.from_counts(summed_up(leaves, parents, sizes), parents)


def summed_up(leaves, parents, sizes):
    """The counts of every level, from those of the leaves."""
    levels = [leaves]
    for level in range(len(sizes) - 1, 0, -1):
        above = np.zeros(sizes[level - 1], dtype=levels[0].dtype)
        np.add.at(above, parents[level], levels[0])
        levels.insert(0, above)
    return levels


@st.composite
def noisy(draw, tree, kind=float):
    """Noisy counts for a tree, some of them negative, some of them tied; whole ones if of another kind."""
    rng, scale = np.random.default_rng(draw(seeds())), draw(st.sampled_from([0.1, 3.0, 1e4]))
    found = [n + rng.laplace(0, scale, len(n)) for n in tree.counts]
    return [x.round().astype(kind) for x in found] if kind is not float or draw(st.booleans()) else found


@st.composite
def noisy_trees(draw):
    """A tree and noisy counts for it."""
    tree = draw(trees())
    return tree, draw(noisy(tree))


@st.composite
def frames(draw):
    """Tables of leaves, keys a, b, c (b and c repeat under different parents), rows in any order, some of them twice."""
    row = st.tuples(st.sampled_from("zxy"), st.integers(0, 2), st.sampled_from(["10", "2"]), counts())
    rows = draw(st.lists(row, min_size=1, max_size=25))
    return pd.DataFrame(rows, columns=["a", "b", "c", "population"])


@st.composite
def splits(draw, levels):
    """A split of some budget over the levels, as a dict that allocate could have written for some tree."""
    eps = [float(f"{draw(powers(-3, 3)):.6g}") for _ in levels]
    rule = draw(st.sampled_from(RULES))
    weights = None if rule == "uniform" or draw(maybe(60)) else [draw(budgets()) for _ in levels]
    source = {"chosen_on": "counts" if rule == "optimal" else "nodes", "digest": f"{draw(st.integers(0, 2**256 - 1)):064x}"}
    total = float(sum(Decimal(repr(e)) for e in eps))
    return {"levels": [*levels], "eps": eps, "rule": rule, "weights": weights, **source, "total": total}

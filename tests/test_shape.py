"""Alike subtrees are one kind: sums over kinds are sums over nodes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.strategies import trees

from helpers import Hierarchy
from helpers.shape import Shape


def subtrees(tree, level, node):
    """The shape below a node, written out: a sorted tuple of those of its children."""
    if level == len(tree.levels) - 1:
        return ()
    children = np.flatnonzero(tree.parents[level + 1] == node)
    return tuple(sorted(subtrees(tree, level + 1, child) for child in children))


@given(trees())
def test_kinds_are_the_distinct_subtrees(tree):
    """Each level has as many kinds as there are different subtrees, and the top has each as often as it occurs."""
    shape = Shape.of(tree)
    for level, families in enumerate(shape.levels):
        assert families.kinds == len({subtrees(tree, level, node) for node in range(tree.sizes[level])})
    assert shape.top.sum() == tree.sizes[0]


@given(trees())
def test_sums_over_kinds_are_sums_over_nodes(tree):
    """Leaves counted up the kinds, kind by kind, are the leaves of the tree, and of each node of its top."""
    shape = Shape.of(tree)
    below = np.ones(1)
    for families in reversed(shape.levels):
        below = families.sums(below)
    assert_allclose(shape.top @ below, tree.sizes[-1])


@given(trees(least_levels=2), st.data())
def test_spreading_is_the_transpose_of_summing(tree, data):
    """<above, sums(below)> = <spread(above), below> for any numbers: what the chain rule needs."""
    for families, kinds in zip(Shape.of(tree).levels, [f.kinds for f in Shape.of(tree).levels[1:]] + [1], strict=True):
        numbers = st.lists(st.floats(-9, 9), min_size=families.kinds + kinds, max_size=families.kinds + kinds)
        above, below = np.split(np.array(data.draw(numbers)), [families.kinds])
        assert_allclose(above @ families.sums(below), families.spread(above, kinds) @ below, atol=1e-9)


def test_a_regular_tree_is_its_own_shape():
    """Where all families of a level are equal, the regular tree with as many nodes has the same sums."""
    tree = Hierarchy.from_counts([[12], [3] * 4, [1] * 12], [None, [0] * 4, np.arange(12) // 3])
    for one, other in zip(Shape.of(tree).levels, Shape.regular(tree.sizes).levels, strict=True):
        assert one.kinds == other.kinds == 1 and one.times.tolist() == other.times.tolist()


def test_siblings_may_come_in_any_order():
    """The order of children, and of their children, makes no other kind."""
    sizes = [[2, 3, 1], [1, 2, 3], [3, 1, 2]]  # blocks of the tracts of three counties
    tracts = [size for county in sizes for size in county]
    parents = [None, np.repeat([0, 1, 2], 3), np.repeat(np.arange(9), tracts)]
    counts = [[6] * 3, tracts, [1] * sum(tracts)]
    assert [families.kinds for families in Shape.of(Hierarchy.from_counts(counts, parents)).levels] == [1, 3]


@given(trees(least_levels=2), st.integers(1, 5))
def test_a_coarse_shape_keeps_the_number_of_nodes(tree, bins):
    """Nodes of each level counted down the groups are those of the tree, and no level has more groups than asked for."""
    shape = Shape.of(tree).coarse(bins)
    nodes, found = shape.top, [shape.top.sum()]
    for families, kinds in zip(shape.levels, [f.kinds for f in shape.levels[1:]] + [1], strict=True):
        assert families.kinds <= bins
        nodes = families.spread(nodes, kinds)
        found.append(nodes.sum())
    assert_allclose(found, tree.sizes)

"""Trees against a slow oracle of dictionaries."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import frames, seeds, trees

from helpers import Hierarchy

KEYS = ["a", "b", "c"]


def by_path(frame, levels):
    """For each level, {path: people}, built row by row."""
    sums = [{} for _ in levels]
    for row in frame.to_dict("records"):
        for depth, nodes in enumerate(sums, start=1):
            path = tuple(row[level] for level in levels[:depth])
            nodes[path] = nodes.get(path, 0) + row["population"]
    return sums


def ancestries(tree, level):
    """(n,) for each node of a level, the counts from the top down to it."""
    if level == 0:
        return [(n,) for n in tree.counts[0].tolist()]
    above = ancestries(tree, level - 1)
    return [(*above[p], n) for p, n in zip(tree.parents[level].tolist(), tree.counts[level].tolist(), strict=True)]


def shuffled(tree, rng):
    """The arrays of a tree with the nodes of every level in random order."""
    new_place = [rng.permutation(n) for n in tree.sizes]
    counts, parents = [], []
    for level, place in enumerate(new_place):
        old = np.argsort(place)
        counts.append(tree.counts[level][old])
        parents.append(None if level == 0 else new_place[level - 1][tree.parents[level][old]])
    return counts, parents


@given(frames(), st.permutations(KEYS), st.integers(1, 3))
def test_from_frame_equals_the_row_by_row_oracle(frame, order, depth):
    """Nodes are whole paths in sorted order, equal paths are added up, and each node points at its own prefix."""
    levels = order[:depth]
    tree, oracle = Hierarchy.from_frame(frame, levels), by_path(frame, levels)
    for level, nodes in enumerate(oracle):
        paths = sorted(nodes)
        assert tree.counts[level].tolist() == [nodes[path] for path in paths]
        assert tree.labels[level].tolist() == [path[-1] for path in paths]
        if level:
            above = sorted(oracle[level - 1])
            assert tree.parents[level].tolist() == [above.index(path[:-1]) for path in paths]


def test_equal_codes_under_different_parents_stay_apart():
    """Tract 100 of county 1 and tract 100 of county 3 are two nodes."""
    frame = pd.DataFrame({"county": ["1", "3"], "tract": ["100", "100"], "population": [7, 9]})
    assert Hierarchy.from_frame(frame, ["county", "tract"]).counts[1].tolist() == [7, 9]


def test_from_frame_takes_the_count_column_by_name():
    """Any column can hold the counts; the frame itself is not changed."""
    frame = pd.DataFrame({"b": [2, 1], "people": [3, 4], "population": [0, 0]}, index=[5, 5])
    before = frame.copy()
    tree = Hierarchy.from_frame(frame, ["b"], count="people")
    assert tree.counts[0].tolist() == [4, 3] and tree.parents == (None,) and tree.levels == ("b",)
    pd.testing.assert_frame_equal(frame, before)


@given(trees(), seeds())
def test_from_counts_sorts_any_order_into_the_same_tree(tree, seed):
    """Shuffling the nodes of every level changes the order, not the tree; siblings come out adjacent, sums hold."""
    again = Hierarchy.from_counts(*shuffled(tree, np.random.default_rng(seed)))
    for level in range(len(tree.levels)):
        assert sorted(ancestries(again, level)) == sorted(ancestries(tree, level))
        if level:
            assert (np.diff(again.parents[level]) >= 0).all()
            sums = [int(again.counts[level][again.parents[level] == i].sum()) for i in range(again.sizes[level - 1])]
            assert sums == again.counts[level - 1].tolist()


def test_from_counts_keeps_the_order_of_siblings():
    """Nodes of one parent stay in the order given, at every level."""
    tree = Hierarchy.from_counts(
        [[6, 4], [4, 1, 5], [2, 3, 1, 1, 3]],  # the middle level is out of order, so the lowest one has to follow
        [None, [1, 0, 0], [2, 0, 0, 1, 2]],
    )
    assert [c.tolist() for c in tree.counts] == [[6, 4], [1, 5, 4], [1, 2, 3, 3, 1]]
    assert [p.tolist() for p in tree.parents[1:]] == [[0, 0, 1], [0, 1, 1, 2, 2]]
    leaves = np.arange(1000)  # long enough that an unstable sort would show
    large = Hierarchy.from_counts([[leaves[1::2].sum(), leaves[::2].sum()], leaves], [None, 1 - leaves % 2])
    assert large.counts[1].tolist() == [*range(1, 1000, 2), *range(0, 1000, 2)]


def test_empty_nodes_may_have_no_children():
    """A count of zero needs nobody below it; any other count does."""
    tree = Hierarchy.from_counts([[0, 5, 0], [2, 3]], [None, [1, 1]])
    assert tree.sizes.tolist() == [3, 2]
    with pytest.raises(ValueError, match="node 0 of level 1 has 1"):
        Hierarchy.from_counts([[1, 5, 0], [2, 3]], [None, [1, 1]])


def test_whole_counts_must_add_up_to_the_last_person():
    """With whole numbers, one person too many is refused however large the tree is."""
    with pytest.raises(ValueError, match="10000000000"):
        Hierarchy.from_counts([[10**10], [10**10 - 1, 2]], [None, [0, 0]])


@pytest.mark.parametrize("dtype, kind", [("int16", "i"), ("uint8", "i"), ("int64", "i"), ("float32", "f"), ("float64", "f")])
def test_whole_counts_stay_whole(dtype, kind):
    """Whole numbers are stored as whole numbers and fractions as fractions, from arrays and from frames."""
    leaves = np.array([200, 100], dtype=dtype)
    frame = pd.DataFrame({"a": [1, 1], "b": [1, 2], "population": leaves})
    arrays = Hierarchy.from_counts([[300], leaves], [None, [0, 0]])
    for tree in (Hierarchy.from_frame(frame, ["a", "b"]), arrays):
        assert [c.tolist() for c in tree.counts] == [[300], [200, 100]]
        assert tree.counts[1].dtype.kind == kind


def test_fractions_only_need_to_add_up_to_rounding():
    """0.1 + 0.2 may stand below 0.3, but not below 0.3000001."""
    assert Hierarchy.from_counts([[0.3], [0.1, 0.2]], [None, [0, 0]]).sizes.tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"0\.3000001"):
        Hierarchy.from_counts([[0.3000001], [0.1, 0.2]], [None, [0, 0]])


def test_levels_have_default_names_and_given_ones():
    """Levels are called level 1, level 2, … unless named."""
    arrays = [[5], [2, 3]], [None, [0, 0]]
    assert Hierarchy.from_counts(*arrays).levels == ("level 1", "level 2")
    assert Hierarchy.from_counts(*arrays, levels=["state", "block"]).levels == ("state", "block")


def test_repr_names_sizes_and_total():
    """A tree introduces itself in one line."""
    tree = Hierarchy.from_counts([[1234, 0], [1000, 234]], [None, [0, 0]], levels=["state", "block"])
    assert repr(tree) == "Hierarchy(2 state, 2 block; total 1,234)"


def test_a_tree_cannot_be_rebound():
    """Its fields are fixed once built."""
    tree = Hierarchy.from_counts([[1]], [None])
    with pytest.raises(AttributeError):
        tree.counts = ()

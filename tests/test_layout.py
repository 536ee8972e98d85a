"""The runs and repeats that the fast code works on give back the tree they were made from; digests tell numbers apart."""

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import trees

from helpers import Hierarchy, layout


@given(trees(), st.sampled_from([1, 3, 7, layout.RUN_NODES]))
def test_runs_partition_each_level_into_whole_families(tree, longest):
    """Runs follow each other without a gap, hold whole families with their own parents, and are as long as allowed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "RUN_NODES", longest)
        runs = Hierarchy(tree.levels, tree.counts, tree.parents).runs
    assert len(runs) == len(tree.levels) - 1
    for level, level_runs in enumerate(runs, start=1):
        owners = [np.arange(tree.sizes[level - 1])[run.parents].repeat(run.sizes) for run in level_runs]
        assert np.concatenate(owners).tolist() == tree.parents[level].tolist()
        end, families = 0, []
        for run in level_runs:
            assert (run.nodes.start, run.nodes.stop) == (end, end + run.sizes.sum())
            assert run.starts.tolist() == (np.cumsum(run.sizes) - run.sizes).tolist()
            assert run.sizes.sum() <= longest or len(run.sizes) == 1
            assert not families or sum(families[-1]) + run.sizes[0] > longest  # else the two runs could have been one
            end = run.nodes.stop
            families.append(run.sizes.tolist())
        assert [size for run in families for size in run] == np.unique(tree.parents[level], return_counts=True)[1].tolist()


def test_runs_say_where_the_parents_lie():
    """Parents that are neighbours are a slice, which needs no copy; where one of them has no children, they are listed."""
    parents = np.array([1, 1, 1, 2, 4, 5, 6, 6])  # nodes 0 and 3 of the level above have no children
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "RUN_NODES", 3)
        first, second, third = layout.runs(parents)
    assert (first.nodes, first.parents) == (slice(0, 3), slice(1, 2))
    assert (second.nodes, second.parents.tolist()) == (slice(3, 6), [2, 4, 5])
    assert (third.nodes, third.parents) == (slice(6, 8), slice(6, 7))
    [whole] = layout.runs(parents[3:6])
    assert whole.parents.tolist() == [2, 4, 5] and whole.starts.tolist() == [0, 1, 2] and whole.sizes.tolist() == [1, 1, 1]
    [neighbours] = layout.runs(np.array([2, 2, 3, 4]))
    assert neighbours.parents == slice(2, 5)


def unfolded(tree):
    """For each level, each stored count as often as it is said to occur, sorted."""
    c = tree.repeated
    levels = [slice(start, start + length) for start, length in zip(c.starts, c.lengths, strict=True)]
    assert c.lengths.sum() == len(c.counts) == len(c.times)
    return [np.sort(c.counts[level].repeat(c.times[level].astype(int))).tolist() for level in levels]


@given(trees())
def test_repeated_counts_unfold_to_the_counts(tree):
    """Each stored count, as often as it occurs, gives back the level."""
    assert unfolded(tree) == [np.sort(n).tolist() for n in tree.counts]


@pytest.mark.parametrize("values", [[0, 1, 5], [0, 7, 10**12], [0.5, 2.0, 1e12]], ids=["small", "large", "fractions"])
def test_repeated_counts_of_large_levels_are_stored_once(values):
    """Three thousand nodes with three different counts are stored as three."""
    leaves = np.array(values * 1000)
    tree = Hierarchy.from_counts([[leaves.sum()], leaves], [None, [0] * 3000])
    assert tree.repeated.counts.tolist() == [leaves.sum(), *values] and tree.repeated.times.tolist() == [1, 1000, 1000, 1000]
    assert unfolded(tree) == [np.sort(n).tolist() for n in tree.counts]


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_only_small_levels_are_left_as_they_are(dtype):
    """Below 512 nodes each count is stored with its node, from there on once, and always as a float."""
    for size, expected in ((511, ([3.0] * 511, [1.0] * 511)), (512, ([3.0], [512.0]))):
        found = layout.distinct(np.full(size, 3, dtype=dtype))
        assert tuple(x.tolist() for x in found) == expected and {x.dtype for x in found} == {np.dtype(float)}


@pytest.mark.parametrize("way, largest", [("bincount", 2047), ("unique", 2048)])
def test_counts_below_four_a_node_are_counted_and_others_sorted(way, largest, monkeypatch):
    """A table of all numbers up to the largest is faster than sorting, but may not take more memory than four a node."""
    other = "unique" if way == "bincount" else "bincount"
    monkeypatch.setattr(np, other, None)
    values, times = layout.distinct(np.array([0, largest] * 256))
    assert values.tolist() == [0.0, largest] and times.tolist() == [256.0, 256.0]


def numbers_of_levels():
    """Up to three levels of a few numbers each, zeros among them."""
    return st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]), max_size=5), min_size=1, max_size=3)


def digest_of(levels):
    return layout.digest((np.array(level), np.ones(len(level))) for level in levels)


@given(numbers_of_levels(), numbers_of_levels())
def test_digests_agree_where_the_numbers_do(one, other):
    """Two lists of levels have the same digest if each level has the same numbers as often, but for zeros, and only then."""
    without_zeros = [[sorted(x for x in level if x) for level in levels] for levels in (one, other)]
    assert (digest_of(one) == digest_of(other)) == (without_zeros[0] == without_zeros[1])


@given(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_a_digest_is_that_of_numbers_however_they_are_listed(level, random):
    """In any order, with zeros added, one by one or as values with how often each occurs, or both."""
    shuffled = [*level, 0.0]
    random.shuffle(shuffled)
    values, times = np.unique(level, return_counts=True)
    folded = np.append(values, values), np.append(times - 1, np.ones(len(values)))  # some here, one more there
    assert digest_of([level]) == digest_of([shuffled]) == layout.digest([(values, times)]) == layout.digest([folded])


def test_a_digest_is_the_same_on_every_machine():
    """SHA-256 of each level's distinct numbers and how often each occurs, as doubles with the lowest byte first."""
    content = struct.pack("<QddddQ", 2, 2.0, 1.0, 3.0, 2.0, 0)  # two numbers: 2 once, 3 twice; then a level of zeros
    assert digest_of([[3.0, 0.0, 2.0, 3.0], [0.0]]) == hashlib.sha256(content).hexdigest()

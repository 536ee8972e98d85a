"""Trees against a slow oracle of dictionaries."""

import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles import by_path
from support.refusals import refusal
from support.strategies import frames, seeds, trees

from helpers import Hierarchy, expected_error, uniform
from helpers.hierarchy import check_hierarchy, check_like

from_counts, from_frame = Hierarchy.from_counts, Hierarchy.from_frame
KEYS = ["a", "b", "c"]
TREE = from_counts([[5], [2, 3]], [None, [0, 0]])
FRAME = pd.DataFrame({"tract": ["a", "a"], "block": [1, 2], "population": [3, 0]})


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
    tree, oracle = from_frame(frame, levels), by_path(frame, levels)
    for level, nodes in enumerate(oracle):
        paths = sorted(nodes)
        assert tree.counts[level].tolist() == [nodes[path] for path in paths]
        assert tree.labels[level].tolist() == [path[-1] for path in paths]
        if level:
            above = sorted(oracle[level - 1])
            assert tree.parents[level].tolist() == [above.index(path[:-1]) for path in paths]


@given(frames(), st.permutations(KEYS), st.integers(1, 3))
def test_from_frame_makes_what_the_type_itself_would_accept(frame, order, depth):
    """It checks nothing twice, so this checks that there was nothing left: levels, order, sums and labels are all right."""
    tree = Hierarchy.from_frame(frame, levels=order[:depth])
    again = Hierarchy(tree.levels, tree.counts, tree.parents, tree.labels)
    assert all(a is b for a, b in zip((*tree.counts, *tree.links), (*again.counts, *again.links), strict=True))
    assert [names.tolist() for names in tree.labels] == [names.tolist() for names in again.labels]


@given(frames(), st.permutations(KEYS), st.integers(1, 3))
def test_rows_in_order_need_no_sorting(frame, order, depth):
    """Rows that come in the order of their paths give the same tree, without a sort."""
    tree, ordered = from_frame(frame, order[:depth]), frame.sort_values(order[:depth])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "unique", None)
        again = from_frame(ordered, order[:depth])
    for one, other in zip(tree.counts + tree.links + tree.labels, again.counts + again.links + again.labels, strict=True):
        assert one.tolist() == other.tolist() and one.dtype == other.dtype


def test_equal_codes_under_different_parents_stay_apart():
    """Tract 100 of county 1 and tract 100 of county 3 are two nodes."""
    frame = pd.DataFrame({"county": ["1", "3"], "tract": ["100", "100"], "population": [7, 9]})
    assert from_frame(frame, ["county", "tract"]).counts[1].tolist() == [7, 9]


def test_from_frame_takes_the_count_column_by_name():
    """Any column can hold the counts; the frame itself is not changed."""
    frame = pd.DataFrame({"b": [2, 1], "people": [3, 4], "population": [0, 0]}, index=[5, 5])
    before = frame.copy()
    tree = from_frame(frame, ["b"], count="people")
    assert tree.counts[0].tolist() == [4, 3] and tree.parents == (None,) and tree.levels == ("b",)
    pd.testing.assert_frame_equal(frame, before)


@given(trees(), seeds())
def test_from_counts_sorts_any_order_into_the_same_tree(tree, seed):
    """Shuffling the nodes of every level changes the order, not the tree; siblings come out adjacent, sums hold."""
    again = from_counts(*shuffled(tree, np.random.default_rng(seed)))
    for level in range(len(tree.levels)):
        assert sorted(ancestries(again, level)) == sorted(ancestries(tree, level))
        if level:
            assert (np.diff(again.parents[level]) >= 0).all()
            sums = [int(again.counts[level][again.parents[level] == i].sum()) for i in range(again.sizes[level - 1])]
            assert sums == again.counts[level - 1].tolist()


def test_from_counts_keeps_the_order_of_siblings():
    """Nodes of one parent stay in the order given, at every level."""
    # The middle level is out of order, so the lowest one has to follow.
    tree = from_counts([[6, 4], [4, 1, 5], [2, 3, 1, 1, 3]], [None, [1, 0, 0], [2, 0, 0, 1, 2]])
    assert [c.tolist() for c in tree.counts] == [[6, 4], [1, 5, 4], [1, 2, 3, 3, 1]]
    assert [p.tolist() for p in tree.parents[1:]] == [[0, 0, 1], [0, 1, 1, 2, 2]]
    leaves = np.arange(1000)  # long enough that an unstable sort would show
    large = from_counts([[leaves[1::2].sum(), leaves[::2].sum()], leaves], [None, 1 - leaves % 2])
    assert large.counts[1].tolist() == [*range(1, 1000, 2), *range(0, 1000, 2)]


def test_empty_nodes_may_have_no_children():
    """A count of zero needs nobody below it; any other count does."""
    tree = from_counts([[0, 5, 0], [2, 3]], [None, [1, 1]])
    assert tree.sizes.tolist() == [3, 2]
    assert "the children of node 0 of level 1" in refusal(from_counts, [[1, 5, 0], [2, 3]], [None, [1, 1]], by=ValueError)


@pytest.mark.parametrize("dtype, kind", [("int16", "i"), ("uint8", "i"), ("int64", "i"), ("float32", "f"), ("float64", "f")])
def test_whole_counts_stay_whole(dtype, kind):
    """Whole numbers are stored as whole numbers and fractions as fractions, from arrays and from frames."""
    leaves = np.array([200, 100], dtype=dtype)
    frame = pd.DataFrame({"a": [1, 1], "b": [1, 2], "population": leaves})
    for tree in (from_frame(frame, ["a", "b"]), from_counts([[300], leaves], [None, [0, 0]])):
        assert [c.tolist() for c in tree.counts] == [[300], [200, 100]]
        assert tree.counts[1].dtype.kind == kind


def test_fractions_only_need_to_add_up_to_rounding():
    """0.1 + 0.2 may stand below 0.3, but not below 0.3000001; whole numbers add up to the last person, however many."""
    assert from_counts([[0.3], [0.1, 0.2]], [None, [0, 0]]).sizes.tolist() == [1, 2]
    for counts in ([[10**10], [10**10 - 1, 2]], [[0.3000001], [0.1, 0.2]], [[1e-9], [1e-9, 1e-9]]):  # rounding is relative
        assert "must sum to its parents" in refusal(from_counts, counts, [None, [0, 0]], by=ValueError)


def test_sums_that_are_wrong_are_not_shown():
    """The counts of a tree may be people's: the sentence says where they do not add up, and no number of theirs."""
    words = refusal(from_counts, [[70_707, 8], [30_303, 40_405, 8]], [None, [0, 0, 1]], by=ValueError)
    assert words == "counts[1] must sum to its parents, but the children of node 0 of level 1 do not add up to its count"


def test_repr_names_sizes_and_total():
    """A tree introduces itself in one line; its levels are called level 1, level 2, … unless named."""
    tree = from_counts([[1234, 0], [1000, 234]], [None, [0, 0]], levels=["state", "block"])
    assert repr(tree) == "Hierarchy(2 state, 2 block; total 1,234)"
    assert repr(from_counts([[1000, 2]], [None])) == "Hierarchy(2 level 1; total 1,002)"
    assert tree.levels == ("state", "block") and TREE.levels == ("level 1", "level 2")


def test_a_tree_keeps_its_own_counts_and_parents():
    """What is given is copied, so that writing into the caller's arrays afterwards changes no tree."""
    counts, parents = np.array([1, 2, 3]), np.array([0, 0, 1])
    tree = from_counts([[3, 3], counts], [None, parents])
    counts[0], parents[:] = 9, 0
    assert tree.counts[1].tolist() == [1, 2, 3] and tree.parents[1].tolist() == [0, 0, 1]


def arrays_of(tree):
    """Every array that can be reached from a tree, by name, what it keeps for speed included."""
    named = {"counts": tree.counts, "parents": tree.links, "floats": tree.floats, "labels": tree.labels or ()}
    found = {f"{name}[{i}]": array for name, arrays in named.items() for i, array in enumerate(arrays)}
    found |= {f"repeated.{name}": array for name, array in tree.repeated._asdict().items()} | {"sizes": tree.sizes}
    return found | {f"run.{name}": getattr(run, name) for runs in tree.runs for run in runs for name in ("starts", "sizes")}


def made_trees():
    """The same tree on every way into the type."""
    tree = from_frame(FRAME, ["tract", "block"])
    given = tree.levels, [n.copy() for n in tree.counts], [None, np.array([0, 0])], [x.copy() for x in tree.labels]
    return {
        "from_frame": tree,
        "from_counts": from_counts(given[1], given[2], given[0]),
        "the type itself": Hierarchy(*given),
        "a pickled copy": pickle.loads(pickle.dumps(tree)),
        "a deep copy": copy.deepcopy(tree),
        "counts in fractions": from_counts([[0.5], [0.5]], [None, [0]]),
    }


@pytest.mark.parametrize("way", made_trees())
def test_nothing_in_a_tree_can_be_changed(way):
    """Not rebound, written to or made writable again: functions that remember something about a tree stay right."""
    tree = made_trees()[way]
    with pytest.raises(AttributeError):
        tree.counts = ()
    for name, array in arrays_of(tree).items():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
        assert not array.flags.writeable, name


def test_a_view_that_somebody_else_can_write_to_is_copied():
    """Read-only is not closed: another view of the same memory, or its owner opened again, changes no tree."""
    mine = np.array([2, 3])
    other = mine.view()
    mine.setflags(write=False)
    tree = Hierarchy.from_counts([[5], mine.view()], [None, [0, 0]])
    other[0] = 999
    assert tree.counts[1].tolist() == [2, 3] and all(isinstance(n.base, bytes) for n in (*tree.counts, *tree.links))


def test_a_copy_of_a_kind_of_tree_is_of_that_kind():
    """Copying keeps the type."""
    kind = type("Kind", (Hierarchy,), {})
    assert type(copy.deepcopy(kind.from_counts([[5]], [None]))) is kind


def test_a_change_that_would_leave_two_functions_disagreeing_is_refused():
    """What one function had kept about the counts used to be old for it, and new for the other: 20 and 24."""
    split = uniform(TREE, 1)
    with pytest.raises(ValueError, match="read-only"):
        TREE.counts[1][0] = 0
    assert split.mse == pytest.approx(expected_error(TREE, split).mse.sum(), rel=1e-12)


def test_the_type_itself_checks_and_orders():
    """Whoever calls the type by its name gets the same checks as with from_counts; labels move with their nodes."""
    tree = Hierarchy(("top", "leaf"), ([5, 1], [1, 2, 3]), (None, [1, 0, 0]), (["a", "b"], ["x", "y", "z"]))
    assert [n.tolist() for n in tree.counts] == [[5, 1], [2, 3, 1]] and tree.parents[1].tolist() == [0, 0, 1]
    assert [x.tolist() for x in tree.labels] == [["a", "b"], ["y", "z", "x"]]
    assert [x.tolist() for x in tree.links] == [[0, 0, 1]]
    refused, arrays = partial(refusal, Hierarchy, by=ValueError), (([3], [1, 2]), (None, [0, 0]))
    assert "counts[1] must sum to its parents" in refused(("top", "leaf"), ([5], [1, 2]), (None, [0, 0]))
    assert "levels must name each of the 2 levels in counts, got 1 names" in refused(("top",), *arrays)
    for labels in ((["a"], ["x"]), (["a"],), (["a"], ["x", "y", "z"])):
        assert "labels must have one entry for each node, as counts has" in refused(("top", "leaf"), *arrays, labels)


def test_floats_are_the_counts_as_floats():
    """Whole counts become floats of the same value; counts that are floats already are not copied."""
    assert [x.tolist() for x in TREE.floats] == [[5.0], [2.0, 3.0]] and {x.dtype for x in TREE.floats} == {np.dtype(float)}
    fractions = from_counts([[0.5], [0.5]], [None, [0]])
    assert all(x is n for x, n in zip(fractions.floats, fractions.counts, strict=True))


def test_values_that_match_a_tree_become_floats():
    """One array a level passes as floats, in a list, a tuple or a table; what is a float array already is not copied."""
    mine = np.array([2.5, 3.0])
    found = check_like("noisy", ([5], mine), TREE)
    assert found[0].tolist() == [5.0] and found[0].dtype == float and found[1] is mine
    chain = from_counts([[5], [5]], [None, [0]])
    assert [x.tolist() for x in check_like("noisy", np.array([[5], [6]]), chain)] == [[5.0], [6.0]]


CHAIN = [[5], [5]]
COLUMNS = "must name one column each of the frame (tract, block, population), got"
SENTENCES: dict[str, tuple] = {
    "no tree": (
        check_hierarchy, [1, 2], "hierarchy must be a Hierarchy (see Hierarchy.from_frame and load_state), got list",
    ),
    "text for arrays": (check_like, "noisy", "57", TREE, "noisy must be a list with one array a level, got '57'"),
    "a level too few": (check_like, "noisy", [[5]], TREE, "noisy must have one array for each of the 2 levels, got 1"),
    "a node too many": (
        check_like, "noisy", [[5], [2, 3, 4]], TREE,
        "noisy[1] must have one entry for each of the 2 nodes of level 2, got shape (3,)",
    ),
    "text for levels": (from_frame, FRAME, "tract", "levels must be a list of names, top first, got 'tract'"),
    "no levels": (from_frame, FRAME, [], "levels must name at least one level, got none"),
    "numbers for names": (from_frame, FRAME, [1, "a"], "levels must be names, as text, got [1, 'a']"),
    "a name twice": (from_frame, FRAME, ["tract"] * 2, "levels must be distinct, got ['tract', 'tract']"),
    "no frame": (from_frame, [1], ["a"], "frame must be a pandas DataFrame with one row a leaf, got list"),
    "no column of counts": (from_frame, FRAME, ["tract"], 3, "count must be the name of a column, as text, got 3"),
    "no such level": (from_frame, FRAME, ["county"], f"levels {COLUMNS} 'county'"),
    "no such count": (from_frame, FRAME, ["tract"], "people", f"count {COLUMNS} 'people'"),
    "counts for keys": (
        from_frame, FRAME, ["tract", "population"],
        "count must be a column apart from the levels, got 'population', which is one of them",
    ),
    "no rows": (from_frame, FRAME[:0], ["tract"], "frame must have at least one row, got an empty table"),
    "a count below zero": (
        from_frame, FRAME.assign(population=[3, -1]), ["tract"],
        "frame['population'] must be zero or more, got -1 at index 1",
    ),
    "a key missing": (
        from_frame, FRAME.assign(tract=["a", None]), ["tract"],
        "frame['tract'] must name a node in every row, got a missing value in row 1",
    ),
    "text for counts": (from_counts, "5", [None], "counts must be a list with one array a level, got '5'"),
    "a number for parents": (from_counts, [[5]], 3, "parents must be a list with one array a level, got 3"),
    "no counts": (from_counts, [], [], "counts must hold at least one level, got none"),
    "parents too few": (from_counts, CHAIN, [None], "parents must have as many levels as counts (2), got 1"),
    "parents of the top": (
        from_counts, [[5]], [[0]], "parents[0] must be None, because the top level has no parents, got [0]",
    ),
    "a level without nodes": (
        from_counts, [[5], []], [None, []], "counts[1] must be a flat array with at least one node, got shape (0,)",
    ),
    "no parents below the top": (
        from_counts, CHAIN, [None, None], "parents[1] must hold a parent index for each node, got None",
    ),
    "half a parent": (from_counts, CHAIN, [None, [0.5]], "parents[1] must be whole numbers, got float64"),
    "a parent too many": (
        from_counts, CHAIN, [None, [0, 0]], "parents[1] must have one entry for each of the 1 nodes, got 2",
    ),
    "a parent that is not there": (
        from_counts, [[5], [2, 3]], [None, [0, 1]],
        "parents[1] must be from 0 to 0, an index of a node above, got 1 at index 1",
    ),
    "names too few": (
        from_counts, CHAIN, [None, [0]], ["a"], "levels must name each of the 2 levels in counts, got 1 names",
    ),
    "a sum too large": (
        from_counts, [[5, 2], [5, 2], [5, 3]], [None, [0, 1], [0, 1]],
        "counts[2] must sum to its parents, but the children of node 1 of level 2 do not add up to its count",
    ),
}  # fmt: skip


@pytest.mark.parametrize("call, sentence", [(call, sentence) for *call, sentence in SENTENCES.values()], ids=SENTENCES)
def test_refusals_are_whole_sentences(call, sentence):
    """The message says what is wrong with which argument, word for word."""
    assert refusal(*call) == sentence


def test_sums_beyond_whole_numbers_are_floats():
    """Counts whose sum does not fit into an int64 do not wrap around."""
    frame = pd.DataFrame({"a": [1, 1], "b": [1, 2], "population": [2**62, 2**62]})
    tree = from_frame(frame, ["a", "b"])
    assert tree.counts[0].tolist() == [2.0**63] and tree.counts[1].dtype == np.float64
    below = from_frame(frame.assign(population=[2**62 + 1, 2**61]), ["a", "b"])
    assert below.counts[0].tolist() == [2**62 + 2**61 + 1] and below.counts[0].dtype == np.int64
    near = pd.DataFrame({"a": [1] * 4, "population": [2**63 - 1024, 500, 500, 500]})  # as floats they add up to 2^63 - 1024
    assert (from_frame(near, ["a"]).counts[0] > 2.0**62).all()
    assert from_counts([[2.0**63], [2**62, 2**62]], [None, [0, 0]]).counts[1].tolist() == [2.0**62] * 2


@given(trees(), seeds(), st.integers(0, 2))
def test_the_digest_is_that_of_the_counts_however_they_are_listed(tree, seed, empty):
    """In any order, under any names and kinds of numbers, and with empty leaves: the digest does not change."""
    counts, parents = shuffled(tree, np.random.default_rng(seed))
    counts[-1] = np.append(counts[-1], [0.0] * empty)  # whole numbers turn into floats
    parents[-1] = None if len(counts) == 1 else np.append(parents[-1], np.zeros(empty, dtype=int))
    again = from_counts(counts, parents, [f"name {i}" for i in range(len(counts))])
    assert again.digest == tree.digest == from_counts([tree.counts[-1]], [None]).digest


@given(trees(), trees())
def test_other_counts_have_another_digest(tree, other):
    """Two trees have the same digest only if their leaves have the same counts, but for zeros."""
    people = [sorted(n for n in one.counts[-1].tolist() if n) for one in (tree, other)]
    assert (tree.digest == other.digest) == (people[0] == people[1])


def test_the_digest_of_a_large_level_is_that_of_a_small_one():
    """Whether counts are kept one by one or once with how often they occur, and however they are grouped, is not seen."""
    leaves = np.repeat([0, 3, 1000], 400)
    large = from_counts([[leaves.sum()], leaves], [None, [0] * 1200])
    halves = [from_counts([[n.sum()], n], [None, [0] * len(n)]) for n in (np.repeat([3, 1000], 200), leaves[400:])]
    assert large.digest == halves[1].digest != halves[0].digest
    grouped = from_counts([[400 * 3, 400 * 1000], leaves[400:]], [None, np.repeat([0, 1], 400)])
    assert grouped.digest == large.digest


def branches(tree):
    """The number of nodes of each level, and how many children its nodes have, childless ones left out."""
    families = [sorted(np.unique(link, return_counts=True)[1].tolist()) for link in tree.links]
    return tree.sizes.tolist(), families


@given(trees(), trees())
def test_the_digest_of_the_shape_is_that_of_the_branches(tree, other):
    """It is the same for trees with as many nodes and as large families at each level, and for no others."""
    assert (tree.shape_digest == other.shape_digest) == (branches(tree) == branches(other))


@given(trees(), seeds())
def test_the_digest_of_the_shape_knows_no_counts(tree, seed):
    """The same nodes without people, in another order and under other names, have the same digest."""
    counts, parents = shuffled(tree, np.random.default_rng(seed))
    empty = from_counts([0 * n for n in counts], parents, [f"name {i}" for i in range(len(counts))])
    assert empty.shape_digest == tree.shape_digest


@given(trees())
def test_the_digest_of_a_shape_is_not_that_of_counts(tree):
    """Not even if a single leaf has as many people as there are leaves."""
    n = int(tree.sizes[-1])
    lone = from_counts([[n] + [0] * (n - 1)], [None])
    assert tree.shape_digest != tree.digest and lone.shape_digest != lone.digest


def test_the_digest_of_the_shape_has_a_top():
    """How many nodes stand at the top is part of it: with two, the second without children, the shape is another."""
    one, two = from_counts([[5], [2, 3]], [None, [0, 0]]), from_counts([[5, 0], [2, 3]], [None, [0, 0]])
    assert one.shape_digest != two.shape_digest

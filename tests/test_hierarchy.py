"""Trees against a slow oracle of dictionaries."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import frames, seeds, trees

from helpers import Hierarchy, census, load_nation, load_state, prior
from helpers.hierarchy import check_hierarchy, check_like

KEYS = ["a", "b", "c"]
TREE = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
FRAME = pd.DataFrame({"tract": ["a", "a"], "block": [1, 2], "population": [3, 0]})


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
    """0.1 + 0.2 may stand below 0.3, but not below 0.3000001, and no other number below a tiny one."""
    assert Hierarchy.from_counts([[0.3], [0.1, 0.2]], [None, [0, 0]]).sizes.tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"0\.3000001"):
        Hierarchy.from_counts([[0.3000001], [0.1, 0.2]], [None, [0, 0]])
    with pytest.raises(ValueError, match="has 1e-09, but its children add up to 2e-09"):  # rounding is relative
        Hierarchy.from_counts([[1e-9], [2e-9]], [None, [0]])


def test_levels_have_default_names_and_given_ones():
    """Levels are called level 1, level 2, … unless named."""
    arrays = [[5], [2, 3]], [None, [0, 0]]
    assert Hierarchy.from_counts(*arrays).levels == ("level 1", "level 2")
    assert Hierarchy.from_counts(*arrays, levels=["state", "block"]).levels == ("state", "block")


def test_repr_names_sizes_and_total():
    """A tree introduces itself in one line."""
    tree = Hierarchy.from_counts([[1234, 0], [1000, 234]], [None, [0, 0]], levels=["state", "block"])
    assert repr(tree) == "Hierarchy(2 state, 2 block; total 1,234)"
    assert repr(Hierarchy.from_counts([[1000, 2]], [None])) == "Hierarchy(2 level 1; total 1,002)"


def test_a_tree_cannot_be_rebound():
    """Its fields are fixed once built."""
    tree = Hierarchy.from_counts([[1]], [None])
    with pytest.raises(AttributeError):
        tree.counts = ()


def test_a_tree_keeps_its_own_counts():
    """Counts given are copied, so that writing into the caller's array afterwards changes no tree."""
    mine = np.array([2, 3])
    tree = Hierarchy.from_counts([[5], mine], [None, [0, 0]])
    mine[0] = 9
    assert tree.counts[1].tolist() == [2, 3]


def test_floats_are_the_counts_as_floats():
    """Whole counts become floats of the same value; counts that are floats already are not copied."""
    assert [x.tolist() for x in TREE.floats] == [[5.0], [2.0, 3.0]] and {x.dtype for x in TREE.floats} == {np.dtype(float)}
    fractions = Hierarchy.from_counts([[0.5], [0.5]], [None, [0]])
    assert all(x is n for x, n in zip(fractions.floats, fractions.counts, strict=True))


def test_values_that_match_a_tree_become_floats():
    """One array a level passes as floats, in a list, a tuple or a table; what is a float array already is not copied."""
    mine = np.array([2.5, 3.0])
    found = check_like("noisy", ([5], mine), TREE)
    assert found[0].tolist() == [5.0] and found[0].dtype == float and found[1] is mine
    chain = Hierarchy.from_counts([[5], [5]], [None, [0]])
    assert [x.tolist() for x in check_like("noisy", np.array([[5], [6]]), chain)] == [[5.0], [6.0]]


def spread(tree, levels):
    """The counts of each level of Delaware's prior: the groups of 2010, each with as many blocks as they have on average."""
    upper = [level for level in levels if level != "block"]
    if upper == levels:
        return [list(nodes.values()) for nodes in map(in_order, by_path(census.leaves_2010("DE", tree, levels), levels))]
    to_groups = [*(level for level in upper if level != "block group"), "block group"]
    *above, groups = map(in_order, by_path(census.leaves_2010("DE", tree, to_groups), to_groups))
    k = round(len(by_path(census.leaves("DE", tree, levels), levels)[-1]) / len(groups))
    nodes = [*above, groups][: len(upper)]
    return [*(list(level.values()) for level in nodes), [people / k for people in groups.values() for _ in range(k)]]


def in_order(nodes):
    return dict(sorted(nodes.items()))


CHAINS = [
    ["state"], ["block"], ["county", "block"], ["tract", "block group"], ["block group", "block"],
    ["county", "block group", "block"],
]  # fmt: skip


@pytest.mark.parametrize("levels", CHAINS, ids=" > ".join)
def test_the_prior_equals_the_row_by_row_oracle(levels):
    """Down to the group the counts are those of 2010, and each group is spread evenly over k blocks."""
    found = prior("DE", "published", levels)
    assert found.levels == tuple(levels)
    assert [n.tolist() for n in found.counts] == spread("published", levels)
    assert found.parents[0] is None
    for level in range(1, len(levels)):  # each child below the parent that it adds up to, in order
        sums = np.bincount(found.parents[level], found.counts[level])
        assert (np.diff(found.parents[level]) >= 0).all() and np.allclose(sums, found.counts[level - 1], rtol=1e-12)


def test_states_and_priors_are_published_trees_of_three_levels_unless_said_otherwise():
    """By default the paper's tree of the state, its tracts and its blocks with people, out of the package."""
    three = ["state", "tract", "block"]
    for load, sizes in ((load_state, [1, 257, 15_317]), (prior, [1, 214, 15_390])):
        for found in (load("DE"), load("delaware", "published", three, "embedded")):
            assert found.levels == tuple(three) and found.sizes.tolist() == sizes
    assert [n.tolist() for n in prior("DE").counts] == spread("published", three)


def test_states_and_priors_come_from_the_source_that_is_named(monkeypatch):
    """Elsewhere than in the package the blocks are those of the source: of 2020 for the state, of 2010 for its prior."""
    asked = []

    def blocks(state, source, year):
        asked.append((state, source, year))
        return pd.DataFrame({"geoid": ["500010101001000", "500010101002000"], "population": [year, 0]})

    monkeypatch.setattr(census.official, "blocks", blocks)
    now = load_state("VT", "geography", ["state", "block"], "official")
    earlier = prior("VT", "populated", ["state", "block"], "ppmf")
    assert asked == [("VT", "official", 2020), ("VT", "ppmf", 2010)]
    assert [n.tolist() for n in now.counts] == [[2020], [2020, 0]] and now.levels == ("state", "block")
    assert [n.tolist() for n in earlier.counts] == [[2010], [2010]] and earlier.levels == ("state", "block")


def test_the_nation_is_a_tree_with_the_codes_of_the_bureau():
    """Counts, parents and codes are put where they belong, for the chain that was asked for."""
    found = load_nation(["country", "state", "county"])
    assert repr(found) == "Hierarchy(1 country, 51 state, 3,143 county; total 331,449,281)"
    assert found.parents[0] is None and found.labels[0].tolist() == ["US"] and found.labels[1][-1] == "56"
    wyoming = found.parents[2] == 50
    assert found.labels[2][wyoming].tolist() == [f"56{county:03}" for county in range(1, 46, 2)]
    assert found.counts[2][wyoming].sum() == found.counts[1][50] == 576_851
    assert all(isinstance(field, tuple) for field in (found.levels, found.counts, found.parents, found.labels))


def test_the_nation_has_no_codes_if_it_has_none_for_its_blocks(monkeypatch):
    """Where the file has no codes the tree has no labels."""
    monkeypatch.setattr(census, "nation", lambda levels: ([np.array([5]), np.array([2, 3])], [None, np.array([0, 0])], None))
    assert load_nation(["country", "block"]).labels is None


SENTENCES = {
    "no tree": (
        lambda: check_hierarchy([1, 2]),
        "hierarchy must be a Hierarchy (see Hierarchy.from_frame and load_state), got list",
    ),
    "text for arrays": (lambda: check_like("noisy", "57", TREE), "noisy must be a list with one array a level, got '57'"),
    "a level too few": (
        lambda: check_like("noisy", [[5]], TREE), "noisy must have one array for each of the 2 levels, got 1",
    ),
    "a node too many": (
        lambda: check_like("noisy", [[5], [2, 3, 4]], TREE),
        "noisy[1] must have one entry for each of the 2 nodes of level 2, got shape (3,)",
    ),
    "text for levels": (
        lambda: Hierarchy.from_frame(FRAME, "tract"), "levels must be a list of names, top first, got 'tract'",
    ),
    "no levels": (lambda: Hierarchy.from_frame(FRAME, []), "levels must name at least one level, got none"),
    "numbers for names": (lambda: Hierarchy.from_frame(FRAME, [1, "a"]), "levels must be names, as text, got [1, 'a']"),
    "a name twice": (
        lambda: Hierarchy.from_frame(FRAME, ["tract", "tract"]), "levels must be distinct, got ['tract', 'tract']",
    ),
    "no frame": (
        lambda: Hierarchy.from_frame([1], ["a"]), "frame must be a pandas DataFrame with one row a leaf, got list",
    ),
    "no column of counts": (
        lambda: Hierarchy.from_frame(FRAME, ["tract"], count=3), "count must be the name of a column, as text, got 3",
    ),
    "no such level": (
        lambda: Hierarchy.from_frame(FRAME, ["county"]),
        "levels must name one column each of the frame (tract, block, population), got 'county'",
    ),
    "no such count": (
        lambda: Hierarchy.from_frame(FRAME, ["tract"], "people"),
        "count must name one column each of the frame (tract, block, population), got 'people'",
    ),
    "counts for keys": (
        lambda: Hierarchy.from_frame(FRAME, ["tract", "population"]),
        "count must be a column apart from the levels, got 'population', which is one of them",
    ),
    "no rows": (
        lambda: Hierarchy.from_frame(FRAME[:0], ["tract"]), "frame must have at least one row, got an empty table",
    ),
    "a count below zero": (
        lambda: Hierarchy.from_frame(FRAME.assign(population=[3, -1]), ["tract"]),
        "frame['population'] must be zero or more, got -1 at index 1",
    ),
    "a key missing": (
        lambda: Hierarchy.from_frame(FRAME.assign(tract=["a", None]), ["tract"]),
        "frame['tract'] must name a node in every row, got a missing value in row 1",
    ),
    "text for counts": (lambda: Hierarchy.from_counts("5", [None]), "counts must be a list with one array a level, got '5'"),
    "a number for parents": (
        lambda: Hierarchy.from_counts([[5]], 3), "parents must be a list with one array a level, got 3",
    ),
    "no counts": (lambda: Hierarchy.from_counts([], []), "counts must hold at least one level, got none"),
    "parents too few": (
        lambda: Hierarchy.from_counts([[5], [5]], [None]), "parents must have as many levels as counts (2), got 1",
    ),
    "parents of the top": (
        lambda: Hierarchy.from_counts([[5]], [[0]]),
        "parents[0] must be None, because the top level has no parents, got [0]",
    ),
    "a level without nodes": (
        lambda: Hierarchy.from_counts([[5], []], [None, []]),
        "counts[1] must be a flat array with at least one node, got shape (0,)",
    ),
    "no parents below the top": (
        lambda: Hierarchy.from_counts([[5], [5]], [None, None]),
        "parents[1] must hold a parent index for each node, got None",
    ),
    "half a parent": (
        lambda: Hierarchy.from_counts([[5], [5]], [None, [0.5]]), "parents[1] must be whole numbers, got float64",
    ),
    "a parent too many": (
        lambda: Hierarchy.from_counts([[5], [5]], [None, [0, 0]]),
        "parents[1] must have one entry for each of the 1 nodes, got 2",
    ),
    "a parent that is not there": (
        lambda: Hierarchy.from_counts([[5], [2, 3]], [None, [0, 1]]),
        "parents[1] must be from 0 to 0, an index of a node above, got 1 at index 1",
    ),
    "names too few": (
        lambda: Hierarchy.from_counts([[5], [5]], [None, [0]], levels=["a"]),
        "levels must name each of the 2 levels in counts, got 1 names",
    ),
    "a sum too large": (
        lambda: Hierarchy.from_counts([[5, 2], [5, 2], [5, 3]], [None, [0, 1], [0, 1]]),
        "counts[2] must sum to its parents: node 1 of level 2 has 2, but its children add up to 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("call, sentence", SENTENCES.values(), ids=SENTENCES)
def test_refusals_are_whole_sentences(call, sentence):
    """The message says what is wrong with which argument, word for word."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert str(caught.value) == sentence


def test_sums_beyond_whole_numbers_are_floats():
    """Counts whose sum does not fit into an int64 do not wrap around."""
    frame = pd.DataFrame({"a": [1, 1], "b": [1, 2], "population": [2**62, 2**62]})
    tree = Hierarchy.from_frame(frame, ["a", "b"])
    assert tree.counts[0].tolist() == [2.0**63] and tree.counts[1].dtype == np.float64
    below = Hierarchy.from_frame(frame.assign(population=[2**62 + 1, 2**61]), ["a", "b"])
    assert below.counts[0].tolist() == [2**62 + 2**61 + 1] and below.counts[0].dtype == np.int64
    assert Hierarchy.from_counts([[2.0**63], [2**62, 2**62]], [None, [0, 0]]).counts[1].tolist() == [2.0**62] * 2


def test_the_tree_keeps_parents_of_its_own():
    """Whoever changes the array that was given does not change the tree."""
    parents = np.array([0, 0, 1])
    tree = Hierarchy.from_counts([[3, 3], [1, 2, 3]], [None, parents])
    parents[:] = 0
    assert tree.parents[1].tolist() == [0, 0, 1]

"""States, priors and the nation as trees: against an oracle that goes row by row, from the source that is named."""

import numpy as np
import pandas as pd
import pytest
from support.oracles import by_path

from helpers import census, load_nation, load_state, prior
from helpers.census import embedded
from helpers.census.bureau import official


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

    monkeypatch.setattr(official, "blocks", blocks)
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
    found = [np.array([5]), np.array([2, 3])], [None, np.array([0, 0])], None
    monkeypatch.setattr(embedded, "nation", lambda levels: found)
    assert load_nation(["country", "block"]).labels is None

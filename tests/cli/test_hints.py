"""Hints about a list of nodes: each is given where it should be, and nowhere else, and names no node and no number."""

import re

import pandas as pd
import pytest

from helpers import Hierarchy, load_example
from helpers.cli.hints import hints_of_counts, hints_of_nodes, is_total
from helpers.example import LEVELS

PUBLIC = "the list of nodes must come from a public source, such as a register of codes, with empty nodes in it."
PEOPLE = f"Each row is a person, so nodes without people are missing: {PUBLIC}"
SEVERAL = f"Some leaves have several rows, as in a table of people or of their visits: {PUBLIC}"
NO_ZERO = f"No leaf has a count of zero, as in a list that was made from the data: {PUBLIC}"
ONE_EACH = f"The rows count one person each, as in a table of people: {PUBLIC}"
SUMS = "In every family of three leaves or more, one is the sum of the others: leave out rows of totals."


def total(*levels):
    return f"A name of {' and of '.join(levels)} looks like a total: if it holds the sum of others, leave it out."


def tree_of(counts, parents=None, names=None):
    """A tree of regions and stores, with these counts of stores."""
    names = names or [f"store {i}" for i in range(len(counts))]
    frame = pd.DataFrame({"region": parents or ["N"] * len(counts), "store": names, "population": counts})
    return Hierarchy.from_frame(frame, ["region", "store"])


NODES = {  # (names of regions, names of stores, rows, is there a column of counts, the hints)
    "nothing": ("NNS", "aba", 3, True, []),
    "people": ("NNS", "aba", 3, False, [PEOPLE]),
    "more people than leaves": ("NNS", "aba", 9, False, [PEOPLE]),
    "a leaf twice": ("NNS", "aba", 4, True, [SEVERAL]),
    "a store of all": ("NNS", ["a", "All", "a"], 3, True, [total("store")]),
    "totals everywhere": (["N", "N", "Insgesamt"], ["a", "Total", "a"], 3, True, [total("region", "store")]),
    "all at once": ("NNS", ["a", "Summe", "a"], 5, True, [SEVERAL, total("store")]),
}


@pytest.mark.parametrize("parents, names, rows, counted, hints", NODES.values(), ids=NODES)
def test_names_and_rows_give_hints(parents, names, rows, counted, hints):
    """Rows of people, leaves with several rows and names of totals are pointed at, whatever the counts are."""
    for counts in ([3, 0, 4], [1, 1, 1], [0, 0, 0]):
        assert hints_of_nodes(tree_of(counts, [*parents], [*names]), rows, counted) == hints


COUNTS = {  # (counts of stores, their regions, rows, the hints)
    "an empty leaf": ([3, 0, 4], "NNS", 3, []),
    "nobody": ([0, 0, 0], "NNS", 3, []),
    "no empty leaf": ([3, 1, 4], "NNS", 3, [NO_ZERO]),
    "one each": ([1, 1, 1], "NNS", 3, [ONE_EACH]),
    "one each, leaves twice": ([2, 1, 4], "NNS", 7, [ONE_EACH]),
    "as many as rows by chance": ([3, 0, 0], "NNS", 3, []),
    "a total": ([1, 2, 3, 0], "NNNN", 4, [SUMS]),
    "a total first": ([9, 2, 3, 4, 0], "NNNNS", 5, [SUMS]),
    "totals everywhere": ([1, 2, 3, 4, 9, 5], "NNNSSS", 6, [NO_ZERO, SUMS]),
    "a total in one family of two": ([1, 2, 3, 4, 9, 6], "NNNSSS", 6, [NO_ZERO]),
    "two leaves": ([5, 5, 0], "NNN", 3, []),
    "twice the same": ([5, 5], "NN", 2, [NO_ZERO]),
    "small families beside": ([1, 2, 3, 4, 0], "NNNSS", 5, [SUMS]),
    "not the largest": ([1, 2, 4, 0], "NNNN", 4, []),
}


@pytest.mark.parametrize("counts, parents, rows, hints", COUNTS.values(), ids=COUNTS)
def test_counts_give_hints(counts, parents, rows, hints):
    """A list without an empty leaf, rows of one person each, and leaves that are sums of their siblings are pointed at."""
    assert hints_of_counts(tree_of(counts, [*parents]), rows) == hints


def test_trees_of_one_level_and_without_names_have_hints():
    """All leaves of a tree of one level are one family, and a tree without names has no name of a total."""
    assert hints_of_counts(Hierarchy.from_counts([[1, 2, 3]], [None]), 3) == [NO_ZERO, SUMS]
    assert hints_of_nodes(Hierarchy.from_counts([[1, 2, 3]], [None]), 3) == []


def test_a_tree_with_a_childless_node_has_hints():
    """A node without people may have no children, and is no family."""
    tree = Hierarchy.from_counts([[0, 6], [1, 2, 3]], [None, [1, 1, 1]])
    assert hints_of_counts(tree, 3) == [NO_ZERO, SUMS]


TOTALS = (
    "Total", "TOTAL", "total general", "Grand total", "North, total", "All", " alle ", "Summe", "Sum", "Ensemble", "Totaal",
    "Итого", "合計", "Yhteensä", "Razem",
)  # fmt: skip
NO_TOTALS = (
    "",
    "Summerland",
    "Dim sum",
    "Allgäu",
    "All Saints",
    "totally",
    "007",
    "Aggregate",
    "Gesamtschule Nord",
    7,
    None,
)


@pytest.mark.parametrize("names, expected", [(TOTALS, True), (NO_TOTALS, False)], ids=["totals", "others"])
def test_names_of_totals_are_known(names, expected):
    """In several languages and any case, and not within another word."""
    assert [name for name in names if is_total(name) != expected] == []


def test_hints_show_no_node_and_no_number():
    """What is said of a real table, spoilt in every way, has no digit and none of its names."""
    frame = load_example()
    frame["patients"] += 1
    tree = Hierarchy.from_frame(frame, LEVELS, "patients")
    hints = hints_of_nodes(tree, 10**6) + hints_of_nodes(tree, 1, False) + hints_of_counts(tree, len(frame))
    words = " ".join(hints)
    assert len(hints) == 3 and not re.search(r"\d", words)
    assert not any(str(name) in words for level in tree.labels for name in level)


@pytest.mark.parametrize("call", [hints_of_nodes, hints_of_counts])
def test_hints_are_about_trees(call):
    """Anything but a tree is refused by name."""
    with pytest.raises(TypeError, match="hierarchy must be a Hierarchy"):
        call([1, 2], 3)

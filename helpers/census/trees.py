"""Census counts as trees: a state in 2020, all blocks of the country, and a state in 2010 to choose a split on."""

from collections.abc import Sequence

import numpy as np

from .. import checks
from ..hierarchy import Hierarchy
from . import embedded
from .embedded import NATION_LEVELS, SOURCES_2010, check_levels


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
    chain = check_levels(levels)
    return Hierarchy.from_frame(embedded.leaves(state, tree, chain, source), chain)


def load_nation(levels: Sequence[str] = NATION_LEVELS) -> Hierarchy:
    """The 2020 census counts of the 50 states and D.C. as a tree with every block, without any network, in about a second.

    `levels` is any chain out of country, state, county, tract, block group, block. The tree has labels, the Bureau's codes,
    unless it goes down to the blocks, whose own codes are not in the file. It holds about 130 MB.

    >>> load_nation(["country", "state", "county"])
    Hierarchy(1 country, 51 state, 3,143 county; total 331,449,281)
    """
    chain = check_levels(levels, NATION_LEVELS)
    counts, parents, labels = embedded.nation(chain)
    return Hierarchy(tuple(chain), tuple(counts), tuple(parents), None if labels is None else tuple(labels))


def prior(
    state: str,
    tree: str = "published",
    levels: Sequence[str] = ("state", "tract", "block"),
    source: str = "embedded",
) -> Hierarchy:
    """A public stand-in for `load_state`: the state in 2010, for choosing a split before looking at 2020.

    With `source` "blocks" these are the true blocks of 2010, which ship for Delaware alone; with "official" or "ppmf" they
    are those of any state, downloaded on first use. What lies on a computer already never changes the default, "embedded".
    There, counts down to the block group are those of 2010, and each group is
    spread evenly over k blocks, where k is the average number of blocks a group has: blocks of the 2020 tree over groups of
    2010, rounded. (With the tree `geography` that number is public geography; with the other two it is the number of blocks
    with people.)

    >>> prior("wyoming")
    Hierarchy(1 state, 100 tract, 21,125 block; total 563,626)
    >>> prior("delaware"), prior("delaware", source="blocks")
    (Hierarchy(1 state, 214 tract, 15,390 block; total 897,934), Hierarchy(1 state, 214 tract, 15,933 block; total 897,934))
    """
    chain = check_levels(levels)
    upper = [level for level in chain if level != "block"]
    if checks.one_of("source", source, SOURCES_2010) != "embedded" or upper == chain:
        return Hierarchy.from_frame(embedded.leaves_2010(state, tree, chain, source), chain)
    to_groups = upper if "block group" in upper else [*upper, "block group"]
    groups = Hierarchy.from_frame(embedded.leaves_2010(state, tree, to_groups), to_groups)
    k = round(load_state(state, tree, chain).sizes[-1] / groups.sizes[-1])
    parent = groups.links[-1] if upper and "block group" not in upper else np.arange(groups.sizes[-1])
    return Hierarchy.from_counts(
        [*groups.counts[: len(upper)], np.repeat(groups.counts[-1] / k, k)],
        [*groups.parents[: len(upper)], np.repeat(parent, k) if upper else None],
        chain,
    )

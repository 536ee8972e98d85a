"""Compare the counts that ship with the package with those that the Census Bureau publishes.

embedded, official: people of a block (2020) or block group (2010); missing where only the other one lists it
"""

import numpy as np
import pandas as pd

from .. import embedded, states
from . import official


def verify(state: str) -> pd.DataFrame:
    """The rows of `compare` that differ: none if the package says what the Bureau says."""
    table = compare(state)
    return table[differ(table)]


def compare(state: str) -> pd.DataFrame:
    """Embedded and official counts side by side: columns `year`, `geoid`, `embedded` and `official`.

    The official files are downloaded on first use. The three states that ship alone are compared block by block in 2020, and
    by block group in 2010. The others ship without the codes of their blocks, and D.C. without empty ones: there, the
    blocks with people of each block group are compared in their order.
    """
    name = states.state_name(state)
    if name in states.EMBEDDED:
        blocks = _side_by_side(2020, embedded.blocks(name), official.blocks(name, "official", 2020))
        return pd.concat([blocks, _groups_2010(name)], ignore_index=True)
    return _side_by_side(2020, _from_nation(name), _numbered(official.blocks(name, "official", 2020)))


def differ(table: pd.DataFrame) -> pd.Series:
    """Which rows of `compare` say two things, or are there on one side alone."""
    return table.embedded.ne(table.official).fillna(True)


def _side_by_side(year: int, embedded: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    pair = [table.set_index("geoid").population.astype("Int64") for table in (embedded, found)]
    both = pd.concat(pair, axis=1, keys=["embedded", "official"], sort=True)
    return both.rename_axis("geoid").reset_index().assign(year=year)[["year", "geoid", "embedded", "official"]]


def _groups_2010(name: str) -> pd.DataFrame:
    shipped = embedded.leaves_2010(name, "populated", ["block group"]).rename(columns={"block group": "geoid"})
    blocks = official.blocks(name, "official", 2010)
    groups = blocks.groupby(blocks.geoid.str[:12]).population.sum()
    return _side_by_side(2010, shipped, groups[groups > 0].reset_index())


def _from_nation(name: str) -> pd.DataFrame:
    """The blocks with people of a state inside the nation."""
    fips = states.STATES[name][1]
    [groups] = embedded.nation(["block group"])[2] or []  # only blocks ship without their codes
    first, last = np.searchsorted(groups, [fips, f"{int(fips) + 1:02}"])
    if first == last:
        raise ValueError(f"state must be one whose counts ship with the package, got {name!r}")
    (_, people), links, _ = embedded.nation(["block group", "block"])
    [parents] = (link for link in links if link is not None)  # the top level has none
    own = slice(*np.searchsorted(parents, [first, last]))
    return _numbered(pd.DataFrame({"geoid": groups[parents[own]], "population": people[own]}))


def _numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Blocks with people, known by their group and their place among those in it, such as "500010001001 #002"."""
    table = table[table.population > 0]
    group = table.geoid.str[:12]
    place = table.groupby(group).cumcount() + 1
    return pd.DataFrame({"geoid": group + " #" + place.astype(str).str.zfill(3), "population": table.population})

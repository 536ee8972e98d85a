"""Compare the counts that ship with the package with those that the Census Bureau publishes: `python -m helpers verify`.

    embedded, official: people of a block (2020) or block group (2010); missing where only the other one lists it
"""

import argparse

import numpy as np
import pandas as pd

from . import census, official, states


def verify(state: str) -> pd.DataFrame:
    """The rows of `compare` that differ: none if the package says what the Bureau says."""
    table = compare(state)
    return table[_differ(table)]


def compare(state: str) -> pd.DataFrame:
    """Embedded and official counts side by side: columns `year`, `geoid`, `embedded` and `official`.

    The official files are downloaded on first use. The three states that ship alone are compared block by block in 2020, and
    by block group in 2010. The others ship without the codes of their blocks, and D.C. without empty ones: there, the
    blocks with people of each block group are compared in their order.
    """
    name = states.state_name(state)
    if name in states.EMBEDDED:
        blocks = _side_by_side(2020, census.blocks(name), official.blocks(name, "official", 2020))
        return pd.concat([blocks, _groups_2010(name)], ignore_index=True)
    embedded = _from_nation(name)
    return _side_by_side(2020, embedded, _numbered(official.blocks(name, "official", 2020)))


def run(args: argparse.Namespace) -> None:
    """The command `verify`: say for each of `args.states` how many counts were compared, and which differ."""
    wrong = [state for state in args.states if not _say(state)]
    if wrong:
        raise ValueError(f"the embedded counts of {', '.join(wrong)} differ from the official ones, as listed above")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes: names of states."""
    text = "names, postal or FIPS codes (default: %(default)s)"
    parser.add_argument("states", nargs="*", default=list(states.EMBEDDED), metavar="STATE", help=text)


def _say(state: str) -> bool:
    table = compare(state)
    differ = _differ(table)
    for year, rows in table.groupby("year"):
        count = int(differ[table.year == year].sum())
        print(f"{states.title(states.state_name(state))}, {year}: {len(rows):,} counts compared, {count:,} differ")
    if differ.any():
        print(table[differ].astype("string").fillna("-").to_string(index=False, max_rows=20))
    return not differ.any()


def _differ(table: pd.DataFrame) -> pd.Series:
    return table.embedded.ne(table.official).fillna(True)


def _side_by_side(year: int, embedded: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    pair = [table.set_index("geoid").population.astype("Int64") for table in (embedded, found)]
    both = pd.concat(pair, axis=1, keys=["embedded", "official"], sort=True)
    return both.rename_axis("geoid").reset_index().assign(year=year)[["year", "geoid", "embedded", "official"]]


def _groups_2010(name: str) -> pd.DataFrame:
    embedded = census.leaves_2010(name, "populated", ["block group"]).rename(columns={"block group": "geoid"})
    blocks = official.blocks(name, "official", 2010)
    groups = blocks.groupby(blocks.geoid.str[:12]).population.sum()
    return _side_by_side(2010, embedded, groups[groups > 0].reset_index())


def _from_nation(name: str) -> pd.DataFrame:
    """The blocks with people of a state inside the nation."""
    fips = states.STATES[name][1]
    groups = census.nation(["block group"])[2][0]
    first, last = np.searchsorted(groups, [fips, f"{int(fips) + 1:02}"])
    if first == last:
        raise ValueError(f"state must be one whose counts ship with the package, got {name!r}")
    (_, people), (_, parents), _ = census.nation(["block group", "block"])
    own = slice(*np.searchsorted(parents, [first, last]))
    return _numbered(pd.DataFrame({"geoid": groups[parents[own]], "population": people[own]}))


def _numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Blocks with people, known by their group and their place among those in it, such as "500010001001 #002"."""
    table = table[table.population > 0]
    group = table.geoid.str[:12]
    place = table.groupby(group).cumcount() + 1
    return pd.DataFrame({"geoid": group + " #" + place.astype(str).str.zfill(3), "population": table.population})

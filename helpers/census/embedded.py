"""Census counts as tables of leaves: the file that knows the embedded counts, and what the digits of a code mean.

A 15-digit block code is state (2) + county (3) + tract (6) + block (4); a block's first digit is its block group.

    geoid: code of a block or block group, as text · levels: names out of LEVELS, top first

    source: "embedded", the counts of three states that ship with the package (see data/README.md) · "official", those of any
    state in the Bureau's redistricting files · "ppmf", its microdata; these two are downloaded on first use (see `bureau`) ·
    "blocks", of 2010 only: the blocks themselves where they ship, and not their sums by block group as in "embedded"

The nation ships too, without the codes of its blocks: the number of blocks in each block group says which blocks it has.
"""

import gzip
import hashlib
import io
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files

import numpy as np
import pandas as pd

from .. import checks
from ..layout import freeze
from . import states

STATES = {name: states.STATES[name] for name in states.EMBEDDED}  # those that ship, name: (postal code, FIPS code)
SOURCES = ("embedded", "official", "ppmf")
SOURCES_2010 = ("embedded", "blocks", "official", "ppmf")
TREES = ("published", "populated", "geography")
LEVELS = ("state", "county", "tract", "block group", "block")
_DIGITS = {level: slice(*ends) for level, ends in zip(LEVELS, [(0, 2), (2, 5), (5, 11), (11, 12), (11, 15)], strict=True)}
NATION_LEVELS = ("country", *LEVELS)
_BELOW = {"country": 12, "state": 10, "county": 7, "tract": 1, "block group": 0}  # digits of a group's code below a level


def blocks(state: str, source: str = "embedded") -> pd.DataFrame:
    """Every 2020 block of a state: columns `geoid` (text) and `population`. In the microdata empty blocks do not occur.

    >>> len(blocks("WY")), int(blocks("WY").population.sum())
    (53769, 576851)
    """
    if checks.one_of("source", source, SOURCES) != "embedded":
        return _downloaded(state, source, 2020)
    return _embedded(f"{states.embedded_name(state)}_2020_blocks.csv.gz").copy()


def leaves(state: str, tree: str, levels: Sequence[str], source: str = "embedded") -> pd.DataFrame:
    """The 2020 counts of a state as a table of leaves: a key column for each of `levels`, and `population`.

    `published` keeps blocks with people and knows a node by the codes of `levels` alone: without the county, blocks of
    different counties that share codes become one, as in the paper. `populated` keeps blocks with people and knows a node
    by its full code. `geography` keeps all blocks.

    >>> leaves("WY", "published", ["tract", "block"]).head(2)
        tract block  population
    3  962700  1003          22
    4  962700  1004          16
    """
    tree, levels = _check_tree(tree, source), check_levels(levels)
    table = blocks(state, source)
    return _with_keys(table if tree == "geography" else table[table.population > 0], tree, levels)


def leaves_2010(state: str, tree: str, levels: Sequence[str], source: str = "embedded") -> pd.DataFrame:
    """The 2010 counts of a state in the form of `leaves`: blocks, or block groups with people if `source` is "embedded".

    (Groups without people are not in that file, so there `tree` only decides how a node is known, and there is no level
    below the group.) `source` "blocks" is for Delaware, the state whose blocks of 2010 ship with the package.

    >>> leaves_2010("DE", "published", ["tract", "block group"]).head(1)
        tract block group  population
    0  040100           1        2637
    """
    tree, levels = _check_tree(tree, source, SOURCES_2010), check_levels(levels)
    if source == "embedded":
        table = _embedded(f"{states.embedded_name(state)}_2010_blockgroups.csv.gz")
    elif source == "blocks":
        table = _embedded(f"{states.embedded_2010_name(state)}_2010_blocks.csv.gz")
    else:
        table = _downloaded(state, source, 2010)
    return _with_keys(table if tree == "geography" else table[table.population > 0], tree, levels)


def nation(levels: Sequence[str]) -> tuple[list[np.ndarray], list[np.ndarray | None], list[np.ndarray] | None]:
    """All 2020 blocks of the 50 states and D.C. as a tree: counts, parents and labels of each level.

    Nodes are in the order of their codes, so siblings are adjacent and in their parents' order. Labels are the Bureau's
    codes as text ("US" for the country). There are none if the blocks are among the levels, for want of their codes.

    >>> counts, parents, labels = nation(["country", "state"])
    >>> counts[0].tolist(), labels[1][:3].tolist(), parents[1].max()
    ([331449281], ['01', '02', '04'], np.int64(0))
    """
    levels = check_levels(levels, NATION_LEVELS)
    people, fanout, codes = _nation()  # (blocks,), (groups,), (groups,)
    groups = np.add.reduceat(people, np.cumsum(fanout) - fanout)
    counts: list[np.ndarray] = []
    parents: list[np.ndarray | None] = []
    codes_of: list[tuple[np.ndarray, int]] = []  # of the nodes of each level, and how many digits they have
    node = None
    for level in levels:
        above = node  # (groups,) which node of the level above each group is in
        if level == "block":
            parents.append(None if above is None else freeze(np.repeat(above, fanout)))
            return [*counts, freeze(people)], parents, None  # closed here, so that the tree need not copy millions of them
        own = codes // 10 ** _BELOW[level]
        first = np.flatnonzero(np.diff(own, prepend=-1))  # (n,) the first group of each node
        node = np.repeat(np.arange(len(first)), np.diff(first, append=len(own)))
        counts.append(np.add.reduceat(groups, first))
        parents.append(None if above is None else above[first])
        codes_of.append((own[first], 12 - _BELOW[level]))
    return counts, parents, [_as_text(*found) for found in codes_of]


def check_levels(levels: Iterable[str], known: Sequence[str] = LEVELS) -> list[str]:
    """Return `levels` as a list if it is a chain out of the known ones, top first.

    >>> check_levels(["block", "state"])
    Traceback (most recent call last):
    ValueError: levels must be a chain out of state, county, tract, block group, block, top first, got ['block', 'state']
    """
    several = isinstance(levels, Iterable) and not isinstance(levels, str) and getattr(levels, "ndim", 1) == 1
    given = list(levels) if several else [levels]
    names = [level for level in given if isinstance(level, str)]
    if not given or len(names) < len(given) or names != [level for level in known if level in names]:
        raise ValueError(f"levels must be a chain out of {', '.join(known)}, top first, got {given}")
    return names


def _check_tree(tree: str, source: str, sources: Sequence[str] = SOURCES) -> str:
    checks.one_of("tree", tree, TREES)
    if checks.one_of("source", source, sources) == "ppmf" and tree == "geography":
        raise ValueError(f"tree must be published or populated with source 'ppmf', which lists no empty block, got {tree!r}")
    return tree


def _as_text(codes: np.ndarray, digits: int) -> np.ndarray:
    """Codes as text with their leading zeros; the country, whose code has no digits, is "US"."""
    return np.array([f"{code:0{digits}}" if digits else "US" for code in codes.tolist()])


def _with_keys(table: pd.DataFrame, tree: str, levels: Sequence[str]) -> pd.DataFrame:
    def key(level: str) -> pd.Series:
        start = _DIGITS[level].start if tree == "published" else 0
        return table.geoid.str[start : _DIGITS[level].stop]

    return pd.DataFrame({level: key(level) for level in levels} | {"population": table.population})


def _downloaded(state: str, source: str, year: int) -> pd.DataFrame:
    """The Bureau's own counts: the only way from here into that room, opened when somebody asks for them."""
    from .bureau import official

    return official.blocks(state, source, year)


@lru_cache(maxsize=8)
def _embedded(name: str) -> pd.DataFrame:
    """A table of counts of the package."""
    return pd.read_csv(io.BytesIO(gzip.decompress(_content(name))), dtype={"geoid": str, "population": "int64"})


def _nation() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(blocks,) people, (groups,) blocks in each block group, (groups,) code of each block group as a whole number."""
    with np.load(io.BytesIO(_content("us_2020_blocks.npz"))) as data:
        people = data["population_high"].astype(np.int64)  # two bytes a count, in two arrays: they compress better so
        people <<= 8
        people += data["population_low"]
        return people, data["blocks_per_group"].astype(np.intp), np.cumsum(data["group_step"])


def _content(name: str) -> bytes:
    """Read a file of the package, after comparing its checksum with the recorded one."""
    folder = files("helpers") / "data"
    lines = (line.split() for line in (folder / "SHA256SUMS").read_text().splitlines())
    recorded = {file: checksum for checksum, file in lines}
    content = (folder / name).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != recorded.get(name):
        raise ValueError(f"{name} must have the checksum {recorded.get(name)}, got {found}: reinstall the package")
    return content

"""A table of rows, wherever it lies, to its leaves and to their tree.

leaf: a place by the names of all its levels, top first · groups: one row for each spelling of a leaf, with its people
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from typing import Any, TypeAlias

import pandas as pd

from ..hierarchy import Hierarchy
from . import engines, files, frames
from .asked import EXACT, PEOPLE, Asked, check_column, check_most, too_many
from .names import tidy

Table: TypeAlias = Any  # a pandas DataFrame, a path, or an Ibis table, whose library need not be there


def leaves(
    table: Table,
    levels: Sequence[str],
    *,
    count: str | None = None,
    person: str | None = None,
    rows_per_person: int = 1,
    nodes: Table | None = None,
) -> pd.DataFrame:
    """One row a leaf, in order: the names of its levels, as text, and its people, in a column called `count` or population.

    `table` and `nodes` are each a pandas DataFrame, the path of a CSV or Parquet file of any size (or a pattern for several:
    rows/*.parquet), or an Ibis table of any engine: DuckDB, Postgres, Spark, BigQuery. Files need the packages of the extra
    `tables`. Columns of names hold text or whole numbers; cells of a CSV file are all text.

    - `count` names a column of whole numbers that are added up. Without it every row is one person.
    - `person` names the column that says whose row it is, if a person may have several. Then at most `rows_per_person` rows
      of each count, so that one person more or less changes the counts of a level by no more than that. Which rows count
      depends on that person's rows alone: the first by MD5 of person and leaf, an order that favours no place.
    - `nodes` is the public list of all leaves, in the same columns. A leaf without rows is zero, and rows in a leaf that is
      not listed are refused. Without it a leaf is there only if somebody is in it, which is not private.

    Names are compared, and come back, as `tidy` writes them; `.attrs["names_joined"]` says how many spellings that joined.
    Persons are told apart by the letters of their column as they are.

    >>> visits = pd.DataFrame({"who": ["a", "a", "b"], "town": ["Ulm", "Bonn", "Ulm "]})
    >>> leaves(visits, ["town"], person="who", nodes=pd.DataFrame({"town": ["Ulm", "Bonn", "Kiel"]}))
       town  population
    0  Bonn           0
    1  Kiel           0
    2   Ulm           2
    """
    asked = Asked.checked(levels, count, person, rows_per_person)
    listed = None if nodes is None else _tidied("nodes", _groups("nodes", nodes, Asked(asked.levels)), asked)
    found = _tidied("table", _groups("table", table, asked), asked)
    joined = found.attrs
    if int(found.people.sum()) > EXACT:
        raise too_many("table")
    if listed is not None:
        found = _on_list(found, listed)
    elif person is not None:
        found = found[found.people > 0].reset_index(drop=True)  # beyond the bound is as if it were not there
    if found.empty:
        raise ValueError("table must have at least one row, unless nodes lists the leaves, got none")
    found = found.set_axis([*asked.levels, PEOPLE if count is None else count], axis=1)
    found.attrs = joined
    return found


def tree_from_table(
    table: Table,
    levels: Sequence[str],
    *,
    count: str | None = None,
    person: str | None = None,
    rows_per_person: int = 1,
    nodes: Table | None = None,
) -> Hierarchy:
    """The tree of counts of a table of rows, of any size and wherever it lies; the arguments are those of `leaves`.

    >>> visits = pd.DataFrame({"who": ["a", "a", "b"], "land": ["BW", "NRW", "BW"], "town": ["Ulm", "Bonn", "Ulm"]})
    >>> tree_from_table(visits, ["land", "town"], person="who", rows_per_person=2)
    Hierarchy(2 land, 2 town; total 3)
    """
    found = leaves(table, levels, count=count, person=person, rows_per_person=rows_per_person, nodes=nodes)
    *names, people = found
    return Hierarchy.from_frame(found, names, people)


def rows_beyond(table: Table, person: str, rows_per_person: int = 1) -> int:
    """How many rows are beyond the first of each person, which `leaves` does not count. The answer is confidential.

    It is for whoever holds the data and chooses the bound; a release must not say it.

    >>> rows_beyond(pd.DataFrame({"who": ["a", "a", "a", "b"]}), "who", rows_per_person=2)
    1
    """
    asked = Asked((), None, check_column("person", person), check_most(rows_per_person))
    if isinstance(table, pd.DataFrame):
        return frames.rows_beyond("table", table, asked)
    with _source("table", table) as source:
        return engines.rows_beyond(source, asked)


def _groups(what: str, table: Table, asked: Asked) -> pd.DataFrame:
    """One row for each spelling of a leaf, from wherever the table lies."""
    if isinstance(table, pd.DataFrame):
        return frames.groups(what, table, asked)
    with _source(what, table) as source:
        return engines.groups(source, asked)


def _source(what: str, table: Any) -> AbstractContextManager[engines.Source]:
    if engines.is_ibis(table):
        return nullcontext(engines.of_ibis(what, table))
    if not isinstance(table, str | PathLike):
        right = "a pandas DataFrame, the path of a CSV or Parquet file, or an Ibis table"
        raise TypeError(f"{what} must be {right}, got {type(table).__name__}")
    return files.opened(what, table)


def _tidied(what: str, groups: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """Groups with names as `tidy` writes them, each leaf once and in order; `.attrs` says how many spellings that joined."""
    joined, keys = 0, [*groups.columns[:-1]]
    for key, level in zip(keys, asked.levels, strict=True):
        places, spellings = pd.factorize(groups[key])
        names = [*map(tidy, spellings.tolist())]
        if (places < 0).any() or not all(names):
            raise ValueError(f"{what}: levels ({level!r}) must be named in every row, got a missing or blank name")
        if frames.PARTS in "".join(spellings):
            raise ValueError(f"{what}: levels ({level!r}) must be names without the character U+001F, got one with it")
        groups[key] = pd.Series(names, dtype="str").take(places).to_numpy()
        joined += len(names) - len({*names})
    found = groups.groupby(keys, as_index=False).sum()
    found.attrs = {"names_joined": joined}
    return found


def _on_list(found: pd.DataFrame, listed: pd.DataFrame) -> pd.DataFrame:
    """The leaves of a list with the people found there; zero where none were found."""
    keys = [*listed.columns[:-1]]
    both = listed[keys].merge(found, how="left", on=keys)
    if both.people.notna().sum() < len(found):
        raise ValueError("table must have its rows in leaves that nodes lists, got rows in others (not shown)")
    return both.fillna({"people": 0}).astype({"people": "int64"})

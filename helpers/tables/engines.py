"""Rows that an engine holds (DuckDB, Postgres, Spark, BigQuery …), added up there: what asks engines, through Ibis.

    column: an expression for a column of the engine's table; nothing is looked at before the engine is asked

An engine is asked once for a table, by one GROUP BY. Nothing in that question can fail on a cell: what is wrong with one
comes back as a flag. What an engine says when it stops may quote cells, and is not passed on.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from typing import Any

import pandas as pd

from .asked import CELL, EXACT, NUMBER, OF_NO_CELL, Asked, ask, check_columns, no_counts, no_names, no_person, too_many
from .frames import PARTS
from .names import VISIBLE


@dataclass(frozen=True)
class Source:
    """A table that an engine holds. `columns` are the names in it, `inside` those that the engine has for them."""

    what: str
    right: str  # what the table must be, for a sentence
    table: Any
    columns: Sequence[str]
    inside: Sequence[str]

    def column(self, name: str) -> Any:
        """The column of a name that is there once."""
        return self.table[self.inside[list(self.columns).index(name)]]


def is_ibis(table: object) -> bool:
    """Is it a table of Ibis? Whoever has one has loaded that library already.

    >>> is_ibis([1, 2])
    False
    """
    return "ibis" in sys.modules and isinstance(table, library().Table)


def of_ibis(what: str, table: Any) -> Source:
    """A table of Ibis as a source."""
    return Source(what, "a table that its engine can add up", table, table.columns, table.columns)


def library() -> Any:
    """Ibis itself; if it is missing, a sentence says what to install."""
    try:
        return import_module("ibis")  # by name, because a type checker may not have it
    except ModuleNotFoundError:
        how = "install them with: pip install 'ibis-framework[duckdb]' (the extra tables)"
        raise ImportError(f"tables that are no DataFrames are read with Ibis and DuckDB, which are missing; {how}") from None


def groups(source: Source, asked: Asked) -> pd.DataFrame:
    """One row for each spelling of a leaf: its names, and its `people`; zero if only rows beyond the bound are in it."""
    check_columns(source.what, source.columns, asked)
    found = ask(source.what, source.right, question(source, asked).execute)
    if "wrong" in found and found.wrong.any():
        raise no_person(source.what, str(asked.person)) if asked.count is None else no_counts(source.what, asked.count)
    if "large" in found and found.large.sum() > 2 * EXACT:
        raise too_many(source.what)
    return found.drop(columns=["wrong", "large"], errors="ignore").astype({"people": "int64"})


def question(source: Source, asked: Asked) -> Any:
    """What an engine is asked: for each spelling of a leaf, its people and whether anything in its rows is wrong."""
    levels = {f"level_{i}": _names(source, "levels", level) for i, level in enumerate(asked.levels)}
    rows, sums = _of_persons(source, levels, asked) if asked.count is None else _counted(source, levels, asked.count)
    return rows.group_by([*levels]).aggregate(**sums)


def rows_beyond(source: Source, asked: Asked) -> int:
    """How many rows of all persons are beyond the first of each."""
    check_columns(source.what, source.columns, asked)
    rows = source.table.select(person=_names(source, "person", str(asked.person)))
    each = rows.group_by("person").aggregate(rows=rows.count(), wrong=_is_nobody(rows.person).any())
    beyond = (each.rows > asked.most).ifelse(each.rows - asked.most, 0)
    found = ask(source.what, source.right, each.aggregate(beyond=beyond.sum(), wrong=each.wrong.any()).execute)
    if found.wrong.eq(True).any():
        raise no_person(source.what, str(asked.person))
    return 0 if found.beyond.isna().any() else int(found.beyond.iloc[0])


def _counted(source: Source, levels: dict[str, Any], name: str) -> tuple[Any, dict[str, Any]]:
    """Rows with a column of counts, and what to add up of them."""
    column = source.column(name)
    kind = column.type()
    if not (kind.is_string() or kind.is_numeric()) or kind.is_boolean():
        raise TypeError(f"count must name a column of whole numbers, got {name!r}, which holds {_kind(column)}")
    number = _number(column) if kind.is_string() else column
    bounded = ((number >= 0) & (number <= EXACT)).ifelse(number, -1)  # of what is larger, floor may stop an engine
    right = (bounded >= 0) & (bounded == bounded.floor())
    rows = source.table.select(**levels, people=right.ifelse(bounded, 0).cast("int64"), wrong=~right)
    large = rows.people.cast("float64").sum()  # which no engine can make small or negative
    return rows, {"people": rows.people.sum(), "large": large, "wrong": rows.wrong.any()}


def _number(text: Any) -> Any:
    """Text as numbers; −1 where it is none, so that no engine stops there."""
    right = text.re_search(f"^{CELL}$") & ~text.re_search(OF_NO_CELL)  # because $ may pass over the end of a line
    return right.ifelse(text.re_extract(NUMBER, 0), "-1").cast("float64")


def _of_persons(source: Source, levels: dict[str, Any], asked: Asked) -> tuple[Any, dict[str, Any]]:
    """Rows that are persons', and what to add up of them."""
    if asked.person is None:
        rows = source.table.select(**levels)
        return rows, {"people": rows.count()}
    rows = source.table.select(**levels, person=_names(source, "person", asked.person))
    path = reduce(lambda one, other: one + PARTS + other, [rows.person, *(rows[level] for level in levels)])
    rank = library().row_number().over(group_by=rows.person, order_by=_md5()(path))
    ranked = rows.select(*levels, first=rank < asked.most, wrong=_is_nobody(rows.person))
    return ranked, {"people": ranked.first.cast("int64").sum(), "wrong": ranked.wrong.any()}


@cache
def _md5() -> Any:
    """The MD5 that an engine has of its own: as text or as bytes, both are in the same order."""
    return library().udf.scalar.builtin(lambda text: None, name="md5", signature=((str,), str))


def _names(source: Source, argument: str, name: str) -> Any:
    """A column of text or whole numbers as text."""
    column = source.column(name)
    if not (column.type().is_string() or column.type().is_integer()):
        raise no_names(argument, name, _kind(column))
    return column.cast("string")


def _kind(column: Any) -> str:
    return type(column.type()).__name__.lower()


def _is_nobody(person: Any) -> Any:
    return ~person.fill_null("").re_search(VISIBLE)

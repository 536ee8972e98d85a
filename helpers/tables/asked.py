"""What is asked of a table, and the sentences with which pandas and engines refuse what is wrong with it.

    what: the argument that the table is, "table" or "nodes" · most: rows of one person that count

What is wrong in a row is said without the cell, its row or how many there are: all of that is confidential.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .. import checks
from ..hierarchy import check_level_names
from .names import shown

PEOPLE = "population"  # the name of the counts, if the table has no column of them
EXACT = 2**53 - 1  # sums up to here are exact as floats too
# A number as text, in regular expressions that every engine reads alike, and with blanks around it.
NUMBER = "[+]?([0-9]{1,25}([.][0-9]{0,25})?|[.][0-9]{1,25})([eE][+-]?[0-9]{1,2})?"
CELL, OF_NO_CELL = f"[ \t\r\n]*{NUMBER}[ \t\r\n]*", "[^0-9eE+. \t\r\n-]"
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Asked:
    """The columns to look at: one a level, top first, and at most one of `count` and `person`."""

    levels: Sequence[str]
    count: str | None = None
    person: str | None = None
    most: int = 1

    @classmethod
    def checked(cls, levels: Sequence[str], count: Any, person: Any, rows_per_person: Any) -> "Asked":
        """The same, from arguments that may be wrong.

        >>> Asked.checked(["region"], count="patients", person="id", rows_per_person=1)
        Traceback (most recent call last):
        ValueError: person must be None where count names a column, because a row is then no single person's, got 'id'
        """
        names, most = check_level_names(levels), check_most(rows_per_person)
        for argument, column in (("count", count), ("person", person)):
            if column is not None and check_column(argument, column) in names:
                raise ValueError(f"{argument} must be a column apart from the levels, got {column!r}, which is one of them")
        if count is None and PEOPLE in names:
            raise ValueError(f"levels must not name {PEOPLE!r}, which is the column of counts if count is None, got {names}")
        if count is not None and person is not None:
            because = "because a row is then no single person's"
            raise ValueError(f"person must be None where count names a column, {because}, got {person!r}")
        if person is None and most > 1:
            raise ValueError(f"rows_per_person must be 1 unless person names a column, got {most}")
        return cls(names, count, person, most)


def check_most(rows_per_person: Any) -> int:
    """Return a bound on the rows of a person if every engine can count so far."""
    return checks.whole("rows_per_person", rows_per_person, least=1, most=EXACT)


def check_column(argument: str, column: Any) -> str:
    """Return the name of a column if it can be one.

    >>> check_column("count", 3)
    Traceback (most recent call last):
    TypeError: count must be the name of a column, as text, got 3
    """
    if not isinstance(column, str):
        raise TypeError(f"{argument} must be the name of a column, as text, got {column!r}")
    return column


def check_columns(what: str, columns: Sequence[Any], asked: Asked) -> None:
    """Refuse a table that has not each of the columns asked for exactly once.

    >>> check_columns("table", ["region", "007"], Asked(["region", "town"]))
    Traceback (most recent call last):
    ValueError: levels must name one column each of table (region, (no name)), got 'town'
    """
    others = [(argument, name) for argument, name in (("count", asked.count), ("person", asked.person)) if name is not None]
    for argument, name in [*(("levels", level) for level in asked.levels), *others]:
        if sum(isinstance(column, str) and column == name for column in columns) != 1:
            raise ValueError(f"{argument} must name one column each of {what} ({shown(columns)}), got {name!r}")


def ask(what: str, right: str, question: Callable[[], Answer]) -> Answer:
    """The answer of an engine without its warnings; if it stops, a sentence with the kind of error and none of its words.

    >>> ask("table", "a table that is there", lambda: 1 / 0)
    Traceback (most recent call last):
    ValueError: table must be a table that is there, but reading it ended in ZeroDivisionError (more may quote cells)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they may quote cells, too
            return question()
    except Exception as error:
        kind = type(error).__name__
    # Outside of `except`, so that nothing leads from this error to that of the engine.
    raise ValueError(f"{what} must be {right}, but reading it ended in {kind} (more may quote cells)")


def no_names(argument: str, column: str, kind: object) -> TypeError:
    """For a column that cannot name anything the same way in every engine, such as one of fractions or dates."""
    return TypeError(f"{argument} must name columns of text or of whole numbers, got {column!r}, which holds {kind}")


def no_counts(what: str, column: str) -> ValueError:
    """For a count that is missing, negative, a fraction, too large or no number."""
    right = "a whole number of zero or more, at most 2^53 - 1, in every row"
    return ValueError(f"{what}: count ({column!r}) must be {right}, got something else (not shown)")


def no_person(what: str, column: str) -> ValueError:
    """For a row that is nobody's."""
    return ValueError(f"{what}: person ({column!r}) must be named in every row, got a missing or blank one")


def too_many(what: str) -> ValueError:
    """For counts whose sum a float does not know exactly."""
    return ValueError(f"{what}: count must add up to at most 2^53 - 1, so that sums are exact, and is more")

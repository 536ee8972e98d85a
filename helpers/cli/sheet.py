"""A CSV file of leaves: the tree that its columns make, and a sentence for whatever is wrong with it.

    columns: names, in order · rows: how many, without the header · name: a text in the one spelling of `tidy`

What is wrong is said in one sentence that names the file, the line where there is one, and the column. The file may be
confidential, another one than was meant, or one without a header. So no sentence shows a cell, and a sentence that lists the
columns shows what looks like names alone.

A count is written in plain digits: 1200. For a release it is whole, and may have a `.0` behind it, as programs write it.
Elsewhere it may be a fraction with a dot: 12.5, or 2.5e-05, as programs write small ones. Blanks around it are no part of
it. Anything else is refused, because it is read in two ways or lost digits in a spreadsheet: a sign, 1e3, 1_000, 1,5, `12.`,
`.5`, digits of other scripts, nan, inf. A dot before three digits, as in 12.125, marks thousands in some countries; it is
taken for a decimal sign only if another count of the column shows that dots are.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import isfinite
from pathlib import Path

import numpy as np
import pandas as pd

from .. import checks
from ..hierarchy import Hierarchy
from ..tables import tidy
from .columns import UNPRINTABLE, Column, read_columns

_EXACT = 2**53 - 1  # sums up to here are exact as floats too, and 2^53 may be a rounded 2^53 + 1
_NODES_ONLY = " "  # a column name that no file has, because names are tidied
_SHOWN, _LETTERS = 20, 40  # how many names of columns a sentence shows, and how long such a name may be
_WHOLE = re.compile(r"[0-9]+(\.0)?")
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?(e-[0-9]+)?")
_UNCLEAR = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")  # a fraction to some, thousands to others
_FORMULA = re.compile(r"(?:^|;) ?(?:[=@＝＠]|[+\-＋－][^;]*[(|!])")


@dataclass(frozen=True, eq=False, repr=False)  # an error in a program must not print the table
class Sheet:
    """The rows of a CSV file. Build one with `Sheet.read`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "stores.csv")
    ...     _ = file.write_text("region,store,patients\\nN,007,3\\nN,7,0\\nS,007,12\\n")
    ...     sheet = Sheet.read(file)
    >>> sheet.columns, sheet.rows, sheet.count_column(["region", "store"])
    (('region', 'store', 'patients'), 3, 'patients')
    >>> sheet.tree(["region", "store"], "patients", whole=True)
    Hierarchy(2 region, 3 store; total 15)
    """

    path: Path
    columns: tuple[str, ...]
    lines: Sequence[int]  # where the header and each row end
    kept: Mapping[str, Column]

    @classmethod
    def read(cls, path: str | Path, keep: Container[str] | None = None) -> "Sheet":
        """Read a CSV file in UTF-8 with a header, separated by commas, semicolons or tabs: what the header has most of.

        Blank lines and columns without a name are passed over. A row with too many or too few cells is refused. Of a table
        with many columns, `keep` says which are needed: the others take no memory.
        """
        path = checks.path("path", path)
        return cls(path, *read_columns(path, keep))

    @property
    def rows(self) -> int:
        """How many rows there are. If each is a person, this is a count of people."""
        return len(self.lines) - 1

    def frame(
        self, levels: Sequence[str], count: str | None = None, person: str | None = None, whole: bool = False
    ) -> pd.DataFrame:
        """The table of rows that a tree is made of: levels and persons as categories in order, counts as numbers.

        For a release, counts must be `whole`.
        """
        levels = self._check_columns(levels)
        others = self._check_columns(name for name in (count, person) if name is not None)
        for at, name in enumerate(others):
            if name in [*levels, *others[:at]]:
                raise ValueError(f"counts and persons must be columns apart from the levels, got {name!r} for both")
        self._check_rows()
        numbers = others[: count is not None]
        table = {name: self._counts(name, whole) if name in numbers else self._names(name) for name in [*levels, *others]}
        return pd.DataFrame(table)

    def nodes(self, levels: Sequence[str]) -> Hierarchy:
        """The tree of the file with every count zero: which nodes there are, and nothing else. Counts are not looked at."""
        frame = self.frame(levels)
        frame[_NODES_ONLY] = 0
        return Hierarchy.from_frame(frame, [*map(tidy, levels)], _NODES_ONLY)

    def tree(self, levels: Sequence[str], count: str, whole: bool = False) -> Hierarchy:
        """The tree of the file with the counts of a column; for a release they must be `whole`."""
        return Hierarchy.from_frame(self.frame(levels, count, whole=whole), [*map(tidy, levels)], tidy(count))

    def count_column(self, levels: Sequence[str], count: str | None = None) -> str:
        """The column that holds the counts: `count`, or population, or the only column of numbers that is not a level.

        A column with a number for a name is not taken unless `count` names it: in a file without a header, that number may
        be a count itself.
        """
        named = self._check_columns(levels)
        if count is not None:
            return self._check_columns([count])[0]
        self._check_rows()
        others = [name for name in self.kept if name not in named]
        if "population" in others:
            return "population"
        found = [name for name in others if all(map(_may_be_count, self.kept[name].names))]
        if len(found) == 1 and _is_shown(found[0]):
            return found[0]
        what = "several columns of numbers" if found[1:] else "no column of numbers besides the levels"
        which = f" ({_listed(found)})" if found[1:] and not self._looks_like_data() else ""
        raise ValueError(f"{self.path} has {what}{which}: name the counts with --count; {self.columns_shown()}")

    def columns_shown(self, whose: str = "its columns") -> str:
        """Which columns there are, as the end of a sentence; a header that looks like a row of data is not shown.

        It does if one of its names is a number, or stands in its own column once more.
        """
        if self._looks_like_data():
            return f"line {self.lines[0]} must name the columns, but looks like a row of data (not shown)"
        return f"{whose} are {_listed(self.columns)}"

    def spellings(self, levels: Sequence[str]) -> int:
        """How many names of nodes are written in more than one way; each of them is one node."""
        columns = [self.kept[name] for name in self._check_columns(levels)]
        counters = [Counter(column.names) for column in columns]
        return sum(times > 1 for counter in counters for times in counter.values())

    def check_formulas(self, levels: Sequence[str]) -> None:
        """Refuse names of nodes and levels that a spreadsheet would run when somebody opens the released table.

        They begin with = or @; or with + or - and have what a formula needs to do harm: the bracket of a function, the bar
        of a command, the mark of another sheet. So -1 and +5 years are names. The same holds behind a semicolon, where the
        spreadsheets of some countries begin a cell. The usual cure, an apostrophe in front, makes another name, which no
        other table has; so whoever keeps the names has to change them.
        """
        what = "must not begin like a formula, which a spreadsheet would run (not shown)"
        for at, level in enumerate(self._check_columns(levels), start=1):
            if _FORMULA.search(level):
                raise ValueError(f"{self.path}, line {self.lines[0]}: the name of level {at} {what}")
            self._refuse(level, map(_FORMULA.search, self.kept[level].names), f"{level} {what}")

    def _names(self, name: str) -> pd.Categorical:
        column = self.kept[name]
        self._refuse(name, (not text for text in column.names), f"{name} is empty; every row must name one")
        unprintable = f"{name} must be text that can be printed, and has a control character (not shown)"
        self._refuse(name, map(UNPRINTABLE.search, column.names), unprintable)
        return column.categories

    def _counts(self, name: str, whole: bool) -> np.ndarray:
        column, form = self.kept[name], _WHOLE if whole else _DECIMAL
        right = "a whole number" if whole else "a number"
        plain = f"{name} must be {right} of zero or more in plain digits, such as 1200, got another value (not shown)"
        self._refuse(name, (not form.fullmatch(text) for text in column.names), plain)
        unclear = f"{name} must be clear: a dot before three digits may mark thousands; write 12.1250 or 12125, not 12.125"
        self._refuse(name, _may_be_thousands(column.names), unclear)
        values = np.array([*map(float, column.names)])[column.codes]
        if values.sum() > _EXACT:
            raise ValueError(f"{self.path}: {name} must add up to at most 2^53 - 1, so that sums are exact, and is more")
        return values if (values != np.floor(values)).any() else values.astype(np.int64)

    def _refuse(self, name: str, wrong: Iterable[object], sentence: str) -> None:
        """Refuse a column if one of its texts is marked as wrong, by the line on which that comes up."""
        column = self.kept[name]
        for code in compress(range(len(column.texts)), wrong):
            raise ValueError(f"{self.path}, line {self.lines[1 + column.first(code)]}: {sentence}")

    def _looks_like_data(self) -> bool:
        return any(map(_is_number, self.columns)) or any(name in column.names for name, column in self.kept.items())

    def _check_rows(self) -> None:
        if not self.rows:
            raise ValueError(f"{self.path} has a header and no rows")

    def _check_columns(self, names: Iterable[str]) -> list[str]:
        """The names in their one spelling, if all of them are columns."""
        found = [*map(tidy, names)]
        for name in found:
            if name not in self.columns:
                raise ValueError(f"{self.path} has no column {name!r}; {self.columns_shown()}")
        return found


def is_formula(name: str) -> bool:
    """Would a spreadsheet run this name, as `Sheet.check_formulas` says?

    >>> [is_formula(name) for name in ("=1+1", "-1", "+5 years", "-2+cmd|' /C calc'!A0")]
    [True, False, False, True]
    """
    return _FORMULA.search(name) is not None


def _may_be_count(text: str) -> bool:
    """Does a text look like a count, right or wrong?"""
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _may_be_thousands(texts: Sequence[str]) -> list[bool]:
    """Which of the numbers have a dot that may mark thousands: none, if one of them shows that dots are decimal signs."""
    decimal = any("." in text and not _UNCLEAR.fullmatch(text) for text in texts)
    return [not decimal and bool(_UNCLEAR.fullmatch(text)) for text in texts]


def _is_number(name: str) -> bool:
    """Does a name look like a number or a date?

    >>> [_is_number(name) for name in ("12,5", "2020-04-01", "1e5", "level 2", "region")]
    [True, True, True, False, False]
    """
    letters = {letter for letter in name.casefold() if letter.isalpha()}
    return any(map(str.isdigit, name)) and letters <= {"e"}


def _is_shown(name: str) -> bool:
    """May a sentence show this name of a column: is it short, no number, and no row in one piece?"""
    return len(name) <= _LETTERS and not _is_number(name) and not any(mark in name for mark in ",;|")


def _listed(names: Sequence[str]) -> str:
    """Names of columns for a sentence: as many as may be shown, and how many others there are.

    >>> _listed(["region", "7", "store"])
    'region, store (and 1 not shown)'
    """
    shown = [*filter(_is_shown, names)][:_SHOWN]
    others = len(names) - len(shown)
    return ", ".join(shown) + f" (and {others} not shown)" * (others > 0)

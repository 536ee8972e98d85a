"""A CSV file of leaves, read as text: the tree that its columns make, and a sentence for whatever is wrong with it.

    columns: name → one text a row, so that a code such as 007 keeps its zeros · lines: (rows,) where a row ends

What is wrong with a file is said in one sentence that names the file, and the line where there is one.
"""

import csv
import hashlib
import io
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..hierarchy import Hierarchy

_EXACT = 2**53 - 1  # sums up to here are exact as floats too, and 2^53 may be a rounded 2^53 + 1
_NODES_ONLY = " "  # a column name that no file has, because names are stripped


@dataclass(frozen=True, eq=False)
class Sheet:
    """The rows of a CSV file, as text. Build one with `Sheet.read`."""

    path: Path
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int]
    sha256: str

    @classmethod
    def read(cls, path: str | Path) -> "Sheet":
        """Read a CSV file in UTF-8 with a header, separated by commas, semicolons or tabs: what the header has most of.

        Blank lines and columns without a name are passed over. A row with too many or too few cells is refused.
        """
        path = checks.path("path", path)
        if path.is_dir():
            raise ValueError(f"{path} must be a CSV file, but is a folder")
        content = path.read_bytes()
        try:
            header, rows, lines = _rows(path, content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ValueError(f"{path} must be a CSV file in UTF-8: save it again with that encoding") from None
        except csv.Error as error:
            raise ValueError(f"{path} must be a CSV file, but cannot be read as one: {error}") from None
        columns = dict(zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True))
        columns.pop("", None)  # such as the row numbers that a spreadsheet or pandas puts first
        return cls(path, columns, lines, hashlib.sha256(content).hexdigest())

    def nodes(self, levels: Sequence[str]) -> Hierarchy:
        """The tree of the file with every count zero: which nodes there are, and nothing else. Counts are not looked at."""
        frame = self._keys(levels)
        frame[_NODES_ONLY] = 0
        return Hierarchy.from_frame(frame, levels, _NODES_ONLY)

    def tree(self, levels: Sequence[str], count: str, whole: bool = False) -> Hierarchy:
        """The tree of the file with the counts of a column; for a release they must be `whole`, and no refusal shows one."""
        if count in levels:
            raise ValueError(f"the counts must be a column apart from the levels, got {count!r} for both")
        frame = self._keys(levels)
        frame[count] = self._counts(count, whole)
        return Hierarchy.from_frame(frame, levels, count)

    def count_column(self, levels: Sequence[str], count: str | None = None) -> str:
        """The column that holds the counts: `count`, or population, or the only column of numbers that is not a level."""
        if count is not None:
            self._check_names([count])
            return count
        others = [name for name in self.columns if name not in levels]
        if "population" in others:
            return "population"
        found = [name for name in others if np.isfinite(_as_numbers(self.columns[name])).all()]
        if len(found) != 1:
            what = f"several columns of numbers ({', '.join(found)})" if found else "no column of numbers besides the levels"
            raise ValueError(f"{self.path} has {what}: name the counts with --count; its columns are {self._names()}")
        return found[0]

    def _keys(self, levels: Sequence[str]) -> pd.DataFrame:
        self._check_names(levels)
        if not self.lines:
            raise ValueError(f"{self.path} has a header and no rows")
        keys = {level: [key.strip() for key in self.columns[level]] for level in levels}
        for level in levels:
            if "" in keys[level]:
                raise ValueError(f"{self._line(keys[level].index(''))}: {level} is empty; every row must name one")
        return pd.DataFrame(keys)

    def _counts(self, count: str, whole: bool) -> np.ndarray:
        values = _as_numbers(self.columns[count])
        hide = whole  # for a release, where even a wrong count is confidential
        self._refuse_if_any(count, "a finite number", ~np.isfinite(values), hide)
        self._refuse_if_any(count, "zero or more", values < 0, hide)
        if values.sum() > _EXACT:
            raise ValueError(f"{self.path}: {count} must add up to at most 2^53 - 1, so that sums are exact, and is more")
        fractions = values != np.floor(values)
        if whole:
            self._refuse_if_any(count, "a whole number", fractions, hide)
        return values if fractions.any() else values.astype(np.int64)

    def _refuse_if_any(self, count: str, right: str, wrong: np.ndarray, hide: bool) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            got = "another value (not shown)" if hide else repr(self.columns[count][row])
            raise ValueError(f"{self._line(row)}: {count} must be {right}, got {got}")

    def _check_names(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.columns:
                raise ValueError(f"{self.path} has no column {name!r}; its columns are {self._names()}")

    def _names(self) -> str:
        return ", ".join(self.columns)

    def _line(self, row: int) -> str:
        return f"{self.path}, line {self.lines[row]}"


def _rows(path: Path, text: str) -> tuple[list[str], list[list[str]], Sequence[int]]:
    """Column names, rows of cells, and the line that each row ends on."""
    if not text.strip():
        raise ValueError(f"{path} is empty")
    file = io.StringIO(text, newline="")
    first = next(line for line in file if line.strip())
    file.seek(0)
    reader = csv.reader(file, delimiter=max(",;\t", key=first.count), skipinitialspace=True, strict=True)
    header = _checked_header(path, next(row for row in reader if row), reader)
    rows, lines = [], array("q")
    for row in reader:
        if len(row) == len(header):
            rows.append(row)
            lines.append(reader.line_num)
        elif row:
            cells = f"{len(header)} cells, as the header has, got {len(row)}"
            raise ValueError(f"{path}, line {reader.line_num}: a row must have {cells}")
    return header, rows, lines


def _checked_header(path: Path, header: list[str], reader: Any) -> list[str]:
    names = [name.strip() for name in header]
    for name in filter(None, names):
        if names.count(name) > 1:
            raise ValueError(f"{path}, line {reader.line_num}: column names must be distinct, but {name!r} is there twice")
    return names


def _as_numbers(texts: Sequence[str]) -> np.ndarray:
    """(rows,) floats, NaN where a text is no number."""
    return pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(np.float64)

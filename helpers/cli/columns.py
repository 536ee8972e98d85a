"""A CSV file, read row by row into columns of codes, so that a table of any size that fits into memory can be read.

    code: the number of a text in its column, in the order in which texts come up · lines: where the header and each row end

A cell costs four bytes, and a text is kept once a column, however often it occurs. What cannot be read is refused in one
sentence that names the file and the line, and shows no cell: the table may be confidential.
"""

import csv
import io
import re
import stat
from array import array
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from operator import lt
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from ..publishing.progress import progress
from ..tables import tidy

# Control characters, line ends, and what turns text around.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_PLAIN = re.compile("[!-~\n]*")
_CHUNK = 2**16  # cells that are encoded at a time: enough to make the cost of a call vanish, and little memory
_LONGEST = 2**24  # letters of a first line: 16 for each of a million columns
_QUOTES = "a row must close the quotes that it opens, with a separator behind them"
_CELLS = f"have cells of at most {csv.field_size_limit():,} letters"


@dataclass(frozen=True, eq=False, repr=False)  # an error in a program must not print the table
class Column:
    """A column as (rows,) codes and the texts that they stand for."""

    codes: np.ndarray
    texts: Sequence[str]

    @cached_property
    def names(self) -> Sequence[str]:
        """The texts, each in the one spelling of `tidy`; if all are plain words, which is seen at one look, as they are."""
        whole = "\n".join(self.texts)
        plain = _PLAIN.fullmatch(whole) and whole.count("\n") < len(self.texts)
        return self.texts if plain else [*map(tidy, self.texts)]

    @cached_property
    def categories(self) -> pd.Categorical:
        """(rows,) the names as categories in order, so that a tree of them is sorted without a look at every row.

        >>> Column(np.array([0, 1, 0, 2]), ["S", "N", " S"]).categories.codes.tolist()
        [1, 0, 1, 1]
        """
        names, codes = np.array(self.names, dtype=object), self.codes
        if not all(map(lt, names, islice(names, 1, None))):  # unlike in most files, where codes come in order
            names, places = np.unique(names, return_inverse=True)
            codes = places[codes]
        return pd.Categorical.from_codes(codes, pd.Index(names, dtype=object))

    def first(self, code: int) -> int:
        """The first row with this code."""
        return int((self.codes == code).argmax())


def read_columns(path: Path, keep: Container[str] | None = None) -> tuple[tuple[str, ...], Sequence[int], dict[str, Column]]:
    """The names of all columns, the lines that the header and the rows end on, and the columns to `keep`, by name.

    A large file shows how far it has been read (the environment variable TQDM_DISABLE=1 turns that off). A pipe is read
    like a file; a folder or a device, which may have no end, is not.
    """
    try:
        with _opened(path) as text:
            return _columns(path, text, keep)
    except UnicodeDecodeError:
        raise ValueError(f"{path} must be a CSV file in UTF-8: save it again with that encoding") from None
    except MemoryError:
        raise ValueError(f"{path} must be a table that fits into memory, and is larger") from None
    except OSError as error:  # a disk that fails half way does not say of which file
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    kind = path.stat().st_mode
    if stat.S_ISDIR(kind):
        raise ValueError(f"{path} must be a CSV file, but is a folder")
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise ValueError(f"{path} must be a CSV file or a pipe, but is a device")
    size = path.stat().st_size or None  # nobody knows how much a pipe holds
    with progress("reading", size, "B") as bar:
        with _Watched(path, bar) as file:
            yield io.TextIOWrapper(file, "utf-8-sig", newline="")


class _Watched(io.FileIO):
    """A file that shows how far it has been read."""

    def __init__(self, path: Path, bar: Any) -> None:
        super().__init__(path)
        self.bar = bar

    def read(self, size: int | None = -1) -> bytes:
        """Bytes of the file, which the bar takes down."""
        found = super().read(size)
        self.bar.update(len(found))
        return found


def _columns(
    path: Path, text: TextIO, keep: Container[str] | None
) -> tuple[tuple[str, ...], Sequence[int], dict[str, Column]]:
    start, lines = _first_lines(path, text), array("q")
    separator = max(",;\t", key=start[-1].count)
    rows = _rows(path, csv.reader(chain(start, text), delimiter=separator, skipinitialspace=True, strict=True), lines)
    header = _header(f"{path}, line {len(start)}", next(rows))
    places = {name: at for at, name in enumerate(header) if name and (keep is None or name in keep)}
    return tuple(filter(None, header)), lines, _encoded(rows, len(header), places)


def _first_lines(path: Path, text: TextIO) -> list[str]:
    """The lines up to the first with something in it, which tells what is between columns; blank ones as nothing."""
    found: list[str] = []
    while line := text.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise ValueError(f"{path} must be a CSV file, but its first line does not end")
        if line.strip():
            return [*found, line]
        found.append("\n")
    raise ValueError(f"{path} is empty")


def _rows(path: Path, reader: Any, lines: array) -> Iterator[list[str]]:
    """The rows that are not blank, all as long as the first, while `lines` takes down where each ends."""
    width = None
    try:
        for row in filter(None, reader):
            width = width or len(row)
            if len(row) != width:
                cells = f"{width} cells, as the header has, got {len(row)}"
                raise ValueError(f"{path}, line {reader.line_num}: a row must have {cells}")
            lines.append(reader.line_num)
            yield row
    except csv.Error:
        raise ValueError(f"{path}, from line {lines[-1] + 1 if lines else 1} on: {_QUOTES}, and {_CELLS}") from None


def _header(where: str, row: list[str]) -> list[str]:
    """The names of the columns. One of several lines is refused: as a rule, a quote that was not closed made it."""
    names: dict[str, int] = {}
    for at, text in enumerate(row, start=1):
        if UNPRINTABLE.search(text.strip()):
            raise ValueError(f"{where}: the name of column {at} must be printable, on one line, in UTF-8")
        first = names.setdefault(tidy(text), at)
        if first != at and tidy(text):
            both = f"columns {first} and {at} have the same"
            raise ValueError(f"{where}: column names must be distinct, but {both}")
    return [*map(tidy, row)]


def _encoded(rows: Iterator[list[str]], width: int, places: Mapping[str, int]) -> dict[str, Column]:
    """The columns at these places. Cells are taken in chunks, column by column: a loop over cells would be slow."""
    found = {name: (_numbering(), array("i")) for name in places}
    while cells := [*chain.from_iterable(islice(rows, max(1, _CHUNK // width)))]:
        for name, (numbers, codes) in found.items():
            codes.extend(map(numbers.__getitem__, cells[places[name] :: width]))
    return {name: Column(np.asarray(codes), [*numbers]) for name, (numbers, codes) in found.items()}


def _numbering() -> dict[str, int]:
    """A table of numbers that gives a text it does not know the next one."""
    numbers = defaultdict[str, int]()
    numbers.default_factory = numbers.__len__
    return numbers

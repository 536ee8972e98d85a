"""Rows in a pandas DataFrame, added up for each spelling of a leaf.

paths: (rows, levels) names as they are written, in columns level_0, level_1 … · persons: (rows,) whose row it is
"""

import hashlib

import numpy as np
import pandas as pd

from .asked import CELL, EXACT, Asked, ask, check_columns, no_counts, no_names, no_person, too_many
from .names import tidy

PARTS = "\x1f"  # between the names of a path: ASCII has it for this


def groups(what: str, frame: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """One row for each spelling of a leaf: its names, and its `people`; zero if only rows beyond the bound are in it.

    >>> groups("table", pd.DataFrame({"town": ["A", "A ", "A"]}), Asked(["town"]))
      level_0  people
    0       A       2
    1      A        1
    """
    check_columns(what, [*frame], asked)
    paths = pd.DataFrame({f"level_{i}": names(what, frame, "levels", level) for i, level in enumerate(asked.levels)})
    rows = paths.assign(people=_people(what, frame, paths, asked))
    return rows.groupby([*paths], as_index=False, dropna=False, sort=False).sum()


def names(what: str, frame: pd.DataFrame, argument: str, column: str) -> pd.Series:
    """(rows,) a column of text or whole numbers as text, numbered from 0; missing values stay missing.

    >>> names("table", pd.DataFrame({"town": [7, 8]}), "levels", "town").tolist()
    ['7', '8']
    """
    found = frame[column].reset_index(drop=True)
    if isinstance(found.dtype, pd.CategoricalDtype):
        found = found.astype(found.cat.categories.dtype)
    kind = pd.api.types.infer_dtype(found, skipna=True)
    if kind not in ("string", "integer", "empty"):
        raise no_names(argument, column, kind)
    # `where`, because pandas before 3 makes a name of what is missing: "None".
    return ask(what, f"text in UTF-8 in column {column!r}", lambda: found.astype(str).where(found.notna()))


def persons(what: str, frame: pd.DataFrame, column: str) -> pd.Series:
    """(rows,) whose row it is, as text; a row that is nobody's is refused.

    >>> persons("table", pd.DataFrame({"id": ["a", " "]}), "id")
    Traceback (most recent call last):
    ValueError: table: person ('id') must be named in every row, got a missing or blank one
    """
    found = names(what, frame, "person", column)
    if found.isna().any() or not all(map(tidy, found.unique())):
        raise no_person(what, column)
    return found


def rows_beyond(what: str, frame: pd.DataFrame, asked: Asked) -> int:
    """How many rows of all persons are beyond the first of each.

    >>> rows_beyond("table", pd.DataFrame({"id": ["a", "a", "b"]}), Asked((), person="id"))
    1
    """
    check_columns(what, [*frame], asked)
    each = persons(what, frame, str(asked.person)).value_counts()
    return int((each - asked.most).clip(lower=0).sum())


def first_rows(paths: pd.DataFrame, persons: pd.Series, most: int) -> np.ndarray:
    """(rows,) whether a row is among the first of its person, in the order of `digest`. No other person's rows matter.

    >>> first_rows(pd.DataFrame({"town": ["A", "B", "A"]}), pd.Series(["x", "x", "y"]), most=1)
    array([ True, False,  True])
    """
    first = (persons.groupby(persons).transform("size") <= most).to_numpy(copy=True)
    many = np.flatnonzero(~first)  # rows of persons with too many
    rows = zip(persons.iloc[many], paths.iloc[many].fillna("").itertuples(index=False), strict=True)
    order = many[np.argsort(np.array([digest(person, *path) for person, path in rows], dtype="S32"))]
    whose = persons.iloc[order]
    first[order] = whose.groupby(whose).cumcount() < most
    return first


def digest(*parts: str) -> str:
    """The MD5 of a person and a path: an order that favours no place, and is the same in every engine.

    >>> digest("x", "A") < digest("x", "B"), digest("a", "A") < digest("a", "B")
    (True, False)
    """
    return hashlib.md5(PARTS.join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _people(what: str, frame: pd.DataFrame, paths: pd.DataFrame, asked: Asked) -> np.ndarray:
    """(rows,) how many people each row stands for."""
    if asked.count is not None:
        return _counts(what, frame[asked.count], asked.count)
    if asked.person is None:
        return np.ones(len(frame), dtype=np.int64)
    return first_rows(paths, persons(what, frame, asked.person), asked.most).astype(np.int64)


def _counts(what: str, values: pd.Series, column: str) -> np.ndarray:
    if not isinstance(values.dtype, np.dtype) or values.dtype.kind not in "iuf":
        texts = values.astype(str)  # what is missing stays missing
        values = texts.where(texts.str.fullmatch(CELL)).astype(np.float64)
    numbers = values.to_numpy(np.float64 if values.dtype.kind == "f" else None)
    right = (numbers >= 0) & (numbers <= EXACT) & (numbers == np.floor(numbers))
    if not right.all():
        raise no_counts(what, column)
    if numbers.sum(dtype=np.float64) > 2 * EXACT:  # far from what an int64 holds
        raise too_many(what)
    return numbers.astype(np.int64)

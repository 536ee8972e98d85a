"""Tables of rows: drawn with odd names, laid wherever a table may lie, and added up slowly.

row: (person, region, town, count) · leaf: (region, town) · WAYS: name → a function from a DataFrame to a table
"""

import csv
import warnings
from contextlib import contextmanager
from functools import partial
from hashlib import md5
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from hypothesis import strategies as st

from helpers.tables import tidy

LEVELS = ["region", "town"]
COLUMNS = ["person", *LEVELS, "count"]
NAMES = (
    "N", "S", " N", "N\u200b", "007", "7", "São Paulo", "Sa\u0303o\u00a0 Paulo", "a,b", 'say "x"', "two\nlines", "two lines",
    "old\rmac", "nan", "NULL", "-1", "日本", "=1+1", "semi;colon", "x" * 300, "tab\there", "#", "\\", "'", "🏥",
    "ﬁ", "İ", "%",
)  # fmt: skip
PERSONS = ("1", "01", "a", "A", "a ", "é", "e\u0301", "日本", "P\n1", 'p"', "NULL")
SECRET = "Klara Geheim"
NO_IBIS = "Ibis with DuckDB is missing (pip install 'ibis-framework[duckdb]')"


@st.composite
def tables(draw, persons=PERSONS, least=1, most=12):
    """A DataFrame of rows, all text but the counts; a person may have several rows, also in one leaf."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    name, count = st.sampled_from(names), st.integers(0, 3) | st.integers(0, 10**9)
    row = st.tuples(st.sampled_from(persons), name, name, count)
    found = pd.DataFrame(draw(st.lists(row, min_size=least, max_size=most)), columns=COLUMNS)
    return found.astype(dict.fromkeys(COLUMNS[:3], str) | {"count": int})


@contextmanager
def written(frame, ending):
    """The path of a file with these rows."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"rows.{ending}")
        save = frame.to_parquet if ending == "parquet" else partial(frame.to_csv, quoting=csv.QUOTE_NONNUMERIC)
        save(path, index=False)
        yield path


@contextmanager
def by_ibis(frame):
    """A table of a DuckDB that was opened by somebody else."""
    ibis = pytest.importorskip("ibis", reason=NO_IBIS)
    engine = ibis.duckdb.connect()
    try:
        engine.con.register("given", frame)
        engine.con.execute("CREATE TABLE held AS SELECT * FROM given")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ibis calls DuckDB in ways that will go
            table = engine.table("held")
        yield table
    finally:
        engine.disconnect()


@contextmanager
def as_it_is(frame):
    """The DataFrame itself."""
    yield frame


WAYS = {
    "pandas": as_it_is, "CSV": lambda frame: written(frame, "csv"), "Parquet": lambda frame: written(frame, "parquet"),
    "Ibis": by_ibis,
}  # fmt: skip


def need(way):
    """Leave a test out where what it needs is missing."""
    if way != "pandas":
        pytest.importorskip("ibis", reason=NO_IBIS)
        pytest.importorskip("duckdb", reason=NO_IBIS)


def slow_leaves(frame, count=None, person=None, most=1, nodes=None):
    """{leaf: people} of a table, row by row from the definition."""
    rows = [*frame[COLUMNS].itertuples(index=False)]
    if person is not None:
        digests = lambda row: md5("\x1f".join(row[:3]).encode()).hexdigest()  # noqa: E731
        own = [[row for row in rows if row.person == someone] for someone in {row.person for row in rows}]
        rows = [row for each in own for row in sorted(each, key=digests)[:most]]
    found = {} if nodes is None else {path(leaf): 0 for leaf in nodes[LEVELS].itertuples(index=False)}
    for row in rows:
        found[path(row[1:3])] = found.get(path(row[1:3]), 0) + (1 if count is None else row[3])
    return found


def path(leaf):
    """The names of a leaf as they come back."""
    return tuple(map(tidy, leaf))


def as_dict(found):
    """{leaf: people} of what `leaves` found; each leaf is there once."""
    rows = [(tuple(names), people) for *names, people in found.itertuples(index=False)]
    assert len({*dict(rows)}) == len(rows)
    return dict(rows)


def clean(error):
    """The sentence of a refusal: one line, no cell in it, and no other error behind it."""
    assert error.__context__ is None, f"{error.__context__!r} is behind it"
    assert SECRET not in str(error) and "\n" not in str(error)
    return str(error)

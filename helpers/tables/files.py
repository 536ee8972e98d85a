"""Files of rows, of any size, opened by DuckDB: CSV with every cell as text, or Parquet.

DuckDB works within a gigabyte of memory. What does not fit goes into a folder that nobody else can read, below the system's
folder for temporary files (`TMPDIR`), and is gone afterwards.
"""

import csv
import glob
import gzip
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import checks
from .engines import Source, ask, library

ENGINE = {
    "memory_limit": "1GB", "threads": min(4, os.cpu_count() or 1), "preserve_insertion_order": False,
    "autoinstall_known_extensions": False, "autoload_known_extensions": False,  # nothing is downloaded
}  # fmt: skip
_HEADER = 2**20  # letters in which the header of a CSV file has to end


@contextmanager
def opened(what: str, path: str | os.PathLike) -> Iterator[Source]:
    """The source that a file is, or all files of a pattern such as rows/*.parquet."""
    files = _found(what, path)
    read = _read_parquet if files[0].endswith(".parquet") else _read_csv
    at_a_terminal = sys.stdout.isatty() and not os.environ.get("TQDM_DISABLE")
    with TemporaryDirectory(prefix="tables-") as folder:
        engine = library().duckdb.connect(temp_directory=folder, **ENGINE)
        try:
            engine.con.execute(f"SET enable_progress_bar = {at_a_terminal}")
            yield read(what, engine, files)
        finally:
            engine.disconnect()


def _found(what: str, path: str | os.PathLike) -> list[str]:
    """The files of a path or pattern, all of one kind."""
    name = str(checks.path(what, path))
    if Path(name).is_dir():
        raise ValueError(f"{what} must be a file, or a pattern such as *.parquet for those in a folder, got {name!r}")
    files = [name] if Path(name).exists() else sorted(filter(os.path.isfile, glob.glob(name, recursive=True)))
    if not files:
        raise FileNotFoundError(f"{what} must be a file that is there, or a pattern for some, got {name!r}")
    if len({file.endswith(".parquet") for file in files}) > 1:
        raise ValueError(f"{what} must be files of one kind, got CSV and Parquet: {name!r}")
    return files


def _read_parquet(what: str, engine: Any, files: Sequence[str]) -> Source:
    right = f"a Parquet file that is whole ({files[0]})"
    table = ask(what, right, lambda: engine.read_parquet([*map(glob.escape, files)], hive_types_autocast=False))
    return Source(what, right, table, table.columns, table.columns)


def _read_csv(what: str, engine: Any, files: Sequence[str]) -> Source:
    right = f"a CSV file in UTF-8 with as many cells in every row as in its header, and one kind of line end ({files[0]})"
    headers = ask(what, right, lambda: [*map(_header, files)])
    if any(header != headers[0] for header in headers):
        raise ValueError(f"{what} must be CSV files with one header, got {len(files)} files with different ones")
    blank_lines, separator, columns = headers[0]
    inside = [f"column_{i}" for i in range(len(columns))]
    options = {"skip": blank_lines, "delim": separator, "quote": '"', "escape": '"', "hive_partitioning": False}
    cells = dict.fromkeys(inside, "VARCHAR")
    table = ask(what, right, lambda: engine.read_csv([*map(glob.escape, files)], columns=cells, **options))
    return Source(what, right, table, columns, inside)


def _header(file: str) -> tuple[int, str, list[str]]:
    """Blank lines before the header of a CSV file, its separator (what it has most of), and the names in it."""
    with (gzip.open if file.endswith(".gz") else open)(file, "rt", encoding="utf-8-sig", newline="") as rows:
        lines = StringIO(rows.read(_HEADER), newline="").readlines()
    blank = sum(1 for _ in takewhile(lambda line: not line.strip(), lines))
    separator = max(",;\t", key=lines[blank].count)
    header = next(csv.reader(lines[blank:], delimiter=separator, skipinitialspace=True, strict=True))
    return blank, separator, [name.strip() for name in header]

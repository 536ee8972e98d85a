"""Files by DuckDB: CSV in all its forms, files that are none, patterns, and what is left behind."""

import gzip
import os
import stat
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from support.rows import NO_IBIS, SECRET, as_dict, clean

from helpers.tables import files, leaves

pytest.importorskip("ibis", reason=NO_IBIS)
pytest.importorskip("duckdb", reason=NO_IBIS)

RIGHT = {
    "plain": b"town,n\nx,1\ny,2\n", "semicolons": b"town;n\nx;1\ny;2\n", "tabs": b"town\tn\nx\t1\ny\t2\n",
    "Windows": b"town,n\r\nx,1\r\ny,2\r\n", "old Mac": b"town,n\rx,1\ry,2\r", "a mark": b"\xef\xbb\xbftown,n\nx,1\ny,2\n",
    "blank lines": b"\n \ntown,n\n\nx,1\n\ny,2\n\n", "no last end": b"town,n\nx,1\ny,2",
    "another order": b"n,town\n1,x\n2,y\n", "blanks": b"town , n\nx , 1\ny , 2\n",
    "quotes": b'"town","n"\n"x","1"\n"y","2"\n', "after a blank": b'town,n\nx, "1"\ny, "2"\n',
    "a name over two lines": b'town,n,"two\nlines"\nx,1,\ny,2,\n', "other columns": b"town,note,n,\nx,,1,\ny,,2,\n",
    "a separator in quotes": b'town,n,"a;b;c"\nx,1,q\ny,2,q\n',
}  # fmt: skip


@pytest.mark.parametrize("content", RIGHT.values(), ids=RIGHT)
def test_a_table_may_be_written_in_many_ways(tmp_path, content):
    """Separators, line ends, quotes, blanks and blank lines do not matter."""
    (tmp_path / "rows.csv").write_bytes(content)
    assert as_dict(leaves(tmp_path / "rows.csv", ["town"], count="n")) == {("x",): 1, ("y",): 2}


S = SECRET.encode()
HOSTILE = {
    "too few cells": b"town,n\n" + S + b"\nx,1\n", "too many cells": b"town,n\nx,1," + S + b"\n",
    "an open quote": b'town,n\n"' + S + b",1\nx,2\n", "text after a quote": b'town,n\n"x"' + S + b",1\n",
    "another encoding": b"town,n\n" + S + b" S\xe3o,1\n", "UTF-16": f"town,n\n{SECRET},1\n".encode("utf-16"),
    "two kinds of line end": b"town,n\r\nx,1\n" + S + b",2\n", "a line too long": b"town,n\n" + S * 300_000 + b",1\n",
    "no text": bytes(range(256)) * 20, "nothing": b"", "blank": b"\n\n \n", "an archive": b"PK\x03\x04" + S * 100,
    "a count that is none": b"town,n\nx," + S + b"\n", "a header that is too long": b"t" * 2_000_000 + b"\n" + S,
    "a header of numbers": b"12345,678\n9,10\n", "an open quote in the header": b'"town,n\nx,1\n' + S,
    "a name missing": b"town,n\n,1\n" + S + b",2\n",
}  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_what_is_wrong_with_a_file_is_said_without_a_cell(tmp_path, content):
    """In one sentence that names the argument, whatever DuckDB says about the line."""
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(ValueError) as refused:
        leaves(tmp_path / "rows.csv", ["town"], count="n")
    message = clean(refused.value)
    assert message.startswith(("table", "levels must name one column each of table")) and "12345" not in message


def test_a_header_that_is_a_row_shows_no_number(tmp_path):
    """Words of it are shown, as column names are; numbers are not."""
    (tmp_path / "rows.csv").write_bytes(b"Ulm,1234\nBonn,5678\n")
    with pytest.raises(ValueError, match=r"of table \(Ulm, \(no name\)\), got 'town'$"):
        leaves(tmp_path / "rows.csv", ["town"])


PARQUET = {
    "cut": lambda data: data[:-20],
    "none": lambda data: b"PAR1",
    "spoilt": lambda data: data[:4] + bytes(40) + data[44:],
}


@pytest.mark.parametrize("spoil", PARQUET.values(), ids=PARQUET)
def test_a_broken_parquet_file_is_refused(tmp_path, spoil):
    """In one sentence, too."""
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"town": [SECRET] * 50}).to_parquet(path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(
        ValueError, match=r"^table must be a Parquet file that is whole .*, but reading it ended in"
    ) as refused:
        leaves(path, ["town"])
    clean(refused.value)


def test_codes_keep_their_zeros(tmp_path):
    """Every cell of a CSV file is text, whatever DuckDB would take it for."""
    (tmp_path / "rows.csv").write_text("town,who\n007,1\n7,01\n2020-04-01,1\ntrue,1\n1e5,1\n")
    found = as_dict(leaves(tmp_path / "rows.csv", ["town"], person="who", rows_per_person=5))
    assert {*found} == {("007",), ("7",), ("2020-04-01",), ("true",), ("1e5",)}
    assert sum(as_dict(leaves(tmp_path / "rows.csv", ["town"], person="who")).values()) == 2  # 1 and 01


def test_a_pattern_is_all_files_of_it(tmp_path):
    """Of both kinds, though not of both at once; CSV files have one header."""
    for name, town in (("a", "x"), ("b", "y"), ("c", "x")):
        pd.DataFrame({"town": [town]}).to_csv(tmp_path / f"{name}.csv", index=False)
        pd.DataFrame({"town": [town]}).to_parquet(tmp_path / f"{name}.parquet")
    for pattern in ("*.csv", "[abc].parquet", "**/*.csv"):
        assert as_dict(leaves(str(tmp_path / pattern), ["town"])) == {("x",): 2, ("y",): 1}
    with pytest.raises(ValueError, match=r"^table must be files of one kind, got CSV and Parquet"):
        leaves(tmp_path / "*", ["town"])
    (tmp_path / "d.csv").write_text("note,town\nx,y\n")
    with pytest.raises(ValueError, match=r"^table must be CSV files with one header, got 4 files with different ones$"):
        leaves(tmp_path / "*.csv", ["town"])


@pytest.mark.parametrize("name", ["a*b", "a[b]", "a?b", "a'b", 'a"b', "a b", "é", "town=x", "-", "a;b", "{a}"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_may_have_any_name(tmp_path, name, ending):
    """A file that is there is meant, not those that its name would be a pattern of."""
    for file in (name, "aXb", "ab"):
        (tmp_path / file).mkdir()
        frame = pd.DataFrame({"town": ["right" if file == name else "wrong"]})
        path = tmp_path / file / f"{file}.{ending}"
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    assert as_dict(leaves(tmp_path / name / f"{name}.{ending}", ["town"])) == {("right",): 1}


def test_a_packed_file_is_read(tmp_path):
    """A CSV file that ends in .gz is unpacked on the way; one that only says so is refused."""
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"town\nx\nx\n"))
    assert as_dict(leaves(tmp_path / "rows.csv.gz", ["town"])) == {("x",): 2}
    (tmp_path / "rows.csv.gz").write_bytes(b"town\n" + S)
    with pytest.raises(ValueError, match="reading it ended in BadGzipFile") as refused:
        leaves(tmp_path / "rows.csv.gz", ["town"])
    clean(refused.value)


def test_what_is_no_file_is_refused(tmp_path):
    """A folder, a file that is not there, a pattern of none, an address, a name that no file can have."""
    with pytest.raises(ValueError, match=r"^table must be a file, or a pattern such as \*\.parquet .* got '"):
        leaves(tmp_path, ["town"])
    for path in (tmp_path / "none.csv", tmp_path / "*.csv", "https://127.0.0.1:1/rows.csv", "s3://bucket/rows.parquet"):
        with pytest.raises(FileNotFoundError, match=r"^table must be a file that is there, or a pattern for some, got '"):
            leaves(path, ["town"])
    with pytest.raises(ValueError, match=r"^nodes must be a path, which has no null character"):
        leaves(pd.DataFrame({"town": ["x"]}), ["town"], nodes="a\0b.csv")


def test_what_does_not_fit_lies_where_nobody_looks_and_is_gone_afterwards(tmp_path, monkeypatch):
    """DuckDB keeps to its memory; its folder is for its owner alone, and goes also if the work fails."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = Path(tmp_path, "rows.csv")
    rows.write_text("town\nx\n")
    with files.opened("table", rows) as source:
        engine = source.table.get_backend()
        settings = "SELECT current_setting('temp_directory'), current_setting('memory_limit')"
        folder, memory = engine.con.execute(settings).fetchone()
        assert Path(folder).parent == tmp_path and stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert memory == "953.6 MiB"  # 1 GB
    rows.write_text("town\nx,y\n")
    with pytest.raises(ValueError, match="reading it ended in"):
        leaves(rows, ["town"])
    assert [*tmp_path.iterdir()] == [rows]


@pytest.mark.parametrize("terminal, disabled, shown", [(True, "", True), (True, "1", False), (False, "", False)])
def test_progress_is_for_people_at_a_terminal(tmp_path, monkeypatch, terminal, disabled, shown):
    """DuckDB shows its bar there alone, and not if bars are switched off."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setenv("TQDM_DISABLE", disabled)
    (tmp_path / "rows.csv").write_text("town\nx\n")
    with files.opened("table", tmp_path / "rows.csv") as source:
        found = source.table.get_backend().con.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    assert found == (shown,)

"""CSV into columns: what is read is what is there, however large, and what cannot be read is named by file and line."""

import io
import os
import random
import threading
from itertools import islice
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from support.refusals import refusal

from helpers.cli import columns
from helpers.cli.columns import Column, read_columns
from helpers.tables import tidy

GOOD = "region,store,population\nN,007,3\nN,7,0\nS,007,12\n"
ROW = "a row must close the quotes that it opens, with a separator behind them, and have cells of at most 131,072 letters"


def read(tmp_path, content, keep=None):
    file = tmp_path / "data.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_columns(file, keep)


def cells(column):
    """The texts of a column, row by row."""
    return [column.texts[code] for code in column.codes]


def test_columns_lines_and_texts_are_those_of_the_file(tmp_path):
    """Cells are as they are, breaks in quotes too; names are tidied, columns without one dropped; a row knows its end."""
    names, lines, kept = read(tmp_path, ',re\u0301gion , store\r\n0,"N\r\nO",007\r\n\r\n1,S,7\r\n2,S,007\r\n')
    assert names == ("région", "store") and [*lines] == [1, 3, 5, 6]
    assert {name: cells(column) for name, column in kept.items()} == {
        "région": ["N\r\nO", "S", "S"], "store": ["007", "7", "007"],
    }  # fmt: skip
    assert kept["store"].texts == ["007", "7"] and kept["store"].codes.dtype.itemsize == 4


@pytest.mark.parametrize("separator", [",", ";", "\t", ", ", ";  "])
def test_the_header_says_what_is_between_cells(tmp_path, separator):
    """It is what the header has most of; spaces behind it are no part of a cell, also before a quote."""
    rows = [["XaX", "XbX", "c", "d"], ["x", '"y,;\t z"', "w", ""]]
    names, _, kept = read(tmp_path, "\n".join(map(separator.join, rows)))
    assert names == ("XaX", "XbX", "c", "d") and [*map(cells, kept.values())] == [["x"], ["y,;\t z"], ["w"], [""]]


@pytest.mark.parametrize("chunk", [1, 3, 8, 2**16])
def test_chunks_make_no_difference(tmp_path, monkeypatch, chunk):
    """However many cells are taken at a time, but a row at least, every row is there, in its place."""
    monkeypatch.setattr(columns, "_CHUNK", chunk)
    taken = []
    monkeypatch.setattr(columns, "islice", lambda rows, most: taken.append(most) or islice(rows, most))
    rows = [[str(random.Random(i).randrange(5)) for i in (3 * at, 3 * at + 1, 3 * at + 2)] for at in range(50)]
    _, lines, kept = read(tmp_path, "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows))
    assert [[*row] for row in zip(*map(cells, kept.values()), strict=True)] == rows
    assert [*lines] == [*range(1, 52)] and {*taken} == {max(1, chunk // 3)}


def test_only_what_is_asked_for_is_kept(tmp_path):
    """With `keep`, other columns are named and counted and not kept; a name that is not there is no fault here."""
    names, _, kept = read(tmp_path, GOOD, keep=["store", "shelf"])
    assert (
        names == ("region", "store", "population") and [*kept] == ["store"] and cells(kept["store"]) == ["007", "7", "007"]
    )
    assert "got 4" in refusal(read, tmp_path, GOOD + "N,8,0,0\n", ["store"], by=ValueError)


def test_a_table_may_be_wide(tmp_path):
    """Tens of thousands of columns are read like three."""
    many = 60_000
    names, _, kept = read(tmp_path, ",".join(f"c{i}" for i in range(many)) + "\n" + ",".join(map(str, range(many))))
    assert len(names) == len(kept) == many and cells(kept["c59999"]) == ["59999"]


def test_names_are_categories_in_order():
    """Texts that are one name have one code, and codes are in the order of the names, whether they came in order or not."""
    for texts in (["N", "S"], ["S", "N"], ["N"], ["N", "N "], ["a", "c", "b"]):
        found = Column(np.array([0, len(texts) - 1, 0]), texts).categories
        assert [*found.categories] == sorted({*map(tidy, texts)}) and [*found] == [tidy(texts[at]) for at in (0, -1, 0)]
    column = Column(np.array([2, 0, 1, 0]), ["S", "N ", "N"])
    assert [*column.categories] == ["N", "S", "N", "S"] and [*column.categories.categories] == ["N", "S"]
    assert column.names == ["S", "N", "N"] and [column.first(code) for code in range(3)] == [1, 2, 0]


TEXTS = {
    "plain": ["007", "a-b", "~", "!"], "an empty one": ["a", "", "b"], "a blank": ["a", "b c "], "a line end": ["a\nb", "c"],
    "line ends alone": ["\n", "a"], "a tab": ["\ta", "b"], "other letters": ["a", "Sa\u0303o"],
    "one": ["a"], "one empty": [""], "none": [], "invisible": ["a\u200b", "a"], "a control character": ["a\x7f", "\x1fb"],
}  # fmt: skip


@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
def test_names_are_tidied_one_by_one(texts):
    """Whether or not all of them can be passed over at one look, each name is what `tidy` makes of its text."""
    assert Column(np.arange(len(texts)), texts).names == [*map(tidy, texts)]


LONG = "x" * 131_072
UTF_8 = " must be a CSV file in UTF-8: save it again with that encoding"
PRINTABLE = ", line 1: the name of column {} must be printable, on one line, in UTF-8"
BAD = {  # what is wrong: (content, what follows the path)
    "empty": ("", " is empty"), "blank": (" \n\n\t\n", " is empty"), "only a byte order mark": ("\ufeff", " is empty"),
    "Latin-1": (GOOD.replace("S", "Süd").encode("latin-1"), UTF_8),
    "UTF-16": (GOOD.encode("utf-16"), UTF_8),
    "UTF-16 without a mark": (
        GOOD.encode("utf-16-le"), PRINTABLE.format(1),
    ),
    "no UTF-8 far down": (
        GOOD.encode() + b"N,8,1\n" * 9999 + b"\xff,8,1\n", UTF_8,
    ),
    "a null byte in a name": (
        GOOD.replace("store", "st\0re"), PRINTABLE.format(2),
    ),
    "text turned around": (
        GOOD.replace("store", "\u202estore"), PRINTABLE.format(2),
    ),
    "several lines for a name": (GOOD.replace("store", '"store\nN"'), PRINTABLE.format(2)),
    "other lines for a name": (GOOD.replace("store", "store\u2028N"), PRINTABLE.format(2)),
    "a zip": (b"PK\x03\x04\xff\xfe\x00\x80", UTF_8),
    "a row too long": (GOOD.replace("7,0", "7,0,0"), ", line 3: a row must have 3 cells, as the header has, got 4"),
    "a row too short": (GOOD.replace("7,0", "7"), ", line 3: a row must have 3 cells, as the header has, got 2"),
    "a row of blanks": (GOOD + " \n", ", line 5: a row must have 3 cells, as the header has, got 1"),
    "an open quote": (GOOD.replace("S", '"S'), f", from line 4 on: {ROW}"),
    "an open quote above": ('"' + GOOD, f", from line 1 on: {ROW}"),
    "an open quote in a large file": (GOOD.replace("S", '"S') + "N,8,1\n" * 99_999, f", from line 4 on: {ROW}"),
    "text behind a quote": (GOOD.replace("007", '"0"07'), f", from line 2 on: {ROW}"),
    "a cell too large": (GOOD.replace("S", LONG + "x"), f", from line 4 on: {ROW}"),
    "a name too large": (GOOD.replace("region", LONG + "x"), f", from line 1 on: {ROW}"),
    "twice the same name": (
        GOOD.replace("store", "region"), ", line 1: column names must be distinct, but columns 1 and 2 have the same",
    ),
    "twice the same name to the eye": (
        "\n\ne\u0301,x,\u00e9 \n1,2,3\n", ", line 3: column names must be distinct, but columns 1 and 3 have the same",
    ),
}  # fmt: skip


@pytest.mark.parametrize("content, sentence", BAD.values(), ids=BAD)
def test_what_is_no_table_is_refused_in_a_sentence(tmp_path, content, sentence):
    """The refusal begins with the file, names the line where there is one, and shows nothing of what is in it."""
    assert refusal(read, tmp_path, content, by=ValueError) == f"{tmp_path / 'data.csv'}{sentence}"


def test_the_largest_cell_is_read(tmp_path):
    """A cell may have as many letters as the csv module takes."""
    assert cells(read(tmp_path, f"a,b\n{LONG},1\n")[2]["a"]) == [LONG]


def test_a_first_line_that_does_not_end_is_no_header(tmp_path, monkeypatch):
    """A large file without lines is refused before all of it is in memory; a line that fits is a header."""
    monkeypatch.setattr(columns, "_LONGEST", 100)
    file = tmp_path / "data.csv"
    said = f"{file} must be a CSV file, but its first line does not end"
    assert refusal(read, tmp_path, "x" * 100, by=ValueError) == said
    assert read(tmp_path, "x" * 98 + "\n")[0] == ("x" * 98,)


def test_folders_and_devices_are_no_tables(tmp_path):
    """A folder is refused by name, and so is a device, which may have no end."""
    assert refusal(read_columns, tmp_path, by=ValueError) == f"{tmp_path} must be a CSV file, but is a folder"
    for device in map(Path, ("/dev/zero", "/dev/null")):
        assert refusal(read_columns, device, by=ValueError) == f"{device} must be a CSV file or a pipe, but is a device"


def test_what_cannot_be_opened_is_named(tmp_path):
    """A file that is not there, and links in a circle, are errors of the system, with the name."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    with pytest.raises(FileNotFoundError) as missing:
        read_columns(one)
    one.symlink_to(two)
    two.symlink_to(one)
    with pytest.raises(OSError) as circle:
        read_columns(one)
    assert missing.value.filename == circle.value.filename == str(one)
    assert circle.value.strerror == "Too many levels of symbolic links"


def test_a_pipe_is_read_once_and_whole(tmp_path):
    """A pipe, which cannot be read twice, gives the same as a file."""
    pipe, content = tmp_path / "pipe", GOOD + "N,8,1\n" * 30_000
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[content])
    writer.start()
    names, lines, kept = read_columns(pipe)
    writer.join()
    expected = read(tmp_path, content)
    assert (names, lines) == expected[:2] and [*map(cells, kept.values())] == [*map(cells, expected[2].values())]


@pytest.mark.parametrize("letters", [10, 100_000])
def test_a_disk_that_fails_is_named(tmp_path, monkeypatch, letters):
    """An error while reading says which file it was, at the start and in the middle."""
    (tmp_path / "data.csv").write_text("a\n" + "x\n" * letters)
    before, seen = io.FileIO.read, []

    def failing(self, size=-1):
        seen.append(size)
        if len(seen) > letters // 50_000:
            raise OSError(5, "Input/output error")
        return before(self, size)

    monkeypatch.setattr(columns._Watched, "read", failing)
    with pytest.raises(OSError) as refused:
        read_columns(tmp_path / "data.csv")
    assert (refused.value.filename, refused.value.strerror) == (str(tmp_path / "data.csv"), "Input/output error")


def test_too_little_memory_is_said(tmp_path, monkeypatch):
    """A table that memory cannot hold is refused in a sentence."""
    monkeypatch.setattr(columns, "_encoded", Mock(side_effect=MemoryError))
    said = f"{tmp_path / 'data.csv'} must be a table that fits into memory, and is larger"
    assert refusal(read, tmp_path, GOOD, by=ValueError) == said


def test_a_bar_shows_how_far_it_is(tmp_path, monkeypatch):
    """The bar is as long as the file, is moved by every byte, waits a second before it shows, and is gone afterwards."""
    bars = []

    class Bar:
        def __init__(self, **options):
            self.options, self.moved = options, []
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

        def update(self, amount):
            self.moved.append(amount)

    monkeypatch.setattr("tqdm.tqdm", Bar)
    content = GOOD + "Ü,8,1\n" * 5000
    read(tmp_path, content)
    [bar] = bars
    size = len(content.encode())
    expected = {"desc": "reading", "total": size, "unit": "B", "unit_scale": True, "delay": 1, "leave": False}
    del bar.options["file"]  # see test_progress.py
    assert max(bar.moved) < size / 2  # the file is not in memory as a whole
    assert bar.options == expected and sum(bar.moved) == size and bar.closed


def test_nothing_stays_open(tmp_path, monkeypatch):
    """After reading, and after a refusal, the file is closed."""
    opened, watched = [], columns._Watched
    monkeypatch.setattr(columns, "_Watched", lambda *args: opened.append(watched(*args)) or opened[-1])
    read(tmp_path, GOOD)
    refusal(read, tmp_path, GOOD + "N\n", by=ValueError)
    assert [file.closed for file in opened] == [True, True]

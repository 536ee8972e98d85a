"""CSV in and out: what is read is what is there, what is wrong is named by file and line, what is written is whole."""

import hashlib
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from strategies import frames, trees

from helpers import Hierarchy
from helpers.tables import Sheet, check_target, long_form, save_csv, write

GOOD = "region,store,population\nN,007,3\nN,7,0\nS,007,12\n"
LEVELS = ["region", "store"]


def sheet(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "data.csv"
    file.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return Sheet.read(file)


SAME = {  # other ways to write GOOD
    "Windows line ends": GOOD.replace("\n", "\r\n"), "no last line end": GOOD.rstrip(), "semicolons": GOOD.replace(",", ";"),
    "tabs": GOOD.replace(",", "\t"), "spaces after commas": GOOD.replace(",", ", "),
    "blank lines": GOOD.replace("\n", "\n\n"),
    "a byte order mark": "\ufeff" + GOOD, "quotes": GOOD.replace("007", '"007"'), "decimals": GOOD.replace("12", "12.0"),
    "row numbers": ",region,store,population\n0,N,007,3\n1,N,7,0\n2,S,007,12\n", "other columns": GOOD.replace("\n", ",x\n"),
    "rows that add up": GOOD.replace("S,007,12", "S,007,5\nS,007,7"), "old Mac line ends": GOOD.replace("\n", "\r"),
}  # fmt: skip


@pytest.mark.parametrize("text", [GOOD, *SAME.values()], ids=["as it is", *SAME])
def test_a_table_is_read_however_it_is_written(tmp_path, text):
    """Separators, line ends, quotes and further columns make no difference, and codes keep their zeros."""
    tree = sheet(tmp_path, text).tree(LEVELS, "population", whole=True)
    assert [level.tolist() for level in tree.labels] == [["N", "S"], ["007", "7", "007"]]
    assert [level.tolist() for level in tree.counts] == [[3, 12], [3, 0, 12]]
    assert tree.counts[1].dtype == np.int64


def test_a_sheet_holds_texts_lines_and_a_checksum(tmp_path):
    """Cells are kept as they are, breaks in quotes too; columns without a name are dropped; a row knows its last line."""
    text = ',region,store\r\n0,"N\r\nO",007\r\n\r\n1,S,7\r\n'
    found = sheet(tmp_path, text)
    assert found.columns == {"region": ("N\r\nO", "S"), "store": ("007", "7")} and list(found.lines) == [3, 5]
    assert found.path == tmp_path / "data.csv" and found.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_a_file_of_one_column_is_a_table(tmp_path):
    """Without any separator in the header there is one column, whatever its cells are."""
    assert sheet(tmp_path, "region\nN\nX\n").nodes(["region"]).labels[0].tolist() == ["N", "X"]


def test_fractions_stay_fractions(tmp_path):
    """Counts with fractions, as a prior may have, are floats of any column; sums up to 2^53 - 1 itself are taken."""
    text = GOOD.replace("population", "patients")
    tree = sheet(tmp_path, text.replace("12", "2.5")).tree(LEVELS, "patients")
    assert [level.tolist() for level in tree.counts] == [[3.0, 2.5], [3.0, 0.0, 2.5]]
    assert sheet(tmp_path, text.replace("12", str(2**53 - 4))).tree(LEVELS, "patients").counts[0].sum() == 2**53 - 1


@given(frames())
def test_what_pandas_writes_is_read_back(tmp_path_factory, frame):
    """A table that goes through a file gives the tree that it gives without one."""
    file = tmp_path_factory.mktemp("csv") / "data.csv"
    frame.to_csv(file)  # with row numbers, as people do
    found = Sheet.read(file).tree(["a", "b", "c"], "population")
    expected = Hierarchy.from_frame(frame.astype({"b": str}), ["a", "b", "c"])
    assert [level.tolist() for level in found.labels] == [level.tolist() for level in expected.labels]
    for one, other in zip(found.counts, expected.counts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_nodes_do_not_depend_on_counts(tmp_path):
    """The tree of nodes is the same whatever stands in the column of counts, and needs none."""
    plain = sheet(tmp_path, GOOD).nodes(LEVELS)
    for text in (GOOD.replace("12", "secret"), "region,store\nN,007\nN,7\nS,007\n"):
        assert sheet(tmp_path, text).nodes(LEVELS).sizes.tolist() == plain.sizes.tolist() == [2, 3]
    assert not any(level.any() for level in plain.counts)


COUNT_COLUMNS = {
    "population": ("region,store,population,year\nN,a,3,2020\n", None, "population"),
    "the only numbers": ("region,store,note,patients\nN,1,x,3\n", None, "patients"),
    "by name": ("region,store,patients,year\nN,a,3,2020\n", "patients", "patients"),
}


@pytest.mark.parametrize("text, count, expected", COUNT_COLUMNS.values(), ids=COUNT_COLUMNS)
def test_the_count_column_is_found(tmp_path, text, count, expected):
    """The counts are the column that is named, or population, or the only column of numbers."""
    assert sheet(tmp_path, text).count_column(LEVELS, count) == expected


BAD = {  # what is wrong: (content, words of the refusal)
    "empty": ("", "data.csv is empty"), "blank": (" \n\n", "data.csv is empty"),
    "header only": ("region,store,population\n", "data.csv has a header and no rows"),
    "Latin-1": (GOOD.replace("S", "Süd").encode("latin-1"), "data.csv must be a CSV file in UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "data.csv must be a CSV file in UTF-8"),
    "a zip": (b"PK\x03\x04\xff\xfe\x00\x80", "data.csv must be a CSV file in UTF-8"),
    "a row too long": (GOOD.replace("7,0", "7,0,0"), "data.csv, line 3: a row must have 3 cells, as the header has, got 4"),
    "a row too short": (GOOD.replace("7,0", "7"), "data.csv, line 3: a row must have 3 cells, as the header has, got 2"),
    "an open quote": (GOOD.replace("S", '"S'), "data.csv must be a CSV file, but cannot be read as one"),
    "no such level": (GOOD.replace("store", "shop"), "data.csv has no column 'store'; its columns are region, shop"),
    "twice the same name": (GOOD.replace("store", "region"), "data.csv, line 1: column names must be distinct"),
    "no name for a node": (GOOD.replace("S,", ","), "data.csv, line 4: region is empty; every row must name one"),
    "text for a count": (GOOD.replace("12", "many"), "data.csv, line 4: population must be a finite number, got 'many'"),
    "nothing for a count": (GOOD.replace("12", ""), "data.csv, line 4: population must be a finite number, got ''"),
    "NaN": (GOOD.replace("12", "NaN"), "data.csv, line 4: population must be a finite number, got 'NaN'"),
    "infinity": (GOOD.replace("12", "inf"), "data.csv, line 4: population must be a finite number, got 'inf'"),
    "a true count": (GOOD.replace("12", "True"), "data.csv, line 4: population must be a finite number, got 'True'"),
    "thousands": (GOOD.replace("12", '"1,200"'), "data.csv, line 4: population must be a finite number, got '1,200'"),
    "negative": (GOOD.replace("12", "-1"), "data.csv, line 4: population must be zero or more, got '-1'"),
    "too many to add": (GOOD.replace("12", "1e17"), "data.csv: population must add up to at most 2^53"),
    "just too many": (GOOD.replace(",3", ",0").replace("12", "9007199254740993"), "population must add up to at most 2^53"),
    "too many for an integer": (GOOD.replace("12", "9223372036854775808\nS,8,9223372036854775808"), "at most 2^53"),
    "a break in quotes": ('region,store,population\n"N\nO",a,1\nS,b,-1\n', "data.csv, line 4: population must be zero"),
    "a null byte": (GOOD.replace("12", "1\x002"), "data.csv, line 4: population must be a finite number"),
}  # fmt: skip


@pytest.mark.parametrize("content, words", BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_in_a_sentence(tmp_path, content, words):
    """The refusal names the file, the line where there is one, and what is wrong."""
    with pytest.raises(ValueError) as refusal:
        sheet(tmp_path, content).tree(LEVELS, "population")
    assert words in str(refusal.value) and "\n" not in str(refusal.value).replace(str(tmp_path), "")


HIDDEN = {"fraction": "2.5", "negative": "-17", "text": "seventeen"}


@pytest.mark.parametrize("value", HIDDEN.values(), ids=HIDDEN)
def test_refusals_of_a_release_show_no_count(tmp_path, value):
    """Even a wrong count is confidential: for a release its line is named and the value is not."""
    with pytest.raises(ValueError, match=r"line 4: population must be .* \(not shown\)") as refusal:
        sheet(tmp_path, GOOD.replace("12", value)).tree(LEVELS, "population", whole=True)
    assert value not in str(refusal.value)


SENTENCES = {  # (what is asked of a sheet, its content, what follows the path)
    "fraction": (
        lambda sheet: sheet.tree(LEVELS, "population", whole=True), GOOD.replace("12", "2.5"),
        ", line 4: population must be a whole number, got another value (not shown)",
    ),
    "no numbers": (
        lambda sheet: sheet.count_column(LEVELS), "region,store,note\nN,a,x\n",
        " has no column of numbers besides the levels: name the counts with --count; its columns are region, store, note",
    ),
    "too many": (
        lambda sheet: sheet.tree(LEVELS, "population"), GOOD.replace("12", str(2**53)),
        ": population must add up to at most 2^53 - 1, so that sums are exact, and is more",
    ),
}  # fmt: skip


@pytest.mark.parametrize("ask, content, sentence", SENTENCES.values(), ids=SENTENCES)
def test_refusals_are_whole_sentences(tmp_path, ask, content, sentence):
    """A refusal is one sentence that begins with the file."""
    with pytest.raises(ValueError) as refusal:
        ask(sheet(tmp_path, content))
    assert str(refusal.value) == f"{tmp_path / 'data.csv'}{sentence}"


def test_a_folder_is_no_table(tmp_path):
    """A folder in place of a file is refused by name."""
    with pytest.raises(ValueError) as refusal:
        Sheet.read(tmp_path)
    assert str(refusal.value) == f"{tmp_path} must be a CSV file, but is a folder"


NO_COUNT = {
    "none": ("region,store,note\nN,a,x\n", None, "no column of numbers besides the levels"),
    "two": ("region,store,patients,year\nN,a,3,2020\n", None, "several columns of numbers (patients, year)"),
    "another": (GOOD, "people", "has no column 'people'"),
}


@pytest.mark.parametrize("text, count, words", NO_COUNT.values(), ids=NO_COUNT)
def test_an_unclear_count_column_is_refused(tmp_path, text, count, words):
    """Where the counts are not clear, the refusal says which columns there are."""
    with pytest.raises(ValueError) as refusal:
        sheet(tmp_path, text).count_column(LEVELS, count)
    assert words in str(refusal.value) and "its columns are region, store" in str(refusal.value)


def test_a_level_cannot_be_the_counts(tmp_path):
    """A column is a level or the counts, not both."""
    with pytest.raises(ValueError, match="apart from the levels, got 'store' for both"):
        sheet(tmp_path, GOOD).tree(LEVELS, "store")


@given(trees())
def test_long_form_lists_every_node_with_its_path(tree):
    """Each level's rows are its counts in order, and the leaves' rows give the same tree again."""
    names = [np.array([f"{i:03}" for i in range(size)]) for size in tree.sizes]
    labelled = Hierarchy(tree.levels, tree.counts, tree.parents, tuple(names))
    table = long_form(labelled, tree.counts)
    for level, n in zip(tree.levels, tree.counts, strict=True):
        assert_array_equal(table[table["level"] == level]["count"], n)
    leaves = table[table["level"] == tree.levels[-1]]
    assert (leaves[list(tree.levels)] != "").all(axis=None)
    again = Hierarchy.from_frame(leaves, tree.levels, "count")
    np.testing.assert_allclose(again.counts[0].sum(), tree.counts[0].sum(), rtol=1e-9)


def test_long_form_is_one_table():
    """Levels lie below each other with one count of rows; a path is empty below its level; every level needs its counts."""
    frame = pd.DataFrame({"region": ["N", "N", "S"], "store": ["a", "b", "a"], "population": [2, 3, 4]})
    tree = Hierarchy.from_frame(frame, ["region", "store"])
    expected = {
        "level": ["region", "region", "store", "store", "store"], "region": ["N", "S", "N", "N", "S"],
        "store": ["", "", "a", "b", "a"], "count": [5, 4, 2, 3, 4],
    }  # fmt: skip
    table = long_form(tree, tree.counts)
    assert table.to_dict("list") == expected and table.index.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError):
        long_form(tree, tree.counts[:1])


def test_long_form_has_room_for_awkward_names():
    """Levels that are called level and count keep their columns beside the table's own."""
    frame = pd.DataFrame({"level": ["a"], "count": ["b"], "n": [3]})
    tree = Hierarchy.from_frame(frame, ["level", "count"], "n")
    assert long_form(tree, tree.counts).columns.tolist() == ["released level", "level", "count", "released count"]


def test_long_form_has_room_for_its_own_names():
    """Not even a level that is called as the table's own column would be called then loses its column."""
    frame = pd.DataFrame({"level": ["a"], "released level": ["b"], "n": [3]})
    tree = Hierarchy.from_frame(frame, ["level", "released level"], "n")
    table = long_form(tree, tree.counts)
    assert table.columns.tolist() == ["released released level", "level", "released level", "count"]
    assert table.iloc[:, 0].tolist() == ["level", "released level"]


@pytest.mark.parametrize("name", ["plain", "old\rmac", "two\nlines", 'say "x"', "a,b", "a\r\nb"])
def test_a_saved_table_is_read_back(tmp_path, name):
    """Whatever is in a name, also in that of a column, it comes back from the file; without need there are no quotes."""
    save_csv(pd.DataFrame({"a": [name, "b"], name: ["x", "y"], "n": [1, 2]}), tmp_path / "t.csv")
    found = Sheet.read(tmp_path / "t.csv")
    assert found.columns["a"] == (name, "b") and [*found.columns] == ["a", name, "n"]
    assert ('"' in (tmp_path / "t.csv").read_text()) == (name != "plain")


def test_a_saved_table_has_its_columns_and_no_others(tmp_path):
    """A carriage return in a column's name alone is enough for quotes."""
    save_csv(pd.DataFrame({"a": ["x", "y"], "n": [1, 2]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,n\nx,1\ny,2\n"
    save_csv(pd.DataFrame({"old\rmac": ["x"], "n": [1]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'"old\rmac","n"\n"x",1\n'


@pytest.mark.parametrize("path", [None, 7, b"data.csv", ["data.csv"]], ids=str)
def test_what_is_no_path_is_refused(path):
    """A path is text or a Path."""
    for call in (Sheet.read, lambda path: check_target(path, force=True)):
        with pytest.raises(TypeError, match="path must be a path, as text or a Path, got "):
            call(path)


def test_a_target_is_checked(tmp_path):
    """A file that is there is not touched without force; folders and missing folders are refused."""
    file = tmp_path / "out.csv"
    assert check_target(file, force=False) == file.resolve()
    file.write_text("old")
    with pytest.raises(ValueError, match=r"out\.csv is there already; nothing was written"):
        check_target(file, force=False)
    assert check_target(file, force=True) == file.resolve()
    for path in (tmp_path, tmp_path / "no" / "out.csv", os.devnull):
        with pytest.raises(ValueError, match="folder"):
            check_target(path, force=True)


def test_a_link_is_written_through(tmp_path):
    """Writing to a link replaces the file that it leads to."""
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write(check_target(tmp_path / "link.csv", force=True), lambda new: new.write_text("new"), force=True)
    assert (tmp_path / "real.csv").read_text() == "new" and (tmp_path / "link.csv").is_symlink()


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["disk", "Ctrl-C"])
def test_a_failing_write_leaves_the_old_file(tmp_path, error):
    """If writing fails half way, the old file is as it was and nothing is left beside it."""
    file = tmp_path / "out.csv"
    file.write_text("old")

    def fail(new):
        new.write_text("ha")
        raise error

    with pytest.raises(type(error)):
        write(file, fail, force=True)
    assert file.read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_blank_lines_above_the_header_are_passed_over(tmp_path):
    """The first line with something in it is the header, and tells what is between columns."""
    (tmp_path / "t.csv").write_text("\n\nregion;store;n\nN;a;3\n")
    assert Sheet.read(tmp_path / "t.csv").tree(["region", "store"], "n").counts[0].tolist() == [3]
    (tmp_path / "t.csv").write_text("\n\na,a\n1,2\n")
    with pytest.raises(ValueError, match="line 3: column names must be distinct"):
        Sheet.read(tmp_path / "t.csv")


def test_blanks_around_names_do_not_make_two_of_one(tmp_path):
    """A name is the same with a blank before or behind it, and blanks alone are no name."""
    (tmp_path / "t.csv").write_text("region,store,n\nN,b,3\nN ,c,4\n N,a,5\n")
    assert Sheet.read(tmp_path / "t.csv").tree(["region", "store"], "n").counts[0].tolist() == [12]
    (tmp_path / "t.csv").write_text('region, store,n\nN, "a, b",3\n')  # a blank before a quote
    assert Sheet.read(tmp_path / "t.csv").tree(["region", "store"], "n").labels[1].tolist() == ["a, b"]
    (tmp_path / "t.csv").write_text("region,store,n\nN,a,3\n \t,b,4\n")
    with pytest.raises(ValueError, match="line 3: region is empty"):
        Sheet.read(tmp_path / "t.csv").nodes(["region", "store"])


def test_without_force_a_new_file_is_not_overwritten(tmp_path):
    """Also if it appeared after the first look."""
    def save(new):
        new.write_text("ours")
        (tmp_path / "t.csv").write_text("theirs")

    with pytest.raises(ValueError, match="is there already; nothing was written"):
        write(tmp_path / "t.csv", save, force=False)
    assert (tmp_path / "t.csv").read_text() == "theirs" and [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    write(tmp_path / "t.csv", save, force=True)
    assert (tmp_path / "t.csv").read_text() == "ours"

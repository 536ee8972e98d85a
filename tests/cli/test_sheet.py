"""CSV in: what is read is what is there, and what is wrong is named by file and line."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from support.refusals import refusal
from support.strategies import frames

from helpers import Hierarchy
from helpers.cli.sheet import Sheet

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


NO_NUMBERS = {
    "text for a count": "many", "nothing for a count": "", "NaN": "NaN", "infinity": "inf", "a true count": "True",
}  # fmt: skip
FINITE = "data.csv, line 4: population must be a finite number"
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
    **{name: (GOOD.replace("12", cell), f"{FINITE}, got {cell!r}") for name, cell in NO_NUMBERS.items()},
    "thousands": (GOOD.replace("12", '"1,200"'), f"{FINITE}, got '1,200'"),
    "negative": (GOOD.replace("12", "-1"), "data.csv, line 4: population must be zero or more, got '-1'"),
    "too many to add": (GOOD.replace("12", "1e17"), "data.csv: population must add up to at most 2^53"),
    "just too many": (GOOD.replace(",3", ",0").replace("12", "9007199254740993"), "population must add up to at most 2^53"),
    "too many for an integer": (GOOD.replace("12", "9223372036854775808\nS,8,9223372036854775808"), "at most 2^53"),
    "a break in quotes": ('region,store,population\n"N\nO",a,1\nS,b,-1\n', "data.csv, line 4: population must be zero"),
    "a null byte": (GOOD.replace("12", "1\x002"), FINITE),
}  # fmt: skip


@pytest.mark.parametrize("content, words", BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_in_a_sentence(tmp_path, content, words):
    """The refusal names the file, the line where there is one, and what is wrong."""
    said = refusal(lambda: sheet(tmp_path, content).tree(LEVELS, "population"), by=ValueError)
    assert words in said and "\n" not in said.replace(str(tmp_path), "")


@pytest.mark.parametrize("value", ["2.5", "-17", "seventeen"], ids=["fraction", "negative", "text"])
def test_refusals_of_a_release_show_no_count(tmp_path, value):
    """Even a wrong count is confidential: for a release its line is named and the value is not."""
    with pytest.raises(ValueError, match=r"line 4: population must be .* \(not shown\)") as refused:
        sheet(tmp_path, GOOD.replace("12", value)).tree(LEVELS, "population", whole=True)
    assert value not in str(refused.value)


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
    assert refusal(ask, sheet(tmp_path, content), by=ValueError) == f"{tmp_path / 'data.csv'}{sentence}"


def test_a_folder_is_no_table(tmp_path):
    """A folder in place of a file is refused by name."""
    assert refusal(Sheet.read, tmp_path, by=ValueError) == f"{tmp_path} must be a CSV file, but is a folder"


NO_COUNT = {
    "none": ("region,store,note\nN,a,x\n", None, "no column of numbers besides the levels"),
    "two": ("region,store,patients,year\nN,a,3,2020\n", None, "several columns of numbers (patients, year)"),
    "another": (GOOD, "people", "has no column 'people'"),
}


@pytest.mark.parametrize("text, count, words", NO_COUNT.values(), ids=NO_COUNT)
def test_an_unclear_count_column_is_refused(tmp_path, text, count, words):
    """Where the counts are not clear, the refusal says which columns there are."""
    said = refusal(sheet(tmp_path, text).count_column, LEVELS, count, by=ValueError)
    assert words in said and "its columns are region, store" in said


def test_a_level_cannot_be_the_counts(tmp_path):
    """A column is a level or the counts, not both."""
    with pytest.raises(ValueError, match="apart from the levels, got 'store' for both"):
        sheet(tmp_path, GOOD).tree(LEVELS, "store")


def test_blank_lines_above_the_header_are_passed_over(tmp_path):
    """The first line with something in it is the header, and tells what is between columns."""
    assert sheet(tmp_path, "\n\nregion;store;n\nN;a;3\n").tree(LEVELS, "n").counts[0].tolist() == [3]
    with pytest.raises(ValueError, match="line 3: column names must be distinct"):
        sheet(tmp_path, "\n\na,a\n1,2\n")


def test_blanks_around_names_do_not_make_two_of_one(tmp_path):
    """A name is the same with a blank before or behind it, and blanks alone are no name."""
    assert sheet(tmp_path, "region,store,n\nN,b,3\nN ,c,4\n N,a,5\n").tree(LEVELS, "n").counts[0].tolist() == [12]
    found = sheet(tmp_path, 'region, store,n\nN, "a, b",3\n')  # a blank before a quote
    assert found.tree(LEVELS, "n").labels[1].tolist() == ["a, b"]
    with pytest.raises(ValueError, match="line 3: region is empty"):
        sheet(tmp_path, "region,store,n\nN,a,3\n \t,b,4\n").nodes(LEVELS)


def test_a_column_may_have_any_name(tmp_path):
    """Also one that is a word of Python's or of pandas'."""
    tree = sheet(tmp_path, "region,self\nN,3\nS,4\n").tree(["region"], "self")
    assert tree.counts[0].tolist() == [3, 4]

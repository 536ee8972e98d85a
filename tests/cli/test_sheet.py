"""A table of leaves: what is read is what is there, what is wrong is named by file and line, and no cell is ever shown."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from support.refusals import refusal
from support.strategies import frames

from helpers import Hierarchy
from helpers.cli.sheet import Sheet, is_formula
from helpers.tables import tidy

GOOD = "region,store,population\nN,007,3\nN,7,0\nS,007,12\n"
LEVELS = ["region", "store"]


def sheet(tmp_path, text, keep=None):
    file = tmp_path / "data.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return Sheet.read(file, keep)


SAME = {  # other ways to write GOOD
    "Windows line ends": GOOD.replace("\n", "\r\n"), "no last line end": GOOD.rstrip(), "semicolons": GOOD.replace(",", ";"),
    "tabs": GOOD.replace(",", "\t"), "spaces after commas": GOOD.replace(",", ", "),
    "blank lines": GOOD.replace("\n", "\n\n"), "lines of blanks above": " \n\t\n" + GOOD,
    "a byte order mark": "\ufeff" + GOOD, "quotes": GOOD.replace("007", '"007"'), "decimals": GOOD.replace("12", "12.0"),
    "row numbers": ",region,store,population\n0,N,007,3\n1,N,7,0\n2,S,007,12\n", "other columns": GOOD.replace("\n", ",x\n"),
    "rows that add up": GOOD.replace("S,007,12", "S,007,5\nS,007,7"), "old Mac line ends": GOOD.replace("\n", "\r"),
    "blanks around": GOOD.replace("12", " 12\u00a0").replace("N", "N "), "zeros in front": GOOD.replace("12", "00012"),
    "line ends of two systems": GOOD.replace("\n", "\r\r\n"), "a tab in a quoted name": GOOD.replace("store", '"store\t"'),
}  # fmt: skip


@pytest.mark.parametrize("text", [GOOD, *SAME.values()], ids=["as it is", *SAME])
def test_a_table_is_read_however_it_is_written(tmp_path, text):
    """Separators, line ends, quotes and further columns make no difference, and codes keep their zeros."""
    tree = sheet(tmp_path, text).tree(LEVELS, "population", whole=True)
    assert [level.tolist() for level in tree.labels] == [["N", "S"], ["007", "7", "007"]]
    assert [level.tolist() for level in tree.counts] == [[3, 12], [3, 0, 12]]
    assert tree.counts[1].dtype == np.int64 and tree.levels == ("region", "store")


def test_a_sheet_knows_its_columns_and_rows(tmp_path):
    """Columns without a name are left out, and blank lines are no rows."""
    found = sheet(tmp_path, ",region,store\n0,N,007\n\n1,S,7\n")
    assert (found.columns, found.rows, found.path) == (("region", "store"), 2, tmp_path / "data.csv")


def test_a_frame_has_what_is_asked_for(tmp_path):
    """Levels and persons are categories of tidied text, in order; counts are numbers; nothing else is in it."""
    found = sheet(tmp_path, "who,store,n,region\np2,b,3,S\np1,a,4,N \np2,a,5,N\n")
    frame = found.frame(["region", "store"], "n", "who")
    assert frame.columns.tolist() == ["region", "store", "n", "who"]
    expected = pd.DataFrame({"region": ["S", "N", "N"], "store": [*"baa"], "n": [3, 4, 5], "who": ["p2", "p1", "p2"]})
    assert frame.astype({"region": "str", "store": "str", "who": "str"}).equals(expected)
    assert [frame[name].cat.categories.tolist() for name in ("region", "store", "who")] == [
        ["N", "S"],
        ["a", "b"],
        ["p1", "p2"],
    ]
    assert found.frame(["store"]).columns.tolist() == ["store"] and found.frame(["store"], person="who").shape == (3, 2)


def test_counts_of_a_frame_may_have_fractions_unless_they_must_be_whole(tmp_path):
    """As for a tree, whole counts are for a release."""
    found = sheet(tmp_path, GOOD.replace("12", "2.5"))
    assert found.frame(LEVELS, "population")["population"].tolist() == [3, 0, 2.5]
    assert "must be a whole number" in refusal(found.frame, LEVELS, "population", whole=True, by=ValueError)


def test_what_is_no_path_is_refused():
    """A path is text or a Path."""
    assert refusal(Sheet.read, 7, by=TypeError) == "path must be a path, as text or a Path, got 7"


def test_a_file_of_one_column_is_a_table(tmp_path):
    """Without any separator in the header there is one column, whatever its cells are."""
    assert sheet(tmp_path, "region\nN\nX\n").nodes(["region"]).labels[0].tolist() == ["N", "X"]


def test_columns_that_are_not_kept_are_only_counted(tmp_path):
    """With `keep`, the tree is the same, and a row with a cell too many is refused all the same."""
    text = GOOD.replace("\n", ",x\n")
    found = sheet(tmp_path, text, keep=[*LEVELS, "population"])
    assert [*found.kept] == [*LEVELS, "population"] and len(found.columns) == 4
    assert [level.tolist() for level in found.tree(LEVELS, "population").counts] == [[3, 12], [3, 0, 12]]
    assert "must have 4 cells" in refusal(sheet, tmp_path, text + "N,8,1\n", LEVELS, by=ValueError)


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
    assert not any(level.any() for level in plain.counts) and plain.counts[0].dtype == np.int64


# Which column holds the counts

COUNT_COLUMNS = {
    "population": ("region,store,population,year\nN,a,3,2020\n", None, "population"),
    "the only numbers": ("region,store,note,patients\nN,1,x,3\n", None, "patients"),
    "by name": ("region,store,patients,year\nN,a,3,2020\n", "patients", "patients"),
    "by a name in another spelling": ("region,store,e\u0301te,year\nN,a,3,2020\n", " \u00e9te", "\u00e9te"),
    "a number by name": ("region,store,2019,2020\nN,a,3,4\n", "2020", "2020"),
    "numbers that are wrong": ("region,store,note,patients\nN,1,x,-1e3\n", None, "patients"),
}


@pytest.mark.parametrize("text, count, expected", COUNT_COLUMNS.values(), ids=COUNT_COLUMNS)
def test_the_count_column_is_found(tmp_path, text, count, expected):
    """The counts are the column that is named, or population, or the only column of numbers."""
    assert sheet(tmp_path, text).count_column(LEVELS, count) == expected


NAME_IT = ": name the counts with --count; "
THE_DATA = "line 1 must name the columns, but looks like a row of data (not shown)"
NO_COUNT = {  # (content, count, what follows the path)
    "none": ("region,store,note\nN,a,x\n", None, f" has no column of numbers besides the levels{NAME_IT}"
             "its columns are region, store, note"),
    "two": ("region,store,patients,year\nN,a,3,2020\n", None, f" has several columns of numbers (patients, year){NAME_IT}"
            "its columns are region, store, patients, year"),
    "infinite": ("region,store,n\nN,a,inf\n", None, f" has no column of numbers besides the levels{NAME_IT}"
                 "its columns are region, store, n"),
    "another": (GOOD, "people", " has no column 'people'; its columns are region, store, population"),
    "a number for a name": ("region,store,812\nN,a,3\n", None, f" has no column of numbers besides the levels{NAME_IT}"
                            f"{THE_DATA}"),
    "no level": (GOOD.replace("store", "shop"), None, " has no column 'store'; its columns are region, shop, population"),
    "no rows": ("region,store,n\n", None, " has a header and no rows"),
    "two numbers for names": ("region,store,812,x\nN,a,3,4\n", None,
                              f" has several columns of numbers{NAME_IT}{THE_DATA}"),
}  # fmt: skip


@pytest.mark.parametrize("text, count, sentence", NO_COUNT.values(), ids=NO_COUNT)
def test_an_unclear_count_column_is_refused(tmp_path, text, count, sentence):
    """Where the counts are not clear, the refusal says which columns there are, unless they look like data."""
    assert refusal(sheet(tmp_path, text).count_column, LEVELS, count, by=ValueError) == f"{tmp_path / 'data.csv'}{sentence}"


APART = {"count": {"count": "store"}, "person": {"person": "store"}, "both": {"count": "population", "person": "population"}}


@pytest.mark.parametrize("others", APART.values(), ids=APART)
def test_levels_counts_and_persons_are_columns_of_their_own(tmp_path, others):
    """A column is a level, the counts or the persons."""
    with pytest.raises(ValueError, match=r"apart from the levels, got '(store|population)' for both$"):
        sheet(tmp_path, GOOD).frame(LEVELS, **others)


def test_levels_may_be_named_in_another_spelling(tmp_path):
    """A level is found however its name is written, and a tree has it in its one spelling."""
    tree = sheet(tmp_path, GOOD.replace("region", "re\u0301gion")).tree(["r\u00e9gion ", "store"], " population")
    assert tree.levels == ("région", "store") and tree.sizes.tolist() == [2, 3]
    assert "levels must be distinct" in refusal(sheet(tmp_path, GOOD).nodes, ["store", "store "], by=ValueError)


# Names of nodes


def test_spellings_that_nobody_can_tell_apart_are_one_node(tmp_path):
    """Blanks, zero-width letters and composed letters do not make two nodes, and it is known how many names they changed."""
    cells = ["São", "Sa\u0303o", "São ", "S\u200bão", "Rio", "Rio", "a  b", "a\u00a0b", "x"]
    found = sheet(tmp_path, "region,store,n\n" + "".join(f"{cell},{i},1\n" for i, cell in enumerate(cells)))
    tree = found.tree(LEVELS, "n")
    assert tree.labels[0].tolist() == ["Rio", "São", "a b", "x"] and tree.counts[0].tolist() == [2, 4, 2, 1]
    assert "has no column 'shelf'" in refusal(found.spellings, ["shelf"], by=ValueError)
    assert (found.spellings(LEVELS), found.spellings(["store"]), found.spellings([" region"])) == (2, 0, 2)


def test_blanks_around_names_do_not_make_two_of_one(tmp_path):
    """A name is the same with a blank before or behind it, also before a quote, and in column names."""
    assert sheet(tmp_path, "region,store,n\nN,b,3\nN ,c,4\n N,a,5\n").tree(LEVELS, "n").counts[0].tolist() == [12]
    found = sheet(tmp_path, 'region, store,n\nN, "a, b",3\n')
    assert found.tree(LEVELS, "n").labels[1].tolist() == ["a, b"]


def test_line_breaks_in_names_become_blanks(tmp_path):
    """A name is one line, whatever its cell is."""
    found = sheet(tmp_path, 'region,store,n\n"New\nYork",a,3\n"New\r\n York",b,4\n')
    assert found.nodes(["region"]).labels[0].tolist() == ["New York"]


FORMULAS = {
    "a command": "=cmd|' /C calc'!A0", "equals": "=1+1", "at": "@SUM(A1)", "plus": "+HYPERLINK(A1)",
    "minus": "-2+3+cmd|' /C'!A0", "behind a blank": "\t =1+1", "behind a semicolon": "a; =1+1",
    "minus behind a semicolon": "a;-A1!B2",
    "full width": "＝1+1", "at in full width": "＠SUM", "plus in full width": "＋f(1)", "minus in full width": "－f(1)",
    "behind something invisible": "\u200b=1+1",
}  # fmt: skip
NO_FORMULAS = (
    "-1", "+5 years", "-", "+", "a=b", "a@b", "1-2 (old)", "-1;x(y)", "a;b", "- none -", "e-mail (work)", "<65", "'x",
    "−f(1)",
)  # fmt: skip
RUN = "must not begin like a formula, which a spreadsheet would run (not shown)"


@pytest.mark.parametrize("name", FORMULAS.values(), ids=FORMULAS)
def test_names_that_a_spreadsheet_would_run_are_refused(tmp_path, name):
    """Of a node by its line, of a level by its number, and neither is shown."""
    cell = '"' + name + '"'
    found = sheet(tmp_path, f"region,store,n\nN,a,3\nN,{cell},4\n")
    assert refusal(found.check_formulas, LEVELS, by=ValueError) == f"{tmp_path / 'data.csv'}, line 3: store {RUN}"
    found = sheet(tmp_path, f"region,{cell},n\nN,a,3\n")
    said = f"{tmp_path / 'data.csv'}, line 1: the name of level 2 {RUN}"
    assert refusal(found.check_formulas, ["region", name], by=ValueError) == said
    found.check_formulas(["region"])  # the other columns are not published
    assert is_formula(tidy(name)) and not is_formula("N")


def test_names_that_only_look_like_signs_are_taken(tmp_path):
    """A minus, a plus or a bracket alone runs nothing."""
    rows = "".join(f'N,"{name}",1\n' for name in NO_FORMULAS)
    assert sheet(tmp_path, "region,store,n\n" + rows).check_formulas(LEVELS) is None


CONTROLS = {
    "null": "a\0b",
    "escape": "\x1b[31mred",
    "delete": "a\x7f",
    "of Latin-1": "a\x9f",
    "to the left": "a\u202eb",
    "isolate": "\u2066a",
}


@pytest.mark.parametrize("name", CONTROLS.values(), ids=CONTROLS)
def test_control_characters_are_no_part_of_a_name(tmp_path, name):
    """A name that a terminal could take for a command, or that reads other than it is written, is refused by its line."""
    said = ", line 3: store must be text that can be printed, and has a control character (not shown)"
    found = sheet(tmp_path, f"region,store,n\nN,a,3\nN,{name},4\n")
    assert refusal(found.nodes, LEVELS, by=ValueError) == f"{tmp_path / 'data.csv'}{said}"
    assert refusal(found.frame, ["region"], None, "store", by=ValueError) == f"{tmp_path / 'data.csv'}{said}"


# Counts

WHOLE = ("0", "3", "12", "12.0", "007", " 5", "5 ", "5\u00a0", "0.0", "123456789")
DECIMAL = {
    "2.5": 2.5, "0.125": 0.125, "1234.125": 1234.125, "12.1250": 12.125, "0.1": 0.1, "2.5e-05": 2.5e-05, "1e-7": 1e-7,
    "33.3333333333": 33.3333333333, "12.00": 12, "12.0000": 12,
}  # fmt: skip
NO_COUNTS = (
    "", "many", "nan", "NaN", "inf", "Infinity", "-inf", "-1", "-0", "-0.0", "+5", "1e3", "1E3", "1e+3", "1e15", "1E-3",
    "1_000", "1,5", "1,200", "1.234.567", "1 000", "1\u00a0000", "1\u202f000", "1'000", "12.", ".5", "0x10", "0b1", "0o7",
    "١٢", "１２", "1²", "½", "Ⅻ", "12 people", "$5", "5%", "True", "None", "1\x002", "=1+1", "#REF!", "--3", "1.5.2",
    "1e", "e1", "1e400", "1j", "1-2", "12;", "1e-5e-5",
)  # fmt: skip


def counted(tmp_path, cell, whole, other="3"):
    """The counts of a table with this cell in its third line."""
    text = f'store;n\na;{other}\nb;"{cell}"\n'
    return sheet(tmp_path, text).tree(["store"], "n", whole).counts[0].tolist()


@pytest.mark.parametrize("cell", WHOLE)
def test_plain_digits_are_a_count(tmp_path, cell):
    """For a release and elsewhere; blanks around it and a .0 behind it are no part of it."""
    for whole in (True, False):
        assert counted(tmp_path, cell, whole) == [3, int(float(cell))]


@pytest.mark.parametrize("cell, value", DECIMAL.items())
def test_fractions_have_a_dot_and_are_for_simulation_only(tmp_path, cell, value):
    """A plain decimal is read where there may be fractions; a release counts people."""
    assert counted(tmp_path, cell, whole=False) == [3, value]
    assert "line 3: n must be a whole number" in refusal(counted, tmp_path, cell, whole=True, by=ValueError)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("cell", NO_COUNTS)
def test_anything_but_plain_digits_is_no_count(tmp_path, cell, whole):
    """What is read in two ways, or by no one, is refused by its line, and is not shown."""
    right = "a whole number" if whole else "a number"
    said = f", line 3: n must be {right} of zero or more in plain digits, such as 1200, got another value (not shown)"
    assert refusal(counted, tmp_path, cell, whole, by=ValueError) == f"{tmp_path / 'data.csv'}{said}"


@pytest.mark.parametrize("cell", ["12.000", "1.234", "999.125", "1.000"])
def test_a_dot_before_three_digits_may_mark_thousands(tmp_path, cell):
    """Twelve, or twelve thousand: refused, unless another count of the column shows that dots are decimal signs."""
    said = ", line 3: n must be clear: a dot before three digits may mark thousands; write 12.1250 or 12125, not 12.125"
    for other in ("3", "3.125", "12000"):
        where = said.replace("line 3", "line 2") if other == "3.125" else said
        assert refusal(counted, tmp_path, cell, False, other, by=ValueError) == f"{tmp_path / 'data.csv'}{where}"
    for other in ("0.5", "0.125", "1234.125", "7.0"):
        assert counted(tmp_path, cell, False, other) == [float(other), float(cell)]
    for other in ("3", "7.0"):
        assert "line 3: n must be a whole number" in refusal(counted, tmp_path, cell, True, other, by=ValueError)


TOO_MANY = ("9007199254740992", "9007199254740989", "9223372036854775808", "1" + "0" * 17, "9" * 400, "9" * 5000)


@pytest.mark.parametrize("cell", TOO_MANY, ids=len)
def test_sums_are_exact_or_refused(tmp_path, cell):
    """A sum that floats know to rounding only is refused, however many digits a count has."""
    said = f"{tmp_path / 'data.csv'}: n must add up to at most 2^53 - 1, so that sums are exact, and is more"
    for whole in (True, False):
        assert refusal(counted, tmp_path, cell, whole, by=ValueError) == said


# What is said


BAD = {  # what is wrong: (content, what follows the path)
    "header only": ("region,store,population\n", " has a header and no rows"),
    "no such level": (GOOD.replace("store", "shop"), " has no column 'store'; its columns are region, shop, population"),
    "no name for a node": (GOOD.replace("S,", ","), ", line 4: region is empty; every row must name one"),
    "blanks for a name": (GOOD.replace("S,", " \t,"), ", line 4: region is empty; every row must name one"),
    "invisible name": (GOOD.replace("S,", "\u200b,"), ", line 4: region is empty; every row must name one"),
    "a break in quotes": (
        'region,store,population\n"N\nO",a,1\nS,b,\n',
        ", line 4: population must be a number of zero or more in plain digits, such as 1200, got another value (not shown)",
    ),
    "below blank lines": ("\n\nregion,store,population\nN,a,1\n\nN,,1\n",
                          ", line 6: store is empty; every row must name one"),
}  # fmt: skip


@pytest.mark.parametrize("content, sentence", BAD.values(), ids=BAD)
def test_a_bad_table_is_refused_in_a_sentence(tmp_path, content, sentence):
    """The refusal names the file, the line where there is one, and what is wrong."""
    said = refusal(lambda: sheet(tmp_path, content).tree(LEVELS, "population"), by=ValueError)
    assert said == f"{tmp_path / 'data.csv'}{sentence}"


@pytest.mark.parametrize("ask", [Sheet.nodes, Sheet.frame, Sheet.check_formulas])
def test_the_first_line_that_is_wrong_is_named(tmp_path, ask):
    """Of many, the first; rows that are right and come again are passed over."""
    found = sheet(tmp_path, "region,store\nN,a\nN,b\nN,=1\nN,a\nN,=1\nN,\nN,=2\nN,\n")
    line = 4 if ask is Sheet.check_formulas else 7
    assert f"data.csv, line {line}: store " in refusal(ask, found, LEVELS, by=ValueError)


def test_blank_lines_above_the_header_are_passed_over(tmp_path):
    """The first line with something in it is the header, and tells what is between columns."""
    assert sheet(tmp_path, "\n\nregion;store;n\nN;a;3\n").tree(LEVELS, "n").counts[0].tolist() == [3]
    said = refusal(sheet(tmp_path, "\n \nN,7\n1,2\n").nodes, LEVELS, by=ValueError)
    assert said.endswith("has no column 'region'; line 3 must name the columns, but looks like a row of data (not shown)")


SECRETS = ("Quark", "4711", "1980-04-01", "Zeta")  # cells that nobody may see
LEAKS = {  # what was read by mistake: a table that consists of cells
    "no header": "Quark,4711,Zeta\nQuark,4711,Zeta\n", "no header, once": "Quark,4711,Zeta\n",
    "no header, words alone": "Quark,Zeta\nQuark,Zeta\n", "no header, dates": "Quark,1980-04-01\nZeta,1980-04-01\n",
    "no header, twice the same": "Quark,Quark,4711\nZeta,Zeta,4711\n",
    "no header, spaces": "Quark 4711\nZeta 4711\nQuark 4711\n",
    "no header, other separators": "Quark|4711|Zeta\nQuark|4712|Zeta\n",
    "a quote that is not closed": '"region,store\nQuark,4711\nZeta,1980-04-01\n',
    "a quote around it all": '"region,store\nQuark,4711\nZeta,1980-04-01\n"\n',
    "quotes around rows": '"region,store,n"\n"Quark,4711,Zeta"\n"Zeta,4711,Quark"\n',
    "other line ends": "region,store\u2028Quark,4711\u2028Zeta,x\n",
    "line ends of printers": "region,store\x0bQuark,4711\x0bZeta,1980-04-01\n",
    "a long row": "region," + "Quark " * 50 + "\nx,y\n",
    "more cells": "region,store\nQuark,4711,Zeta\n", "a name that is empty": "region,store,n\nQuark,,4711\n",
    "a count that is none": "region,store,n\nQuark,Zeta,4711 Zeta\n",
    "a negative count": "region,store,n\nQuark,Zeta,-4711\n",
    "a fraction": "region,store,n\nQuark,Zeta,4711.25\n", "thousands": "region,store,n\nQuark,Zeta,4.711\n",
    "a formula": "region,store,n\nQuark,=Zeta,4711\n", "a control character": "region,store,n\nQuark,Zeta\x1b,4711\n",
    "no UTF-8": b"region,store,n\nQuark,Zeta\xff,4711\n", "text behind a quote": 'region,store,n\n"Quark"Zeta,1,4711\n',
    "a cell too large": "region,store,n\n" + "Quark" * 30_000 + ",1,4711\n",
    "too many": f"region,store,n\nQuark,Zeta,{'4711' * 9}\n",
    "a header with a null": "Quark\0,4711\nZeta,4711\n", "a header of formulas": "=Quark,4711\nZeta,4711\n",
}  # fmt: skip
ASKED = {
    "levels": lambda found: found.nodes(LEVELS),
    "counts": lambda found: found.tree(["region"], "n"),
    "the count column": lambda found: found.tree(LEVELS, found.count_column(LEVELS)),
    "a release": lambda found: (found.check_formulas(["region", "store"]), found.tree(LEVELS, "n", whole=True)),
    "another column": lambda found: found.frame(["shelf"], "n", "person"),
}


@pytest.mark.parametrize("content", LEAKS.values(), ids=LEAKS)
def test_no_sentence_shows_a_cell(tmp_path, content):
    """Whatever is wrong with a table, and whatever is asked of it, what is said is short and shows none of its cells."""
    said = []
    for ask in ASKED.values():
        try:
            found = sheet(tmp_path, content)
            said += [found.columns_shown(), repr(found), *map(repr, found.kept.values())]
            ask(found)
        except ValueError as error:
            said.append(str(error))
    assert said
    for sentence in said:
        words = re.sub("0x[0-9a-f]+", "", sentence.replace(str(tmp_path), ""))  # where an object lies may hold any digits
        assert not any(secret in words for secret in SECRETS) and len(words) < 300 and "\n" not in words, words


def test_a_list_of_columns_is_short(tmp_path):
    """At most twenty names are shown, and none of more than forty letters."""
    names = [f"column {chr(97 + i)}" for i in range(25)]
    found = sheet(tmp_path, ",".join([*names, "x" * 41, "y" * 40]) + "\n")
    assert found.columns_shown() == f"its columns are {', '.join(names[:20])} (and 7 not shown)"
    found = sheet(tmp_path, ",".join(["X", "level 2", "x" * 41, "y" * 40]) + "\n")
    assert found.columns_shown("the columns") == f"the columns are X, level 2, {'y' * 40} (and 1 not shown)"


@pytest.mark.parametrize("name", ["812", "1e5", "1E5", "12.5", '"12,5"', "2020-04-01", "-1", "1/2", "٣", "3e"])
def test_a_header_with_a_number_is_not_shown(tmp_path, name):
    """It may be a row of data, with or without other words in it."""
    assert sheet(tmp_path, f"region,{name}\nN,a\n").columns_shown() == THE_DATA


def test_a_column_may_have_any_name(tmp_path):
    """Also one that is a word of Python's or of pandas'."""
    tree = sheet(tmp_path, "region,self\nN,3\nS,4\n").tree(["region"], "self")
    assert tree.counts[0].tolist() == [3, 4]

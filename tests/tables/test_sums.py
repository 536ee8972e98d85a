"""Tables to leaves and trees: the same from wherever they lie, and never more than K rows of a person."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from support import rows
from support.rows import LEVELS, NO_IBIS, SECRET, WAYS, as_dict, clean, slow_leaves
from support.wrong import wrong

from helpers import Hierarchy
from helpers.tables import leaves, rows_beyond, tree_from_table

ways = pytest.mark.parametrize("way", WAYS)
each_kind = pytest.mark.parametrize("way", ["pandas", "Parquet"])  # of program that adds up
few = settings(max_examples=25)  # a file and a DuckDB of its own for each
BOUNDS = st.integers(1, 3)
VISITS = pd.DataFrame({
    "who": ["a", "a", "b", "c"], "land": ["X", "Y", "X ", "Y"], "town": ["Ulm", "Bonn", "Ulm", "Bonn"], "n": [1, 2, 3, 4],
})  # fmt: skip
NOBODY = VISITS[:0].astype(str)


# ---- the same from everywhere ----


@ways
@few
@given(frame=rows.tables(), asked=st.sampled_from([{}, {"count": "count"}, {"person": "person"}]), most=BOUNDS)
def test_every_way_gives_the_leaves_of_a_slow_count(way, frame, asked, most):
    """Wherever the table lies, each leaf has the people that a count by hand finds, whatever its names are."""
    rows.need(way)
    bound = {"rows_per_person": most} if "person" in asked else {}
    with WAYS[way](frame) as table:
        found = leaves(table, LEVELS, **asked, **bound)
    assert as_dict(found) == slow_leaves(frame, **asked, most=most)
    assert [*found] == [*LEVELS, asked.get("count", "population")] and found.dtypes.iloc[-1] == np.int64
    assert_frame_equal(found, found.sort_values(LEVELS, ignore_index=True))


@ways
@few
@given(frame=rows.tables(least=0), more=rows.tables(), nodes_way=st.sampled_from([*WAYS]), asked=st.booleans())
def test_a_list_of_leaves_decides_which_there_are(way, frame, more, nodes_way, asked):
    """Every listed leaf is there once, with zero if nobody is in it, and no other."""
    rows.need(way), rows.need(nodes_way)
    nodes = pd.concat([frame, more, more])
    asked = {"person": "person"} if asked else {"count": "count"}
    with WAYS[way](frame) as table, WAYS[nodes_way](nodes) as listed:
        found = leaves(table, LEVELS, nodes=listed, **asked)
    assert as_dict(found) == slow_leaves(frame, nodes=nodes, **asked)


@ways
def test_rows_in_no_listed_leaf_are_refused_without_showing_it(way):
    """Also if the person's other rows fill the bound, so that the row would not count."""
    rows.need(way)
    frame = VISITS.assign(town=["Ulm", SECRET, "Ulm", "Bonn"])
    with WAYS[way](frame) as table:
        for asked in ({}, {"person": "who"}, {"count": "n"}):
            with pytest.raises(ValueError, match=r"^table must have its rows in leaves that nodes lists") as refused:
                leaves(table, ["land", "town"], nodes=VISITS, **asked)
            assert clean(refused.value).endswith("got rows in others (not shown)")


def test_spellings_are_joined_and_counted():
    """Names that nobody can tell apart are one; how many spellings went is said beside the table, not in it."""
    found = leaves(pd.DataFrame({"town": ["São", "Sa\u0303o", " São", "Ulm"]}), ["town"])
    assert as_dict(found) == {("São",): 3, ("Ulm",): 1} and found.attrs == {"names_joined": 2}
    assert leaves(VISITS, ["town"], nodes=VISITS).attrs == {"names_joined": 0}


def test_a_leaf_of_rows_beyond_the_bound_is_not_there():
    """Without a list, only rows that count make a leaf; with one, it is zero."""
    kept = as_dict(leaves(VISITS, ["land", "town"], person="who"))
    assert sum(kept.values()) == 3
    alone = VISITS[VISITS.who == "a"]
    assert [*as_dict(leaves(alone, ["town"], person="who")).values()] == [1]
    assert sorted(as_dict(leaves(alone, ["town"], person="who", nodes=VISITS)).values()) == [0, 1]


@ways
def test_names_may_be_whole_numbers(way):
    """A code that is a number is the text of it."""
    rows.need(way)
    frame = pd.DataFrame({"who": [1, 1, 22], "town": [7, 7, 8]})
    with WAYS[way](frame) as table:
        assert as_dict(leaves(table, ["town"], person="who")) == {("7",): 1, ("8",): 1}


@ways
@pytest.mark.parametrize(
    "level", ["people", "level_1", "wrong", "large", "first", "rows", "Größe", 'a "b"', "a b", "select"]
)
def test_levels_may_have_any_name(way, level):
    """Also those that are used inside."""
    rows.need(way)
    frame = pd.DataFrame({"who": ["a", "b"], "top": ["t", "t"], level: ["x", "y"], "population": [1, 2]})
    with WAYS[way](frame) as table:
        assert as_dict(leaves(table, ["top", level], count="population")) == {("t", "x"): 1, ("t", "y"): 2}
        assert as_dict(leaves(table, [level], person="who")) == {("x",): 1, ("y",): 1}


@given(frame=rows.tables(), shuffle=st.randoms())
def test_the_order_of_rows_and_their_index_do_not_matter(frame, shuffle):
    """Not even for which rows of a person count."""
    order = [*range(len(frame))]
    shuffle.shuffle(order)
    mixed = frame.iloc[order].set_axis([0] * len(frame))
    assert_frame_equal(leaves(mixed, LEVELS, person="person"), leaves(frame, LEVELS, person="person"))


def test_the_table_is_left_as_it_was():
    """Nothing is written to the DataFrames that are given."""
    frame, nodes = VISITS.copy(), VISITS.copy()
    leaves(frame, ["land", "town"], person="who", nodes=nodes)
    assert_frame_equal(frame, VISITS)
    assert_frame_equal(nodes, VISITS)


@ways
def test_the_tree_is_that_of_the_leaves(way):
    """Levels, labels and sums, with a list or without."""
    rows.need(way)
    with WAYS[way](VISITS) as table:
        tree = tree_from_table(table, ["land", "town"], count="n", nodes=VISITS)
    expected = Hierarchy.from_frame(VISITS.assign(land=VISITS.land.str.strip()), ["land", "town"], "n")
    assert tree.levels == expected.levels and [n.tolist() for n in tree.counts] == [[4, 6], [4, 6]]
    for found, right in zip(tree.labels, expected.labels, strict=True):
        assert_array_equal(found, right)


# ---- one person ----


@each_kind
@few
@given(frame=rows.tables(), more=rows.tables(persons=["new"], most=6), most=BOUNDS)
def test_one_person_changes_no_level_by_more_than_the_bound(way, frame, more, most):
    """With any rows of a new person, the counts of each level change by at most K, all together."""
    rows.need(way)
    both = pd.concat([frame, more], ignore_index=True)
    trees = []
    for held in (frame, both):
        with WAYS[way](held) as table:
            trees.append(tree_from_table(table, LEVELS, person="person", rows_per_person=most, nodes=both))
    moved = [int(np.abs(x - y).sum()) for x, y in zip(trees[0].counts, trees[1].counts, strict=True)]
    assert moved == [min(most, len(more))] * 2  # and by no less, so that the test would see a bound that is wrong


@each_kind
@few
@given(frame=rows.tables(persons=["a", "b", "A"]), others=rows.tables(persons=["c", "é", "a "]), most=BOUNDS)
def test_which_rows_count_depends_on_that_person_alone(way, frame, others, most):
    """The leaves of two groups of persons are the sum of the leaves of each."""
    rows.need(way)
    both, found = pd.concat([frame, others], ignore_index=True), []
    for held in (frame, others, both):
        with WAYS[way](held) as table:
            found.append(leaves(table, LEVELS, person="person", rows_per_person=most, nodes=both).population)
    assert (found[0] + found[1]).tolist() == found[2].tolist()


def test_no_place_is_favoured():
    """Of 2,000 persons with a row in A and one in Z, half are counted in A: 1,000 ± 5 · 22.4 (the order is no alphabet)."""
    frame = pd.DataFrame({"who": [*map(str, range(2000))] * 2, "town": ["A"] * 2000 + ["Z"] * 2000})
    found = as_dict(leaves(frame, ["town"], person="who"))
    assert abs(found["A",] - 1000) < 112 and found["Z",] == 2000 - found["A",]


@ways
@few
@given(frame=rows.tables(), most=BOUNDS)
def test_rows_beyond_the_bound_are_those_that_do_not_count(way, frame, most):
    """All rows, less those that count."""
    rows.need(way)
    with WAYS[way](frame) as table:
        beyond = rows_beyond(table, "person", most)
    assert isinstance(beyond, int)
    assert beyond == len(frame) - sum(slow_leaves(frame, person="person", most=most).values())


def test_rows_beyond_of_no_rows():
    """Nobody is beyond anything."""
    assert rows_beyond(NOBODY, "who") == 0
    pytest.importorskip("ibis", reason=NO_IBIS)
    with WAYS["Parquet"](NOBODY) as table:
        assert rows_beyond(table, "who") == 0


# ---- refusals ----

COUNTS = {
    "negative": -987654321, "a fraction": 7654321.5, "infinite": np.inf, "missing": np.nan, "too large": 2.0**53,
    "far too large": 1e300,
}  # fmt: skip
TEXTS = {
    "negative": "-987654321", "a fraction": "7654321.5", "no number": SECRET, "with commas": "987,654", "base 16": "0x1F",
    "too many digits": "9" * 40, "too large": "9007199254740992", "other digits": "٣", "with a line after it": "3\n4",
    "a line end of Java": "3\u2028", "blank": " ", "missing": None, "infinite": "inf", "nan": "nan", "underscored": "1_0",
}  # fmt: skip


@ways
@pytest.mark.parametrize("value", COUNTS.values(), ids=COUNTS)
def test_numbers_that_are_no_counts_are_refused(way, value):
    """Without showing the number, its row or how many there are."""
    rows.need(way)
    refuse_count(way, [3.0, value, 4.0, 5.0])


@ways
@pytest.mark.parametrize("value", TEXTS.values(), ids=TEXTS)
def test_texts_that_are_no_counts_are_refused(way, value):
    """The same in every engine, whatever its numbers and line ends are."""
    rows.need(way)
    refuse_count(way, ["3", value, "4", "5"])


def refuse_count(way, counts):
    with WAYS[way](VISITS.assign(n=counts)) as table, pytest.raises(ValueError, match=r"^table: count") as refused:
        leaves(table, ["land", "town"], count="n")
    right = "a whole number of zero or more, at most 2^53 - 1, in every row"
    assert clean(refused.value) == f"table: count ('n') must be {right}, got something else (not shown)"


@ways
@pytest.mark.parametrize("text", ["3", "3.0", "+3", "3e0", "3.", "0003", " 3 ", "\t3\r\n", "0.3e1", "30E-1"])
def test_counts_may_be_text(way, text):
    """In the forms that programs write: R writes 1e+05, pandas 3.0."""
    rows.need(way)
    with WAYS[way](pd.DataFrame({"town": ["x", "x"], "n": [text, "1e+05"]})) as table:
        assert as_dict(leaves(table, ["town"], count="n")) == {("x",): 100_003}


@ways
@pytest.mark.parametrize("counts", [[2**53 - 1, 1], [2**53 - 1] * 2048], ids=["by one", "beyond an int64"])
def test_sums_that_floats_do_not_know_are_refused(way, counts):
    """2⁵³ − 1 is the last; more is refused, also where a sum of whole numbers would run over."""
    rows.need(way)
    with WAYS[way](pd.DataFrame({"town": ["x"] * len(counts), "n": counts})) as table:
        words = r"^table: count must add up to at most 2\^53 - 1|^table must be .* reading it ended in"
        with pytest.raises(ValueError, match=words) as refused:
            leaves(table, ["town"], count="n")
        clean(refused.value)
    with WAYS[way](pd.DataFrame({"town": ["x", "y"], "n": [2**53 - 2, 1]})) as table:
        assert leaves(table, ["town"], count="n").n.sum() == 2**53 - 1


@ways
@pytest.mark.parametrize("name", [None, "", " ", "\u200b\u00a0"])
@pytest.mark.parametrize("column", ["land", "town", "who"])
def test_missing_and_blank_names_are_refused(way, name, column):
    """Every row names a place of each level, and, if persons are asked for, a person."""
    rows.need(way)
    asked = {"person": "who"} if column == "who" else {}
    frame = VISITS.assign(**{column: ["x", name, SECRET, "y"]})
    with WAYS[way](frame) as table, pytest.raises(ValueError, match=rf"table: (levels|person) \('{column}'\)") as refused:
        leaves(table, ["land", "town"], **asked)
    assert "missing or blank" in clean(refused.value)
    if column == "who":
        with WAYS[way](frame) as table, pytest.raises(ValueError, match="missing or blank") as refused:
            rows_beyond(table, "who")
        clean(refused.value)


def test_a_list_with_a_missing_name_is_refused():
    """And the sentence says that it is the list."""
    with pytest.raises(ValueError, match=r"^nodes: levels \('town'\) must be named in every row"):
        leaves(VISITS, ["town"], nodes=pd.DataFrame({"town": ["Ulm", None]}))


@ways
def test_names_that_an_engine_may_confuse_are_refused(way):
    """U+001F parts the names of a path where rows of a person are put in order."""
    rows.need(way)
    with WAYS[way](VISITS.assign(town=["a\x1fb", SECRET, "x", "x"])) as table:
        with pytest.raises(
            ValueError, match=r"table: levels \('town'\) must be names without the character U\+001F"
        ) as refused:
            leaves(table, ["land", "town"])
        clean(refused.value)


def test_text_that_no_file_can_hold_is_refused():
    """Half of a surrogate pair is no letter."""
    with pytest.raises(ValueError, match="table must be text in UTF-8 in column 'town'"):
        leaves(pd.DataFrame({"town": pd.Series(["a\ud800"], dtype=object)}), ["town"])


KINDS = {"fractions": [1.5, 2, 3, 4], "dates": pd.date_range("2020-01-01", periods=4), "truth": [True, False] * 2}


@ways
@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_name_nothing_are_refused(way, kind):
    """Fractions and dates are written differently by every engine; a CSV file has text alone."""
    rows.need(way)
    with WAYS[way](VISITS.assign(town=KINDS[kind])) as table:
        if way == "CSV":
            assert leaves(table, ["town"]).population.sum() == 4
            return
        with pytest.raises(
            TypeError, match=r"^levels must name columns of text or of whole numbers, got 'town', which holds"
        ):
            leaves(table, ["town"])
        if kind == "truth":
            with pytest.raises((TypeError, ValueError), match="count"):
                leaves(table, ["land"], count="town")


@ways
def test_columns_that_are_not_there_are_refused(way):
    """With the column asked for and those of the table, of which numbers are not shown: they may be cells."""
    rows.need(way)
    frame = pd.DataFrame({"town": ["a"], "12345": ["x"], "3.5": ["x"], "y" * 50: ["x"], "n": [1]})
    with WAYS[way](frame) as table:
        for argument, name in (("levels", ["land"]), ("count", "land"), ("person", "land")):
            with pytest.raises(ValueError) as refused:
                leaves(table, **{"levels": ["town"]} | {argument: name})
            known = f"(town, (no name), (no name), {'y' * 40}, n)"
            assert str(refused.value) == f"{argument} must name one column each of table {known}, got 'land'"
        with pytest.raises(ValueError, match=r"^person must name one column each of table"):
            rows_beyond(table, "land")


ARGUMENTS = {
    "levels twice": ({"levels": ["a", "a"]}, "levels must be distinct"),
    "levels as text": ({"levels": "town"}, "levels must be a list"),
    "no levels": ({"levels": []}, "levels must name at least one"),
    "count no text": ({"count": 3}, "count must be the name of a column, as text, got 3"),
    "person no text": ({"person": ["who"]}, "person must be the name of a column, as text, got ['who']"),
    "count a level": ({"count": "town"}, "count must be a column apart from the levels, got 'town'"),
    "person a level": ({"person": "town"}, "person must be a column apart from the levels, got 'town'"),
    "both": (
        {"count": "n", "person": "who"},
        "person must be None where count names a column, because a row is then no single person's, got 'who'",
    ),
    "no rows of a person": ({"rows_per_person": 0}, "rows_per_person must be a whole number of at least 1, got 0"),
    "too many rows of a person": ({"rows_per_person": 2**63}, "rows_per_person must be a whole number of at most 9,007"),
    "a bound and no person": ({"rows_per_person": 2}, "rows_per_person must be 1 unless person names a column, got 2"),
    "a level like the counts": ({"levels": ["population"]}, "levels must not name 'population'"),
    "table a list": ({"table": [SECRET]}, "table must be a pandas DataFrame, the path of"),
    "nodes a number": ({"nodes": 3}, "nodes must be a pandas DataFrame, the path of"),
    "no rows": ({"table": NOBODY}, "table must have at least one row, unless nodes lists the leaves"),
    "nodes without rows": ({"table": NOBODY, "nodes": NOBODY}, "table must have at least one row"),
}  # fmt: skip


@pytest.mark.parametrize("asked, words", ARGUMENTS.values(), ids=ARGUMENTS)
def test_wrong_arguments_are_refused(asked, words):
    """Before any work is done, and without showing what a table is."""
    call = {"table": VISITS, "levels": ["land", "town"]} | asked
    with pytest.raises((ValueError, TypeError)) as refused:
        leaves(**wrong(call))
    assert clean(refused.value).startswith(words)


def test_rows_beyond_checks_its_arguments():
    """As `leaves` does."""
    with pytest.raises(ValueError, match="rows_per_person must be a whole number of at least 1, got 0"):
        rows_beyond(VISITS, "who", 0)
    with pytest.raises(ValueError, match="rows_per_person must be a whole number of at most 9,007,199,254,740,991, got"):
        rows_beyond(VISITS, "who", 2**53)  # an engine would stop at some number, and pandas at 2**63
    assert rows_beyond(VISITS, "who", 2**53 - 1) == 0
    with pytest.raises(TypeError, match="person must be the name of a column, as text, got None"):
        rows_beyond(VISITS, wrong(None))
    with pytest.raises(TypeError, match=r"table must be a pandas DataFrame.*, got module$"):
        rows_beyond(os, "who")
    assert rows_beyond(VISITS, "who") == rows_beyond(VISITS, "who", 1) > rows_beyond(VISITS, "who", 2)


def test_spellings_of_all_levels_are_counted():
    """One too many of a land and two of towns are three."""
    frame = pd.DataFrame({"land": ["N", " N", "S", "S"], "town": ["a", "a ", "b", " b"]})
    assert leaves(frame, ["land", "town"]).attrs == {"names_joined": 3}

"""Rows in pandas: names of every kind of column, and which rows of a person count. Sums are in test_sums.py."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import SECRET, clean

from helpers.tables.asked import Asked
from helpers.tables.frames import digest, first_rows, groups, names, persons, rows_beyond

TEXT = ["a", None, "b"]
KINDS = {
    "text": pd.Series(TEXT), "objects": pd.Series(TEXT, dtype=object), "categories": pd.Series(TEXT, dtype="category"),
    "string": pd.Series(TEXT, dtype="string"), "whole": pd.Series([1, None, 2], dtype="Int64"),
    "whole objects": pd.Series([1, None, 2], dtype=object), "whole categories": pd.Series([1, 1, 2], dtype="category"),
    "small": pd.Series([1, 1, 2], dtype=np.int8), "large objects": pd.Series([10**30, 1, 2], dtype=object),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_is_text_whatever_holds_it(kind):
    """Text stays, whole numbers become it, and what is missing stays missing."""
    found = names("table", pd.DataFrame({"x": KINDS[kind].set_axis([5, 5, 5])}), "levels", "x")
    expected = [None if pd.isna(value) else str(value) for value in KINDS[kind]]
    assert [None if pd.isna(value) else value for value in found] == expected and found.index.tolist() == [0, 1, 2]


WRONG = {
    "floating": [1.0, 2.0], "boolean": [True, False], "mixed-integer": [1, SECRET], "mixed": [[SECRET], 1.5],
    "bytes": [SECRET.encode(), b""], "datetime64": pd.to_datetime(["2020-04-01"] * 2), "mixed-integer-float": [1, 2.5],
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_column_of_something_else_is_refused(kind):
    """By its kind, without a cell."""
    column = pd.Series(WRONG[kind], dtype=None if kind in ("floating", "boolean", "datetime64") else object)
    with pytest.raises(TypeError, match=f"^person must name columns of text .* got 'x', which holds {kind}$") as refused:
        names("table", pd.DataFrame({"x": column}), "person", "x")
    clean(refused.value)


COUNTS = {
    "whole": [3, 4], "small": np.array([3, 4], dtype=np.uint8), "floats": [3.0, 4.0], "halves": np.array([3, 4], np.float16),
    "nullable": pd.array([3, 4], dtype="Int64"), "objects": pd.Series([3, "4"], dtype=object),
    "categories": pd.Series(["3", "4"], dtype="category"),
}  # fmt: skip


@pytest.mark.parametrize("kind", COUNTS)
def test_counts_are_whole_numbers_whatever_holds_them(kind):
    """And their sum is one."""
    found = groups("table", pd.DataFrame({"x": ["a", "a"], "n": COUNTS[kind]}), Asked(["x"], count="n"))
    assert found.people.tolist() == [7] and found.people.dtype == np.int64


@pytest.mark.parametrize("value", [True, None, pd.NA, 1.5, SECRET, 1j, -1, [3]], ids=repr)
def test_objects_that_are_no_counts_are_refused(value):
    """Truth is no number."""
    column = pd.Series([3, value], dtype=object)
    with pytest.raises(ValueError, match=r"^table: count \('n'\) must be a whole number") as refused:
        groups("table", pd.DataFrame({"x": ["a", "a"], "n": column}), Asked(["x"], count="n"))
    clean(refused.value)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("12"))), st.integers(1, 3))
def test_the_first_rows_of_a_person_are_those_with_the_least_digest(rows, most):
    """No row that is left out comes before one that counts; each person keeps K rows, or all."""
    whose = pd.Series([row[0] for row in rows], dtype=str)
    paths = pd.DataFrame([row[1:] for row in rows], columns=["one", "two"], dtype=str)
    first = first_rows(paths, whose, most)
    assert first.dtype == bool and first.shape == (len(rows),)
    for person in {*whose}:
        own = [(digest(*row), kept) for row, kept in zip(rows, first, strict=True) if row[0] == person]
        assert sum(kept for _, kept in own) == min(most, len(own))
        assert max(key for key, kept in own if kept) <= min([key for key, kept in own if not kept], default="g")


def test_a_digest_is_md5_of_the_parts():
    """What every engine computes: MD5 of the UTF-8 of person and names, with U+001F between them."""
    assert digest("é", "x") == hashlib.md5(b"\xc3\xa9\x1fx").hexdigest()
    assert digest("a", "bc") != digest("ab", "c")


def test_persons_are_their_letters_as_they_are():
    """A blank makes another person, and a blank alone none."""
    frame = pd.DataFrame({"id": ["a", "a ", "A", "a"]})
    assert persons("table", frame, "id").tolist() == ["a", "a ", "A", "a"]
    assert rows_beyond("table", frame, Asked((), person="id")) == 1


def test_what_cannot_be_a_person_is_refused_by_name():
    """Fractions, which no two engines write alike, and a column without anybody."""
    with pytest.raises(TypeError) as refused:
        persons("table", pd.DataFrame({"id": [1.5, 2.5]}), "id")
    right = "person must name columns of text or of whole numbers"
    assert clean(refused.value) == f"{right}, got 'id', which holds floating"
    assert names("table", pd.DataFrame({"id": [None, None]}, dtype=object), "person", "id").isna().all()
    with pytest.raises(ValueError, match=r"^table: person \('id'\) must be named in every row"):
        rows_beyond("table", pd.DataFrame({"id": ["a", None]}), Asked((), person="id"))


def test_counts_that_an_int64_cannot_add_up_are_refused():
    """By their sum as floats, which cannot turn negative."""
    with pytest.raises(ValueError, match=r"^table: count must add up to at most 2\^53 - 1"):
        groups("table", pd.DataFrame({"town": ["x"] * 3, "n": [2**53 - 1] * 3}), Asked(["town"], count="n"))

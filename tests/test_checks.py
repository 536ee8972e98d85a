"""What the checks let through (what they refuse is in test_bad_input.py and in their doctests)."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import checks


@given(st.floats(1e-150, 1e150))
def test_positive_numbers_pass_unchanged(value):
    """Every double whose square is one passes as itself."""
    assert checks.positive("total", value) == value


@pytest.mark.parametrize("value", [2, np.int8(2), np.uint64(2), np.float32(2), np.array(2), np.array(2.0), Fraction(2)])
def test_positive_takes_any_real_number(value):
    """Python, NumPy and rational numbers all become the same float."""
    found = checks.positive("total", value)
    assert found == 2.0 and type(found) is float


@pytest.mark.parametrize("value", [0, 3, 2.5, np.int64(3), np.float32(0.5)])
def test_not_negative_returns_a_float(value):
    """Zero and everything above it passes as a float."""
    found = checks.not_negative("total", value)
    assert found == value and type(found) is float


@pytest.mark.parametrize("value", [2, 10**6, np.int32(2), np.uint8(200)])
def test_whole_returns_an_int(value):
    """Whole numbers of any type become Python ints; the least one is included."""
    found = checks.whole("trials", value, least=2)
    assert found == value and type(found) is int


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_whole_numbers_stay_whole(dtype):
    """Integer arrays of any width come out as int64, with the same values."""
    found = checks.numbers("n", np.array([0, 1, 100], dtype=dtype))
    assert found.dtype == np.int64 and found.tolist() == [0, 1, 100]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_fractions_become_doubles(dtype):
    """Float arrays of any width come out as float64, with the same values."""
    found = checks.numbers("n", np.array([0, 0.5, 100], dtype=dtype))
    assert found.dtype == np.float64 and found.tolist() == [0, 0.5, 100]


@pytest.mark.parametrize("n", [2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30])
def test_large_whole_numbers_keep_their_value(n):
    """A whole number too large for int64 is not turned into another number."""
    assert float(checks.counts("n", n)) == float(n)


def test_columns_of_mixed_objects_pass_if_they_hold_numbers():
    """pandas' nullable and object columns are read like plain ones."""
    assert checks.numbers("n", pd.array([1, 2], dtype="Int64")).tolist() == [1, 2]
    assert checks.numbers("n", pd.Series([1, Fraction(1, 2)], dtype=object)).tolist() == [1, 0.5]


def test_counts_keep_the_callers_shape():
    """A table stays a table, a number stays a number."""
    assert checks.counts("n", [[1, 2], [3, 4]]).shape == (2, 2) and checks.counts("n", 5).shape == ()


def test_positives_never_alias_the_callers_array():
    """Writing into the result does not reach the caller."""
    mine = np.array([1.0, 2.0])
    checks.positives("eps", mine)[0] = 9
    assert mine[0] == 1


def test_messages_point_at_the_place_in_a_table():
    """The index of the first wrong entry is given along every axis."""
    with pytest.raises(ValueError, match=r"n must be zero or more, got -7 at index 1, 0"):
        checks.counts("n", [[1, 2], [-7, -8]])


WHOLE = {
    "the largest unsigned one": (np.array([2**63 - 1], dtype=np.uint64), [2**63 - 1]),
    "the largest object": (np.array([2**63 - 1, -1], dtype=object), [2**63 - 1, -1]),
    "an object column without rows": (pd.Series([], dtype=object), []),
}


@pytest.mark.parametrize("values, expected", WHOLE.values(), ids=WHOLE)
def test_whole_numbers_stay_whole_to_the_last_one_that_fits(values, expected):
    """The largest int64 is still a whole number, not the double next to it, and so is nothing at all."""
    found = checks.numbers("n", values)
    assert found.dtype == np.int64 and found.tolist() == expected


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_an_array_that_is_right_is_not_copied(dtype):
    """Checking a large level takes no memory: numbers of the right type come back as the array they are."""
    mine = np.array([1, 2], dtype=dtype)
    assert checks.numbers("n", mine) is mine and checks.counts("n", mine) is mine


SENTENCES = {
    "not a number": (lambda: checks.positive("total", "2"), "total must be a finite number above zero, got '2'"),
    "zero": (lambda: checks.positive("total", 0), "total must be a finite number above zero, got 0"),
    "not finite": (lambda: checks.numbers("n", [1, np.inf]), "n must be finite, got inf at index 1"),
    "a date that is missing": (
        lambda: checks.numbers("n", pd.Series([1, pd.NaT], dtype=object)), "n must be finite, got nan at index 1",
    ),
    "beyond doubles": (lambda: checks.numbers("n", [1, 10**400]), "n must be finite, got inf at index 1"),
    "beyond doubles, below zero": (lambda: checks.numbers("n", [-(10**400), 1]), "n must be finite, got -inf at index 0"),
    "one number below zero": (lambda: checks.not_negative("total", -1), "total must be zero or more, got -1"),
    "a list for one number": (
        lambda: checks.not_negative("total", [1, 2]), "total must be a single number, got an array of shape (2,)",
    ),
    "too few": (lambda: checks.whole("trials", 1, least=2), "trials must be a whole number of at least 2, got 1"),
    "not above zero": (lambda: checks.positives("eps", [0.5, 0]), "eps must be above zero, got 0.0 at index 1"),
    "a level too few": (
        lambda: checks.per_level("eps", [1], ["state", "block"]),
        "eps must have one entry for each of the 2 levels (state, block), got 1",
    ),
    "shapes": (
        lambda: checks.fitting(n=np.zeros(2), eps=np.ones(3)),
        "n and eps must have shapes that broadcast, got (2,) and (3,)",
    ),
    "words": (lambda: checks.numbers("n", ["a", 2]), "n must be numbers, got 'a'"),
    "no words": (lambda: checks.numbers("n", np.array([], dtype="U1")), "n must be numbers, got array([], dtype='<U1')"),
    "ragged": (lambda: checks.numbers("n", [[1], [1, 2]]), "n must be a plain array of numbers, got [[1], [1, 2]]"),
    "not an option": (lambda: checks.one_of("tree", "oak", ["a", "b"]), "tree must be one of a, b, got 'oak'"),
}  # fmt: skip


@pytest.mark.parametrize("call, sentence", SENTENCES.values(), ids=SENTENCES)
def test_refusals_are_whole_sentences(call, sentence):
    """The message says what is wrong with which argument, word for word."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert str(caught.value) == sentence


def said(call, *arguments):
    """The sentence with which a check refuses."""
    with pytest.raises((ValueError, TypeError)) as refused:
        call(*arguments)
    return str(refused.value)


def test_limits_are_named_and_taken():
    """The least and the most are fine; beyond them the sentence names argument, limits and value."""
    assert said(checks.positive, "total", 1e-151) == "total must be between 1e-150 and 1e+150, got 1e-151"
    assert said(checks.positives, "eps", [1, 1e151]) == "eps must be between 1e-150 and 1e+150, got 1e+151 at index 1"
    assert said(checks.counts, "n", 1.1e150) == "n must be at most 1e+150, got 1.1e+150"
    assert checks.counts("n", [1e150]).tolist() == [1e150]
    assert [checks.between("x", value, 2, 3) for value in (2, 3)] == [2, 3]
    assert checks.whole("trials", 7, 2, 7) == 7
    assert said(checks.whole, "trials", 8000, 2, 7000) == "trials must be a whole number of at most 7,000, got 8000"


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_a_flag_is_itself(value):
    """True and False pass, NumPy's too, as Python's own."""
    assert checks.flag("consistent", value) is bool(value)


def test_a_path_is_text_or_a_path():
    """What can name a file passes as a Path; the rest is refused by name."""
    assert [checks.path("folder", value) for value in ("a/XX", Path("b"))] == [Path("a/XX"), Path("b")]
    assert said(checks.path, "folder", 7) == "folder must be a path, as text or a Path, got 7"
    assert said(checks.path, "folder", "a\0b") == r"folder must be a path, which has no null character, got 'a\x00b'"

"""What the checks let through (what they refuse is in test_bad_input.py and in their doctests)."""

from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.refusals import refusal

from helpers import checks


@given(st.floats(1e-150, 1e150))
def test_positive_numbers_pass_unchanged(value):
    """Every double whose square is one passes as itself."""
    assert checks.positive("total", value) == value


TWOS = [2, np.int8(2), np.uint64(2), np.float32(2), np.array(2), np.array(2.0), Fraction(2)]
TAKEN = [
    *((checks.positive, float, value) for value in TWOS),
    *((checks.not_negative, float, value) for value in [0, 3, 2.5, np.int64(3), np.float32(0.5)]),
    *((partial(checks.whole, least=2), int, value) for value in [2, 10**6, np.int32(2), np.uint8(200)]),
]


@pytest.mark.parametrize("check, kind, value", TAKEN)
def test_numbers_of_any_type_become_pythons_own(check, kind, value):
    """Python, NumPy and rational numbers that are right become a float, or an int where whole; limits are included."""
    found = check("total", value)
    assert found == value and type(found) is kind


ARRAYS = {
    "the largest unsigned one": (np.array([2**63 - 1], dtype=np.uint64), np.int64, [2**63 - 1]),
    "the largest object": (np.array([2**63 - 1, -1], dtype=object), np.int64, [2**63 - 1, -1]),
    "an object column without rows": (pd.Series([], dtype=object), np.int64, []),
    "a nullable column": (pd.array([1, 2], dtype="Int64"), np.int64, [1, 2]),
    "a column of mixed objects": (pd.Series([1, Fraction(1, 2)], dtype=object), np.float64, [1, 0.5]),
}
for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64):
    ARRAYS[dtype.__name__] = np.array([0, 1, 100], dtype=dtype), np.int64, [0, 1, 100]
for real in (np.float16, np.float32, np.float64, np.longdouble):
    ARRAYS[real.__name__] = np.array([0, 0.5, 100], dtype=real), np.float64, [0, 0.5, 100]


@pytest.mark.parametrize("values, dtype, expected", ARRAYS.values(), ids=ARRAYS)
def test_whole_numbers_stay_whole_and_fractions_become_doubles(values, dtype, expected):
    """Arrays and pandas' columns of any kind come out as int64 (to the largest that fits) or float64, with their values."""
    found = checks.numbers("n", values)
    assert found.dtype == dtype and found.tolist() == expected


@pytest.mark.parametrize("n", [2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30])
def test_large_whole_numbers_keep_their_value(n):
    """A whole number too large for int64 is not turned into another number."""
    assert float(checks.counts("n", n)) == float(n)


def test_counts_keep_the_callers_shape():
    """A table stays a table, a number stays a number."""
    assert checks.counts("n", [[1, 2], [3, 4]]).shape == (2, 2) and checks.counts("n", 5).shape == ()


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_an_array_that_is_right_is_not_copied(dtype):
    """Checking a large level takes no memory: the right type comes back as the array it is; budgets never alias it."""
    mine = np.array([1, 2], dtype=dtype)
    assert checks.numbers("n", mine) is mine and checks.counts("n", mine) is mine
    checks.positives("eps", mine)[0] = 9
    assert mine[0] == 1


SENTENCES = {
    "not a number": (checks.positive, "total", "2", "total must be a finite number above zero, got '2'"),
    "zero": (checks.positive, "total", 0, "total must be a finite number above zero, got 0"),
    "not finite": (checks.numbers, "n", [1, np.inf], "n must be finite, got inf at index 1"),
    "a date that is missing": (
        checks.numbers, "n", pd.Series([1, pd.NaT], dtype=object), "n must be finite, got nan at index 1",
    ),
    "a place in a table": (checks.counts, "n", [[1, 2], [-7, -8]], "n must be zero or more, got -7 at index 1, 0"),
    "beyond doubles": (checks.numbers, "n", [1, 10**400], "n must be finite, got inf at index 1"),
    "beyond doubles, below zero": (checks.numbers, "n", [-(10**400), 1], "n must be finite, got -inf at index 0"),
    "one number below zero": (checks.not_negative, "total", -1, "total must be zero or more, got -1"),
    "a list for one number": (
        checks.not_negative, "total", [1, 2], "total must be a single number, got an array of shape (2,)",
    ),
    "too few": (checks.whole, "trials", 1, 2, "trials must be a whole number of at least 2, got 1"),
    "not above zero": (checks.positives, "eps", [0.5, 0], "eps must be above zero, got 0.0 at index 1"),
    "a level too few": (
        checks.per_level, "eps", [1], ["state", "block"],
        "eps must have one entry for each of the 2 levels (state, block), got 1",
    ),
    "shapes": (
        partial(checks.fitting, n=np.zeros(2), eps=np.ones(3)),
        "n and eps must have shapes that broadcast, got (2,) and (3,)",
    ),
    "words": (checks.numbers, "n", ["a", 2], "n must be numbers, got 'a'"),
    "no words": (checks.numbers, "n", np.array([], dtype="U1"), "n must be numbers, got array([], dtype='<U1')"),
    "ragged": (checks.numbers, "n", [[1], [1, 2]], "n must be a plain array of numbers, got [[1], [1, 2]]"),
    "not an option": (checks.one_of, "tree", "oak", ["a", "b"], "tree must be one of a, b, got 'oak'"),
}  # fmt: skip


@pytest.mark.parametrize("call, sentence", [(call, sentence) for *call, sentence in SENTENCES.values()], ids=SENTENCES)
def test_refusals_are_whole_sentences(call, sentence):
    """The message says what is wrong with which argument, word for word."""
    assert refusal(*call) == sentence


def test_limits_are_named_and_taken():
    """The least and the most are fine; beyond them the sentence names argument, limits and value."""
    assert refusal(checks.positive, "total", 1e-151) == "total must be between 1e-150 and 1e+150, got 1e-151"
    assert refusal(checks.positives, "eps", [1, 1e151]) == "eps must be between 1e-150 and 1e+150, got 1e+151 at index 1"
    assert refusal(checks.counts, "n", 1.1e150) == "n must be at most 1e+150, got 1.1e+150"
    assert checks.counts("n", [1e150]).tolist() == [1e150]
    assert [checks.between("x", value, 2, 3) for value in (2, 3)] == [2, 3]
    assert checks.whole("trials", 7, 2, 7) == 7
    assert refusal(checks.whole, "trials", 8000, 2, 7000) == "trials must be a whole number of at most 7,000, got 8000"


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_a_flag_is_itself(value):
    """True and False pass, NumPy's too, as Python's own."""
    assert checks.flag("consistent", value) is bool(value)


def test_a_path_is_text_or_a_path():
    """What can name a file passes as a Path; the rest is refused by name."""
    assert [checks.path("folder", value) for value in ("a/XX", Path("b"))] == [Path("a/XX"), Path("b")]
    assert refusal(checks.path, "folder", 7) == "folder must be a path, as text or a Path, got 7"
    assert refusal(checks.path, "folder", "a\0b") == r"folder must be a path, which has no null character, got 'a\x00b'"

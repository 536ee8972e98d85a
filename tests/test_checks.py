"""What the checks let through (what they refuse is in test_bad_input.py and in their doctests)."""

from fractions import Fraction

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

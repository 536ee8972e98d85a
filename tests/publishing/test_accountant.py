"""The account: sums are exact, and nothing that does not fit is written down."""

import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.refusals import refusal

from helpers import Accountant
from helpers.checks import fraction as exact


def pieces():
    """Budgets as people write them: decimals, floats that came out of a computation, whole numbers and fractions."""
    decimals = st.integers(1, 10**6).map(lambda n: n / 1000)
    return st.one_of(decimals, st.floats(1e-6, 1e3), st.integers(1, 50), st.fractions(min_value="1/1000", max_value=50))


@given(st.lists(pieces(), max_size=20), pieces())
def test_the_account_is_never_overdrawn(asked, total):
    """Pieces are taken exactly while their exact sum stays within the total, and a refused one leaves no trace."""
    purse, sum_so_far = Accountant(total), Fraction(0)
    for piece in asked:
        if sum_so_far + exact("eps", piece) <= exact("total", total):
            purse.spend(piece, "a release")
            sum_so_far += exact("eps", piece)
        else:
            with pytest.raises(ValueError, match="left"):
                purse.spend(piece, "a release")
        assert sum(entry.eps for entry in purse.entries) == sum_so_far <= exact("total", total)
        assert Fraction(repr(purse.spent)) >= sum_so_far and Fraction(repr(purse.left)) <= exact("total", total) - sum_so_far
        assert purse.spent == pytest.approx(float(sum_so_far), rel=1e-15)  # the float next to it


@given(st.lists(pieces(), min_size=1, max_size=6))
def test_what_is_left_can_be_spent(asked):
    """The number that `left` shows is always accepted, and no more than a rounding is left after it."""
    purse = Accountant(sum(exact("eps", piece) for piece in asked) + Fraction(1, 3))
    for piece in asked:
        purse.spend(piece, "a release")
    purse.spend(purse.left, "the rest")
    assert 0 <= purse.left <= 1e-16


@pytest.mark.parametrize(
    ("total", "piece", "times"), [(0.3, 0.1, 3), (1, 0.1, 10), (0.7, 0.07, 10), (1, Fraction(1, 3), 3), (2.2, 1.1, 2)]
)
def test_decimals_add_up_as_they_read(total, piece, times):
    """Three times 0.1 is 0.3: so many pieces fit, and not the smallest piece more."""
    purse = Accountant(total)
    for _ in range(times):
        purse.spend(piece, "a release")
    assert (purse.spent, purse.left) == (float(total), 0.0)
    with pytest.raises(ValueError, match=r"at most 0\.0"):
        purse.spend(1e-100, "a release")


def test_a_float_is_the_decimal_it_prints():
    """0.1 + 0.2 is printed as 0.30000000000000004 and is that much too much."""
    with pytest.raises(ValueError, match=r"0\.3, which is all that is left of 0\.3, got 0\.30000000000000004 for 'x'"):
        Accountant(0.3).spend(0.1 + 0.2, "x")


def test_entries_cannot_be_changed_from_outside():
    """A fresh account shows 0.0 as spent, not −0.0; its lines are a copy: nobody can take one back."""
    purse = Accountant(1)
    assert repr(purse) == "Accountant(spent 0.0 of 1.0, left 1.0; 0 entries)" and purse.entries == ()
    purse.spend(0.5, "a release")
    assert isinstance(purse.entries, tuple)
    assert repr(purse) == "Accountant(spent 0.5 of 1.0, left 0.5; 1 entries)" and purse.total == 1.0


def test_numpy_numbers_are_budgets_too():
    """NumPy's floats and whole numbers are taken like Python's."""
    purse = Accountant(np.int64(1))
    purse.spend(np.float64(0.1), "a release")
    assert purse.entries[0].eps == Fraction(1, 10)


def test_entries_say_what_was_bought_for_how_much():
    """Lines stand in the order of spending, with the words given and the exact budget."""
    purse = Accountant(1)
    purse.spend(0.25, "counts of blocks")
    purse.spend(Fraction(1, 3), "counts of tracts")
    assert purse.entries == (("counts of blocks", Fraction(1, 4)), ("counts of tracts", Fraction(1, 3)))


@pytest.mark.parametrize(
    ("name", "call"),
    [("total", Accountant), ("eps", lambda value: Accountant(1).spend(value, "x")), ("rate", lambda v: exact("rate", v))],
)
def test_budgets_that_are_none_are_refused_by_name(name, call):
    """Nothing but a finite number above zero is a budget, and the sentence names the argument."""
    for value, kind in [(0, ValueError), (-0.5, ValueError), (float("inf"), ValueError), ("1", TypeError)]:
        assert refusal(call, value, by=kind) == f"{name} must be a finite number above zero, got {value!r}"


@pytest.mark.parametrize("what", ["", "  ", None, 3])
def test_spending_needs_a_reason(what):
    """An entry without words is refused, and nothing is spent."""
    purse = Accountant(1)
    said = f"what must say in words what the budget is spent on, got {what!r}"
    assert refusal(purse.spend, 0.5, what, by=TypeError) == said and purse.left == 1.0


def test_threads_cannot_spend_the_same_budget():
    """Eight threads ask for all of it at once, 200 times over: one gets it each time."""
    every, switch = 200, sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(every):
                purse = Accountant(1)
                tries = [pool.submit(purse.spend, 1, "all of it") for _ in range(8)]
                assert sum(one.exception() is None for one in tries) == len(purse.entries) == 1
    finally:
        sys.setswitchinterval(switch)

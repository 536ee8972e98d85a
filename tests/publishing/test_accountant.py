"""The account: sums are exact, and nothing that does not fit is written down; in memory and in a file alike."""

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refusal

from helpers import Accountant
from helpers.checks import fraction as exact
from helpers.publishing.accountant import check_accountant, check_words

IN_MEMORY = "in memory, gone with the session"


@pytest.fixture(params=["in memory", "in a file"])
def account(request, tmp_path):
    """How to open an account with a total."""
    return Accountant if request.param == "in memory" else lambda total: Accountant.open(tmp_path / "an.account", total)


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


@settings(max_examples=10)
@given(st.lists(pieces(), max_size=6), pieces())
def test_an_account_in_a_file_is_one_in_memory(asked, total):
    """Opened anew for each piece, it takes and refuses the same, says the same, and adds up to the same, exactly."""
    memory = Accountant(total)
    with tempfile.TemporaryDirectory() as place:
        for piece in asked:
            said = [outcome(purse, piece) for purse in (memory, Accountant.open(Path(place) / "an.account", total))]
            assert said[0] == said[1]
        file = Accountant.open(Path(place) / "an.account", total)
        assert (file.entries, file.spent, file.left, file.total) == (memory.entries, memory.spent, memory.left, memory.total)
        assert repr(file) == repr(memory)
        assert file.lines().drop(columns="date").equals(memory.lines().drop(columns="date"))


def outcome(purse, piece):
    """What an account says to a piece: a receipt without the account's name, or a refusal."""
    try:
        return purse.book(piece, "a release") | {"account": None, "seal": None}
    except ValueError as error:
        return str(error)


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
def test_decimals_add_up_as_they_read(account, total, piece, times):
    """Three times 0.1 is 0.3: so many pieces fit, and not the smallest piece more."""
    purse = account(total)
    for _ in range(times):
        purse.spend(piece, "a release")
    assert (purse.spent, purse.left) == (float(total), 0.0)
    with pytest.raises(ValueError, match=r"at most 0\.0"):
        purse.spend(1e-100, "a release")


def test_a_float_is_the_decimal_it_prints():
    """0.1 + 0.2 is printed as 0.30000000000000004 and is that much too much."""
    with pytest.raises(ValueError, match=r"0\.3, which is all that is left of 0\.3, got 0\.30000000000000004 for 'x'"):
        Accountant(0.3).spend(0.1 + 0.2, "x")


def test_entries_cannot_be_changed_from_outside(account):
    """A fresh account shows 0.0 as spent, not −0.0; its lines are a copy: nobody can take one back."""
    purse = account(1)
    assert repr(purse) == "Accountant(spent 0.0 of 1.0, left 1.0; 0 entries)" and purse.entries == ()
    purse.spend(0.5, "a release")
    assert isinstance(purse.entries, tuple)
    assert repr(purse) == "Accountant(spent 0.5 of 1.0, left 0.5; 1 entries)" and purse.total == 1.0


def test_numpy_numbers_are_budgets_too():
    """NumPy's floats and whole numbers are taken like Python's."""
    purse = Accountant(np.int64(1))
    purse.spend(np.float64(0.1), "a release")
    assert purse.entries[0].eps == Fraction(1, 10)


WORDS = ["counts of blocks", "ε für Gemeinden", "two\nlines", "it's; DROP TABLE lines --", "a null \0 in it", " blanks "]


def test_entries_say_what_was_bought_for_how_much(account):
    """Lines stand in the order of spending, with the words given, whatever is in them, and the exact budget."""
    purse = account(3)
    for words in WORDS:
        purse.spend(Fraction(1, 3), words)
    assert purse.entries == tuple((words, Fraction(1, 3)) for words in WORDS)


def test_a_receipt_names_the_line_and_what_is_spent(account):
    """In plain types, for a record: the account, the line from 1 on, its seal, and what is spent in all of how much."""
    purse = account(1)
    first, second = purse.book(0.25, "blocks"), purse.book(Fraction(1, 3), "tracts")
    assert first == {"account": purse.name, "line": 1, "seal": first["seal"], "spent": 0.25, "total": 1.0}
    assert second == first | {"line": 2, "seal": second["seal"], "spent": 0.5833333333333334}
    assert [type(value) for value in first.values()] == [str, int, str, float, float]
    assert Fraction("0.5833333333333334") > Fraction(7, 12) > Fraction(repr(0.5833333333333333))
    assert (first["seal"] == second["seal"]) == (purse.name == IN_MEMORY)


def test_a_receipt_can_be_asked_for_again(account):
    """The same as on the day it was booked, whatever was spent since."""
    purse = account(1)
    receipts = [purse.book(0.25, f"week {i}") for i in range(3)]
    assert [purse.receipt(i) for i in (1, 2, 3)] == receipts


def test_accounts_in_files_have_names_of_their_own(tmp_path):
    """A name that is the same whoever opens the file, and that no other file has; one in memory has none to speak of."""
    one, other = (Accountant.open(tmp_path / name, 1) for name in ("one.account", "other.account"))
    assert one.name == Accountant.open(tmp_path / "one.account").name != other.name and len(one.name) == 16
    assert Accountant(1).name == Accountant(2).name == IN_MEMORY


def test_the_account_as_a_table(account):
    """A row a line, from 1 on: when, what, how much, rounded up, and what was left then, rounded down."""
    purse, before = account(1), datetime.now(UTC).replace(microsecond=0)
    assert purse.lines().columns.tolist() == ["date", "what", "eps", "left"] and len(purse.lines()) == 0
    purse.spend(Fraction(1, 3), "blocks")
    purse.spend(0.25, "tracts")
    table = purse.lines()
    assert table.index.tolist() == [1, 2] and table.what.tolist() == ["blocks", "tracts"]
    assert table.eps.tolist() == [0.33333333333333337, 0.25] and table.left.tolist() == [
        0.6666666666666666,
        0.41666666666666663,
    ]
    for date in map(datetime.fromisoformat, table.date):
        assert before <= date <= datetime.now(UTC) and date.utcoffset() == timedelta(0) and date.microsecond == 0


def test_a_refusal_says_what_was_spent_last(account):
    """The last three lines, so that whoever is refused sees where the budget went; of a new account, nothing."""
    purse = account(1)
    nothing = "eps must be at most 1.0, which is all that is left of 1.0, got 1.5 for 'too much'."
    assert refusal(purse.spend, 1.5, "too much", by=ValueError) == nothing
    for piece, what in [(0.1, "one"), (0.2, "two"), (0.3, "three"), (0.15, "four")]:
        purse.spend(piece, what)
    words = "eps must be at most 0.25, which is all that is left of 1.0, got 0.5 for 'five'. The last that was spent: "
    lines = "0.2 on 'two'; 0.3 on 'three'; 0.15 on 'four'."
    assert refusal(purse.spend, 0.5, "five", by=ValueError) == words + lines


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("total", Accountant), ("eps", lambda value: Accountant(1).spend(value, "x")), ("rate", lambda v: exact("rate", v)),
        ("total", lambda value: Accountant.open("no folder/no.account", value)),
    ],
)  # fmt: skip
def test_budgets_that_are_none_are_refused_by_name(name, call):
    """Nothing but a finite number above zero is a budget, and the sentence names the argument."""
    for value, kind in [(0, ValueError), (-0.5, ValueError), (float("inf"), ValueError), ("1", TypeError)]:
        assert refusal(call, value, by=kind) == f"{name} must be a finite number above zero, got {value!r}"


@pytest.mark.parametrize("what", ["", "  ", None, 3, "no text: \ud800"])
def test_spending_needs_a_reason(account, what):
    """An entry without words, or with such as no file can hold, is refused, and nothing is spent."""
    purse = account(1)
    said = f"what must say in words what the budget is spent on, got {what!r}"
    assert refusal(purse.spend, 0.5, what, by=TypeError) == said and purse.left == 1.0


def test_words_and_accounts_are_checked_by_name():
    """What is right comes back; what is not is refused with the argument's name and what it should say."""
    purse = Accountant(1)
    assert check_words("why", "ε", "anything") == "ε" and check_accountant("account", purse) is purse
    assert check_accountant("account", None) is None
    assert refusal(check_words, "why", "\n", "anything", by=TypeError) == "why must say in words anything, got '\\n'"
    assert refusal(check_accountant, "account", 1.5, by=TypeError) == "account must be an Accountant or None, got 1.5"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_fork_cannot_spend_the_same_budget(tmp_path):
    """In a forked process an account in memory is refused; it used to have all of it once more. One in a file is shared."""
    alone, shared = Accountant(1), Accountant.open(tmp_path / "an.account", 1)
    child = os.fork()
    if not child:
        refused = refusal(alone.spend, 1, "all of it", by=RuntimeError)
        shared.spend(1, "all of it")
        os._exit(7 if refused.startswith("an account in memory must be used where it was made") else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert (alone.spent, shared.spent) == (0, 1)


def test_threads_cannot_spend_the_same_budget_in_a_file(tmp_path):
    """Eight threads ask for all of an account in a file at once, some by an opening of their own: one gets it."""
    for i in range(5):
        purse = Accountant.open(tmp_path / f"{i}.account", 1)
        purses = [Accountant.open(tmp_path / f"{i}.account") for _ in range(4)] + [purse] * 4
        with ThreadPoolExecutor(8) as pool:
            tries = [pool.submit(one.spend, 1, "all of it") for one in purses]
        refused = [str(one.exception()) for one in tries if one.exception()]
        assert len(refused) == 7 and all("eps must be at most 0.0" in words for words in refused)
        assert [one.entries for one in purses] == [(("all of it", 1),)] * 8


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

"""A purse for a privacy budget: it says what was spent on what, and refuses to go below zero.

    total: ε that may ever be spent on these people · spent, left: in ε, a pure number

Privacy is lost over a lifetime, not over a session. So an account can live in a file, which outlives the session and which
every process that releases these people's counts shares: `Accountant.open`.

Sums are exact. A float stands for the decimal that it prints, so 0.1 is one tenth, three times 0.1 fits into 0.3, and
0.1 + 0.2, which Python prints as 0.30000000000000004, does not. Whole numbers and fractions stand for themselves.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pandas as pd

from .. import checks
from .ledger import Ledger, Line


class Entry(NamedTuple):
    """One line of the account."""

    what: str
    eps: Fraction


class Accountant:
    """A budget that is spent piece by piece; a piece that does not fit is refused before anything is drawn.

    Pieces add up, whatever they were spent on: that is sequential composition, and it holds for the same people throughout.
    Two tables of different people need two accounts.

    >>> purse = Accountant(0.3)
    >>> for week in "first", "second", "third":
    ...     purse.spend(0.1, f"the {week} week")
    >>> purse
    Accountant(spent 0.3 of 0.3, left 0.0; 3 entries)
    >>> purse.spend(0.001, "one more look")
    Traceback (most recent call last):
    ValueError: eps must be at most 0.0, which is all that is left of 0.3, got 0.001 for 'one more look'. The last ...
    """

    def __init__(self, total: float | Fraction) -> None:
        self._book: Book = Pages(checks.fraction("total", total))

    @classmethod
    def open(cls, path: str | Path, total: float | Fraction | None = None) -> "Accountant":
        """The account in a file, shared by every process that opens it; with a `total`, a new one where there is none.

        What is spent is on the disk before `spend` returns, and nothing can be taken back. An account that has another
        total is refused, and so is a file that is no account or that somebody has edited. Keep one file for each population,
        on a disk of the machine itself (locks of network disks are not to be trusted), and keep a copy of it. After a crash
        a file with `-journal` behind its name lies beside it: the two must stay together.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> Accountant.open(f"{folder}/hospitals.account", total=1).spend(0.4, "counts of 2023")
        >>> Accountant.open(f"{folder}/hospitals.account")  # another day
        Accountant(spent 0.4 of 1.0, left 0.6; 1 entries)
        """
        purse = cls.__new__(cls)
        purse._book = Ledger.open(path, None if total is None else checks.fraction("total", total))
        return purse

    def spend(self, eps: float | Fraction, what: str) -> None:
        """Write off `eps` for `what`, or refuse if less is left. Call it first and draw afterwards.

        >>> purse = Accountant(1)
        >>> purse.spend(0.25, "counts of blocks")
        >>> purse.left, purse.entries
        (0.75, (Entry(what='counts of blocks', eps=Fraction(1, 4)),))
        """
        self.book(eps, what)

    def book(self, eps: float | Fraction, what: str) -> dict[str, Any]:
        """`spend`, and a receipt in plain types: which account, which line of it, and what is spent in all."""
        piece = checks.fraction("eps", eps)
        check_words("what", what, "what the budget is spent on")
        with self._book.exclusive() as page:  # neither two threads nor two processes may find the same budget left
            before = page.lines()
            left = self._book.total - _sum(before)
            if piece > left:
                raise ValueError(_too_little(left, self._book.total, piece, what, before))
            line = page.append(what, piece)
        return self._receipt((*before, line))

    def receipt(self, number: int) -> dict[str, Any]:
        """What `book` said of a line: it fits this account alone, and no copy that went on differently before that line.

        >>> purse = Accountant(1)
        >>> purse.book(0.25, "counts of blocks") == purse.receipt(1)
        True
        """
        return self._receipt(self._book.lines()[:number])

    def _receipt(self, lines: tuple[Line, ...]) -> dict[str, Any]:
        last, spent = lines[-1], _above(_sum(lines))
        return {"account": self._book.name, "line": last.number, "seal": last.seal, "spent": spent, "total": self.total}

    def lines(self) -> pd.DataFrame:
        """The account as a table: `date`, `what`, `eps`, and what was `left` after it.

        >>> purse = Accountant(1)
        >>> purse.spend(0.25, "counts of blocks")
        >>> purse.lines().drop(columns="date")
                       what   eps  left
        1  counts of blocks  0.25  0.75
        """
        left, rows = self._book.total, []
        for line in self._book.lines():
            left -= line.eps
            rows.append((line.date, line.what, _above(line.eps), _below(left)))
        return pd.DataFrame(rows, columns=["date", "what", "eps", "left"], index=range(1, len(rows) + 1))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was spent, first line first."""
        return tuple(Entry(line.what, line.eps) for line in self._book.lines())

    @property
    def name(self) -> str:
        """How records call this account: a name that no other account in a file has."""
        return self._book.name

    @property
    def total(self) -> float:
        """The whole budget."""
        return float(self._book.total)

    @property
    def spent(self) -> float:
        """Σ eps of the entries, rounded up if it is no float."""
        return _above(_sum(self._book.lines()))

    @property
    def left(self) -> float:
        """What may still be spent, rounded down if it is no float: `spend(left, …)` always fits if any is left."""
        return _below(self._book.total - _sum(self._book.lines()))

    def __repr__(self) -> str:
        lines = self._book.lines()
        spent, left = _above(_sum(lines)), _below(self._book.total - _sum(lines))
        return f"Accountant(spent {spent} of {self.total}, left {left}; {len(lines)} entries)"


class Page(Protocol):
    """The open end of an account: its lines, and a way to add one."""

    def lines(self) -> tuple[Line, ...]:
        """Every line so far."""

    def append(self, what: str, eps: Fraction) -> Line:
        """Add a line."""


class Book(Protocol):
    """Where an account is kept: `Pages` in memory, a `Ledger` in a file."""

    name: str
    total: Fraction

    def lines(self) -> tuple[Line, ...]:
        """Every line so far."""

    def exclusive(self) -> AbstractContextManager[Page]:
        """Its open end, while nobody else has it."""


class Pages:
    """An account in memory, gone with the session, and of one process alone: a fork would spend the same budget again."""

    def __init__(self, total: Fraction) -> None:
        self.name, self.total, self._lock = "in memory, gone with the session", total, threading.Lock()
        self._process = os.getpid()
        self._lines: tuple[Line, ...] = ()

    @contextmanager
    def exclusive(self) -> Iterator["Pages"]:
        """Itself, for one thread at a time."""
        if os.getpid() != self._process:
            raise RuntimeError("an account in memory must be used where it was made: to share one, use Accountant.open")
        with self._lock:
            yield self

    def lines(self) -> tuple[Line, ...]:
        """Every line so far."""
        return self._lines

    def append(self, what: str, eps: Fraction) -> Line:
        """Add a line."""
        line = Line(len(self._lines) + 1, datetime.now(UTC).isoformat(timespec="seconds"), what, eps)
        self._lines = (*self._lines, line)
        return line


def check_words(name: str, value: Any, about: str) -> str:
    """Return `value` if it is text that says something, and that a file can hold.

    >>> check_words("what", "  ", "what the budget is spent on")
    Traceback (most recent call last):
    TypeError: what must say in words what the budget is spent on, got '  '
    """
    if not isinstance(value, str) or not value.strip() or value != value.encode(errors="ignore").decode():
        raise TypeError(f"{name} must say in words {about}, got {value!r}")
    return value


def check_accountant(name: str, value: Any) -> Accountant | None:
    """Return `value` if it is an `Accountant`, or None.

    >>> check_accountant("account", "patients.account")
    Traceback (most recent call last):
    TypeError: account must be an Accountant or None, got 'patients.account'
    """
    if not isinstance(value, Accountant | None):
        raise TypeError(f"{name} must be an Accountant or None, got {value!r}")
    return value


def _too_little(left: Fraction, total: Fraction, piece: Fraction, what: str, lines: tuple[Line, ...]) -> str:
    spent = "; ".join(f"{_above(line.eps)} on {line.what!r}" for line in lines[-3:])
    before = f" The last that was spent: {spent}." if lines else ""
    all_left = f"{_below(left)}, which is all that is left of {float(total)}"
    return f"eps must be at most {all_left}, got {float(piece)} for {what!r}.{before}"


def _sum(lines: tuple[Line, ...]) -> Fraction:
    return sum((line.eps for line in lines), Fraction())


def _above(value: Fraction) -> float:
    """The smallest float whose printed decimal is at least `value`."""
    return 0.0 - _below(-value)  # a bare minus would show -0.0 for an account that nobody touched


def _below(value: Fraction) -> float:
    """The largest float whose printed decimal is at most `value`."""
    near = float(value)
    return near if Fraction(repr(near)) <= value else nextafter(near, -inf)

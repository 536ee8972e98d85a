"""A purse for a privacy budget: it says what was spent on what, and refuses to go below zero.

    total: ε that may ever be spent on these people · spent, left: in ε, a pure number

Sums are exact. A float stands for the decimal that it prints, so 0.1 is one tenth, three times 0.1 fits into 0.3, and
0.1 + 0.2, which Python prints as 0.30000000000000004, does not. Whole numbers and fractions stand for themselves.
"""

import threading
from fractions import Fraction
from math import inf, nextafter
from typing import NamedTuple

from .. import checks


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
    ValueError: eps must be at most 0.0, which is all that is left of 0.3, got 0.001 for 'one more look'
    """

    def __init__(self, total: float | Fraction) -> None:
        self._total, self._lock = checks.fraction("total", total), threading.Lock()
        self._entries: list[Entry] = []

    def spend(self, eps: float | Fraction, what: str) -> None:
        """Write off `eps` for `what`, or refuse if less is left. Call it first and draw afterwards.

        >>> purse = Accountant(1)
        >>> purse.spend(0.25, "counts of blocks")
        >>> purse.left, purse.entries
        (0.75, (Entry(what='counts of blocks', eps=Fraction(1, 4)),))
        """
        piece = checks.fraction("eps", eps)
        if not isinstance(what, str) or not what.strip():
            raise TypeError(f"what must say in words what the budget is spent on, got {what!r}")
        with self._lock:  # two threads must not both find the same budget left
            if piece > self._total - self._sum():
                left = f"{self.left}, which is all that is left of {float(self._total)}"
                raise ValueError(f"eps must be at most {left}, got {float(eps)} for {what!r}")
            self._entries.append(Entry(what, piece))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was spent, first line first."""
        return tuple(self._entries)

    @property
    def total(self) -> float:
        """The whole budget."""
        return float(self._total)

    @property
    def spent(self) -> float:
        """Σ eps of the entries, rounded up if it is no float."""
        return 0.0 - _below(-self._sum())  # a bare minus would show -0.0 for an account that nobody touched

    @property
    def left(self) -> float:
        """What may still be spent, rounded down if it is no float: `spend(left, …)` always fits if any is left."""
        return _below(self._total - self._sum())

    def _sum(self) -> Fraction:
        return sum((entry.eps for entry in self._entries), Fraction())

    def __repr__(self) -> str:
        spent = f"spent {self.spent} of {self.total}, left {self.left}"
        return f"Accountant({spent}; {len(self._entries)} entries)"


def _below(value: Fraction) -> float:
    """The largest float whose printed decimal is at most `value`."""
    near = float(value)
    return near if Fraction(repr(near)) <= value else nextafter(near, -inf)

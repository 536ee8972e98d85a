"""What is asked of a table: sentences without cells. What is refused, and where, is in test_sums.py."""

import re
import warnings

import pytest
from support.rows import SECRET, clean

from helpers.tables.asked import CELL, NUMBER, OF_NO_CELL, Asked, ask, check_columns


def test_an_engine_that_stops_is_not_quoted():
    """The sentence names the argument, what it must be and the kind of error; nothing leads to the error itself."""
    with pytest.raises(ValueError) as refused:
        ask("table", "a file that is whole", lambda: int(SECRET))
    words = "but reading it ended in ValueError (more may quote cells)"
    assert clean(refused.value) == f"table must be a file that is whole, {words}"
    assert refused.value.__cause__ is None


def test_an_engine_that_warns_is_not_quoted():
    """Warnings quote cells, too."""

    def warn():
        warnings.warn(SECRET, stacklevel=1)
        return 3

    assert ask("table", "a table", warn) == 3


def test_whoever_stops_the_work_stops_it():
    """An interrupt is no error of an engine."""

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask("table", "a table", interrupt)


NUMBERS = {
    **dict.fromkeys(["0", "12", "3.0", "3.", ".5", "+4", "1e3", "1E+05", "1e-2", " 7", "7\t", "7\r\n"], True),
    **dict.fromkeys(
        [
            "",
            " ",
            "-1",
            "1e",
            "e1",
            ".",
            "+",
            "1.2.3",
            "1 2",
            "0x1",
            "٣",
            "1e100",
            "9" * 26,
            "inf",
            "3\u2028",
            "3\x00",
            "1_0",
        ],
        False,
    ),
}


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_as_text_is_a_number(text):
    """Both expressions together say so whether an engine looks at all of a text or for its first line."""
    first_line = re.search(f"^{CELL}$", text) and not re.search(OF_NO_CELL, text)
    assert bool(re.fullmatch(CELL, text)) == bool(first_line) == NUMBERS[text]
    if NUMBERS[text]:
        assert float(re.search(NUMBER, text)[0]) == float(text)


def test_a_column_twice_is_refused():
    """It would not say which."""
    with pytest.raises(ValueError, match=r"^levels must name one column each of nodes \(a, a\), got 'a'$"):
        check_columns("nodes", ["a", "a"], Asked(["a"]))

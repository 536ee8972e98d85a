"""Names of places and of columns: which are one, which are none, and which may be shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables.names import VISIBLE, shown, tidy

SPELLINGS = {
    "composed": "S\u00e3o Paulo", "decomposed": "Sa\u0303o Paulo", "two blanks": "São  Paulo", "a tab": "São\tPaulo",
    "a blank that does not break": "São\u00a0Paulo", "around it": "  São Paulo\n", "zero width": "São\u200b Paulo",
    "a soft hyphen": "São Pau\u00adlo", "a byte order mark": "\ufeffSão Paulo",
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS.values(), ids=SPELLINGS)
def test_spellings_that_nobody_can_tell_apart_are_one_name(name):
    """However it is written, it is the same place."""
    assert tidy(name) == "S\u00e3o Paulo"


@pytest.mark.parametrize("name", ["007", "Sao Paulo", "são paulo", "a-b", "北京", ""])
def test_names_that_people_can_tell_apart_stay_as_they_are(name):
    """Zeros in front, letters, accents and case are part of a name."""
    assert tidy(name) == name


@given(st.text())
def test_what_is_blank_is_what_people_do_not_see(name):
    """The expression that engines look for persons with says of any text what `tidy` says of it."""
    assert bool(re.search(VISIBLE, name)) == bool(tidy(name))


@given(st.text(st.sampled_from(" \t\n\r\x1c\x85\xa0\u1680\u2003\u2028\u202f\u3000\u00ad\u200b\u200c\u200d\u2060\ufeff")))
def test_a_name_of_blanks_is_none(name):
    """Whatever they are."""
    assert tidy(name) == "" and not re.search(VISIBLE, name)


def test_no_blank_is_left_out():
    """The expression knows every character that Python takes for a blank."""
    assert not [letter for letter in map(chr, range(0x110000)) if letter.isspace() and re.search(VISIBLE, letter)]


@given(st.text())
def test_tidy_names_stay_as_they_are(name):
    """Tidying twice changes nothing."""
    assert tidy(tidy(name)) == tidy(name)


COLUMNS = {
    "names": (["region", "P1", "Größe", "日本", "a b"], "region, P1, Größe, 日本, a b"),
    "numbers": (["12", "-3.5", "1e5", "nan", "1,5", "1 000", "2020-04-01", "", 7], ", ".join(["(no name)"] * 9)),
    "long": (["x" * 41], "x" * 40), "lines": (["a\nb"], "a b"),
    "many": ([f"c{i}" for i in range(22)], ", ".join(f"c{i}" for i in range(20)) + ", and 2 more"),
    "as many as fit": (["c"] * 20, ", ".join(["c"] * 20)),
}  # fmt: skip


@pytest.mark.parametrize("columns, text", COLUMNS.values(), ids=COLUMNS)
def test_columns_are_shown_without_what_may_be_a_cell(columns, text):
    """Numbers are hidden, long names are cut, and of many only some are there."""
    assert shown(columns) == text

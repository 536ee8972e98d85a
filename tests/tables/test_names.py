"""Tables of rows: names that mean one place are one name."""

import pytest

from helpers.tables import tidy

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

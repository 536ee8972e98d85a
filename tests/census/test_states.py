"""Names of the states: every way to write one leads to it, and what is no state's is refused with a sentence."""

import pytest
from support.refusals import refusal

from helpers.census import states


def test_every_state_is_known_by_its_codes():
    """52 states with distinct codes, numbered in the order of their names but for Puerto Rico, which comes last."""
    codes = [code for codes in states.STATES.values() for code in codes]
    assert len(states.STATES) == 52 and len(set(codes)) == 104
    assert all(postal.isalpha() and postal.isupper() and len(postal) == 2 for postal in codes[::2])
    assert codes[1::2] == sorted(codes[1::2]) and list(states.STATES)[:-1] == sorted(list(states.STATES)[:-1])


@pytest.mark.parametrize("name", states.STATES)
def test_states_go_by_name_postal_code_and_number(name):
    """In any case, with spaces or underscores, and with spaces around it."""
    postal, fips = states.STATES[name]
    words = name.replace("_", " ")
    for given in (name, words, words.title(), name.upper(), postal, postal.lower(), fips, f" {words} "):
        assert states.state_name(given) == name


@pytest.mark.parametrize("given", ["Atlantis", "", "3", "035", "W Y", None, ("WY",)])
def test_other_names_are_refused(given):
    """The sentence shows the three states that ship with their codes, and what was given."""
    assert refusal(states.state_name, given, by=ValueError) == (
        "state must be a state's name, postal or FIPS code, such as "
        f"wyoming (WY, 56), new_mexico (NM, 35), delaware (DE, 10), got {given!r}"
    )


def test_states_that_ship_go_by_any_name_and_others_are_refused():
    """The sentence repeats what was given, and names the state as people write it."""
    assert [states.embedded_name(given) for given in ("WY", "new mexico", "10")] == list(states.EMBEDDED)
    assert refusal(states.embedded_name, "dc", by=ValueError) == (
        "state must be one of wyoming, new_mexico, delaware, whose counts ship with the package, got 'dc': "
        'source="official" downloads the counts of District of Columbia'
    )
    with pytest.raises(ValueError, match="state must be a state's name, postal or FIPS code"):
        states.embedded_name("Atlantis")


def test_titles_are_names_as_people_write_them():
    """Capitals and spaces, and a small "of"."""
    names = ["wyoming", "new_mexico", "district_of_columbia", "west_virginia"]
    assert [states.title(name) for name in names] == ["Wyoming", "New Mexico", "District of Columbia", "West Virginia"]

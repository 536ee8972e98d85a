"""The made-up network: drawn from its seed, small, complete, and nobody in it."""

from importlib.resources import files

import pandas as pd
import pytest
from support.refusals import refusal

from helpers import Hierarchy, load_example
from helpers.example import GROUPS, LEVELS, YEARS, make_example

FILE = files("helpers") / "data" / "example_hospitals.csv"


def test_the_file_is_what_the_seed_draws():
    """Drawing the network again gives the stored table, to the last count; another seed draws another network."""
    stored = pd.read_csv(str(FILE), dtype=dict.fromkeys(LEVELS, str))
    pd.testing.assert_frame_equal(stored, make_example(), check_dtype=False)
    assert not make_example(seed=20).equals(make_example())


def test_the_seed_is_a_whole_number_from_zero_on():
    """Seed 0 draws a network too, one of 220 wards; a seed below it is refused."""
    assert len(make_example(seed=0)) == 220 * len(GROUPS)
    assert refusal(make_example, seed=-1, by=ValueError) == "seed must be a whole number of at least 0, got -1"


def test_every_ward_lists_every_group_once():
    """All groups are listed in all wards, so that which rows are there tells nothing."""
    wards = load_example().groupby(list(LEVELS[:3])).diagnosis
    assert (wards.count() == len(GROUPS)).all() and (wards.nunique() == len(GROUPS)).all()


@pytest.mark.parametrize("year", YEARS)
def test_most_counts_are_small(year):
    """The table is what it is advertised as: thousands of leaves, half of them below five, a fifth empty, a few large."""
    n = load_example(year).patients
    assert 3000 < len(n) < 5000 and n.median() < 5 and 0.15 < (n == 0).mean() < 0.35 and n.max() > 500


def test_codes_keep_their_zeros():
    """Hospital codes are text of three digits; each lies in one region."""
    table = load_example()
    assert table.hospital.str.fullmatch(r"0\d\d").all()
    assert len(table[["region", "hospital"]].drop_duplicates()) == 36
    assert Hierarchy.from_frame(table, LEVELS, "patients").sizes.tolist()[:2] == [4, 36]


def test_the_file_is_small_and_the_year_is_checked():
    """The file stays below 100 kB, and a year that is not there is refused."""
    assert len(FILE.read_bytes()) < 100_000
    assert "year must be one of 2023, 2024, got '1999'" in refusal(load_example, 1999, by=ValueError)

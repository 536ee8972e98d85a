"""A hospital network that does not exist: a table to try things on that is neither census nor confidential.

    region → hospital → ward → diagnosis: 4 regions, 36 hospitals, wards by size, 14 groups of diagnoses in every ward
    rate: (rows,) expected patients of a row and year · patients: drawn from it, a Poisson number

Every patient of a year is counted once, in the ward and group of their longest stay. All 14 groups are listed in every
ward, most of them with few patients or none: which rows are there says nothing about anybody.
"""

from importlib.resources import files

import numpy as np
import pandas as pd

from . import checks

LEVELS = ("region", "hospital", "ward", "diagnosis")
YEARS = (2023, 2024)
WARDS = ("MED", "SUR", "ER", "PED", "MAT", "CAR", "ORT", "ONC", "NEU", "ICU")  # a hospital has the first few of them
GROUPS = (
    "birth", "blood", "bone", "cancer", "ear", "eye", "gut", "heart", "infect", "injury", "kidney", "lung", "mind", "skin",
)  # fmt: skip


def load_example(year: int = 2024) -> pd.DataFrame:
    """The made-up patients of a year: the key columns of LEVELS, as text, and `patients`.

    >>> load_example().head(2)
      region hospital ward diagnosis  patients
    0   east      002   ER     birth         0
    1   east      002   ER     blood         6
    """
    checks.one_of("year", str(year), [str(y) for y in YEARS])
    with (files(__package__) / "data" / "example_hospitals.csv").open() as file:
        table = pd.read_csv(file, dtype=dict.fromkeys(LEVELS, str))
    return table[list(LEVELS)].assign(patients=table[f"patients_{year}"])


def make_example(seed: int = 19) -> pd.DataFrame:
    """Draw the network anew: keys and `patients_2023`, `patients_2024`. The file of the package is the one of seed 19.

    Sizes of hospitals and shares of wards and diagnoses are log-normal, so a few are large and most are small. The second
    year has the same rates, 3% higher.

    >>> len(make_example()) == len(load_example())
    True
    """
    rng = np.random.default_rng(checks.whole("seed", seed, least=0))
    rows = []
    for code in range(1, 37):
        region = ("north", "east", "south", "west")[rng.integers(4)]
        size = rng.lognormal(np.log(800), 0.9)
        wards = WARDS[: max(4, round(size / 150))]
        by_ward = _shares(rng, len(wards), spread=0.6)
        for ward, patients in zip(wards, size * by_ward, strict=True):
            rates = patients * _shares(rng, len(GROUPS), spread=1.8)
            rows += [(region, f"{code:03}", ward, group, rate) for group, rate in zip(GROUPS, rates, strict=True)]
    table = pd.DataFrame(rows, columns=[*LEVELS, "rate"]).sort_values(list(LEVELS), ignore_index=True)
    rate = table.pop("rate").to_numpy()
    return table.assign(patients_2023=rng.poisson(rate), patients_2024=rng.poisson(1.03 * rate))


def _shares(rng: np.random.Generator, size: int, spread: float) -> np.ndarray:
    """(size,) random shares that sum to 1; the larger the spread, the more unequal."""
    raw = rng.lognormal(sigma=spread, size=size)
    return raw / raw.sum()

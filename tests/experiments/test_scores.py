"""Scores of a right formula pass, those of a wrong one do not, as often as the docstrings say."""

import numpy as np
import pytest

from helpers.experiments.scores import look_normal, noticed

RUNS, K = 4000, 24


@pytest.fixture(scope="module", name="z")
def normal_scores():
    """Standard normal scores, a row a run."""
    return np.random.default_rng(1).standard_normal((RUNS, K))


def test_a_right_formula_is_hardly_ever_refused(z):
    "Mean and spread fail once in 2000 runs each: 4 of 4000 expected, and 15 would be five standard deviations more."
    assert sum(not look_normal(row) for row in z) < 15


def test_a_noticed_error_is_found_nine_times_in_ten(z):
    "A formula off by `noticed` moves every score; the share found has a standard error of √(0.9 · 0.1 / 4000) = 0.005."
    formula, se = np.linspace(1, 3, K), np.linspace(0.01, 0.05, K)
    moved = z + noticed(formula, se) * formula / se
    assert abs(np.mean([not look_normal(row) for row in moved]) - 0.9) < 0.02


@pytest.mark.parametrize("wrong", [lambda z: 3 * z, lambda z: z / 4, lambda z: np.append(z[1:], 6.0)])
def test_wrong_standard_errors_and_outliers_are_refused(z, wrong):
    "Standard errors a third of what they should be, or four times it, and a score of 6. (A half is missed in 6% of runs.)"
    assert np.mean([look_normal(wrong(row)) for row in z[:400]]) < 0.05


@pytest.mark.parametrize(
    "call", [lambda: look_normal([1.0]), lambda: look_normal([0, np.nan]), lambda: noticed([1, 2], [1, 0])]
)
def test_nonsense_is_refused(call):
    "One score has no spread, and a standard error of zero no score."
    with pytest.raises(ValueError, match="must be"):
        call()

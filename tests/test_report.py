"""The error report: closed forms against sums over nodes, measured numbers within their standard errors."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import trees

from helpers import GAUSSIAN, Hierarchy, error_report, load_example, mse, relative_errors, uniform
from helpers.example import LEVELS

HOSPITALS = Hierarchy.from_frame(load_example(), LEVELS, "patients")
EPS = [0.06, 0.12, 0.24, 0.58]


@given(trees())
def test_relative_errors_are_those_of_the_filled_nodes(tree):
    """A node with people has its root mean squared error over its count; empty nodes are left out."""
    eps = np.linspace(0.2, 1.0, len(tree.levels))
    for found, n, e in zip(relative_errors(tree, eps), tree.counts, eps, strict=True):
        assert_allclose(found, [float(mse(c, e)) ** 0.5 / float(c) for c in n if c > 0])


def test_expected_error_is_the_root_mean_square_over_nodes():
    """Expected error and the part within a tenth are what a loop over the nodes gives."""
    report = error_report(HOSPITALS, EPS, trials=4, seed=1)
    for row, n, e in zip(report.itertuples(), HOSPITALS.counts, EPS, strict=True):
        each = [float(mse(c, e)) for c in n]
        assert row.expected == pytest.approx((sum(each) / len(n)) ** 0.5, rel=1e-12)
        good = sum(error**0.5 <= 0.1 * c for error, c in zip(each, n, strict=True))
        assert row[-1] == pytest.approx(good / len(n))


def test_measured_error_is_the_expected_one_where_nothing_is_fitted():
    """The top level is clipped and never fitted, so its measured error is the expected one within 4.5 standard errors."""
    top = error_report(HOSPITALS, EPS, trials=300, seed=2).iloc[0]
    assert abs(top["measured"] - top["expected"]) < 4.5 * top["±"]
    # A squared Laplace number has mean 2b² and variance 20b⁴: over 4 nodes and 300 trials, the root of the mean spreads by
    # √(20/1200)/4 of itself; 300 trials know that to about a tenth.
    assert top["±"] / top["expected"] == pytest.approx(np.sqrt(20 / 1200) / 4, rel=0.3)


def test_the_same_seed_gives_the_same_report():
    """A report is reproducible from its seed."""
    one, two = (error_report(HOSPITALS, EPS, trials=4, seed=3) for _ in range(2))
    assert one.equals(two)


def test_no_error_at_all_has_no_spread():
    """Noise that a double cannot see beside a large count measures as zero, give or take zero."""
    report = error_report(Hierarchy.from_counts([[20_001_041]], [None]), eps=[1e9], trials=4, seed=0)
    assert report[["measured", "±"]].to_numpy().tolist() == [[0.0, 0.0]]


def test_a_report_is_a_table_with_a_row_a_level():
    """Rows are called after the levels; columns are the nodes, the budget and the errors, in this order."""
    report = error_report(HOSPITALS, EPS, trials=4, seed=1)
    assert report.index.tolist() == list(LEVELS)
    assert report.columns.tolist() == ["nodes", "budget", "expected", "measured", "±", "within 10%"]
    assert report["nodes"].tolist() == HOSPITALS.sizes.tolist() and report["budget"].tolist() == EPS


def test_an_error_of_exactly_a_tenth_is_within_it():
    """A count of ten with an error of one person is good to a tenth; one of nine is not."""
    tree = Hierarchy.from_counts([[19], [10, 9]], [None, [0, 0]])
    report = error_report(tree, uniform(tree, 1.0, GAUSSIAN), trials=4, seed=1)  # ρ of 1/2 a level: σ is 1
    assert report["within 10%"].tolist() == [1.0, 0.5]

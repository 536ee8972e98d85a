"""Shares of money: a formula for each policy, and errors that cancel."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import counts

from helpers import downstream
from helpers.downstream import misallocation, shares

FORMULAS = {"log": lambda p: np.log(1 + p), "linear": lambda p: p, "quadratic": lambda p: p**2}
policies = st.sampled_from(list(FORMULAS))
groups = st.lists(counts(), min_size=1, max_size=8).map(np.array)


@given(groups, policies)
def test_shares_sum_to_one(n, weight):
    """All money is given out, and nobody pays."""
    found = shares(n, weight)
    assert_allclose(found.sum(), 1, rtol=1e-14)  # rounding of up to eight terms
    assert (found >= 0).all() and found.shape == n.shape


@given(groups, policies)
def test_shares_follow_the_formula(n, weight):
    """share_i = W(p_i) / Σ_j W(p_j) with the three policies of the paper."""
    assume(n.sum() > 0)
    w = FORMULAS[weight](n / n.sum())
    assert_allclose(shares(n, weight), w / w.sum(), rtol=1e-6, atol=1e-15)  # log(1+p) itself loses digits for tiny p


def test_there_are_three_policies_and_linear_is_the_default():
    """log, linear and quadratic are known by name; no name means linear; the table cannot be changed."""
    assert list(downstream.WEIGHTS) == ["log", "linear", "quadratic"]
    assert shares([1, 3]).tolist() == [0.25, 0.75]
    with pytest.raises(TypeError):
        downstream.WEIGHTS["cubic"] = np.square


@given(groups)
def test_policies_favour_small_or_large_groups(n):
    """The smallest group's share is largest under log and smallest under quadratic."""
    assume(n.sum() > 0)
    log, linear, quadratic = (shares(n, weight)[n.argmin()] for weight in ("log", "linear", "quadratic"))
    assert log >= linear * (1 - 1e-12) and linear >= quadratic * (1 - 1e-12)  # equal if all groups are; then rounding


@pytest.mark.parametrize("weight", FORMULAS)
def test_nobody_counted_means_equal_shares(weight):
    """If all counts are zero, every group gets the same, also in one row of a stack."""
    assert_allclose(shares([0, 0, 0, 0], weight), 0.25, rtol=1e-15)  # one division
    assert_allclose(shares([[0, 0], [0, 2]], weight), [[0.5, 0.5], [0, 1]], rtol=1e-15)


@given(st.lists(st.tuples(counts(), counts(), counts()), min_size=1, max_size=5), policies)
def test_a_stack_is_handled_row_by_row(rows, weight):
    """Shares of a stack of releases are the stacked shares of each release."""
    assert shares(rows, weight).tolist() == [shares(row, weight).tolist() for row in rows]
    true = rows[0]
    stacked = misallocation(true, rows, weight)
    assert stacked.tolist() == [misallocation(true, row, weight).tolist() for row in rows]
    assert stacked[0].tolist() == [0.0, 0.0, 0.0]


@given(groups, st.randoms(use_true_random=False), policies)
def test_misallocation_sums_to_zero(n, random, weight):
    """What some groups gain, others lose: 100 · (released share − true share) sums to zero."""
    released = [float(i) + random.random() for i in n]
    found = misallocation(n, released, weight)
    assert abs(found.sum()) < 1e-11  # percentage points: 100 times the rounding of eight terms
    assert_allclose(found, 100 * (shares(released, weight) - shares(n, weight)), rtol=1e-15)


def test_misallocation_is_in_percentage_points_with_the_sign_of_the_gain():
    """Counting 60 instead of 50 of 100 gains ten points."""
    assert_allclose(misallocation([50, 50], [60, 40]), [10, -10], rtol=1e-12)  # a difference of shares, times 100


def test_any_function_of_proportions_is_a_policy():
    """A callable is applied to proportions, not to counts."""
    seen = []
    found = shares([1, 3], lambda p: seen.append(p.tolist()) or np.sqrt(p))
    assert seen == [[0.25, 0.75]]
    assert_allclose(found, np.sqrt([1, 3]) / np.sqrt([1, 3]).sum(), rtol=1e-15)


def test_inputs_are_left_alone():
    """The caller's counts are the same after the call."""
    mine = np.array([0.0, 3.0])
    misallocation(mine, mine + 1, "log")
    assert mine.tolist() == [0.0, 3.0]

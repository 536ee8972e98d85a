"""Closed forms of a tree: sums and ratios of those of single counts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.strategies import trees, weights

from helpers import bias, mse, variance
from helpers.simulation.closed_form import expected_error, relative_errors


@given(trees(), st.data())
def test_expected_error_sums_the_closed_forms(tree, data):
    """Each row is the sum over the level's nodes of bias², variance and MSE."""
    eps = data.draw(weights(tree))
    found = expected_error(tree, eps)
    for row, n, e in zip(found.to_numpy(), tree.counts, eps, strict=True):
        direct = np.array([(bias(i, e) ** 2, variance(i, e), mse(i, e)) for i in n]).sum(axis=0)
        assert_allclose(row, direct, rtol=1e-13)  # sums in another order


@given(trees())
def test_relative_errors_are_those_of_the_filled_nodes(tree):
    """A node with people has its root mean squared error over its count; empty nodes are left out."""
    eps = np.linspace(0.2, 1.0, len(tree.levels))
    for found, n, e in zip(relative_errors(tree, eps), tree.counts, eps, strict=True):
        assert_allclose(found, [float(mse(c, e)) ** 0.5 / float(c) for c in n if c > 0])

"""Moments of every estimate, and what measurements count for in a region, against the matrix of the fit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.strategies import seeds, trees

from helpers import Hierarchy, gls, gls_variances
from helpers.consistency.uncertainty import largest_terms, node_moments, node_terms, region_gains, region_variance


def problem(tree, seed, skipped):
    """(nodes, nodes) what each measurement counts for in each estimate; and v, f for levels and for nodes."""
    rng = np.random.default_rng(seed)
    v = np.where([*skipped, False], np.inf, np.exp(rng.normal(0, 1, len(tree.levels))))
    ends = np.cumsum(tree.sizes)[:-1]
    matrix = np.array([np.concatenate(gls(tree, np.split(unit, ends), v)) for unit in np.eye(tree.sizes.sum())]).T
    finite = np.where(np.isinf(v), 0.0, v).repeat(tree.sizes)
    return matrix, v, finite


def skips(tree, data):
    return data.draw(st.lists(st.booleans(), min_size=len(tree.levels) - 1, max_size=len(tree.levels) - 1))


@settings(max_examples=60)
@given(trees(), seeds(), st.data())
def test_moments_are_those_of_the_matrix(tree, seed, data):
    """Variance, fourth cumulant and own part of every node, with levels measured or not: sums of powers."""
    matrix, v, finite = problem(tree, seed, skips(tree, data))
    found = node_moments(tree, v, 3 * v**2)
    variance, fourth, own = (np.concatenate(parts) for parts in zip(*found, strict=True))
    assert_allclose(variance, matrix**2 @ finite, rtol=1e-9, atol=1e-12)
    assert_allclose(fourth, matrix**4 @ (3 * finite**2), rtol=1e-9, atol=1e-12)
    assert_allclose(own, np.where(finite > 0, np.diag(matrix), 0.0), atol=1e-12)
    assert_allclose(variance, np.concatenate(gls_variances(tree, v)), rtol=1e-9, atol=1e-12)


@settings(max_examples=60)
@given(trees(), seeds(), st.data())
def test_gains_of_a_region_are_rows_of_the_matrix(tree, seed, data):
    """What each measurement counts for in a sum of leaves is the sum of their rows; the variance follows."""
    matrix, v, finite = problem(tree, seed, skips(tree, data))
    n = int(tree.sizes[-1])
    leaves = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, -2.0]), min_size=n, max_size=n)))
    gains = np.concatenate(region_gains(tree, leaves, v))
    assert_allclose(gains, leaves @ matrix[-n:], atol=1e-12)
    assert_allclose(region_variance(tree, leaves, v), gains**2 @ finite, rtol=1e-9, atol=1e-9)


@settings(max_examples=60)
@given(trees(), seeds(), st.data())
def test_the_largest_parts_of_leaves_are_those_of_their_gains(tree, seed, data):
    """Passes over kinds of nodes find the same parts as the gains of each leaf by itself."""
    _, v, _ = problem(tree, seed, skips(tree, data))
    f = np.where(np.isinf(v), 0.0, 3 * v**2)
    found = node_terms(tree, v, 3 * v**2)[-1]
    for leaf, unit in enumerate(np.eye(int(tree.sizes[-1]))):
        mine, alone = found.terms.at(found.where[[leaf]]), largest_terms(region_gains(tree, unit, v), f)
        sizes = [np.sort(t.times * t.gain**4 * f[t.level]) for t in (mine, alone)]
        assert_allclose(*sizes, rtol=1e-6, atol=1e-12 * sizes[0].max())


def test_an_exact_measurement_is_kept():
    """Where a level has no noise at all, its estimates have none, and children share what is left."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    top, below = node_moments(tree, np.array([0.0, 1.0]), np.array([0.0, 3.0]))
    assert top.variance.tolist() == [0.0] and below.variance.tolist() == [0.5, 0.5]

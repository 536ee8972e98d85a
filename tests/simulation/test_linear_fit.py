"""The linear fit against matrices: what is said to be known of it is exact."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.strategies import trees, weights

from helpers import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, Hierarchy
from helpers.simulation import LinearFit

kinds = st.sampled_from([LAPLACE, DISCRETE_LAPLACE, GAUSSIAN])


def matrix(tree, fit):
    """(m, m) u of all nodes, level after level, for each unit vector of z."""
    ends = np.cumsum(tree.sizes)[:-1]
    columns = []
    for unit in np.eye(tree.sizes.sum()):
        z = np.split(unit, ends)
        columns.append(np.concatenate(fit.errors([c + x for c, x in zip(fit.centres, z, strict=True)])))
    return np.array(columns).T


@settings(max_examples=40)
@given(trees(), kinds, st.booleans(), st.data())
def test_mean_and_variance_are_those_of_a_linear_map(tree, mechanism, fitted, data):
    """u = A z: E[A (z + b)] and the diagonal of A Var(z) A' are `means` and `variances`, for any noise and tree."""
    eps = np.minimum(data.draw(weights(tree)), 50.0)  # whole noise knows no larger budget than 600
    fit = LinearFit(tree, eps, mechanism, fitted)
    a = matrix(tree, fit)
    b, v = (
        np.concatenate([form(n, e) for n, e in zip(tree.counts, eps, strict=True)])
        for form in (mechanism.bias, mechanism.variance)
    )
    size = max(1.0, np.sqrt(v.max()), max(map(np.max, tree.floats)))
    assert_allclose(np.concatenate(fit.means), a @ b, atol=1e-12 * size * len(b))  # rounding of sums of len(b) terms
    assert_allclose(np.concatenate(fit.variances), (a * a) @ v, rtol=1e-9, atol=1e-12 * size**2 * len(b))
    assert fitted or (a == np.eye(len(a))).all() or np.allclose(a, np.eye(len(a)), atol=1e-12 * size)


@given(trees(least_levels=2), kinds, st.data())
def test_children_of_a_linear_fit_add_up(tree, mechanism, data):
    """Shares of a family sum to 1, and so u of children sums to u of their parent."""
    fit = LinearFit(tree, np.full(len(tree.levels), 0.7), mechanism)
    noisy = [n + np.array(data.draw(st.lists(st.floats(-9, 9), min_size=len(n), max_size=len(n)))) for n in tree.floats]
    u = fit.errors([np.maximum(x, 0.0) for x in noisy])
    for level, below in enumerate(u[1:]):
        fertile, _ = tree.families[level]
        scale = 1 + np.abs(tree.floats[level]).max()
        assert_allclose(tree.sum_children(level, below)[fertile], u[level][fertile], atol=1e-12 * scale * len(below))
        assert_allclose(tree.sum_children(level, fit.shares[level + 1])[fertile], 1, rtol=1e-12)


def test_shares_go_by_the_chance_of_being_above_zero():
    """Of an empty node and a full one, the empty one, which is at zero every other time, takes half as much."""
    tree = Hierarchy.from_counts([[1000], [0, 1000]], [None, [0, 0]])
    assert_allclose(LinearFit(tree, np.array([1.0, 1.0]), LAPLACE).shares[1], [1 / 3, 2 / 3])

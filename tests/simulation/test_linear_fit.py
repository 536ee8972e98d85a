"""The linear fit against matrices: what is said to be known of it is exact."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from support.strategies import trees, weights

from helpers import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, Hierarchy, gls, noisy_counts
from helpers.simulation.linear_fit import GlsFit, LinearFit

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


# Least squares


@pytest.mark.parametrize("mechanism", [LAPLACE, DISCRETE_LAPLACE, GAUSSIAN], ids=lambda kind: kind.name)
@pytest.mark.parametrize("n", [0, 1, 7])
def test_noise_and_what_clipping_leaves_of_it(mechanism, n):
    """E[max(−N, X) X] = MSE + N bias, from the law of the noise: by sums for whole noise, by quadrature for the others."""
    b = 0.6
    if mechanism is DISCRETE_LAPLACE:
        k, alpha = np.arange(-400, 401), np.exp(-b)
        found = ((1 - alpha) / (1 + alpha) * alpha ** np.abs(k) * np.maximum(-n, k) * k).sum()
    else:
        law = stats.laplace(scale=1 / b) if mechanism is LAPLACE else stats.norm(scale=np.sqrt(1 / (2 * b)))
        pieces = (quad(lambda x: max(-n, x) * x * law.pdf(x), low, high) for low, high in pairwise([-60, -n, 0.01, 60]))
        found = sum(value for value, _ in pieces)
    assert_allclose(found, mechanism.mse(n, b) + n * mechanism.bias(n, b), rtol=1e-8)


@pytest.mark.parametrize("eps", [(0.4, 0.3, 0.7), (0.5, 0.0, 0.7)])
def test_the_variance_of_fitted_leaves_is_known(eps):
    """1,000 small trees side by side, 60 releases: the mean square of u at each kind of node, to five standard errors.

    Seed 1. With 60,000 draws a node, a variance 3% off would be seen; the mean of u is zero likewise.
    """
    copies, leaves = 1000, np.array([0, 1, 5, 2, 40])
    counts = [np.full(copies, 48), np.tile([6, 42], copies), np.tile(leaves, copies)]
    parents = [None, np.arange(2 * copies) // 2, np.repeat(np.arange(2 * copies), np.tile([3, 2], copies))]
    tree, budgets, rng = Hierarchy.from_counts(counts, parents), np.array(eps), np.random.default_rng(1)
    v = np.array([2 / e**2 if e else np.inf for e in eps])
    fit, rows = GlsFit(tree, budgets, LAPLACE, v), []
    for _ in range(60):
        noisy = noisy_counts(tree, budgets, rng)
        rows.append([u.reshape(copies, -1) for u in fit.errors(gls(tree, noisy, v), noisy[-1])])
    for level, variance in enumerate(fit.variances):
        u = np.concatenate([row[level] for row in rows])  # (60 copies, nodes of one tree)
        se = (u**2).std(axis=0) / np.sqrt(len(u))
        assert (np.abs((u**2).mean(axis=0) - variance[: u.shape[1]]) < 5 * se).all()
        assert (np.abs(u.mean(axis=0)) < 5 * u.std(axis=0) / np.sqrt(len(u))).all()


def test_a_single_level_is_known_altogether():
    """Without parents there is nothing to fit: u is the clipped noise less its mean."""
    tree, eps = Hierarchy.from_counts([[0, 3]], [None]), np.array([0.5])
    fit = GlsFit(tree, eps, LAPLACE, 2 / eps**2)
    assert_allclose(fit.variances[0], LAPLACE.variance(tree.counts[0], 0.5))
    assert_allclose(fit.errors([np.array([-1.0, 2.0])], np.array([-1.0, 2.0]))[0], [0, -1] - LAPLACE.bias([0, 3], 0.5))

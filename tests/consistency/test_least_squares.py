"""Least squares on a tree against the matrix solution, by the laws of Gauss and Markov, and on a whole state."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.oracles import assert_same_counts, by_matrix, summing
from support.refusals import refusal
from support.strategies import noisy_trees, powers, seeds, trees
from support.wrong import wrong

from helpers import DISCRETE_LAPLACE, Hierarchy, load_state, noisy_counts, simulate_with, uniform
from helpers.consistency import bottom_up, gls, gls_variances, least_squares, top_down

# A lake: the second tract has neither people nor blocks. A pond: a county of such tracts only.
LAKE = Hierarchy.from_counts([[5], [5, 0], [2, 3]], [None, [0, 0], [0, 0]])
POND = Hierarchy.from_counts([[5], [5, 0], [5, 0, 0], [2, 3]], [None, [0, 0], [0, 1, 1], [0, 0]])


def variances_of(tree):
    """A variance for each level, over six orders of magnitude."""
    return st.lists(powers(-3, 3), min_size=len(tree.levels), max_size=len(tree.levels)).map(np.array)


@st.composite
def problems(draw):
    """A tree, noisy counts for it, their variances, and the size of the numbers: the yardstick for rounding."""
    tree, noisy = draw(noisy_trees())
    return tree, noisy, draw(variances_of(tree)), np.abs(np.concatenate(noisy)).max() + 1


def linear_map(tree, fit):
    """(nodes, nodes) the matrix of a linear function of the measurements, one unit vector after the other."""
    units = (np.split(unit, np.cumsum(tree.sizes)[:-1]) for unit in np.eye(tree.sizes.sum()))
    return np.array([np.concatenate(fit(unit)) for unit in units]).T


@given(problems())
def test_estimates_are_those_of_the_matrices(problem):
    """On any small tree, the two passes give B (BᵀV⁻¹B)⁻¹ BᵀV⁻¹ m, and inputs are left alone."""
    tree, noisy, v, scale = problem
    before = [x.copy() for x in noisy]
    found = gls(tree, noisy, v)
    # Six orders of magnitude in V cost the pseudo-inverse about as many of its sixteen digits.
    assert_allclose(np.concatenate(found), by_matrix(tree, v)[0] @ np.concatenate(noisy), rtol=0, atol=1e-8 * scale)
    assert [x.tolist() for x in noisy] == [x.tolist() for x in before]
    assert all(x is not y for x, y in zip(found, noisy, strict=True))


@given(trees(), st.data())
def test_variances_are_those_of_the_matrices(tree, data):
    """Every node's variance is on the diagonal of the exact covariance, and is what the passes do to independent noise."""
    v = data.draw(variances_of(tree))
    found = np.concatenate(gls_variances(tree, v))
    assert_allclose(found, by_matrix(tree, v)[1], rtol=1e-6, atol=1e-9 * v.max())
    A = linear_map(tree, lambda units: gls(tree, units, v))  # the squares of its coefficients, weighted, are the variance
    assert_allclose(found, A**2 @ np.repeat(v, tree.sizes), rtol=1e-9, atol=1e-12 * v.max())  # rounding of squares


def exact_family(top, children, v_top, v_leaf):
    """One parent and k children in rational numbers, straight from the Lagrangian."""
    t, x, a, b = Fraction(top), [Fraction(c) for c in children], Fraction(v_top), Fraction(v_leaf)
    multiplier = (t - sum(x)) / (a + len(x) * b)
    return [float(t - a * multiplier), *(float(c + b * multiplier) for c in x)]


@given(st.integers(-9, 99), st.lists(st.integers(-9, 99), min_size=1, max_size=6), st.integers(1, 50), st.integers(1, 50))
def test_one_family_is_exact(top, children, v_top, v_leaf):
    """A parent moves by its variance and each child by its own, as rational arithmetic says."""
    tree = Hierarchy.from_counts([[len(children)], [1] * len(children)], [None, [0] * len(children)])
    found = np.concatenate(gls(tree, [[top], children], [v_top, v_leaf]))
    assert_allclose(found, exact_family(top, children, v_top, v_leaf), rtol=0, atol=1e-12)  # rounding of numbers to 600


@given(trees(), st.data())
def test_the_truth_is_left_alone(tree, data):
    """Applied to the true counts the estimate returns them: being linear, it is unbiased, whatever the variances."""
    for x, n in zip(gls(tree, tree.counts, data.draw(variances_of(tree))), tree.counts, strict=True):
        assert_allclose(x, n, rtol=1e-12, atol=0)


@given(problems())
def test_parents_are_the_sums_of_their_children(problem):
    """Every node above the leaves is the sum of its children, and zero without any: `bottom_up` changes nothing."""
    tree, noisy, v, scale = problem
    found = gls(tree, noisy, v)
    assert_same_counts(found, bottom_up(tree, found), 1e-12 * scale)  # rounding of up to three sums of sums


@given(problems())
def test_only_ratios_of_variances_matter(problem):
    """A thousand times the noise everywhere gives the same estimates and a thousand times the variances."""
    tree, noisy, v, scale = problem
    assert_same_counts(gls(tree, noisy, v), gls(tree, noisy, 1000 * v), 1e-12 * scale)
    for x, y in zip(gls_variances(tree, v), gls_variances(tree, 1000 * v), strict=True):
        assert_allclose(1000 * x, y, rtol=1e-12)


def plain_top_down(tree, measured):
    """The top-down fit without any sign: each family gives the same amount."""
    out = [measured[0]]
    for level in range(1, len(tree.levels)):
        parents, size = tree.parents[level], np.bincount(tree.parents[level], minlength=tree.sizes[level - 1])
        excess = np.bincount(parents, measured[level], tree.sizes[level - 1]) - out[-1]
        out.append(measured[level] - (excess / np.maximum(size, 1))[parents])
    return out


@given(trees(childless=False), st.data())
def test_no_direction_beats_least_squares(tree, data):
    """Gauss–Markov: no node's variance exceeds that of its measurement, of bottom-up, or of top-down without clipping."""
    v = data.draw(variances_of(tree))
    noise, best = np.repeat(v, tree.sizes), np.concatenate(gls_variances(tree, v))
    assert (best <= noise * (1 + 1e-12)).all()
    for fit in (bottom_up, plain_top_down):
        A = linear_map(tree, lambda units, fit=fit: fit(tree, units))
        assert (best <= (A**2 @ noise) * (1 + 1e-9)).all()


@given(problems())
def test_no_consistent_release_is_nearer(problem):
    """The residual is orthogonal (in V⁻¹) to every consistent tree, so no other consistent tree is nearer."""
    tree, noisy, v, scale = problem
    residual = np.concatenate(noisy) - np.concatenate(gls(tree, noisy, v))
    assert_allclose(summing(tree).T @ (residual / np.repeat(v, tree.sizes)), 0, atol=1e-10 * scale / v.min())


@given(trees(childless=False), seeds())
def test_both_directions_are_limits(tree, seed):
    """Leaves that are sure give bottom-up; levels that are each far surer than the next give top-down without clipping."""
    noisy = noisy_counts(tree, [0.1] * len(tree.levels), seed)
    steps, scale = 1e6 ** np.arange(len(tree.levels)), np.abs(np.concatenate(noisy)).max() + 1
    for fit, v in ((bottom_up, 1 / steps), (plain_top_down, steps)):
        # A few dozen nodes, each a millionth away from the limit.
        assert_same_counts(gls(tree, noisy, v), fit(tree, noisy), 1e-4 * scale)


@pytest.mark.parametrize("tree", [LAKE, POND], ids=["lake", "pond"])
def test_nodes_without_children_are_zero_and_certain(tree):
    """What was measured where nobody can live is ignored, there and above, and the variance there is zero."""
    noisy = noisy_counts(tree, [1.0] * len(tree.levels), seed=1)
    v = 2.0 ** np.arange(len(tree.levels))
    found, spread = gls(tree, noisy, v), gls_variances(tree, v)
    louder = [np.where(n > 0, x, x + 100) for x, n in zip(noisy, tree.counts, strict=True)]
    assert [x.tolist() for x in gls(tree, louder, v)] == [x.tolist() for x in found]
    for x, s, n in zip(found, spread, tree.counts, strict=True):
        assert not x[n == 0].any() and not s[n == 0].any() and (s[n > 0] > 0).all()


def test_where_nothing_is_uncertain_nothing_is_shared():
    """The quotient is zero where the divisor is, not what happens to lie in memory."""
    a, b = np.arange(1.0, 65.0), np.tile([0.0, 2.0], 32)
    used = [np.full(64, np.nan) for _ in range(8)]
    del used  # memory of this size is likely to be handed out again as it is
    assert least_squares._divide(a, b).tolist() == [0.0 if i % 2 else i / 2 for i in range(1, 65)]


@given(problems())
def test_non_negativity_needs_no_clipping_first(problem):
    """After least squares, clipping before the top-down fit changes nothing: no family ever has to receive people."""
    tree, noisy, v, scale = problem
    found = gls(tree, noisy, v)
    clipped = [np.maximum(0, x) for x in found]
    # Rounding of the sums, shared by a family.
    assert_same_counts(top_down(tree, found), top_down(tree, clipped), 1e-11 * scale)


@given(trees(), seeds())
def test_one_level_is_left_as_it_is(tree, seed):
    """A tree of a single level has nothing to agree with: the measurement is the estimate."""
    flat = Hierarchy(tree.levels[-1:], tree.counts[-1:], (None,))
    noisy = noisy_counts(flat, [1.0], seed)
    [found] = gls(flat, noisy, [2.0])
    assert found.tolist() == noisy[0].tolist() and found is not noisy[0]
    assert gls_variances(flat, [2.0])[0].tolist() == [2.0] * flat.sizes[0]


def test_a_whole_state_has_the_error_that_was_computed():
    """Delaware's geography, 400 releases, discrete noise, seed 16: no bias, MSE as computed, to 4.5 standard errors."""
    tree = load_state("DE", "geography")
    split = uniform(tree, 1.0, DISCRETE_LAPLACE)
    v = DISCRETE_LAPLACE.noise_variance(split.eps)
    found = simulate_with(tree, lambda rng: gls(tree, noisy_counts(tree, split, rng), v), trials=400, seed=16)
    expected = [x.sum() for x in gls_variances(tree, v)]
    assert (abs(found.mse - expected) < 4.5 * found.mse_se).all()
    assert (abs(found.bias2) < 4.5 * found.bias2_se).all()


NO_TREE = wrong([[5], [2, 3]])
BAD = {
    "no tree": (lambda: gls(NO_TREE, NO_TREE, [1, 1]), TypeError, "hierarchy"),
    "no tree, variances": (lambda: gls_variances(NO_TREE, [1, 1]), TypeError, "hierarchy"),
    "too many nodes": (lambda: gls(LAKE, [[5], [2, 3], [1, 2, 3]], [1, 1, 1]), ValueError, "noisy[2]"),
    "not finite": (lambda: gls(LAKE, [[np.inf], [2, 3], [1, 2]], [1, 1, 1]), ValueError, "noisy[0]"),
    "a level too few": (lambda: gls(LAKE, LAKE.counts, [1, 1]), ValueError, "variances must have one entry"),
    "a variance of zero": (lambda: gls(LAKE, LAKE.counts, [1, 0, 1]), ValueError, "variances must be above zero, got 0.0"),
    "no leaves": (
        lambda: gls_variances(LAKE, [1, 1, np.inf]),
        ValueError,
        "variances must measure the lowest level, level 3",
    ),
    "no leaves given": (
        lambda: gls(LAKE, [[5], [2, 3], None], [1, 1, 1]),
        ValueError,
        "noisy must measure the lowest level",
    ),
    "not a number": (
        lambda: gls_variances(LAKE, [np.nan, 1, 1]),
        ValueError,
        "variances must be finite, got nan at index 0",
    ),
    "text": (lambda: gls_variances(LAKE, wrong("abc")), TypeError, "variances"),
}


@pytest.mark.parametrize("call, error, words", BAD.values(), ids=BAD)
def test_bad_input_is_refused(call, error, words):
    """What is not a tree, does not fit it, or is no variance is refused by name."""
    assert words in refusal(call, by=error)


@given(trees(least_levels=2), seeds(), st.data())
def test_a_level_that_was_not_measured_counts_for_nothing(tree, seed, data):
    """An infinite variance, and None in place of counts, is the limit of a huge variance: nobody looks there."""
    rng, levels = np.random.default_rng(seed), len(tree.levels)
    skipped = np.array([*data.draw(st.lists(st.booleans(), min_size=levels - 1, max_size=levels - 1)), False])
    v = np.where(skipped, np.inf, rng.uniform(0.5, 2.0, levels))
    noisy = [n + rng.normal(size=len(n)) for n in tree.floats]
    found = gls(tree, noisy, v)
    nothing = gls(tree, [None if s else x for s, x in zip(skipped, noisy, strict=True)], np.where(skipped, 1.0, v))
    limit = gls(tree, noisy, np.where(skipped, 1e12, v))
    size = 1e-6 * (1 + max(n.max() for n in tree.floats)) * sum(tree.sizes)  # 1e12 against sums of variances of two
    for a, b, c in zip(found, nothing, limit, strict=True):
        assert a.tolist() == b.tolist()
        assert_allclose(a, c, atol=size)
    for a, b in zip(gls_variances(tree, v), gls_variances(tree, np.where(skipped, 1e12, v)), strict=True):
        assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_a_level_that_was_not_measured_is_the_sum_of_its_children():
    """Of the leaves alone, least squares are the leaves and their sums."""
    found = gls(LAKE, [None, None, [2.0, 3.0]], [1, 1, 1])
    assert [x.tolist() for x in found] == [x.tolist() for x in bottom_up(LAKE, [[0], [0, 0], [2.0, 3.0]])]

"""Releases: consistent, reproducible, and with the noise they claim to have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from strategies import seeds, trees, weights
from test_consistency import assert_consistent

from helpers import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, Hierarchy, minimize_error, noisy_counts, release, top_down, uniform

FAMILY = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])


def as_lists(released):
    return [x.tolist() for x in released]


@given(trees(), seeds(), st.data())
def test_every_release_is_consistent_and_not_negative(tree, seed, data):
    """Whatever the tree, the budgets and the seed: children sum to parents, and no count is below zero."""
    released = release(tree, data.draw(weights(tree)), seed)
    assert [len(x) for x in released] == tree.sizes.tolist()
    assert all((x >= 0).all() and np.isfinite(x).all() for x in released)
    assert_consistent(tree, released)


@given(trees(), seeds())
def test_the_same_seed_gives_the_same_numbers(tree, seed):
    """A seed, the same seed as a SeedSequence, and a Generator made from it give one and the same release."""
    eps = np.full(len(tree.levels), 0.5)
    first = as_lists(release(tree, eps, seed))
    assert as_lists(release(tree, eps, np.int64(seed))) == first
    assert as_lists(release(tree, eps, np.random.SeedSequence(seed))) == first
    assert as_lists(release(tree, eps, np.random.default_rng(seed))) == first


def test_different_seeds_and_no_seed_differ():
    """Other seeds give other numbers, and without a seed no two releases are alike."""
    found = [as_lists(release(FAMILY, [1, 1], seed)) for seed in (0, 1, 2, None, None)]
    assert all(a != b for i, a in enumerate(found) for b in found[:i])


def test_a_generator_moves_on():
    """Two releases from one Generator are two different ones."""
    rng = np.random.default_rng(3)
    assert as_lists(release(FAMILY, [1, 1], rng)) != as_lists(release(FAMILY, [1, 1], rng))


def test_budgets_come_as_an_allocation_a_list_or_an_array():
    """All three ways to give the same budgets give the same release."""
    allocation = uniform(FAMILY, 1)
    first = as_lists(release(FAMILY, allocation, seed=4))
    assert as_lists(release(FAMILY, [0.5, 0.5], seed=4)) == first
    assert as_lists(release(FAMILY, allocation.eps, seed=4)) == first


@given(trees(), seeds())
def test_a_release_does_not_touch_the_tree(tree, seed):
    """The true counts are the same after a release, and releases share no memory with them."""
    before = as_lists(tree.counts)
    for consistent in (True, False):
        for noisy in release(tree, np.ones(len(tree.levels)), seed, consistent):
            noisy += 1
    assert as_lists(tree.counts) == before


@given(trees(), seeds())
def test_consistency_is_the_last_step(tree, seed):
    """A consistent release is the top-down pass over the release that the same seed gives without it."""
    eps = np.full(len(tree.levels), 0.1)
    raw = release(tree, eps, seed, consistent=False)
    assert all((x >= 0).all() for x in raw)
    scale = max(1, *(x.max() for x in raw))
    for found, expected in zip(release(tree, eps, seed), top_down(tree, raw), strict=True):
        assert_allclose(found, expected, rtol=0, atol=1e-13 * scale)  # the same steps, so at most rounding


def test_the_noise_of_each_level_has_its_own_scale():
    """Far from zero, level l has Laplace noise of scale 1/ε_l around the true counts, and siblings are not correlated."""
    n = 100_000
    counts = [[10**6] * n, [10**6] * n, [5 * 10**5] * 2 * n]
    tree = Hierarchy.from_counts(counts, [None, np.arange(n), np.arange(2 * n) // 2])
    eps = [0.1, 2.0, 0.5]
    noise = [x - c for x, c in zip(release(tree, eps, seed=13, consistent=False), tree.counts, strict=True)]
    for e, level in zip(eps, noise, strict=True):
        assert stats.kstest(level, stats.laplace(scale=1 / e).cdf).pvalue > 1e-4
    first, second = noise[2][::2], noise[2][1::2]
    for a, b in [(first, second), (noise[0], noise[1]), (noise[1], first)]:
        assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(n)  # five standard errors of a correlation, seed 13


def test_counts_are_clipped_at_zero():
    """Half of the noise on an empty node is negative, so half of the releases are exactly zero."""
    n = 40_000
    (level,) = release(Hierarchy.from_counts([[0] * n], [None]), [1.0], seed=14, consistent=False)
    assert abs((level == 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(n)  # five standard errors of a share, seed 14
    assert stats.kstest(level[level > 0], stats.expon.cdf).pvalue > 1e-4


def test_the_allocation_says_which_noise():
    """An allocation is released with the noise it was made for; another noise is refused, because ρ is not ε."""
    gaussian = minimize_error(FAMILY, 1, mechanism=GAUSSIAN)
    first = as_lists(release(FAMILY, gaussian, seed=5))
    assert as_lists(release(FAMILY, gaussian.eps, seed=5, mechanism=GAUSSIAN)) == first
    assert as_lists(release(FAMILY, gaussian.eps, seed=5)) != first  # plain numbers mean Laplace noise
    assert as_lists(noisy_counts(FAMILY, gaussian, 5)) == as_lists(noisy_counts(FAMILY, gaussian.eps, 5, GAUSSIAN))


@pytest.mark.parametrize(("eps", "mechanism", "message"), [
    (minimize_error(FAMILY, 1, mechanism=GAUSSIAN), LAPLACE, "must be that of the allocation in eps, Gaussian, got Laplace"),
    (uniform(FAMILY, 1), GAUSSIAN, "must be that of the allocation in eps, Laplace, got Gaussian"),
    ([1, 1], "gaussian", "must be LAPLACE, DISCRETE_LAPLACE or GAUSSIAN of helpers.mechanisms, got 'gaussian'"),
])  # fmt: skip
@pytest.mark.parametrize("function", [release, noisy_counts])
def test_the_wrong_noise_is_refused(function, eps, mechanism, message):
    """A mechanism other than that of the allocation, or none at all, is refused by name."""
    with pytest.raises((ValueError, TypeError)) as refused:
        function(FAMILY, eps, mechanism=mechanism)
    assert str(refused.value) == f"mechanism {message}"


@pytest.mark.parametrize("function", [release, noisy_counts])
def test_a_budget_that_leaves_no_error_is_refused(function):
    """Discrete noise takes budgets of up to 600 for each level."""
    with pytest.raises(ValueError) as refused:
        function(FAMILY, [600, 601], mechanism=DISCRETE_LAPLACE)
    assert str(refused.value) == "eps must be at most 600 for discrete Laplace noise, got 601"
    assert as_lists(function(FAMILY, [600, 600], mechanism=DISCRETE_LAPLACE)) == [[5], [2, 3]]


@pytest.mark.parametrize("function", [release, noisy_counts])
@pytest.mark.parametrize("seed", [-1, 1.0, True])
def test_a_seed_is_a_whole_number(function, seed):
    """A seed that is no whole number of zero or more is refused by name; zero is a seed."""
    with pytest.raises((ValueError, TypeError)) as refused:
        function(FAMILY, [1, 1], seed)
    assert str(refused.value) == f"seed must be a whole number of at least 0, got {seed}"
    assert as_lists(function(FAMILY, [1, 1], 0)) == as_lists(function(FAMILY, [1, 1], np.random.default_rng(0)))


@pytest.mark.parametrize("mechanism", [LAPLACE, DISCRETE_LAPLACE, GAUSSIAN], ids=lambda m: m.name)
def test_noisy_counts_clipped_are_a_release(mechanism):
    """The measurements, clipped at zero, are the release without consistency of the same seed; the tree is untouched."""
    raw = noisy_counts(FAMILY, [0.3, 0.4], seed=6, mechanism=mechanism)
    plain = release(FAMILY, [0.3, 0.4], seed=6, consistent=False, mechanism=mechanism)
    assert [np.maximum(x, 0).tolist() for x in raw] == as_lists(plain)
    assert [c.tolist() for c in FAMILY.counts] == [[5], [2, 3]]


def test_discrete_noise_gives_whole_counts():
    """With discrete Laplace noise and no consistency step, every count is whole."""
    assert all((x == x.round()).all() for x in release(FAMILY, [0.2, 0.2], 7, False, DISCRETE_LAPLACE))


@pytest.mark.parametrize("budget", [1e-5, 1e-7, 1e-9, 1e-15, 1e-30, 1e-60])
def test_faint_budgets_still_add_up(budget):
    """However large the noise on the children, they sum to their parent, and a lone child is its parent."""
    wide = Hierarchy.from_counts([[50], [1] * 50], [None, [0] * 50])
    parent, children = release(wide, [1, budget], seed=1)
    assert_allclose(children.sum(), parent[0], rtol=1e-9)  # 50 numbers of at most 1e5 times a few hundred
    lone = Hierarchy.from_counts([[50], [50]], [None, [0]])
    parent, child = release(lone, [1, budget], seed=1)
    assert_allclose(child, parent, rtol=1e-9)

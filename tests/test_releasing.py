"""Releases: consistent, reproducible, and with the noise they claim to have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from support.oracles import assert_consistent, assert_same_counts
from support.refusals import refusal
from support.strategies import seeds, trees, weights

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
    for same in (np.int64(seed), np.random.SeedSequence(seed), np.random.default_rng(seed)):
        assert as_lists(release(tree, eps, same)) == first


def test_different_seeds_and_no_seed_differ():
    """Other seeds give other numbers; without a seed, and from one Generator, which moves on, no two releases are alike."""
    rng = np.random.default_rng(3)
    found = [as_lists(release(FAMILY, [1, 1], seed)) for seed in (0, 1, 2, None, None, rng, rng)]
    assert all(a != b for i, a in enumerate(found) for b in found[:i])


def test_budgets_come_as_an_allocation_a_list_or_an_array():
    """All three ways to give the same budgets give the same release."""
    allocation = uniform(FAMILY, 1)
    first, *others = (as_lists(release(FAMILY, eps, seed=4)) for eps in (allocation, [0.5, 0.5], allocation.eps))
    assert others == [first, first]


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
    assert_same_counts(release(tree, eps, seed), top_down(tree, raw), 1e-13 * scale)  # the same steps, so at most rounding


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
    ([1, 1], "gaussian", "must be one of helpers.mechanisms, such as LAPLACE, got 'gaussian'"),
])  # fmt: skip
@pytest.mark.parametrize("function", [release, noisy_counts])
def test_the_wrong_noise_is_refused(function, eps, mechanism, message):
    """A mechanism other than that of the allocation, or none at all, is refused by name."""
    assert refusal(function, FAMILY, eps, mechanism=mechanism) == f"mechanism {message}"


@pytest.mark.parametrize("function", [release, noisy_counts])
def test_a_budget_that_leaves_no_error_is_refused(function):
    """Discrete noise takes budgets of up to 600 for each level."""
    message = refusal(function, FAMILY, [600, 601], by=ValueError, mechanism=DISCRETE_LAPLACE)
    assert message == "eps must be at most 600 for discrete Laplace noise, got 601"
    assert as_lists(function(FAMILY, [600, 600], mechanism=DISCRETE_LAPLACE)) == [[5], [2, 3]]


@pytest.mark.parametrize("function", [release, noisy_counts])
@pytest.mark.parametrize("seed", [-1, 1.0, True])
def test_a_seed_is_a_whole_number(function, seed):
    """A seed that is no whole number of zero or more is refused by name; zero is a seed."""
    assert refusal(function, FAMILY, [1, 1], seed) == f"seed must be a whole number of at least 0, got {seed}"
    assert as_lists(function(FAMILY, [1, 1], 0)) == as_lists(function(FAMILY, [1, 1], np.random.default_rng(0)))


@pytest.mark.parametrize("mechanism", [LAPLACE, DISCRETE_LAPLACE, GAUSSIAN], ids=lambda m: m.name)
def test_noisy_counts_clipped_are_a_release(mechanism):
    """Measurements, clipped at zero, are the release without consistency, whole if discrete; the tree is untouched."""
    raw = noisy_counts(FAMILY, [0.3, 0.4], seed=6, mechanism=mechanism)
    plain = release(FAMILY, [0.3, 0.4], seed=6, consistent=False, mechanism=mechanism)
    assert [np.maximum(x, 0).tolist() for x in raw] == as_lists(plain)
    assert all((x == x.round()).all() == (mechanism is DISCRETE_LAPLACE) for x in raw)
    assert as_lists(FAMILY.counts) == [[5], [2, 3]]


@pytest.mark.parametrize("budget", [1e-5, 1e-7, 1e-9, 1e-15, 1e-30, 1e-60])
def test_faint_budgets_still_add_up(budget):
    """However large the noise on the children, they sum to their parent, and a lone child is its parent."""
    wide = Hierarchy.from_counts([[50], [1] * 50], [None, [0] * 50])
    parent, children = release(wide, [1, budget], seed=1)
    assert_allclose(children.sum(), parent[0], rtol=1e-9)  # 50 numbers of at most 1e5 times a few hundred
    lone = Hierarchy.from_counts([[50], [50]], [None, [0]])
    parent, child = release(lone, [1, budget], seed=1)
    assert_allclose(child, parent, rtol=1e-9)

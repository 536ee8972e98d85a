"""Releases: consistent, reproducible, and with the noise they claim to have."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from strategies import seeds, trees, weights
from test_consistency import assert_consistent

from helpers import Hierarchy, release, top_down, uniform

module = importlib.import_module("helpers.release")  # helpers.release itself is the function
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


# The noise. n = 200,000 draws, fixed seeds; a right sampler fails a p-value of 1e-4 once in 10,000 seeds.


@pytest.mark.parametrize("scale", [0.01, 1.0, 250.0])
def test_simulated_noise_is_laplace(scale):
    """Signed exponentials pass the Kolmogorov–Smirnov test against the Laplace distribution of the scale asked for."""
    noise = np.empty(200_000)
    module.simulated_laplace(np.random.default_rng(11), scale, noise)
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > 1e-4


def test_signs_and_sizes_are_independent():
    """The sign of a draw tells nothing about its size, nor about the next draw."""
    noise = np.empty(200_000)
    module.simulated_laplace(np.random.default_rng(12), 1.0, noise)
    positive, sizes, signs = noise > 0, np.abs(noise), np.sign(noise)
    assert stats.ks_2samp(sizes[positive], sizes[~positive]).pvalue > 1e-4
    for lag in (1, 2, 8):  # eight signs come from one random byte
        for a, b in [(signs, signs), (sizes, sizes), (signs, sizes), (noise, noise)]:
            correlation = np.corrcoef(a[:-lag], b[lag:])[0, 1]
            assert abs(correlation) < 5 / np.sqrt(len(noise))  # five standard errors of a correlation, seed 12


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1001])
def test_noise_fills_arrays_of_any_length(size):
    """Every entry is drawn, also where the length is no multiple of eight."""
    noise = np.full(size, np.nan)
    module.simulated_laplace(np.random.default_rng(1), 1.0, noise)
    assert np.isfinite(noise).all() and len(np.unique(noise)) == size


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

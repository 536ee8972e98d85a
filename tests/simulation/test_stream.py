"""Streams of error vectors against stored ones, with and without a part that is known."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.oracles import naive
from support.strategies import seeds

from helpers.simulation.stream import ErrorStream, Rare, dot


@given(seeds(), st.integers(4, 25), st.integers(1, 6), st.sampled_from([0.0, 1.0, 30.0]))
def test_streaming_sums_equal_the_definitions(seed, trials, size, shift):
    """One pass over the errors gives what all pairs of stored errors give."""
    errors = np.random.default_rng(seed).laplace(shift, 1, (trials, size))
    level = ErrorStream(size, trials)
    for e in errors:
        level.add(e)
    # Both sums cancel at most |mean|²·n ≈ 5400 down to order one: 1e-16 · 5400, far below 1e-9. A square root of a
    # difference that is zero up to such rounding may still show 1e-6 of it.
    found, expected = np.array(level.estimates()), np.array(naive(errors))
    assert_allclose(found[:3], expected[:3], rtol=1e-9, atol=1e-9)
    assert_allclose(found[3:] ** 2, expected[3:] ** 2, rtol=1e-9, atol=1e-9)


# Sizes of groups that lie side by side: one group, several, singletons only, singletons between larger ones.
LAYOUTS = st.one_of(st.sampled_from([[1], [5], [1, 1, 1]]), st.lists(st.integers(1, 4), min_size=2, max_size=5))


@given(seeds(), st.integers(2, 25), LAYOUTS, st.sampled_from([0.0, 1.0, 30.0]))
def test_a_stream_of_groups_is_a_plain_stream_for_each_group(seed, trials, sizes, shift):
    """With a `dot` that sums over groups, each group's estimates are those of its own columns alone, and of all pairs."""
    errors = np.random.default_rng(seed).laplace(shift, 1, (trials, sum(sizes)))
    starts = np.cumsum(sizes) - sizes
    groups = [slice(start, start + size) for start, size in zip(starts, sizes, strict=True)]
    together = ErrorStream(sum(sizes), trials, lambda a, b: np.array([dot(a[g], b[g]) for g in groups]))
    alone = [ErrorStream(size, trials) for size in sizes]
    for e in errors:
        together.add(e)
        for stream, group in zip(alone, groups, strict=True):
            stream.add(e[group])
    found = np.array([np.broadcast_to(column, len(sizes)) for column in together.estimates()]).T  # (groups, 6)
    # The same operations, but the roots of an array and of a number may differ in the last digit. NaN meets NaN.
    assert_allclose(found, [stream.estimates() for stream in alone], rtol=4e-15)
    for row, group in zip(found, groups, strict=True):
        own = errors[:, group]
        inner = own @ own.T  # (T, T) all inner products, u = t on the diagonal
        mse = np.trace(inner) / trials
        bias2 = (inner.sum() - np.trace(inner)) / (trials * (trials - 1))
        assert_allclose(row[:3], [bias2, mse - bias2, mse], rtol=1e-9, atol=1e-9)  # as above


@given(seeds(), st.integers(4, 25), st.integers(1, 6), st.sampled_from([0.0, 1.0, 30.0]))
def test_a_known_part_is_left_to_its_closed_form(seed, trials, size, shift):
    """With u given, one pass gives what the definitions give of stored h and u, and the guess serves the first trial."""
    rng = np.random.default_rng(seed)
    h, u, guess = rng.laplace(shift, 1, (trials, size)), rng.normal(size=(trials, size)), rng.normal(size=size)
    level = ErrorStream(size, trials, known=7.0, guess=guess)
    for hi, ui in zip(h, u, strict=True):
        level.add(hi, ui)
    found, expected = np.array(level.estimates()), np.array(naive(h, u, 7.0, guess))
    assert_allclose(found[:3], expected[:3], rtol=1e-9, atol=1e-9)  # as above
    assert_allclose(found[3:] ** 2, expected[3:] ** 2, rtol=1e-9, atol=1e-9)


def test_what_is_known_need_not_be_simulated():
    """Errors that are all known, but for their mean, are measured without error from a handful of releases."""
    rng, mean = np.random.default_rng(1), np.array([1.0, 2.0])
    level = ErrorStream(2, 8, known=3.0, guess=mean)
    for _ in range(8):
        level.add(mean.copy(), rng.normal(size=2))
    assert_allclose(level.estimates(), [5, 3, 8, 0, 0, 0], atol=1e-8)  # |mean|², the known part, and their sum; to rounding


SHARES = [0.0, 0.5, 0.95, 1.0]  # how much of the error is known


def test_estimates_stay_unbiased_whatever_is_known():
    """Over 4,000 streams of 6 releases, the mean of each estimate is its true value, and known parts shrink its scatter.

    h = mean + skewed noise + some of u. Five standard errors; what is missed is a bias of less than that, which is printed.
    """
    rng, mean, streams = np.random.default_rng(3), np.array([0.5, 0.0, -0.2]), 4000
    scatter = []
    for share in SHARES:
        rows = []
        for _ in range(streams):
            level = ErrorStream(3, 6, known=3 * share**2, guess=np.zeros(3))
            for _ in range(6):
                noise = rng.exponential(size=3) - 1  # mean 0, variance 1, skewed; u is a share of the same noise
                level.add(mean + (1 - share) * noise, share * noise)
            rows.append(level.estimates()[:3])
        found = np.array(rows)
        true = np.array([mean @ mean, 3.0, mean @ mean + 3])
        z = (found.mean(0) - true) / (found.std(0, ddof=1) / np.sqrt(streams) + 1e-12)
        assert (np.abs(z) < 5).all(), (share, z)
        scatter.append(found.std(0))
    assert (np.array(scatter[2]) < np.array(scatter[0]) / 4).all(), scatter


@given(seeds(), st.integers(4, 25), st.integers(1, 6))
def test_a_part_of_mean_zero_helps_the_bias_alone(seed, trials, size):
    """Where only the mean of u is known, mse is that of the whole errors, and bias2 comes from what is left of them."""
    rng = np.random.default_rng(seed)
    h, u = rng.laplace(1, 1, (trials, size)), rng.normal(size=(trials, size))
    level, whole, rest = (ErrorStream(size, trials) for _ in range(3))
    for hi, ui in zip(h, u, strict=True):
        level.add(hi, ui)
        whole.add(hi + ui)
        rest.add(hi)
    found, all_of_it, left = (np.array(stream.estimates()) for stream in (level, whole, rest))
    assert_allclose(found[[2, 5]], all_of_it[[2, 5]], rtol=1e-9)
    assert_allclose(found[[0, 3]], left[[0, 3]], rtol=1e-9, atol=1e-12)


def test_what_happened_early_counts_in_the_variance_too():
    """One error far out in the first half: the variance is known no better than the mse, of which it is nearly all."""
    level, rng = ErrorStream(3, 40), np.random.default_rng(1)
    for t in range(40):
        level.add(np.array([50.0, 0, 0]) if t == 3 else rng.normal(size=3))
    *_, variance_se, mse_se = level.estimates()
    assert variance_se > 0.9 * mse_se


def test_what_is_rare_has_a_least_standard_error():
    """Where few events are expected, variances are at least those that are told; where many are, they are what was seen."""
    for chance, least in ((0.1, 4.0), (1.0, 0.0)):  # of 40 trials: 4 events, or 40
        level = ErrorStream(1, 40, rare=Rare(chance, 16.0, 0.0, 16.0 * 10))
        for _ in range(40):
            level.add(np.zeros(1))
        assert_allclose(np.array(level.estimates()[3:]) ** 2, [least / 10, least, least])

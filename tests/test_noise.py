"""Simulated noise has the distribution it is named after. n = 200,000 draws, fixed seeds.

A right sampler fails a p-value of 1e-4 once in 10,000 seeds.
"""

import numpy as np
import pytest
from scipy import stats

from helpers.noise import simulated_discrete_laplace, simulated_gaussian, simulated_laplace

SAMPLERS = [simulated_laplace, simulated_discrete_laplace, simulated_gaussian]


def drawn(sampler, seed, scale, size=200_000):
    out = np.full(size, np.nan)
    sampler(np.random.default_rng(seed), scale, out)
    return out


@pytest.mark.parametrize("scale", [0.01, 1.0, 250.0])
@pytest.mark.parametrize(("sampler", "law"), [(simulated_laplace, stats.laplace), (simulated_gaussian, stats.norm)])
def test_simulated_noise_has_its_law(sampler, law, scale):
    """Draws pass the Kolmogorov–Smirnov test against the distribution of the scale asked for."""
    assert stats.kstest(drawn(sampler, 11, scale), law(scale=scale).cdf).pvalue > 1e-4


@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0])
def test_simulated_discrete_noise_has_its_law(scale):
    """Whole numbers occur as often as the discrete Laplace distribution says (chi-squared, cells of 20 or more)."""
    law = stats.dlaplace(1 / scale)
    k, observed = np.unique(drawn(simulated_discrete_laplace, 11, scale), return_counts=True)
    expected = 200_000 * law.pmf(k)
    seen = expected >= 20
    rest = 200_000 - expected[seen].sum()
    cells = np.append(observed[seen], observed[~seen].sum()), np.append(expected[seen], rest)
    assert (k == k.round()).all()
    assert stats.chisquare(*cells).pvalue > 1e-4


def test_signs_and_sizes_are_independent():
    """The sign of a Laplace draw tells nothing about its size, nor about the next draw."""
    noise = drawn(simulated_laplace, 12, 1.0)
    positive, sizes, signs = noise > 0, np.abs(noise), np.sign(noise)
    assert stats.ks_2samp(sizes[positive], sizes[~positive]).pvalue > 1e-4
    for lag in (1, 2, 8):  # eight signs come from one random byte
        for a, b in [(signs, signs), (sizes, sizes), (signs, sizes), (noise, noise)]:
            correlation = np.corrcoef(a[:-lag], b[lag:])[0, 1]
            assert abs(correlation) < 5 / np.sqrt(len(noise))  # five standard errors of a correlation, seed 12


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1001])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_noise_fills_arrays_of_any_length(sampler, size):
    """Every entry is drawn, also where the length is no multiple of eight."""
    noise = drawn(sampler, 1, 1e12, size)  # large, so that no two whole numbers are alike
    assert np.isfinite(noise).all() and len(np.unique(noise)) == size

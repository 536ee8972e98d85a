"""Simulated normal noise has the distribution it is named after; its error is tested in test_base.

n = 200,000 draws, fixed seeds. A right sampler fails a p-value of 1e-4 once in 10,000 seeds.
"""

import pytest
from scipy import stats
from support.oracles import drawn

from helpers.mechanisms.gaussian import simulated_gaussian


@pytest.mark.parametrize("scale", [0.01, 1.0, 250.0])
def test_simulated_noise_has_its_law(scale):
    """Draws pass the Kolmogorov–Smirnov test against the distribution of the scale asked for."""
    assert stats.kstest(drawn(simulated_gaussian, 11, scale), stats.norm(scale=scale).cdf).pvalue > 1e-4

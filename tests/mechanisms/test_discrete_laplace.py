"""Simulated discrete Laplace noise has the distribution it is named after; its error is tested in test_base.

n = 200,000 draws, fixed seeds. A right sampler fails a p-value of 1e-4 once in 10,000 seeds.
"""

import numpy as np
import pytest
from scipy import stats
from support.oracles import drawn

from helpers.mechanisms.discrete_laplace import simulated_discrete_laplace


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

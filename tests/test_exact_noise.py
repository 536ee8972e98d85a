"""Exact noise: the right distribution, a privacy map that keeps its word, and a helpful sentence where OpenDP is missing."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from helpers.exact_noise import Noise, opendp


@given(st.integers(1, 5), st.one_of(st.integers(1, 10**7).map(lambda n: n / 10**6), st.floats(1e-6, 20)))
def test_the_privacy_map_stays_within_the_budget(sensitivity, eps):
    """What OpenDP proves for neighbours at that distance is at most eps, as exact numbers, and less by a few bits only."""
    noise = Noise.of(sensitivity, eps)
    proved, asked = Fraction(noise.measurement.map(sensitivity)), Fraction(repr(eps))
    assert proved <= asked <= proved * (1 + Fraction(1, 10**14))
    assert noise.scale == pytest.approx(sensitivity / eps, rel=1e-14)


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_the_noise_is_discrete_laplace(scale):
    """50,000 draws pass the chi-square test against P(k) ∝ exp(−|k|/scale); a right sampler fails it once in a billion."""
    noise = Noise.of(1, 1 / scale).add(np.full(50_000, 7)) - 7
    alpha = np.exp(-1 / scale)
    edge = int(6 * scale)
    ks = np.arange(-edge, edge + 1)
    shares = (1 - alpha) / (1 + alpha) * alpha ** np.abs(ks)
    seen = np.append((noise[:, None] == ks).sum(axis=0), (np.abs(noise) > edge).sum())
    assert stats.chisquare(seen, 50_000 * np.append(shares, 1 - shares.sum())).pvalue > 1e-9


def test_noise_is_whole_and_different_each_time():
    """The result is int64, the counts are left alone, and two draws are not alike."""
    counts = np.arange(1000)
    first, second = (Noise.of(1, 0.1).add(counts) for _ in range(2))
    assert first.dtype == np.int64 and (first != second).any() and counts.tolist() == list(range(1000))


def test_a_missing_library_is_named(monkeypatch):
    """Without OpenDP the error says what to install."""
    for name in [name for name in sys.modules if name.split(".")[0] == "opendp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(ModuleNotFoundError, match="pip install opendp"):
        opendp()


@pytest.mark.parametrize(
    ("sensitivity", "eps", "name"), [(0, 1, "sensitivity"), (1, 0, "eps"), (1, -1, "eps"), (1.5, 1, "sens")]
)
def test_noise_that_makes_no_sense_is_refused(sensitivity, eps, name):
    """Sensitivity is a whole number of at least one, and eps is above zero."""
    with pytest.raises((ValueError, TypeError), match=name):
        Noise.of(sensitivity, eps)

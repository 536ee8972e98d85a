"""Exact noise: the right distribution, a privacy map that keeps its word, and a helpful sentence where OpenDP is missing."""

import sys
from fractions import Fraction
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.refusals import refusal

from helpers.publishing import exact_noise
from helpers.publishing.exact_noise import Noise, opendp, opendp_version


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
    words = "exact noise needs OpenDP, which is not installed: pip install opendp (there is none for the browser)"
    assert refusal(opendp, by=ModuleNotFoundError) == words


def test_the_version_is_the_installed_one():
    """The version is that of the files from which the library is imported."""
    assert f"opendp-{opendp_version()}.dist-info" in {path.name for path in Path(opendp().__file__).parents[1].iterdir()}


NONSENSE = [
    (0, 1, "sensitivity must be a whole number of at least 1, got 0"),
    (1.5, 1, "sensitivity must be a whole number of at least 1, got 1.5"),
    (1, 0, "eps must be a finite number above zero, got 0"),
    (1, -1, "eps must be a finite number above zero, got -1"),
]


@pytest.mark.parametrize(("sensitivity", "eps", "words"), NONSENSE)
def test_noise_that_makes_no_sense_is_refused(sensitivity, eps, words):
    """Sensitivity is a whole number of at least one, and eps is above zero."""
    assert refusal(Noise.of, sensitivity, eps, by=(ValueError, TypeError)) == words


@pytest.mark.parametrize(("sensitivity", "eps", "scale"), [(1, 0.5, 2.0), (2, 0.5, 4.0), (1, Fraction(1, 4), 4.0)])
def test_noise_says_what_it_is(sensitivity, eps, scale):
    """Where sensitivity/eps is a float whose map is exact, that is the scale, to the last bit, and the budget is exact."""
    noise = Noise.of(sensitivity, eps)
    assert (noise.sensitivity, noise.scale, noise.epsilon) == (sensitivity, scale, Fraction(eps))


def test_no_nodes_are_no_trouble():
    """Noise for no counts is an empty array of whole numbers."""
    none = Noise.of(1, 1).add(np.array([], dtype=np.int64))
    assert none.shape == (0,) and none.dtype == np.int64


def test_a_library_that_does_not_prove_the_budget_is_not_used(monkeypatch):
    """If a hundred scales, bit by bit from the right one up, are all said to cost more, there is no noise but an error."""
    tried, library = [], MagicMock()

    def make(*_, scale):
        tried.append(scale)
        return MagicMock(map=lambda sensitivity: 0.75 * sensitivity)

    library.m.make_laplace = make
    monkeypatch.setattr(exact_noise, "opendp", lambda: library)
    bits = 2.0 + np.arange(101) * np.spacing(2.0)
    assert refusal(Noise.of, 1, 0.5, by=RuntimeError) == f"OpenDP proves ε = 0.5 at no scale below {bits[100]}"
    assert tried == bits[:100].tolist()

"""Conversions between guarantees, against the definitions they follow from."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from support.refusals import refusal
from support.strategies import powers

from helpers.mechanisms.guarantees import eps_of_rho, gaussian_delta, gaussian_rho, least_eps_of_rho, rho_of_pure

rhos, deltas = powers(-4, 2), powers(-40, -1)


def privacy_curve(eps, rho):
    """∫ max(0, p − exp(ε) q) for the densities p, q of two Gaussian releases that are one apart, by quadrature."""
    with mpmath.workdps(40):
        sigma = 1 / mpmath.sqrt(2 * mpmath.mpf(rho))
        p, q = (lambda z, m=m: mpmath.npdf(z, m, sigma) for m in (0, 1))
        start = mpmath.mpf(1) / 2 - eps * sigma**2  # p exceeds exp(ε) q to the left of here
        ends = [start - k * sigma for k in (40, 8, 2, 0.5, 0.1, 0.02, 0)]  # far out, the mass sits close to the start
        unit = p(start)  # quad stops at an absolute error, so the integrand must not be tiny
        return unit * mpmath.quad(lambda z: (p(z) - mpmath.exp(eps) * q(z)) / unit, ends)


@pytest.mark.parametrize("rho", [1e-3, 0.05, 1.0, 30.0])
@pytest.mark.parametrize("eps", [0, 0.1, 1, 8])
def test_the_gaussian_delta_is_an_integral_over_densities(eps, rho):
    """δ(ε) is the mass by which one density exceeds exp(ε) times the other, to 1e-9 relative, where a double holds it."""
    exact = privacy_curve(eps, rho)
    if exact > 1e-300:
        assert abs(gaussian_delta(eps, rho) / exact - 1) < 1e-9


def test_levels_compose_to_one_count():
    """Two counts with budgets ρ₁ and ρ₂ lose as much privacy as one with ρ₁ + ρ₂: 400,000 draws, 4.5 standard errors."""
    rho, eps, rng = np.array([0.3, 0.9]), 1.0, np.random.default_rng(15)
    noise = rng.normal(size=(400_000, 2)) / np.sqrt(2 * rho)
    loss = (rho * ((noise - 1) ** 2 - noise**2)).sum(axis=1)  # ln p/q where both counts are one lower under q
    sample = np.maximum(0, 1 - np.exp(eps - loss))  # its mean under p is δ(ε)
    assert abs(sample.mean() - gaussian_delta(eps, 1.2)) < 4.5 * sample.std() / np.sqrt(sample.size)


@given(rho=rhos, delta=deltas)
def test_each_conversion_is_tighter_than_the_last(rho, delta):
    """For a Gaussian release: its exact ε, at most that of any zCDP release, at most the simple formula."""
    general = least_eps_of_rho(rho, delta)
    assert gaussian_delta(general, rho) <= delta * (1 + 1e-9)
    assert 0 <= general <= eps_of_rho(rho, delta) * (1 + 1e-12)


@given(rho=rhos, delta=deltas)
def test_the_least_eps_is_the_least_over_alpha(rho, delta):
    """No order α on a fine grid gives a smaller ε, and one comes close."""
    alpha = 1 + np.logspace(-3, 6, 20_001)
    grid = alpha * rho - np.log(alpha * delta) / (alpha - 1) + np.log1p(-1 / alpha)
    assert_allclose(least_eps_of_rho(rho, delta), max(0, grid.min()), rtol=1e-5, atol=1e-6)
    assert least_eps_of_rho(rho, delta) <= max(0, grid.min()) * (1 + 1e-9) + 1e-12


def test_the_simple_formula():
    """ε = ρ + 2√(ρ ln(1/δ)): with ρ = 9 and δ = exp(−4) it is 9 + 2·3·2."""
    assert_allclose(eps_of_rho(9, np.exp(-4)), 21, rtol=1e-15)


def test_a_delta_just_below_one_needs_no_eps():
    """Where δ leaves almost everything open, every release of moderate ρ is (0, δ)-differentially private."""
    assert least_eps_of_rho(1, 1 - 1e-14) == least_eps_of_rho(1e-9, 1 - 1e-13) == 0


def test_the_bureaus_published_eps():
    """ρ = (542/339)² and (3379/12343)² at δ = 1e-10 are the ε = 17.14 and 2.47 that the Census Bureau announced in 2021."""
    assert round(least_eps_of_rho((542 / 339) ** 2, 1e-10), 2) == 17.14
    assert round(least_eps_of_rho((3379 / 12343) ** 2, 1e-10), 2) == 2.47


@given(eps=powers(-3, 2.5), delta=deltas)
def test_gaussian_rho_inverts_gaussian_delta(eps, delta):
    """At the largest ρ the release has exactly the δ that was asked for."""
    assert_allclose(gaussian_delta(eps, gaussian_rho(eps, delta)), delta, rtol=1e-8)


@pytest.mark.parametrize("eps", [0.01, 0.5, 1.0, 4.0])
def test_pure_privacy_is_zcdp(eps):
    """Randomised response, the worst ε-private release, has Rényi divergences of at most ρα, and near it for small ε."""
    p = 1 / (1 + np.exp(-eps))
    alpha = 1 + np.logspace(-3, 4, 400)
    log_terms = alpha * np.log([[p], [1 - p]]) + (1 - alpha) * np.log([[1 - p], [p]])
    divergence = np.logaddexp(*log_terms) / (alpha - 1)
    assert (divergence <= rho_of_pure(eps) * alpha * (1 + 1e-9)).all()
    if eps < 0.1:
        assert (divergence / alpha).max() > 0.999 * rho_of_pure(eps)


POSITIVE = "must be a finite number above zero, got -1"


@pytest.mark.parametrize(("call", "message"), [
    (lambda: rho_of_pure(-1), f"eps {POSITIVE}"),
    (lambda: eps_of_rho(-1, 0.1), f"rho {POSITIVE}"),
    (lambda: least_eps_of_rho(-1, 0.1), f"rho {POSITIVE}"),
    (lambda: gaussian_delta(1, -1), f"rho {POSITIVE}"),
    (lambda: gaussian_delta(-1, 0.5), "eps must be zero or more, got -1"),
    (lambda: gaussian_rho(-1, 0.1), f"eps {POSITIVE}"),
    (lambda: gaussian_rho(1, -1), f"delta {POSITIVE}"),
    (lambda: eps_of_rho(1, 1), "delta must be below 1, got 1"),
    (lambda: gaussian_delta(2e6, 1), "eps must be between 0 and 1e+06, got 2e+06"),
    (lambda: gaussian_delta(1, 1e-13), "rho must be between 1e-12 and 1e+12, got 1e-13"),
    (lambda: gaussian_rho(1e-7, 0.1), "eps must be between 1e-06 and 1e+06, got 1e-07"),
    (lambda: eps_of_rho(1e13, 0.1), "rho must be between 1e-12 and 1e+12, got 1e+13"),
    (lambda: least_eps_of_rho(1e13, 0.1), "rho must be between 1e-12 and 1e+12, got 1e+13"),
])  # fmt: skip
def test_bad_input_is_refused(call, message):
    """A δ outside (0, 1), budgets that are not positive, and numbers for which nine digits cannot be kept are named."""
    assert refusal(call, by=ValueError) == message


@pytest.mark.parametrize("rho", [1e-12, 1e-9, 1e-6, 1.0])
@pytest.mark.parametrize("rest", [1e-6, 1e-3, 0.5])
def test_a_delta_near_one_has_an_eps_too(rho, rest):
    """Even where the root lies many orders below the upper end of the search; it is no larger than the simple rule's."""
    assert 0 <= least_eps_of_rho(rho, 1 - rest) <= eps_of_rho(rho, 1 - rest)

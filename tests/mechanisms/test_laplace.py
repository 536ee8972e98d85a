"""The closed forms against the integrals they come from, and against simulated noise."""

import math
from functools import cache

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from support.oracles import drawn
from support.strategies import budgets, powers

from helpers import bias, mse, variance
from helpers.mechanisms.laplace import h, h_slope_and_curvature, simulated_laplace

# The raw integrals lose up to 1e-300 (bias) of numbers near 1e18 (N²) to cancellation; 700 digits leave hundreds to spare.
DIGITS = 700
# Rounding of x = εN shifts exp(−x) by x·1e-16, at most 7e-14 where the result is above 1e-300.
CLOSE = 1e-12

X_GRID = np.concatenate([[0.0], np.logspace(-12, 9, 64), [0.5, 1.0, 2.0, 690.0, 745.0, 746.0, 799.0, 800.0, 801.0]])
EPS_GRID = [1e-140, 1e-12, 1e-3, 0.5, 1.0, 3.0, 1e6, 1e140]


@cache
def derived():
    """Bias, variance, MSE and the first two ε-derivatives of the MSE, integrated from the Laplace density by region."""
    n, eps, y = sp.symbols("n eps y", positive=True)  # y: the noisy count before it is clipped
    left, right = eps / 2 * sp.exp(-eps * (n - y)), eps / 2 * sp.exp(-eps * (y - n))

    def mean(g):
        clipped = g(0) * sp.integrate(left, (y, -sp.oo, 0))
        return clipped + sp.integrate(g(y) * left, (y, 0, n)) + sp.integrate(g(y) * right, (y, n, sp.oo))

    first, second, error = mean(lambda v: v), mean(lambda v: v**2), mean(lambda v: (v - n) ** 2)
    forms = {"bias": first - n, "variance": second - first**2, "mse": error}
    forms |= {"slope": sp.diff(error, eps), "curvature": sp.diff(error, eps, 2)}
    return {name: sp.lambdify((n, eps), form, "mpmath") for name, form in forms.items()}


def exact(name, n, eps):
    """The derived form at the very doubles given, in high precision."""
    with mpmath.workdps(DIGITS):
        return derived()[name](mpmath.mpf(float(n)), mpmath.mpf(float(eps)))


def assert_exact(found, name, n, eps):
    value = exact(name, n, eps)
    if abs(value) >= 1e-300:  # below, doubles run out of digits
        assert abs(mpmath.mpf(float(found)) / value - 1) < CLOSE, (name, n, eps)
    else:
        assert abs(found) <= 1.01e-300


@pytest.mark.parametrize("function", [bias, variance, mse])
@pytest.mark.parametrize("eps", EPS_GRID)
def test_closed_forms_are_the_integrals(function, eps):
    """Bias, variance and MSE equal the integrals over the density to 1e-12, for εN from 0 to 1e9, without a warning."""
    n = X_GRID / eps
    for n_i, found in zip(n, function(n, eps), strict=True):  # a warning would be an error, see pyproject.toml
        assert_exact(found, function.__name__, n_i, eps)


def test_the_largest_count():
    """A count as large as doubles can square is as if there were no clipping, at the largest budget too."""
    assert [float(function(1e150, 100.0)) for function in (bias, variance, mse)] == [0.0, 2e-4, 2e-4]
    assert [float(function(1e150, 1e150)) for function in (bias, variance, mse)] == [0.0, 2e-300, 2e-300]


@pytest.mark.parametrize("eps", [1e-3, 0.5, 7.0])
def test_shapes_are_the_derivatives_of_the_mse(eps):
    """−a(x)/ε³ and b(x)/ε⁴ equal the first two derivatives in ε of the integrated MSE."""
    n = X_GRID / eps
    slope, curvature = h_slope_and_curvature(n * eps)
    for n_i, a, b in zip(n, slope, curvature, strict=True):
        assert_exact(-a / eps**3, "slope", n_i, eps)
        assert_exact(b / eps**4, "curvature", n_i, eps)


def test_whole_counts_are_as_exact_as_fractions():
    """Whole numbers of people, a billion of them included, give the same doubles as the equal floats."""
    n = [0, 1, 17, 10**9]
    for function in (bias, variance, mse):
        assert function(n, 0.3).tolist() == function(np.array(n, dtype=float), 0.3).tolist()


@pytest.mark.parametrize("function", [bias, variance, mse])
def test_functions_broadcast(function):
    """A column of counts and a row of budgets give the table of all pairs, and stay as they are; numbers give a number."""
    n, eps = np.array([[0.0], [1.0], [30.0], [1e6]]), np.array([0.1, 2.0, 1e5])
    table = function(n, eps)
    assert n.tolist() == [[0.0], [1.0], [30.0], [1e6]] and eps.tolist() == [0.1, 2.0, 1e5]
    assert table.shape == (4, 3) and np.ndim(function(1, 2)) == 0
    assert table.tolist() == [[float(function(i, e)) for e in eps] for i in n[:, 0]]


x_values = st.one_of(st.just(0.0), powers(-6, 9))


@given(x_values, budgets())
def test_mse_is_squared_bias_plus_variance(x, eps):
    """MSE = bias² + variance, and 1/ε² ≤ MSE ≤ 2/ε² (Proposition 4; 2/ε² itself is reached by rounding only)."""
    n = x / eps
    assert_allclose(mse(n, eps), bias(n, eps) ** 2 + variance(n, eps), rtol=1e-15 * 4)  # four roundings
    found = mse(n, eps) * eps**2
    assert 1 - 1e-15 <= found <= 2 + 1e-15  # the product with ε² rounds once more
    assert (found < 2) or x > 30  # (1+x)exp(−x) is below the rounding of 2 from about x = 41 on


@given(st.floats(0, 30), st.floats(1e-3, 5), budgets())
def test_errors_move_with_the_count_as_the_paper_says(x, step, eps):
    """A larger count has strictly less bias, and strictly more variance and MSE (until rounding hides it, past x = 35)."""
    n, more = x / eps, (x + step) / eps
    assert bias(more, eps) < bias(n, eps)
    # At x = 0 the MSE grows like x²/2, so a step of 1e-3 is 5e-7, far above rounding.
    assert variance(more, eps) > variance(n, eps)
    assert mse(more, eps) > mse(n, eps)


@given(x_values, budgets(), st.floats(1.001, 10))
def test_mse_falls_and_is_convex_in_the_budget(x, eps, factor):
    """More budget means strictly less error, with strictly diminishing returns (Proposition 3, at N = 0 too)."""
    n = x / eps
    low, middle, high = (mse(n, e) for e in (eps, eps * (1 + factor) / 2, eps * factor))
    assert low > middle > high
    assert middle < (low + high) / 2  # the gap is about (1e-3)²·6/8 of the value or more, far above rounding


def test_shapes_have_the_stated_limits():
    """h grows from 1 to 2, a from 2 to 4, b from 6 to 12, and none of them ever falls."""
    x = np.concatenate([[0.0], np.logspace(-3, 12, 500)])
    for shape, low, high in zip((h(x), *h_slope_and_curvature(x)), (1, 2, 6), (2, 4, 12), strict=True):
        assert shape[0] == low and shape[-1] == high
        assert (np.diff(shape) >= -4e-15).all()  # two units in the last place of 12


@pytest.mark.parametrize("n, eps", [(0, 0.5), (1, 0.5), (3, 1.0), (2, 0.1), (50, 0.2)])
def test_closed_forms_agree_with_numpy_noise(n, eps):
    """Means over 10⁶ draws of NumPy's own Laplace noise lie within five standard errors of the closed forms."""
    error = np.maximum(0.0, n + np.random.default_rng(7).laplace(0, 1 / eps, 1_000_000)) - n
    centred = (error - error.mean()) ** 2
    for sample, value in [(error, bias(n, eps)), (error**2, mse(n, eps)), (centred, variance(n, eps))]:
        assert abs(sample.mean() - value) < 5 * sample.std() / math.sqrt(len(sample))  # five standard errors, seed 7


# Simulated noise: n = 200,000 draws, fixed seeds. A right sampler fails a p-value of 1e-4 once in 10,000 seeds.


@pytest.mark.parametrize("scale", [0.01, 1.0, 250.0])
def test_simulated_noise_has_its_law(scale):
    """Draws pass the Kolmogorov–Smirnov test against the distribution of the scale asked for."""
    assert stats.kstest(drawn(simulated_laplace, 11, scale), stats.laplace(scale=scale).cdf).pvalue > 1e-4


def test_signs_and_sizes_are_independent():
    """The sign of a Laplace draw tells nothing about its size, nor about the next draw."""
    noise = drawn(simulated_laplace, 12, 1.0)
    positive, sizes, signs = noise > 0, np.abs(noise), np.sign(noise)
    assert stats.ks_2samp(sizes[positive], sizes[~positive]).pvalue > 1e-4
    for lag in (1, 2, 8):  # eight signs come from one random byte
        for a, b in [(signs, signs), (sizes, sizes), (signs, sizes), (noise, noise)]:
            correlation = np.corrcoef(a[:-lag], b[lag:])[0, 1]
            assert abs(correlation) < 5 / np.sqrt(len(noise))  # five standard errors of a correlation, seed 12

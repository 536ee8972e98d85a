"""Each mechanism's closed forms against the sums and integrals they come from, and the solver behind all of them."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from support.oracles import drawn, precise
from support.refusals import refusal
from support.strategies import counts, powers, trees
from support.wrong import wrong

from helpers import Hierarchy, bias, expected_error, load_state, mse, simulate, variance
from helpers.allocation import minimize_budget, minimize_error, root_rule, uniform
from helpers.mechanisms import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, MECHANISMS

FAMILY = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
EACH = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)


def each_level(tree, numbers):
    """(L,) one of the numbers for each level."""
    return st.lists(numbers, min_size=len(tree.levels), max_size=len(tree.levels)).map(np.array)


def discrete_moments(n, eps):
    """Bias and MSE of max(0, n + X), P(X = k) ∝ exp(−eps|k|), summed term by term."""
    with mpmath.workdps(60):
        eps = mpmath.mpf(eps)
        p = lambda k: mpmath.tanh(eps / 2) * mpmath.exp(-eps * abs(k))  # noqa: E731
        last = int(200 / eps) + n + 10  # what lies beyond is below exp(−200)
        terms = [(k, p(k)) for k in range(-last, last + 1)]
        return [mpmath.fsum(q * (max(-n, k)) ** power for k, q in terms) for power in (1, 2)]


def gaussian_moments(n, rho):
    """Bias and MSE of max(0, n + X), X ~ Normal(0, 1/(2 rho)), integrated from the density."""
    with mpmath.workdps(60):
        sigma, n = 1 / mpmath.sqrt(2 * mpmath.mpf(rho)), mpmath.mpf(n)
        density = lambda z: mpmath.npdf(z, 0, sigma)  # noqa: E731
        clipped = mpmath.ncdf(-n / sigma)
        pieces = [-n, *([-n + sigma, 0] if n > sigma else []), sigma, 4 * sigma, 12 * sigma, 40 * sigma]
        return [(-n) ** k * clipped + mpmath.quad(lambda z, k=k: z**k * density(z), pieces) for k in (1, 2)]


@pytest.mark.parametrize("budget", [0.02, 0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
@pytest.mark.parametrize(
    ("mechanism", "moments"), [(DISCRETE_LAPLACE, discrete_moments), (GAUSSIAN, gaussian_moments)], ids=["discrete", "gauss"]
)
def test_closed_forms_are_the_sums_and_integrals(mechanism, moments, n, budget):
    """Bias and MSE equal the moments of the clipped noise to 1e-11, where a double can hold them; so does the variance."""
    first, second = moments(n, budget)
    if abs(first) > 1e-290 and not (mechanism is GAUSSIAN and n * np.sqrt(2 * budget) > 8):  # quad loses such tails
        assert abs(mechanism.bias(n, budget) / first - 1) < 1e-11
    assert abs(mechanism.mse(n, budget) / second - 1) < 1e-11
    assert abs(mechanism.variance(n, budget) / (second - first**2) - 1) < 1e-11


@pytest.mark.parametrize("a", [9.0, 20.0, 35.0])
def test_the_gaussian_bias_holds_in_the_far_tail(a):
    """σ [φ(a) − a Φ(−a)] to 1e-11, evaluated with 80 digits, where plain doubles would cancel."""
    with mpmath.workdps(80):
        exact = mpmath.npdf(a) - a * mpmath.ncdf(-mpmath.mpf(a))
    assert abs(GAUSSIAN.bias(a, 0.5) / exact - 1) < 1e-11


def test_laplace_is_the_papers_mechanism():
    """The interface's Laplace functions are those of `mechanism`."""
    n, eps = np.array([0, 3, 1e9]), np.array([[0.1], [5.0]])
    for ours, paper in [(LAPLACE.bias, bias), (LAPLACE.mse, mse), (LAPLACE.variance, variance)]:
        assert_allclose(ours(n, eps), paper(n, eps), rtol=1e-14)


@EACH
@given(n=st.one_of(counts(), st.floats(0, 50)), budget=powers(-3, 1.5))
def test_derivatives_are_those_of_the_error(mechanism, n, budget):
    """Marginal error and curvature are above zero (the error is convex), and match the error's, at 40 digits."""
    marginal, curvature = mechanism.derivatives(np.float64(n), np.float64(budget))
    assert marginal > 0 and curvature > 0
    with mpmath.workdps(40):
        first, second = (mpmath.diff(lambda b: precise(mechanism, n, b), mpmath.mpf(budget), order) for order in (1, 2))
    assert_allclose([-float(first), float(second)], [marginal, curvature], rtol=1e-9)


@EACH
def test_the_largest_count(mechanism):
    """A count as large as doubles can square is as if there were no clipping."""
    n, variance = 1e150, mechanism.noise_variance(100.0)
    assert mechanism.bias(n, 100.0) == 0
    assert mechanism.variance(n, 100.0) == mechanism.mse(n, 100.0) == variance > 0


@EACH
def test_large_and_empty_counts(mechanism):
    """An empty count has half the error of a large one: as in Proposition 4, for every mechanism."""
    assert_allclose(2 * mechanism.mse(0, 0.7), mechanism.mse(1e9, 0.7), rtol=1e-14)
    assert_allclose(mechanism.mse(0, 1e-6), mechanism.empty_mse / 1e-6 ** (mechanism.power - 1), rtol=1e-9)


@pytest.mark.parametrize("budget", [0.02, 0.7, 9.0])
def test_noise_variance_is_the_second_moment(budget):
    """The variance of the noise before clipping: 2/ε², 1/(2 sinh²(ε/2)) and 1/(2ρ), and the sum over whole numbers."""
    expected = [2 / budget**2, 1 / (2 * np.sinh(budget / 2) ** 2), 1 / (2 * budget)]
    assert_allclose([kind.noise_variance(budget) for kind in MECHANISMS], expected, rtol=1e-13)
    k = np.arange(1, int(60 / budget) + 60)
    assert_allclose(DISCRETE_LAPLACE.noise_variance(budget), 2 * np.tanh(budget / 2) * np.sum(k**2 * np.exp(-budget * k)))
    assert GAUSSIAN.noise_variance([budget, 1.0]).shape == (2,)


@EACH
@given(tree=trees(), total=powers(-3, 1.7), data=st.data())
def test_the_solver_equalises_marginal_errors(mechanism, tree, total, data):
    """At the optimum the weighted marginal errors of all levels agree to 1e-10, and the budgets add up to the total."""
    w = data.draw(each_level(tree, st.floats(0.01, 100)))
    best = minimize_error(tree, total, w, mechanism)
    assert best.kkt_spread <= 1e-10
    assert_allclose(best.total, total, rtol=1e-12)
    levels = zip(tree.counts, best.eps, strict=True)
    marginal = w * [mechanism.derivatives(n.astype(float), np.float64(b))[0].sum() for n, b in levels]
    assert_allclose(marginal, marginal.mean(), rtol=1e-9)
    for rule in (uniform(tree, total, mechanism), root_rule(tree, total, w, mechanism)):
        assert w @ best.mse_by_level <= w @ rule.mse_by_level * (1 + 1e-12)


@EACH
@pytest.mark.parametrize("total", [0.01, 1.0, 25.0])
def test_the_solver_agrees_with_a_search_over_one_number(mechanism, total):
    """On two levels, a bounded search over the share of the first finds the same least error."""

    def error(share):
        top, leaves = FAMILY.counts
        return mechanism.mse(top, share * total).sum() + mechanism.mse(leaves, total - share * total).sum()

    found = minimize_scalar(error, bounds=(1e-3, 1 - 1e-3), method="bounded", options={"xatol": 1e-10})
    assert_allclose(minimize_error(FAMILY, total, mechanism=mechanism).mse, found.fun, rtol=1e-9)


@EACH
@pytest.mark.parametrize("tau", [1e-3, 0.5, 40.0, 1e6])
def test_the_least_budget_meets_its_target(mechanism, tau):
    """Program (2): the error is tau, and program (1) with that budget gives it back."""
    best = minimize_budget(FAMILY, tau, mechanism=mechanism)
    assert_allclose(best.mse, tau, rtol=1e-9)
    assert_allclose(minimize_error(FAMILY, best.total, mechanism=mechanism).mse, tau, rtol=1e-9)


@EACH
@given(tree=trees(), tau=powers(-6, 12), data=st.data())
def test_uneven_weights_do_not_lead_astray(mechanism, tree, tau, data):
    """Program (2) meets its target with weights over 16 orders of magnitude, and program (1) has a solution there."""
    w = data.draw(each_level(tree, powers(-8, 8)))
    best = minimize_budget(tree, tau, w, mechanism)
    assert_allclose(w @ best.mse_by_level, tau, rtol=1e-9)
    assert best.kkt_spread < 1e-9


@EACH
@given(tree=trees(), tau=powers(-12, 10), data=st.data())
def test_the_least_budget_meets_any_target(mechanism, tree, tau, data):
    """Program (2) on any tree: the weighted error is tau, no less, and the marginal errors of all levels agree."""
    w = data.draw(each_level(tree, st.floats(0.01, 100)))
    best = minimize_budget(tree, tau, w, mechanism)
    assert_allclose(w @ best.mse_by_level, tau, rtol=1e-10)
    assert best.kkt_spread <= 1e-10


@pytest.mark.parametrize("weights", [[1, 1, 1e6], [1e6, 1, 1], [1e-9, 1, 1e9]])
@pytest.mark.parametrize("total", [20.0, 100.0])
def test_uneven_weights_and_discrete_noise_are_solved_to_rounding(total, weights):
    """On Wyoming too, where the local powers of the levels differ most: the marginal errors agree to 1e-14 or so."""
    assert minimize_error(load_state("WY"), total, weights, DISCRETE_LAPLACE).kkt_spread < 1e-12


@pytest.mark.parametrize("total", [300.0, 600.0])
def test_large_budgets_for_discrete_noise_are_split(total):
    """Up to the largest budget allowed, levels with weights far apart end at the same marginal error."""
    tree = Hierarchy.from_counts([[0, 5], [0, 0, 2, 3]], [None, [0, 0, 1, 1]])
    assert minimize_error(tree, total, [1e4, 1e-4], DISCRETE_LAPLACE).kkt_spread <= 1e-10


def test_the_least_budget_for_discrete_noise_may_not_exist():
    """An error that no double-sized budget can reach is refused by name."""
    chain = Hierarchy.from_counts([[3]] * 8, [None] + [[0]] * 7)
    least = minimize_error(chain, 600, mechanism=DISCRETE_LAPLACE).mse
    message = f"tau must be an error that discrete Laplace noise can reach, got 1e-60; {least:g} is the least"
    options = {"mechanism": DISCRETE_LAPLACE, "by": ValueError}
    assert refusal(minimize_budget, chain, 1e-60, **options) == message
    assert "tau must be an error that" in refusal(minimize_budget, chain, least / 1.01, **options)
    assert_allclose(minimize_budget(chain, least * 1.01, mechanism=DISCRETE_LAPLACE).mse, least * 1.01, rtol=1e-9)


@EACH
def test_simulated_errors_agree_with_the_closed_forms(mechanism):
    """20,000 releases without consistency: bias², variance and MSE within 4.5 standard errors, seed 3."""
    eps = minimize_error(FAMILY, 1, mechanism=mechanism)
    found, expected = simulate(FAMILY, eps, 20_000, seed=3, consistent=False), expected_error(FAMILY, eps)
    for column in expected:
        assert (abs(found[column] - expected[column]) < 4.5 * found[f"{column}_se"]).all()


NO_MECHANISM = "mechanism must be one of helpers.mechanisms, such as LAPLACE, got 'gauss'"


@pytest.mark.parametrize(("call", "message"), [
    (lambda: DISCRETE_LAPLACE.mse(3, [1, 1000, 700]), "budget must be at most 600 for discrete Laplace noise, got 1000"),
    (
        lambda: minimize_error(FAMILY, 601, mechanism=DISCRETE_LAPLACE),
        "total must be at most 600 for discrete Laplace noise, got 601",
    ),
    (lambda: GAUSSIAN.mse([1, 2], [1, 2, 3]), "n and budget must have shapes that broadcast, got (2,) and (3,)"),
    (lambda: GAUSSIAN.bias(1, 0), "budget must be above zero, got 0.0"),
    (lambda: LAPLACE.variance(-1, 1), "n must be zero or more, got -1"),
    (lambda: uniform(FAMILY, 1, wrong("gauss")), NO_MECHANISM),
])  # fmt: skip
def test_what_a_mechanism_cannot_take_is_refused_by_name(call, message):
    """Counts, budgets and mechanisms that are wrong end with a sentence that says which, and what would be right."""
    assert refusal(call) == message


def test_the_largest_budget_is_allowed_and_so_is_no_budget_at_all():
    """A budget of 600 leaves an error above zero; empty arrays give empty arrays."""
    assert DISCRETE_LAPLACE.mse(3, 600) > 0
    assert DISCRETE_LAPLACE.mse([], 1).shape == DISCRETE_LAPLACE.mse(1, []).shape == (0,)


@EACH
def test_wyoming_solves(mechanism):
    """The published tree is solved for every mechanism, to rounding."""
    assert minimize_error(load_state("WY"), 1.0, mechanism=mechanism).kkt_spread < 1e-12


def test_a_tiny_gaussian_bias_does_not_vanish():
    """Where φ(a) alone underflows, a tiny ρ lifts the bias back into range."""
    n, rho = 8.716443521569064e39, 9.861655362251455e-78
    with mpmath.workdps(400):
        sigma = 1 / mpmath.sqrt(2 * mpmath.mpf(rho))
        a = mpmath.mpf(n) / sigma
        exact = sigma * (mpmath.npdf(a) - a * mpmath.erfc(a / mpmath.sqrt(2)) / 2)
    assert_allclose(GAUSSIAN.bias(n, rho), float(exact), rtol=1e-9)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1001])
@EACH
def test_noise_fills_arrays_of_any_length(mechanism, size):
    """Every entry is drawn, also where the length is no multiple of eight."""
    # So large that no two whole numbers are alike, and within reach of a double's whole numbers.
    noise = drawn(lambda rng, scale, out: mechanism.draw(rng, 1 / scale, out), 1, 1e12, size)
    assert np.isfinite(noise).all() and len(np.unique(noise)) == size

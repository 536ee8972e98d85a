"""The split for the fit: its error against `gls_variances`, its optimum against other searches and closed forms."""

from itertools import combinations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.refusals import refusal
from support.strategies import seeds, trees, weights

from helpers import (
    DISCRETE_LAPLACE,
    GAUSSIAN,
    LAPLACE,
    Hierarchy,
    cube_root,
    fitted,
    gls_variances,
    load_example,
    load_state,
    minimize_fitted_error,
)
from helpers.allocation import Source
from helpers.census import LEVELS
from helpers.example import LEVELS as WARDS
from helpers.fitted import _MOST_FREE, _Problem, fitted_variances
from helpers.shape import Shape

KINDS = [LAPLACE, DISCRETE_LAPLACE, GAUSSIAN]


def variances_of(eps, mechanism=LAPLACE):
    """(L,) variance of the noise at each level, infinite where nothing is spent."""
    return np.array([float(mechanism.noise_variance(e)) if e else np.inf for e in eps])


def by_nodes(tree, eps, w, mechanism=LAPLACE):
    """Σ w_l Σ_j Var(x_j), node by node."""
    return sum(weight * x.sum() for weight, x in zip(w, gls_variances(tree, variances_of(eps, mechanism)), strict=True))


def regular(*families):
    """A tree whose levels have families of these sizes, from the top down."""
    sizes = np.cumprod(families)
    parents = [None] + [np.repeat(np.arange(above), k) for above, k in zip(sizes, families[1:], strict=False)]
    return Hierarchy.from_counts([np.full(n, sizes[-1] // n) for n in sizes], parents)


@given(trees(), st.data())
def test_one_pass_over_kinds_is_the_sum_over_nodes(tree, data):
    """V and the variance of each level are those of `gls_variances`, with levels measured or not."""
    w = data.draw(weights(tree))
    p = np.array([*data.draw(st.lists(st.sampled_from([0.0, 0.1, 2.0]), min_size=len(w), max_size=len(w)))])
    p[-1] = 0.7
    error, _, levels = fitted_variances(Shape.of(tree), p, w)
    with np.errstate(divide="ignore"):
        expected = [x.sum() for x in gls_variances(tree, 1 / p)]
    assert_allclose(levels, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(error, w @ expected, rtol=1e-9, atol=1e-12 * w.max())


@given(trees(), st.data())
def test_slopes_are_those_of_differences(tree, data):
    """∂V/∂p by the chain rule is what central differences give."""
    w, shape = data.draw(weights(tree)), Shape.of(tree)
    p = np.array(data.draw(st.lists(st.floats(0.1, 3.0), min_size=len(w), max_size=len(w))))
    error, slopes, _ = fitted_variances(shape, p, w)
    for level, step in enumerate(1e-5 * np.eye(len(w))):
        up, down = (fitted_variances(shape, p + sign * step, w)[0] for sign in (1, -1))
        assert_allclose(slopes[level], (up - down) / 2e-5, rtol=1e-5, atol=1e-9 * error)  # of a second difference, 1e-10


@settings(max_examples=25)
@given(trees(), st.sampled_from(KINDS), seeds(), st.data())
def test_no_other_split_has_less_error(tree, mechanism, seed, data):
    """Over random splits, with levels left out or not, and over small moves, nothing is better."""
    w = np.clip(data.draw(weights(tree)), 0.01, 100.0)
    best = minimize_fitted_error(tree, 2.0, w, mechanism)
    least = by_nodes(tree, best.eps, w, mechanism)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        other = rng.dirichlet(np.full(len(w), 0.5)) * rng.choice([0.0, 1.0], len(w), p=[0.3, 0.7])
        near = best.eps * np.exp(0.05 * rng.normal(size=len(w)))
        for eps in (other, near):
            if eps[-1] > 1e-6:
                assert by_nodes(tree, 2.0 * eps / eps.sum(), w, mechanism) >= least * (1 - 1e-9)


@settings(max_examples=20)
@given(trees(), st.sampled_from(KINDS))
def test_the_marginal_errors_of_measured_levels_agree(tree, mechanism):
    """At the optimum, a little more budget brings the same everywhere that is measured, and no more elsewhere."""
    best = minimize_fitted_error(tree, 1.0, mechanism=mechanism)
    assert best.kkt_spread < 1e-9 and best.total == pytest.approx(1.0, rel=1e-12)
    assert_allclose(best.mse_by_level, [x.sum() for x in gls_variances(tree, variances_of(best.eps, mechanism))], rtol=1e-9)


def test_it_looks_at_the_shape_alone():
    """Other counts in the same tree have the same split, to the digit, and the split says what it was chosen on."""
    tree, other = (Hierarchy.from_counts([[n], [0, n], [0, 0, n]], [None, [0, 0], [0, 0, 1]]) for n in (5, 500))
    one, same = minimize_fitted_error(tree, 1), minimize_fitted_error(other, 1)
    assert one.eps.tolist() == same.eps.tolist() and one.chosen_on == Source.nodes(tree)


# Known splits, measured twice independently of this code; three digits
WYOMING = {"populated": [0.021, 0, 0, 0.244, 0.735], "geography": [0.017, 0, 0, 0.191, 0.791]}


@pytest.mark.parametrize("kind", WYOMING)
def test_wyoming_leaves_two_levels_out(kind):
    """Counties and tracts of Wyoming are better not measured; against the cube root, the fitted error falls by a sixth."""
    tree = load_state("wyoming", kind, LEVELS)
    best = minimize_fitted_error(tree, 1)
    assert_allclose(best.eps, WYOMING[kind], atol=6e-4)
    assert best.mse < 0.85 * by_nodes(tree, cube_root(tree, 1).eps, np.ones(5))


def test_a_hospital_measures_two_of_four_levels():
    """The example that ships: hospitals and diagnoses."""
    best = minimize_fitted_error(Hierarchy.from_frame(load_example(), WARDS, "patients"), 1)
    assert_allclose(best.eps, [0, 0.156, 0, 0.844], atol=6e-4)


def gaussian_form(n, w):
    """ρ_l ∝ n_l (√W_l − √W_{l+1}) with W_l = Σ_{j≥l} w_j/n_j: the closed form for regular trees."""
    W = np.append(np.cumsum((w / n)[::-1])[::-1], 0.0)
    rho = n * -np.diff(np.sqrt(W))
    return rho / rho.sum()


@pytest.mark.parametrize("families", [(1, 4, 3), (2, 5), (1, 2, 2, 2, 2), (3, 2, 7, 2)])
def test_gaussian_noise_on_regular_trees_has_a_closed_form(families):
    """The numeric optimum is the closed form to rounding, with weights and without."""
    tree = regular(*families)
    for w in (np.ones(len(families)), np.linspace(1, 3, len(families)), np.geomspace(5, 0.1, len(families))):
        found = minimize_fitted_error(tree, 3.0, w, GAUSSIAN).eps / 3
        assert_allclose(found, gaussian_form(tree.sizes, w), rtol=1e-7, atol=1e-12)


def test_the_closed_form_equalises_marginal_errors():
    """By symbols, for three levels: V = Σ (n_l − n_{l−1}) c_l/λ_l with λ_l = Σ_{j≥l} p_j m_j has equal slopes there."""
    n1, a, b = sp.symbols("n1 a b", positive=True, integer=True)
    w = sp.symbols("w1:4", positive=True)
    n = [n1, n1 * a, n1 * a * b]
    m = [n[2] / x for x in n]  # leaves below a node
    c = [sum(w[j] * m[j] for j in range(level, 3)) for level in range(3)]
    W = [sum(w[j] / n[j] for j in range(level, 3)) for level in range(3)] + [0]
    p = [n[level] * (sp.sqrt(W[level]) - sp.sqrt(W[level + 1])) for level in range(3)]
    lam = [sum(p[j] * m[j] for j in range(level, 3)) for level in range(3)]
    sizes = [n[0], n[1] - n[0], n[2] - n[1]]
    slopes = [-sum(sizes[i] * c[i] / lam[i] ** 2 for i in range(level + 1)) * m[level] for level in range(3)]
    assert all(sp.simplify(slope - slopes[0]) == 0 for slope in slopes)
    assert sp.simplify(lam[0] ** 2 - n[2] ** 2 * W[0]) == 0


def test_single_children_need_no_parent():
    """A parent of an only child is its child once more: only one of the two is measured."""
    tree = Hierarchy.from_counts([[8], [8], [1] * 8], [None, [0], [0] * 8])
    assert (minimize_fitted_error(tree, 1).eps > 0).sum() == 1


def test_many_levels_are_searched_step_by_step():
    """Beyond the levels of which every choice is tried, the steps find what all choices find."""
    tree = regular(*[2] * (_MOST_FREE + 2))
    problem = _Problem(Shape.of(tree), tree.sizes, 1.0, np.ones(len(tree.sizes)), LAPLACE)
    found, lowest = minimize_fitted_error(tree, 1).mse, len(tree.sizes) - 1
    every = [c for k in range(lowest + 1) for c in combinations(range(lowest), k)]
    assert found <= min(problem.error(problem.solve(problem.start([*c, lowest]))) for c in every) * (1 + 1e-6)


@pytest.mark.parametrize("kind", WYOMING)
def test_a_coarse_shape_leads_to_the_same_split(kind, monkeypatch):
    """As in a tree with many kinds: the same levels, the same budgets, and marginal errors that agree."""
    tree = load_state("wyoming", kind, LEVELS)
    exact = minimize_fitted_error(tree, 1)
    monkeypatch.setattr(fitted, "_MANY_KINDS", 0)
    found = minimize_fitted_error(tree, 1)
    assert found.kkt_spread < 1e-10 and ((found.eps > 0) == (exact.eps > 0)).all()
    assert_allclose(found.eps, exact.eps, rtol=1e-8)


@pytest.mark.parametrize("call, sentence", [
    (lambda t: minimize_fitted_error(t, 0), "total must be a finite number above zero, got 0"),
    (lambda t: minimize_fitted_error(t, 1, [1, 0]), "weights must be above zero, got 0.0 at index 1"),
    (lambda t: minimize_fitted_error(t, 1, [1]), "weights must have one entry for each of the 2 levels"),
])  # fmt: skip
def test_bad_input_is_refused(call, sentence):
    """As for the other splits."""
    assert sentence in refusal(call, regular(1, 3), by=ValueError)

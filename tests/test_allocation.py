"""Program (1) and (2) by their optimality conditions, by brute force, and by the paper's numbers."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from support.strategies import budgets, seeds, trees, weights

from helpers import GAUSSIAN, LAPLACE, Hierarchy, expected_error, load_state, mse
from helpers.allocation import Source, cube_root, minimize_budget, minimize_error, root_rule, uniform
from helpers.mechanisms import MECHANISMS

FAMILY = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
# Marginal errors fall like ε^(−2) or faster, so a relative spread δ of them moves ε by δ/2 at most, and δ ≤ 1e-10.
SAME_EPS = 1e-10
KAPPA = 2 ** (1 / 3) - 1
RHO = 4 / (27 * KAPPA * (1 - KAPPA) ** 2)


def error(tree, eps, w):
    """Σ_l w_l F_l(ε_l), node by node."""
    return math.fsum(w_l * math.fsum(mse(n, e)) for n, e, w_l in zip(tree.counts, eps, w, strict=True))


def marginal_errors(tree, eps, w):
    """(L,) −w_l ∂F_l/∂ε_l, node by node, differentiated by hand from MSE = [2 − (1 + εN) exp(−εN)] / ε²."""

    def marginal(n, e):
        return 4 / e**3 - (n**2 / e + 2 * n / e**2 + 2 / e**3) * np.exp(-e * n)

    return np.array([w_l * math.fsum(marginal(n.astype(float), e)) for n, e, w_l in zip(tree.counts, eps, w, strict=True)])


def spread(marginal):
    return (marginal.max() - marginal.min()) / marginal.mean()


def ones(tree):
    return np.ones(len(tree.levels))


def large_count_constant(tree, w):
    """C = (Σ (w_l n_l)^(1/3))³: the least error is between C/T² and 2C/T²."""
    return np.cbrt(w * tree.sizes).sum() ** 3


def counted_looks(patch, noise):
    """A list that grows by one each time a solver looks at the derivatives of a mechanism."""
    looks, look = [], noise.derivatives
    patch.setattr(noise, "derivatives", lambda n, b: looks.append(1) or look(n, b))
    return looks


@st.composite
def problems(draw):
    """A tree, a positive number (total or the like), weights."""
    tree = draw(trees())
    return tree, draw(budgets()), draw(st.one_of(st.just(ones(tree)), weights(tree)))


@given(problems(), seeds())
def test_optimum_meets_the_kkt_conditions(problem, seed):
    """All weighted marginal errors agree to 1e-10, budgets are positive, spend the total, and no other split does better."""
    tree, total, w = problem
    best = minimize_error(tree, total, w)
    assert spread(marginal_errors(tree, best.eps, w)) <= 1e-10  # the contract's bar
    assert (best.eps > 0).all()
    assert abs(best.eps.sum() - total) <= 1e-12 * total  # rounding of L ≤ 4 terms
    assert best.kkt_spread <= 1e-10
    least, rng = error(tree, best.eps, w), np.random.default_rng(seed)
    for size in (1e-3, 0.1, 2.0):  # near and far
        other = best.eps * np.exp(size * rng.normal(size=len(best.eps)))
        assert error(tree, other * total / other.sum(), w) >= least * (1 - 1e-13)  # rounding of the two sums


@settings(max_examples=25)
@given(trees(least_levels=2), st.floats(0.01, 10), st.data())
def test_scipy_finds_the_same_optimum(tree, total, data):
    """SLSQP, scaled and started from the cube-root rule, ends where Newton's method ends."""
    w = data.draw(weights(tree))
    best = minimize_error(tree, total, w)
    start = cube_root(tree, total, w).eps
    least = error(tree, best.eps, w)

    def objective(z):  # z: budgets in units of the start
        eps = start * np.maximum(z, 1e-3)
        return error(tree, eps, w) / least, -start * marginal_errors(tree, eps, w) / least

    spends = {"type": "eq", "fun": lambda z: start @ z / total - 1, "jac": lambda z: start / total}
    options = {"ftol": 1e-14, "maxiter": 200}
    found = minimize(objective, ones(tree), jac=True, method="SLSQP", constraints=spends, options=options)
    assert abs(found.fun - 1) < 1e-8  # SLSQP's own accuracy; neither beats the other by more


@given(problems())
def test_newton_needs_a_handful_of_steps(problem):
    """Program (1) is solved with at most eight looks at the derivatives, program (2) with at most six times as many."""
    tree, total, w = problem
    with pytest.MonkeyPatch.context() as patch:
        looks = counted_looks(patch, LAPLACE)
        minimize_error(tree, total, w)
        assert len(looks) <= 8  # four were seen; quadratic convergence leaves little to vary
        looks.clear()
        minimize_budget(tree, large_count_constant(tree, w) / total**2, w)
        assert len(looks) <= 48  # twenty were seen: about four solutions of program (1)


@given(trees(childless=False), budgets())
def test_lower_levels_get_no_less(tree, total):
    """Theorem 1: with equal weights and a child for every parent, ε never falls on the way down."""
    eps = minimize_error(tree, total).eps
    assert (eps[1:] >= eps[:-1] * (1 - 1e-9)).all()  # where every parent has one child the budgets are equal, up to SAME_EPS


def test_childless_nodes_break_theorem_1():
    """With 300 empty nodes that have no children, the middle level gets more than the lowest one."""
    tree = Hierarchy.from_counts([[5], [5] + [0] * 300, [2, 3]], [None, [0] * 301, [0, 0]])
    assert minimize_error(tree, 1).eps.round(3).tolist() == [0.112, 0.747, 0.141]


@given(problems())
def test_cube_root_is_within_its_proved_factor(problem):
    """The cube-root rule never has more than ρ = 4/(27κ(1−κ)²) ≈ 1.0406 times the least error, κ = ∛2 − 1 (chapter 14)."""
    tree, total, w = problem
    ratio = error(tree, cube_root(tree, total, w).eps, w) / error(tree, minimize_error(tree, total, w).eps, w)
    assert 1 - 1e-13 <= ratio <= RHO * (1 + 1e-13)  # proved; the slack is rounding


def test_no_smaller_constant_bounds_the_cube_root_rule():
    """Two levels, one (almost) empty and one full, in the worst proportion, come within 1e-4 of ρ."""
    tree = Hierarchy.from_counts([[10**12] + [0] * 2539, [10**9] * 1000], [None, [0] * 1000])
    ratio = cube_root(tree, 1).mse / minimize_error(tree, 1).mse
    assert RHO - 1e-4 < ratio < RHO


@given(problems())
def test_neighbouring_budgets_stay_in_the_sandwich(problem):
    """(ε_{l+1}/ε_l)³ lies between half and twice the ratio of w n."""
    tree, total, w = problem
    eps, load = minimize_error(tree, total, w).eps, w * tree.sizes
    ratio = (eps[1:] / eps[:-1]) ** 3 / (load[1:] / load[:-1])
    assert (ratio >= 0.5 * (1 - 4 * SAME_EPS)).all() and (ratio <= 2 * (1 + 4 * SAME_EPS)).all()  # a cube triples the error


@given(problems())
def test_simple_rules_follow_their_formulas(problem):
    """uniform is ε/L; cube_root is proportional to (w n)^(1/3); both spend the total."""
    tree, total, w = problem
    assert_allclose(uniform(tree, total).eps, total / len(tree.levels), rtol=1e-15)  # one division
    root = [(w_l * n) ** (1 / 3) for w_l, n in zip(w, tree.sizes, strict=True)]
    assert_allclose(cube_root(tree, total, w).eps, [total * r / sum(root) for r in root], rtol=1e-14)  # a few roundings
    assert_allclose(cube_root(tree, total).eps, cube_root(tree, total, ones(tree)).eps, rtol=0)


@pytest.mark.parametrize("count", [0, 10**12])
def test_cube_root_is_optimal_where_all_counts_are_alike(count):
    """When all counts are zero, or all are huge, the cube-root rule is the optimum; roots of cubes are exact."""
    tree = Hierarchy.from_counts([[3 * count], [count] * 3], [None, [0, 0, 0]])
    assert_allclose(minimize_error(tree, 1, [2, 1]).eps, cube_root(tree, 1, [2, 1]).eps, rtol=SAME_EPS)
    cube = Hierarchy.from_counts([[64 * count], [count] * 64], [None, [0] * 64])
    assert cube_root(cube, 5).eps.tolist() == [1, 4]  # to the last digit


@given(problems())
def test_least_budget_uses_up_the_allowed_error(problem):
    """Program (2) ends exactly at tau, at a KKT point, with √(C/tau) ≤ total ≤ √(2C/tau)."""
    tree, near, w = problem
    constant = large_count_constant(tree, w)
    tau = constant / near**2  # so that the answer lies between `near` and √2 · `near`
    best = minimize_budget(tree, tau, w)
    assert_allclose(w @ best.mse_by_level, tau, rtol=1e-10)  # the contract's bar for solutions
    assert spread(marginal_errors(tree, best.eps, w)) <= 1e-10
    assert near * (1 - 1e-10) <= best.total <= math.sqrt(2) * near * (1 + 1e-10)  # the ends are reached, up to the above


@given(problems())
def test_the_two_programs_are_inverse(problem):
    """The least budget for the least error of a budget is that budget, split the same way."""
    tree, total, w = problem
    best = minimize_error(tree, total, w)
    back = minimize_budget(tree, w @ best.mse_by_level, w)
    assert_allclose(back.total, total, rtol=1e-10)
    assert_allclose(back.eps, best.eps, rtol=10 * SAME_EPS)  # two solutions, each within SAME_EPS, at two totals


@given(problems(), st.sampled_from([0.5, 3.0, 1000.0]))
def test_units_do_not_matter(problem, c):
    """Counting in units c times smaller turns ε into ε/c."""
    tree, total, w = problem
    scaled = Hierarchy(tree.levels, tuple(n * c for n in tree.counts), tree.parents)
    found = minimize_error(scaled, total / c, w)
    assert_allclose(found.eps * c, minimize_error(tree, total, w).eps, rtol=2 * SAME_EPS)  # two solutions


@given(problems(), st.sampled_from([1e-3, 7.0, 1e6]))
def test_only_ratios_of_weights_matter(problem, c):
    """Multiplying all weights by a number changes no allocation."""
    tree, total, w = problem
    assert_allclose(minimize_error(tree, total, c * w).eps, minimize_error(tree, total, w).eps, rtol=2 * SAME_EPS)
    assert_allclose(cube_root(tree, total, c * w).eps, cube_root(tree, total, w).eps, rtol=1e-14)  # a few roundings


@given(problems())
def test_every_rule_reports_its_own_error(problem):
    """mse_by_level, mse and total follow from eps, unweighted, for every rule."""
    tree, total, w = problem
    rules = [uniform(tree, total), cube_root(tree, total, w), minimize_error(tree, total, w)]
    rules.append(minimize_budget(tree, large_count_constant(tree, w) / total**2, w))
    for found in rules:
        assert_allclose(found.mse_by_level, expected_error(tree, found.eps)["mse"], rtol=1e-12)  # sums in another order
        assert found.mse == found.mse_by_level.sum() and found.total == found.eps.sum()
        assert found.levels == tree.levels and found.eps.shape == found.mse_by_level.shape == tree.sizes.shape


@given(problems())
def test_kkt_spread_is_the_relative_spread_of_marginal_errors(problem):
    """The spread that is reported is (max − min) / mean of the weighted marginal errors."""
    tree, total, w = problem
    found = cube_root(tree, total, w)
    expected = spread(marginal_errors(tree, found.eps, w))
    assert_allclose(found.kkt_spread, expected, rtol=1e-9, atol=1e-13)  # atol: rounding of the marginals themselves


def test_uniform_is_compared_with_equal_weights():
    """uniform's spread is that of equal weights."""
    tree = Hierarchy.from_counts([[0], [0, 0]], [None, [0, 0]])
    assert uniform(tree, 1).kkt_spread == pytest.approx((2 - 1) / 1.5, rel=1e-14)


@pytest.mark.parametrize("best", [True, False])
def test_one_level_gets_everything(best):
    """A tree of one level has one possible split."""
    tree = Hierarchy.from_counts([[1, 2, 3]], [None])
    found = minimize_error(tree, 0.7) if best else minimize_budget(tree, error(tree, [0.7], [1]))
    assert_allclose(found.eps, [0.7], rtol=1e-12)  # the root of one equation


def test_allocations_turn_into_arrays():
    """NumPy takes an allocation where it takes its budgets, in any dtype, and a copy is a copy."""
    found = uniform(FAMILY, 1)
    assert np.asarray(found).tolist() == [0.5, 0.5] and np.asarray(found, dtype=np.float32).dtype == np.float32
    assert found.__array__(np.float32).dtype == np.float32
    np.array(found, copy=True)[0] = 9
    assert found.eps.tolist() == [0.5, 0.5]
    assert not np.shares_memory(np.array(found), found.eps) and np.shares_memory(np.asarray(found), found.eps)


def test_allocations_show_budgets_and_error():
    """An allocation shows budgets, total and error to four digits, and the noise unless it is Laplace noise."""
    tree = Hierarchy.from_counts([[0], [0] * 4], [None, [0] * 4], ["state", "block"])
    assert repr(uniform(tree, 1 / 3)) == "Allocation(state 0.1667, block 0.1667; total 0.3333, mse 180)"
    gaussian = "Allocation(Gaussian noise: state 0.3333, block 0.6667; total 1, mse 2.25)"
    assert repr(root_rule(tree, 1, mechanism=GAUSSIAN)) == gaussian


@pytest.mark.parametrize(("noise", "children", "tau"), [(LAPLACE, 8, 3), (GAUSSIAN, 4, 0.75)])
def test_the_first_guess_is_right_for_an_empty_tree(noise, children, tau):
    """Where all counts are zero the errors are exact powers of the budget: both programs end where they start."""
    tree = Hierarchy.from_counts([[0], [0] * children], [None, [0] * children])
    assert root_rule(tree, 3, mechanism=noise).kkt_spread <= 1e-14  # rounding
    with pytest.MonkeyPatch.context() as patch:
        looks = counted_looks(patch, noise)
        assert_allclose(minimize_error(tree, 3, mechanism=noise).eps, [1, 2], rtol=1e-15)
        assert len(looks) == 1
        assert_allclose(minimize_budget(tree, tau, mechanism=noise).eps, [1, 2], rtol=1e-15)
        assert len(looks) == 2


def test_wyoming_needs_a_budget_of_1_935_for_an_error_of_20000():
    """Program (2) on the published tree gives 1.935 for tau = 20,000, inside [1.378, 1.949] (the paper: about 2)."""
    tree = load_state("wyoming")
    assert round(minimize_budget(tree, 20_000).total, 3) == 1.935
    constant = large_count_constant(tree, ones(tree))
    assert [round(math.sqrt(k * constant / 20_000), 3) for k in (1, 2)] == [1.378, 1.949]


@pytest.mark.parametrize("state, total, gain", [("WY", 0.5, 4.3), ("WY", 2, 4.8), ("NM", 2, 4.6), ("DE", 2, 4.2)])
def test_uniform_has_more_than_four_times_the_variance(state, total, gain):
    """On the published trees the uniform split has four to five times the variance of the optimum."""
    tree = load_state(state)
    best, even = (expected_error(tree, rule(tree, total))["variance"].sum() for rule in (minimize_error, uniform))
    assert round(even / best, 1) == gain


@pytest.mark.parametrize("total", [0.1, 1, 10])
@pytest.mark.parametrize("tree", ["published", "geography"])
def test_real_trees_are_solved_to_the_bar(tree, total):
    """Wyoming's trees, with 20,975 and 53,769 blocks, are solved to a spread of 1e-10, at four and five levels too."""
    for levels in (["state", "tract", "block"], ["state", "county", "tract", "block group", "block"]):
        wyoming = load_state("WY", tree, levels)
        best = minimize_error(wyoming, total)
        assert spread(marginal_errors(wyoming, best.eps, ones(wyoming))) <= 1e-10


@given(trees(least_levels=2))
def test_splits_remember_what_they_were_chosen_on(tree):
    """The best splits by the digest of the counts, and rules by that of the nodes, which are public."""
    for found in (minimize_error(tree, 1), minimize_budget(tree, 40)):
        assert found.chosen_on == Source.counts(tree) == ("counts", tree.digest)
    for found in (uniform(tree, 1), cube_root(tree, 1), root_rule(tree, 1, mechanism=GAUSSIAN)):
        assert found.chosen_on == Source.nodes(tree) == ("nodes", tree.shape_digest)


def test_a_total_for_a_single_level_did_not_look():
    """A single level gets all of it, whatever its counts are; how much an error needs depends on them."""
    lone = Hierarchy.from_counts([[3, 4]], [None])
    assert minimize_error(lone, 1).chosen_on == Source.nodes(lone)
    assert minimize_budget(lone, 4).chosen_on == Source.counts(lone)


def test_a_kept_allocation_holds_no_count():
    """A pickled one carries the digest and no tree: its file does not grow with the tree, and no count is in it."""
    leaves = np.arange(10_001, 12_001)
    tree = Hierarchy.from_counts([[leaves.sum()], leaves], [None, [0] * len(leaves)])
    kept = pickle.dumps(minimize_error(tree, 1))
    assert pickle.loads(kept).chosen_on == Source.counts(tree)
    assert len(kept) < 1000 < 8 * len(leaves) and tree.digest.encode() in kept
    assert "chosen_on" not in repr(minimize_error(tree, 1)) and tree.digest not in repr(minimize_error(tree, 1))


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda split: pickle.loads(pickle.dumps(split))])
def test_a_copy_of_an_allocation_is_as_good(again):
    """It has the same mechanism, the same text, and budgets that nobody can change: their error would be another."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    for mechanism in MECHANISMS:
        split = minimize_error(tree, 1, mechanism=mechanism)
        copied = again(split)
        assert repr(copied) == repr(split) and copied.chosen_on == split.chosen_on
        assert hash(copied.mechanism) == hash(mechanism) and copied.mechanism != "Laplace"
        assert expected_error(tree, copied, mechanism).equals(expected_error(tree, split))
        for array in (copied.eps, copied.mse_by_level):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

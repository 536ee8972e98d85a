"""Ways to make a tree add up, by name and by function: what each is made of, and who takes them."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from support.oracles import assert_consistent, assert_same_counts
from support.refusals import refusal
from support.strategies import noisy_trees

from helpers import DISCRETE_LAPLACE, LAPLACE, Hierarchy, load_state, noisy_counts, release, simulate, simulate_with
from helpers.consistency import METHODS, bottom_up, gls, integer_top_down, method_of, top_down

TREE = Hierarchy.from_counts([[9], [4, 5], [1, 3, 0, 5]], [None, [0, 0], [0, 0, 1, 1]])
EPS = [0.3, 0.4, 0.5]
BY_HAND = {  # each method out of its parts
    "clip": lambda tree, noisy, v: [np.maximum(x, 0) for x in noisy],
    "top_down": lambda tree, noisy, v: top_down(tree, [np.maximum(x, 0) for x in noisy]),
    "bottom_up": lambda tree, noisy, v: bottom_up(tree, [np.maximum(x, 0) for x in noisy]),
    "gls": lambda tree, noisy, v: top_down(tree, gls(tree, noisy, v / v.max())),
}


@pytest.mark.parametrize("name", METHODS)
@given(noisy_trees())
def test_a_method_is_made_of_its_parts(name, problem):
    """By name one gets what the steps give one after the other; inputs are left alone, and no count is negative."""
    tree, noisy = problem
    before, v = [x.copy() for x in noisy], np.linspace(1, 2, len(tree.levels))
    found = METHODS[name](tree, noisy, v)
    assert [x.tolist() for x in found] == [x.tolist() for x in BY_HAND[name](tree, noisy, v)]
    assert all((x >= 0).all() for x in found) and [x.tolist() for x in noisy] == [x.tolist() for x in before]


@pytest.mark.parametrize("name", [name for name in METHODS if name != "clip"])
def test_what_a_method_makes_of_a_release_adds_up(name):
    """Every method but clipping gives a consistent tree that is not negative."""
    assert_consistent(TREE, release(TREE, EPS, seed=3, consistent=name), 1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_a_release_measures_then_fits(name):
    """The noise of `release` is that of `noisy_counts` with the same seed, and its variance is what the method is told."""
    noisy = noisy_counts(TREE, EPS, seed=5)
    expected = BY_HAND[name](TREE, noisy, LAPLACE.noise_variance(EPS))
    assert_same_counts(release(TREE, EPS, seed=5, consistent=name), expected, 1e-12)


def test_true_and_false_are_the_papers_ways():
    """True is the paper's way, top-down after clipping; False clips and nothing more."""
    assert method_of(True) is method_of(np.True_) is METHODS["top_down"]
    assert method_of(False) is METHODS["clip"]


def test_a_function_of_ones_own_is_a_method():
    """It gets the tree and the unclipped counts; comparing methods is a loop, with one noise for all of them."""
    seen = []

    def mine(tree, noisy):
        seen.append([x.copy() for x in noisy])
        return [n.astype(float) for n in tree.counts]

    errors = {}
    for name, method in {**dict.fromkeys(METHODS), "mine": mine}.items():
        errors[name] = simulate(TREE, EPS, trials=50, seed=2, consistent=method or name).mse.sum()
    assert errors["mine"] == 0 and min(errors["clip"], errors["top_down"], errors["gls"]) > 0
    rng = np.random.default_rng(2)
    assert [x.tolist() for x in seen[0]] == [x.tolist() for x in noisy_counts(TREE, EPS, rng)]
    assert any((x < 0).any() for trial in seen for x in trial)


def test_a_method_with_more_arguments_is_given_them_beforehand():
    """`gls` with variances of one's own, and whole counts from whole noise."""
    fitted = simulate(TREE, EPS, 20, seed=1, consistent=partial(gls, variances=[1, 2, 3]))
    right = simulate_with(TREE, lambda rng: gls(TREE, noisy_counts(TREE, EPS, rng), [1, 2, 3]), 20, seed=1)
    assert_allclose(fitted, right, rtol=1e-12)
    whole = release(TREE, EPS, 4, partial(integer_top_down, seed=1), DISCRETE_LAPLACE)
    assert_consistent(TREE, whole, 0)
    assert all((x == x.round()).all() for x in whole)


def test_a_method_may_return_whole_numbers_in_any_row():
    """What a method returns becomes arrays of floats, which errors can be computed in."""
    kept = (7, [3, 4], np.array([1, 2, 2, 2]))
    found = release(TREE, EPS, seed=1, consistent=lambda tree, noisy: ([kept[0]], *kept[1:]))
    assert [x.tolist() for x in found] == [[7.0], [3.0, 4.0], [1.0, 2.0, 2.0, 2.0]] and {x.dtype.kind for x in found} == {
        "f"
    }
    assert simulate(TREE, EPS, 4, consistent=lambda tree, noisy: ([kept[0]], *kept[1:])).variance.tolist() == [0.0] * 3


def test_gls_takes_any_budget_that_a_release_takes():
    """Only the ratios of variances matter, so noise that is next to none is fitted as well."""
    found = release(TREE, [600.0] * 3, seed=1, consistent="gls", mechanism=DISCRETE_LAPLACE)
    assert [x.tolist() for x in found] == [n.tolist() for n in TREE.counts]


def test_a_method_that_keeps_its_arrays_loses_none():
    """Errors are computed in place, but not in the arrays that a function handed out."""
    kept = [np.array([7.0]), np.array([3.0, 4.0]), np.array([1.0, 2.0, 2.0, 2.0])]
    simulate(TREE, EPS, trials=4, seed=1, consistent=lambda tree, noisy: kept)
    assert [x.tolist() for x in kept] == [[7.0], [3.0, 4.0], [1.0, 2.0, 2.0, 2.0]]


NAMES = ", ".join(METHODS)
NO_METHOD = f"consistent must be True, False, a method ({NAMES}) or a function, got"
REFUSED = {
    "unknown": ("magic", ValueError, f"consistent must be one of {NAMES}, got 'magic'"),
    "a number": (7, TypeError, f"{NO_METHOD} 7"),
    "none": (None, TypeError, f"{NO_METHOD} None"),
    "too few levels": (
        lambda tree, noisy: noisy[:1], ValueError, "consistent() must have one array for each of the 3 levels, got 1",
    ),
}  # fmt: skip


def test_counts_that_do_not_fit_are_refused_by_name():
    """Clipping by itself looks at what it gets as the others do."""
    assert refusal(METHODS["clip"], TREE, [[5]], None) == "noisy must have one array for each of the 3 levels, got 1"


@pytest.mark.parametrize("consistent, error, sentence", REFUSED.values(), ids=REFUSED)
def test_what_is_no_method_is_refused(consistent, error, sentence):
    """A sentence says which methods there are, or what the function should have returned, before trials without end."""
    assert refusal(release, TREE, EPS, by=error, consistent=consistent) == sentence
    assert refusal(simulate, TREE, EPS, 10**10, by=error, consistent=consistent) == sentence


@given(noisy_trees())
def test_bottom_up_adds_the_leaves(problem):
    """Every node is the sum of the leaves below it, leaves stay as they are, and inputs are left alone."""
    tree, noisy = problem
    before = [x.copy() for x in noisy]
    summed = bottom_up(tree, noisy)
    leaves, owner = noisy[-1], np.arange(tree.sizes[-1])  # (n,) each leaf's ancestor at the level in question
    for level in range(len(tree.levels) - 1, -1, -1):
        exact = [float(sum(map(Fraction, leaves[owner == node].tolist()))) for node in range(tree.sizes[level])]
        assert_allclose(summed[level], exact, rtol=0, atol=1e-14 * max(1, np.abs(leaves).sum()))  # rounding of the sums
        owner = tree.parents[level][owner] if level else owner
    assert summed[-1] is not noisy[-1] and [x.tolist() for x in noisy] == [x.tolist() for x in before]


def test_bottom_up_of_the_truth_is_the_truth():
    """The true counts of a state are consistent, so summing them up changes nothing."""
    tree = load_state("WY", "geography")
    assert all(np.array_equal(x, n) for x, n in zip(bottom_up(tree, tree.counts), tree.counts, strict=True))


def test_bottom_up_takes_leaves_as_they_are():
    """Negative leaves stay negative, and a node without children becomes zero."""
    tree = Hierarchy.from_counts([[0, 5], [2, 3]], [None, [1, 1]])
    assert [x.tolist() for x in bottom_up(tree, [[9, 9], [-4, 1]])] == [[0.0, -3.0], [-4.0, 1.0]]


def test_bottom_up_refuses_what_does_not_fit_the_tree():
    """Bad input is refused by name, also at the levels that are not used."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    assert "hierarchy" in refusal(bottom_up, [[5], [2, 3]], [[5], [2, 3]], by=TypeError)
    assert "noisy[1]" in refusal(bottom_up, tree, [[5], [2, 3, 4]], by=ValueError)
    assert "noisy[0]" in refusal(bottom_up, tree, [[np.nan], [2, 3]], by=ValueError)

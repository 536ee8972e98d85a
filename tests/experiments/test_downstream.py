"""Shares of money: a formula for each policy, errors that cancel, and their size over many releases."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.oracles import (
    assert_flat_memory,
    assert_reproducible,
    assert_same_estimates,
    family_by_family,
    watch_bars,
)
from support.refusals import refusal
from support.strategies import counts, seeds, trees

from helpers import DISCRETE_LAPLACE, LAPLACE, Hierarchy, downstream, release, uniform
from helpers.consistency import method_of
from helpers.experiments.downstream import _Families, _Stakes, misallocation, shares, simulate_misallocation
from helpers.simulation import LinearFit

FORMULAS = {"log": lambda p: np.log(1 + p), "linear": lambda p: p, "quadratic": lambda p: p**2}
policies = st.sampled_from(list(FORMULAS))
groups = st.lists(counts(), min_size=1, max_size=8).map(np.array)


@given(groups, policies)
def test_shares_follow_the_formula(n, weight):
    """share_i = W(p_i) / Σ_j W(p_j) with the three policies of the paper: all money is given out, and nobody pays."""
    found = shares(n, weight)
    assert_allclose(found.sum(), 1, rtol=1e-14)  # rounding of up to eight terms
    assert (found >= 0).all() and found.shape == n.shape
    if n.sum() > 0:
        w = FORMULAS[weight](n / n.sum())
        assert_allclose(found, w / w.sum(), rtol=1e-6, atol=1e-15)  # log(1+p) itself loses digits for tiny p


def test_there_are_three_policies_and_linear_is_the_default():
    """log, linear and quadratic are known by name; no name means linear; the table cannot be changed."""
    assert list(downstream.WEIGHTS) == ["log", "linear", "quadratic"]
    assert shares([1, 3]).tolist() == [0.25, 0.75]
    with pytest.raises(TypeError):
        downstream.WEIGHTS["cubic"] = np.square


@given(groups)
def test_policies_favour_small_or_large_groups(n):
    """The smallest group's share is largest under log and smallest under quadratic."""
    assume(n.sum() > 0)
    log, linear, quadratic = (shares(n, weight)[n.argmin()] for weight in ("log", "linear", "quadratic"))
    assert log >= linear * (1 - 1e-12) and linear >= quadratic * (1 - 1e-12)  # equal if all groups are; then rounding


@pytest.mark.parametrize("weight", FORMULAS)
def test_nobody_counted_means_equal_shares(weight):
    """If all counts are zero, every group gets the same, also in one row of a stack."""
    assert_allclose(shares([0, 0, 0, 0], weight), 0.25, rtol=1e-15)  # one division
    assert_allclose(shares([[0, 0], [0, 2]], weight), [[0.5, 0.5], [0, 1]], rtol=1e-15)


@given(st.lists(st.tuples(counts(), counts(), counts()), min_size=1, max_size=5), policies)
def test_a_stack_is_handled_row_by_row(rows, weight):
    """Shares of a stack of releases are the stacked shares of each release."""
    assert shares(rows, weight).tolist() == [shares(row, weight).tolist() for row in rows]
    true = rows[0]
    stacked = misallocation(true, rows, weight)
    assert stacked.tolist() == [misallocation(true, row, weight).tolist() for row in rows]
    assert stacked[0].tolist() == [0.0, 0.0, 0.0]


@given(groups, st.randoms(use_true_random=False), policies)
def test_misallocation_sums_to_zero(n, random, weight):
    """What some groups gain, others lose: 100 · (released share − true share) sums to zero; inputs are left alone."""
    released, before = np.array([float(i) + random.random() for i in n]), n.tolist()
    after = released.tolist()
    found = misallocation(n, released, weight)
    assert n.tolist() == before and released.tolist() == after
    assert abs(found.sum()) < 1e-11  # percentage points: 100 times the rounding of eight terms
    assert_allclose(found, 100 * (shares(released, weight) - shares(n, weight)), rtol=1e-15)


def test_misallocation_is_in_percentage_points_with_the_sign_of_the_gain():
    """Counting 60 instead of 50 of 100 gains ten points; in a stack of truths and releases each row meets its own."""
    assert_allclose(misallocation([50, 50], [60, 40]), [10, -10], rtol=1e-12)  # a difference of shares, times 100
    found = misallocation([[1, 1], [1, 3], [4, 0]], [[3, 1], [1, 1], [4, 0]])
    assert found.tolist() == [[25, -25], [25, -25], [0, 0]]


def test_any_function_of_proportions_is_a_policy():
    """A callable is applied to proportions, not to counts; of nobody, each group is one k-th, as thresholds need it."""
    seen = []
    found = shares([1, 3], lambda p: seen.append(p.tolist()) or np.sqrt(p))
    assert_allclose(found, np.sqrt([1, 3]) / np.sqrt([1, 3]).sum(), rtol=1e-15)
    shares([[0, 0, 0, 0], [1, 0, 0, 3]], lambda p: seen.append(p.tolist()) or np.positive(p))
    assert seen == [[0.25, 0.75], [[0.25] * 4, [0.25, 0, 0, 0.75]]]


@pytest.mark.parametrize("weight", [np.float32, lambda p: p.tolist(), lambda p: p > 0.3, lambda p: p.astype(object)])
def test_shares_are_doubles_whatever_a_policy_returns(weight):
    """Small floats, lists, truth values and objects become shares in double precision, which sum to one."""
    found = shares([2, 6], weight)
    assert found.dtype == np.float64 and found.sum() == 1


NOTHING = "weight must give at least one group a finite weight above zero, got [0. 0.]"


@pytest.mark.parametrize("call, sentence", [
    (lambda: misallocation([1, -2], [1, 2]), "counts must be zero or more, got -2 at index 1"),
    (lambda: misallocation([1, 2], [1, -2]), "released must be zero or more, got -2 at index 1"),
    (lambda: shares([0, 2], np.zeros_like), NOTHING),
    (lambda: simulate_misallocation(PAIR, [1, 1], 10**10, 1, {"none": np.zeros_like}), NOTHING),  # before any release
    (lambda: shares([1, 1], lambda p: p / 0.0), NOTHING.replace("[0. 0.]", "[inf inf]")),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_refusal_names_the_argument_and_shows_the_values(call, sentence):
    """Whoever gives counts or a policy that cannot be used is told which, and what was found."""
    assert refusal(call, by=ValueError) == sentence


PAIR: Hierarchy = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
FAMILIES = Hierarchy.from_counts([[9, 0, 0, 4], [0, 3, 6, 4, 0, 0]], [None, [0, 0, 0, 3, 1, 1]])  # node 2 has no children


@settings(max_examples=40)
@given(trees(least_levels=2), seeds(), st.integers(4, 9), st.sampled_from([0.03, 1.0]))
def test_misallocation_is_simulated_family_by_family(tree, seed, trials, each):
    """From the same random stream, one pass over whole levels gives what families, policies and releases give singly."""
    eps = np.full(len(tree.levels), each)
    found = simulate_misallocation(tree, eps, trials, seed, consistent="bottom_up")  # of which nothing is known
    assert found.index.names == ["weight", "node"]
    assert_same_estimates(found, family_by_family(tree, eps, trials, seed, FORMULAS, "bottom_up"))


@settings(max_examples=40)
@given(trees(least_levels=2), seeds(), st.booleans(), st.sampled_from([0.03, 1.0]))
def test_the_known_part_of_a_misallocation_is_known(tree, seed, fitted, each):
    """J u and the rest make the misallocation; J u has mean zero, and E|J u|² by matrices is what the stream is told."""
    eps = np.full(len(tree.levels), each)
    fit, families = LinearFit(tree, eps, LAPLACE, fitted), _Families(tree)
    counts, clipped = (release(tree, eps, seed, c) for c in (fitted, False))
    u = fit.errors(clipped)[-1]
    noise = np.concatenate(fit.noise)
    ends, units = np.cumsum(tree.sizes)[:-1], np.eye(tree.sizes.sum())
    moves = [fit.errors([c + x for c, x in zip(fit.centres, np.split(unit, ends), strict=True)])[-1] for unit in units]
    for name, weight in FORMULAS.items():
        stakes = _Stakes(families, tree, weight, fit)
        rest, known = stakes.parts(counts[-1], u)
        own = [tree.parents[-1] == node for node in families.parents]
        whole = [misallocation(tree.counts[-1][o], counts[-1][o], weight) for o in own]
        assert_allclose(rest + known, np.concatenate(whole), atol=1e-9)  # percentage points
        squares = np.array([stakes.linear(m) ** 2 for m in moves])  # (nodes, leaves) J A, of u = A z
        scale = 1e-12 * (1 + np.abs(squares).max() * noise.max()) * len(noise)
        assert_allclose(stakes.known, families.sums(noise @ squares), rtol=1e-6, atol=scale), name


def test_the_known_part_is_the_slope_of_the_shares():
    """Where noise is small against the counts, J is the derivative of the misallocation, for each policy."""
    tree = Hierarchy.from_counts([[700], [100, 200, 400]], [None, [0, 0, 0]])
    fit, move = LinearFit(tree, np.array([1e4, 1e4]), LAPLACE), np.array([0.3, -0.2, 0.5])
    for weight in FORMULAS.values():
        found = _Stakes(_Families(tree), tree, weight, fit).linear(move)
        n, step = tree.counts[-1], 1e-4
        up, down = (misallocation(n, n + sign * step * move, weight) for sign in (1, -1))
        assert_allclose(found, (up - down) / (2 * step), rtol=1e-6)  # a central difference, of numbers good to 1e-12


@pytest.mark.parametrize("consistent", [True, False])
def test_what_is_known_saves_releases_and_moves_no_estimate(consistent):
    """Against 4,000 plain releases of 60 families: no bias in any estimate beyond five standard errors, and less scatter.

    Families are alike and independent, so their mean is known eight times better than one; a bias of a twentieth of the
    plain standard error of one family would be missed.
    """
    children, count = [0, 8, 20, 52, 120], 60
    tree = Hierarchy.from_counts([[200] * count, children * count], [None, np.repeat(np.arange(count), 5)])
    eps = [1.0, 0.5]
    plain = simulate_misallocation(
        tree, eps, 4000, 1, consistent=lambda tree, noisy: method_of(consistent)(tree, noisy, None)
    )
    known = simulate_misallocation(tree, eps, 60, 2, consistent=consistent)
    for weight in FORMULAS:
        a, b = (table.loc[weight].to_numpy()[:, :3] for table in (plain, known))
        z = (a.mean(0) - b.mean(0)) / np.sqrt((a.var(0, ddof=1) + b.var(0, ddof=1)) / count)
        assert (np.abs(z) < 5).all(), (weight, z)
        saved = (plain.loc[weight].mse_se.mean() ** 2 * 4000) / (known.loc[weight].mse_se.mean() ** 2 * 60)
        assert saved > 5, (weight, saved)


@pytest.mark.parametrize("consistent", [True, False])
def test_families_without_people_or_children(consistent):
    """A family of zeros shares out evenly, a parent without children has no row, and an only child gets all, always."""
    found = simulate_misallocation(FAMILIES, [0.5, 0.5], 30, seed=1, consistent=consistent)
    assert found.index.tolist() == [(weight, node) for weight in FORMULAS for node in (0, 1, 3)]
    assert np.allclose(found.xs(3, level="node"), 0, atol=1e-12)
    assert (found.drop(index=3, level="node").mse > 0).all()


def test_without_noise_nothing_is_misallocated():
    """At a budget of a million all errors are below a ten-thousandth of a point, in families of zeros as well."""
    tree = Hierarchy.from_counts([[9, 0], [0, 3, 6, 0]], [None, [0, 0, 0, 1]])
    assert (simulate_misallocation(tree, [1e6, 1e6], 20, seed=1).mse < 1e-8).all()  # noise of 1e-6 people, shares of nine


def test_simulated_misallocation_is_reproducible():
    """The same seed gives the same table, as a number or a generator, for budgets or an Allocation; others differ."""
    assert_reproducible(simulate_misallocation, FAMILIES)


def test_noise_is_that_of_the_allocation():
    """Budgets that are meant for another mechanism are released by that mechanism."""
    eps = uniform(FAMILIES, 2, DISCRETE_LAPLACE)
    found = simulate_misallocation(FAMILIES, eps, 9, 5, consistent="bottom_up")
    assert_same_estimates(found, family_by_family(FAMILIES, eps, 9, 5, FORMULAS, "bottom_up"))
    assert not np.isclose(found.mse.sum(), simulate_misallocation(FAMILIES, eps.eps, 9, 5).mse.sum(), rtol=0.01)


def test_a_bar_counts_releases_and_goes_away(monkeypatch):
    """One step a release, shown after a second, and wiped when done."""
    asked = watch_bars(monkeypatch)
    simulate_misallocation(PAIR, [1, 1], 5, seed=1)
    assert asked == [(5, {"desc": "releases", "delay": 1, "leave": False})]


def test_any_policies_can_be_compared_on_the_same_releases():
    """`weights` names the policies, in its order; one under another name, or alone, has the same errors to the digit."""
    policies = {"root": np.sqrt, "mine": np.positive}
    plain = simulate_misallocation(FAMILIES, [1, 1], 12, 3, policies, "bottom_up")
    assert_same_estimates(plain, family_by_family(FAMILIES, [1, 1], 12, 3, policies, "bottom_up"))
    found = simulate_misallocation(FAMILIES, [1, 1], 12, 3, policies)
    assert found.index.unique("weight").tolist() == ["root", "mine"]
    known = simulate_misallocation(FAMILIES, [1, 1], 12, 3)
    pd.testing.assert_frame_equal(found.loc["mine"], known.loc["linear"], check_exact=True)
    by_name = simulate_misallocation(FAMILIES, [1, 1], 12, 3, {"mine": "linear"})
    pd.testing.assert_frame_equal(by_name, found.loc[["mine"]], check_exact=True)


def test_policies_are_given_proportions():
    """What a policy sees sums to one in every family, and is the same for all children of one without people."""
    seen = []
    simulate_misallocation(FAMILIES, [1, 1], 20, 3, {"spy": lambda p: seen.append(p) or np.positive(p)}, "bottom_up")
    assert len(seen) == 21  # the truth, and each release
    for p in seen:
        assert_allclose([p[:3].sum(), p[3:5].sum(), p[5]], 1, rtol=1e-15)  # rounding of three terms
    assert_allclose(seen[0], [0, 1 / 3, 2 / 3, 0.5, 0.5, 1], rtol=1e-15)


def test_consistency_is_on_unless_turned_off():
    """The shares are those of consistent children, unless these are asked for on their own: the same noise, other errors."""
    tree = Hierarchy.from_counts([[1000], [500, 500]], [None, [0, 0]])
    on, off = (simulate_misallocation(tree, [1e6, 0.002], 100, 1, consistent=consistent) for consistent in (True, False))
    pd.testing.assert_frame_equal(on, simulate_misallocation(tree, [1e6, 0.002], 100, 1), check_exact=True)
    assert not np.isclose(on.mse, off.mse, rtol=0.01).any()  # the same seed: only the step can tell them apart


@pytest.mark.parametrize("trials", [2, 3])
def test_two_trials_are_enough_for_estimates_only(trials):
    """With two or three trials the estimates and mse_se are numbers, the other standard errors NaN, in every family."""
    found = simulate_misallocation(FAMILIES, [1, 1], trials, seed=1)
    assert np.isfinite(found[["bias2", "variance", "mse", "mse_se"]]).all(axis=None)
    assert found[["bias2_se", "variance_se"]].isna().all(axis=None)


def test_misallocation_standard_errors_are_calibrated():
    """Over 400 families with the same counts, estimates scatter as much as their standard errors say."""
    count, children = 400, [0] * 8 + [1, 2, 3, 4]
    tree = Hierarchy.from_counts([[10] * count, children * count], [None, np.repeat(np.arange(count), 12)])
    found = simulate_misallocation(tree, [1, 0.5], 300, seed=1).to_numpy().reshape(3, count, 6)  # (weight, family, column)
    estimates, errors = found[..., :3], found[..., 3:]
    z = (estimates - estimates.mean(1, keepdims=True)) / errors
    # Families are independent. The deviation of 400 z-scores with kurtosis 3 to 4 is known to √(3/1600) = 4.3%.
    assert (np.abs(z.std(1) - 1) < 0.17).all(), z.std(1)  # four standard errors; seed 1


def test_memory_does_not_grow_with_trials():
    """Ten times the trials need the same memory."""
    assert_flat_memory(simulate_misallocation)


def test_a_tree_of_one_level_has_no_families():
    """Without parents there is no money to share out: refused with a sentence that says what is missing."""
    sentence = "hierarchy must have at least two levels, so that there are families, got Hierarchy(2 level 1; total 5)"
    assert refusal(simulate_misallocation, Hierarchy.from_counts([[2, 3]], [None]), [1], 10, by=ValueError) == sentence


def test_a_policy_that_gives_nobody_anything_is_refused():
    """Where one family's weights sum to zero, shares do not exist, and no NaN slips into the table."""
    majority = {"majority": lambda p: 1.0 * (p > 0.5)}
    assert NOTHING.partition(",")[0] in refusal(simulate_misallocation, FAMILIES, [1, 1], 10, 1, majority, by=ValueError)

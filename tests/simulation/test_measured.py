"""Measured errors against closed forms, and standard errors against the scatter they claim to describe."""

import os
import subprocess
import sys
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manuscript import ROOT
from numpy.testing import assert_allclose
from support.oracles import assert_flat_memory, assert_reproducible, by_stored_releases, watch_bars
from support.refusals import refusal
from support.strategies import seeds, trees

from helpers import (
    DISCRETE_LAPLACE,
    GAUSSIAN,
    LAPLACE,
    Hierarchy,
    load_example,
    load_state,
    minimize_error,
    mse,
    release,
    uniform,
)
from helpers.example import LEVELS
from helpers.simulation import error_report, expected_error, simulate, simulate_with

COLUMNS = ["bias2", "variance", "mse"]
FAMILY = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
SEEDS = 250
HOSPITALS = Hierarchy.from_frame(load_example(), LEVELS, "patients")
EPS = [0.06, 0.12, 0.24, 0.58]  # of the hospitals


def forest(count):
    """A hundred parents with two children each of the given count: many nodes a level, so that sums are nearly normal."""
    return Hierarchy.from_counts([[2 * count] * 100, [count] * 200], [None, np.arange(200) // 2])


CASES = {  # (tree, budgets, trials); x = εN decides how much of the error is bias
    "counts near zero": (forest(1), (0.5, 0.7), 60),
    "hardly any bias": (forest(1000), (0.5, 0.7), 61),
    "bias in every node": (forest(0), (0.5, 0.7), 60),
}


@cache
def estimates(case):
    """(seeds, levels, 6) what `simulate` gives for many seeds."""
    tree, eps, trials = CASES[case]
    return np.array([simulate(tree, eps, trials, seed, consistent=False) for seed in range(SEEDS)])


@pytest.mark.parametrize("case", CASES)
def test_z_scores_look_standard_normal(case):
    """(estimate − closed form) / standard error has mean 0 and deviation 1 over 250 seeds, in every column and level."""
    tree, eps, _ = CASES[case]
    found = estimates(case)
    difference = found[..., :3] - expected_error(tree, eps).to_numpy()  # (seeds, levels, columns)
    if case == "hardly any bias":  # none at all in what is released: a count of 1000 is never clipped
        assert (found[..., 0] == 0).all() and (found[..., 3] < 1e-8 * found[..., 2]).all()
        difference, found = difference[..., 1:], found[..., [1, 2, 4, 5]]
    z = difference / np.split(found, 2, axis=-1)[1]
    kurtosis = ((z - z.mean(0)) ** 4).mean(0) / z.var(0) ** 2
    # Four standard errors of a mean, and 0.05 for the skew that 60 trials of at least 100 nodes leave in a studentised mean.
    assert (np.abs(z.mean(0)) < 4 / np.sqrt(SEEDS) + 0.05).all(), z.mean(0)
    assert (np.abs(z.std(0) - 1) < 5 * np.sqrt((kurtosis - 1) / (4 * SEEDS))).all(), z.std(0)  # five standard errors


def ratio_to_scatter(found):
    """(levels, columns) reported standard error, on average over the seeds, over the deviation between the seeds."""
    estimate, se = np.split(found, 2, axis=-1)
    return np.sqrt((se**2).mean(0)) / estimate.std(0, ddof=1)


@pytest.mark.parametrize("case", CASES)
def test_estimates_are_unbiased(case):
    """The mean over 250 seeds is the closed form, to five standard errors; the standard errors match the scatter."""
    tree, eps, _ = CASES[case]
    seen = slice(1 if case == "hardly any bias" else 0, None)  # columns; of a count of 1000, no bias is ever seen
    found = estimates(case).reshape(SEEDS, 2, 2, 3)[..., seen].reshape(SEEDS, 2, -1)
    estimate, ratio = np.split(found, 2, axis=-1)[0], ratio_to_scatter(found)
    error = estimate.mean(0) - expected_error(tree, eps).to_numpy()[:, seen]
    assert (np.abs(error) < 5 * estimate.std(0, ddof=1) / np.sqrt(SEEDS)).all()  # seeds 0 to 249
    assert (np.abs(ratio - 1) < 0.23).all(), ratio  # a deviation from 250 seeds is known to 1/√500 = 4.5%: five of those


def ratios_under_correlation(count):
    """(levels, columns) reported standard error over the scatter of 250 seeds, where families move as one."""
    # A noisy parent over precise children: every child moves with its parent, so all errors of a family are correlated.
    tree = Hierarchy.from_counts([[3 * count] * 8, [count] * 24], [None, np.arange(24) // 3])
    plain = partial(release, tree, [0.2, 5.0])  # of which `simulate` would know most
    return ratio_to_scatter(np.array([simulate_with(tree, plain, 60, seed) for seed in range(SEEDS)]))


def test_standard_errors_are_honest_under_correlation():
    """Where the consistency step ties the nodes together, the reported errors still match the scatter between seeds."""
    ratio = ratios_under_correlation(count=1)
    assert (np.abs(ratio - 1) < 0.2).all(), ratio  # a deviation from 250 seeds is known to 1/√500 = 4.5%; seeds 0 to 249


def test_standard_errors_are_cautious_where_bias_is_lost_in_the_noise():
    """Without bias to speak of, variance and mse are honest as ever; bias2 claims too much error, never too little."""
    bias2, *others = ratios_under_correlation(count=100).T
    assert (np.abs(np.array(others) - 1) < 0.2).all(), others  # as above
    # mu'Sigma mu is zero, and estimated as zero or more. If all errors move as one, the chance part of that is
    # 8 ln 2 · E max(χ² − 1, 0) = 2.7 beside the 2 of the pair term: √(4.7/2) = 1.53. The rest is scatter as above.
    assert ((bias2 > 0.8) & (bias2 < 1.75)).all(), bias2


@pytest.mark.parametrize("trials", [2, 3])
def test_two_trials_are_enough_for_estimates_only(trials):
    """With two or three trials the estimates and mse_se are numbers, the other standard errors NaN."""
    found = simulate(FAMILY, [1, 1], trials, seed=1)
    assert np.isfinite(found[[*COLUMNS, "mse_se"]]).all(axis=None)
    assert found[["bias2_se", "variance_se"]].isna().all(axis=None)


@settings(max_examples=30)
@given(trees(), seeds(), st.integers(4, 9), st.booleans())
def test_mse_is_bias2_plus_variance(tree, seed, trials, consistent):
    """The three columns add up, for every tree, level by level, and mse is not negative."""
    found = simulate(tree, np.ones(len(tree.levels)), trials, seed, consistent)
    assert_allclose(found.bias2 + found.variance, found.mse, rtol=1e-9, atol=1e-12)  # one subtraction, undone
    assert (found.mse >= 0).all() and (found[[f"{c}_se" for c in COLUMNS]] >= 0).all(axis=None)


def test_the_frame_has_levels_as_rows():
    """The result is indexed by the names of the levels, with estimates first and standard errors after."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]], levels=["state", "block"])
    found = simulate(tree, uniform(tree, 1), 4, seed=1)
    assert found.index.tolist() == ["state", "block"]
    assert found.columns.tolist() == [*COLUMNS, "bias2_se", "variance_se", "mse_se"]
    assert expected_error(tree, [1, 1]).index.tolist() == ["state", "block"]
    assert expected_error(tree, [1, 1]).columns.tolist() == COLUMNS


def test_the_same_seed_gives_the_same_frame():
    """Reproducible from a seed, different from another one, fresh without one."""
    assert_reproducible(simulate, FAMILY)
    assert [n.tolist() for n in FAMILY.counts] == [[5], [2, 3]]  # and the tree is left alone


def test_consistency_is_on_unless_turned_off():
    """Children that sum to an exact parent err less than children on their own."""
    precise_parent = [1e6, 0.1]
    on, off = simulate(FAMILY, precise_parent, 400, seed=1), simulate(FAMILY, precise_parent, 400, seed=1, consistent=False)
    assert on.mse.iloc[1] < 0.5 * off.mse.iloc[1]  # two counts of five people in all, against noise of scale ten
    pd.testing.assert_frame_equal(on, simulate(FAMILY, precise_parent, 400, seed=1, consistent=True))


def test_memory_does_not_grow_with_trials():
    """Ten times the trials need the same memory."""
    assert_flat_memory(simulate)


@pytest.mark.parametrize("mechanism", [DISCRETE_LAPLACE, GAUSSIAN], ids=lambda mechanism: mechanism.name)
def test_noise_is_of_the_kind_asked_for(mechanism):
    """Closed form and simulation are those of the mechanism given, or of the one that the allocation is meant for."""
    eps = uniform(FAMILY, 1, mechanism)
    forms = [[mechanism.bias(n, 0.5) ** 2, mechanism.variance(n, 0.5), mechanism.mse(n, 0.5)] for n in (5, 2, 3)]
    expected = np.array([forms[0], np.add(forms[1], forms[2])])
    once = partial(release, FAMILY, [0.5, 0.5], consistent="bottom_up", mechanism=mechanism)
    measured = simulate_with(FAMILY, once, 6, seed=1)
    for budgets, given_too in ((eps, None), ([0.5, 0.5], mechanism)):
        assert_allclose(expected_error(FAMILY, budgets, given_too), expected, rtol=1e-14)  # sums of two
        found = simulate(FAMILY, budgets, 6, seed=1, consistent="bottom_up", mechanism=given_too)
        pd.testing.assert_frame_equal(found, measured, check_exact=True)
        assert_allclose(
            simulate(FAMILY, budgets, 6, seed=1, mechanism=given_too).iloc[0, :3], expected[0], atol=1e-12
        )  # of a variance of one


def test_what_no_release_shows_has_a_standard_error():
    """A count of 30 at ε = 1 is never clipped in 40 releases: no bias is seen, give or take what it may be."""
    tree = Hierarchy.from_counts([[30] * 50], [None])
    found, exact = simulate(tree, [1.0], 40, seed=1, consistent=False).iloc[0], expected_error(tree, [1.0]).iloc[0]
    assert found.bias2 == 0 < exact.bias2 < found.bias2_se


# What is known of a release


@settings(max_examples=60)
@given(trees(), seeds(), st.integers(4, 9), st.sampled_from([0.03, 1.0]), st.booleans())
def test_only_what_is_not_known_is_simulated(tree, seed, trials, each, consistent):
    """Each level's table is that of stored releases, less what is known of the same noise, by the definitions."""
    eps = np.full(len(tree.levels), each)
    right = by_stored_releases(tree, eps, trials, seed, consistent, LAPLACE)
    for row, expected, n in zip(simulate(tree, eps, trials, seed, consistent).to_numpy(), right, tree.floats, strict=True):
        # Errors are small against the counts and the noise that they are differences of: rounding is a part of those.
        size = 1e-12 * len(n) * (n.max() + 100 / each) ** 2
        assert_allclose(row[:3], expected[:3], rtol=1e-9, atol=size)
        # What clipping or a fit does may be too rare for the releases: then there is a least standard error.
        assert (row[3:] >= expected[3:] * (1 - 1e-6) - size).all()


def test_a_fit_that_hardly_ever_meets_zero_has_honest_errors():
    """Ten blocks of 15: of 200 releases most show no block at zero, which 60,000 do. No score of 60 is beyond four."""
    tree, eps = Hierarchy.from_counts([[150], [15] * 10], [None, [0] * 10]), [0.3, 0.4]
    for consistent in (True, "gls"):
        plain = simulate_with(tree, partial(release, tree, eps, consistent=consistent), 60_000, seed=5).iloc[1]
        found = pd.DataFrame([simulate(tree, eps, 200, seed, consistent).iloc[1] for seed in range(60)])
        for column in ("mse", "variance"):
            se = np.hypot(found[f"{column}_se"], plain[f"{column}_se"])
            assert (abs(found[column] - plain[column]) < 4 * se).all()
            assert found[f"{column}_se"].max() < 0.1 * found[column].mean()  # and they are no excuse


def uneven(*counts):
    """A hundred families with these counts: siblings that differ, so that what moves them also moves the bias."""
    k = len(counts)
    return Hierarchy.from_counts([[sum(counts)] * 100, counts * 100], [None, np.arange(100 * k) // k])


KNOWN = {  # (tree, budgets, trials, how cautious standard errors may be); each for both fits
    "small counts": (uneven(0, 1, 4), (0.5, 0.7), 60, 1.23),
    "few trials": (uneven(0, 2, 9), (0.3, 0.3), 8, 1.6),
    "a noisy parent": (uneven(1, 2), (0.2, 5.0), 60, 2.0),
    "siblings alike": (forest(1), (0.5, 0.7), 60, 1.6),  # then the bias is hidden from the noise, which moves it not at all
}


@pytest.mark.parametrize("consistent", [True, "gls"])
@pytest.mark.parametrize("case", KNOWN)
def test_a_known_part_leaves_estimates_unbiased_and_their_errors_honest(case, consistent):
    """Over 250 seeds, estimates agree with plain ones of 20,000 trials, and scatter as their standard errors say.

    Five standard errors of the difference: a bias of a third of what one plain run of 20,000 trials shows would be missed.
    """
    tree, eps, trials, cautious = KNOWN[case]
    each = [simulate(tree, eps, trials, seed, consistent).iloc[1] for seed in range(SEEDS)]  # of the level below
    found = np.array(each)
    once = partial(release, tree, eps, consistent=consistent)
    plain = simulate_with(tree, once, 20_000, seed=1).iloc[1].to_numpy()
    se = np.hypot(found[:, :3].std(0, ddof=1) / np.sqrt(SEEDS), plain[3:])
    assert (np.abs(found[:, :3].mean(0) - plain[:3]) < 5 * se).all(), (found.mean(0), plain)
    ratio = ratio_to_scatter(found)  # a deviation from 250 seeds is known to 1/√500 = 4.5%: five of those
    assert (ratio > 0.77).all() and (ratio < cautious).all(), ratio


@pytest.mark.parametrize("rule", [uniform, minimize_error])
@pytest.mark.parametrize("total, consistent", [(0.5, True), (2.0, True), (0.5, "gls"), (2.0, "gls")])
def test_a_known_part_saves_most_releases(rule, total, consistent):
    """On Delaware's tree, a hundredth of the releases would do for the same standard error of the total MSE, or fewer.

    A standard error from 40 releases is known to a tenth, and the factor to a third; measured are 300 and more.
    """
    tree = load_state("delaware")
    eps = rule(tree, total)
    plain = simulate_with(tree, partial(release, tree, eps, consistent=consistent), 40, seed=1)
    known = simulate(tree, eps, 40, seed=1, consistent=consistent)
    assert np.linalg.norm(plain.mse_se) > 10 * np.linalg.norm(known.mse_se)


def test_a_bar_counts_releases_and_goes_away(monkeypatch):
    """One step a release, shown after a second, and wiped when done."""
    asked = watch_bars(monkeypatch)
    simulate(FAMILY, [1, 1], 7, seed=1)
    assert asked == [(7, {"desc": "releases", "delay": 1, "leave": False})]


# A clock that jumps by the step given at every look, so that a run "takes" long or no time at all.
RUN = """
import itertools, sys, tqdm.std
ticks = itertools.count(0.0, float(sys.argv[1]))
tqdm.std.time = lambda: next(ticks)
from helpers import Hierarchy, simulate
simulate(Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]]), [1, 1], trials=50, seed=1)
"""


@pytest.mark.parametrize("step, disabled, shown", [("0.7", False, True), ("0", False, False), ("0.7", True, False)])
def test_long_runs_show_progress_on_stderr(step, disabled, shown):
    """A run of more than a second shows a bar, a shorter one or TQDM_DISABLE=1 does not; nothing goes to stdout."""
    env = {k: v for k, v in os.environ.items() if k != "TQDM_DISABLE"} | ({"TQDM_DISABLE": "1"} if disabled else {})
    env["PYTHONPATH"] = str(ROOT)
    done = subprocess.run([sys.executable, "-c", RUN, step], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert ("releases" in done.stderr and "/50" in done.stderr) if shown else done.stderr == ""


@given(trees(), seeds())
def test_a_release_of_your_own_is_measured_alike(tree, seed):
    """`simulate_with` given a release of which nothing is known is `simulate`, number by number; kept arrays stay."""
    eps, kept = np.full(len(tree.levels), 0.5), []

    def once(rng):
        kept.append(release(tree, eps, rng, "bottom_up"))
        return kept[-1]

    found = simulate_with(tree, once, trials=5, seed=seed)
    pd.testing.assert_frame_equal(found, simulate(tree, eps, 5, seed, consistent="bottom_up"))
    again = np.random.default_rng(seed)
    for drawn in kept:
        assert all((a == b).all() for a, b in zip(drawn, release(tree, eps, again, "bottom_up"), strict=True))


def test_a_release_of_your_own_must_fit_the_tree():
    """What is no function, or returns other shapes than the tree's, is refused by name."""
    assert "once must be a function from a random generator" in refusal(simulate_with, FAMILY, [1, 2], 4, by=TypeError)
    wide = refusal(simulate_with, FAMILY, lambda rng: [[5], [2, 3, 4]], 4, by=ValueError)
    assert "once()[1] must have one entry for each of the 2 nodes" in wide


# The report


def test_expected_error_is_the_root_mean_square_over_nodes():
    """Expected error and the part within a tenth are what a loop over the nodes gives; a row a level, in this order."""
    report = error_report(HOSPITALS, EPS, trials=4, seed=1)
    assert report.equals(error_report(HOSPITALS, EPS, trials=4, seed=1))
    assert report.index.tolist() == list(LEVELS)
    assert report.columns.tolist() == ["nodes", "budget", "expected", "measured", "±", "within 10%"]
    assert report["nodes"].tolist() == HOSPITALS.sizes.tolist() and report["budget"].tolist() == EPS
    for row, n, e in zip(report.itertuples(), HOSPITALS.counts, EPS, strict=True):
        each = [float(mse(c, e)) for c in n]
        assert row.expected == pytest.approx((sum(each) / len(n)) ** 0.5, rel=1e-12)
        good = sum(error**0.5 <= 0.1 * c for error, c in zip(each, n, strict=True))
        assert row[-1] == pytest.approx(good / len(n))


def test_measured_error_is_the_expected_one_where_nothing_is_fitted():
    """The top level is clipped and never fitted: its error is known, and not simulated."""
    top = error_report(HOSPITALS, EPS, trials=4, seed=2).iloc[0]
    assert top["measured"] == pytest.approx(top["expected"], rel=1e-9) and top["±"] < 1e-9 * top["expected"]


def test_the_spread_of_a_measured_error_is_that_of_its_root():
    """± is the standard error of √(MSE/n), from that of the MSE: half of its relative error."""
    report, measured = error_report(HOSPITALS, EPS, 12, seed=2), simulate(HOSPITALS, EPS, 12, seed=2)
    assert_allclose(report["±"] / report["measured"], measured.mse_se / measured.mse / 2, rtol=1e-12)


def test_an_error_of_exactly_a_tenth_is_within_it():
    """A count of ten with an error of one person is good to a tenth; one of nine is not."""
    tree = Hierarchy.from_counts([[19], [10, 9]], [None, [0, 0]])
    report = error_report(tree, uniform(tree, 1.0, GAUSSIAN), trials=4, seed=1)  # ρ of 1/2 a level: σ is 1
    assert report["within 10%"].tolist() == [1.0, 0.5]

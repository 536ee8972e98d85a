"""Tables whose entries are single calls, sums and ratios done by hand, and noise that is shared only on purpose."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.oracles import watch_bars
from support.refusals import refusal
from support.strategies import seeds, trees

from helpers import Allocation, Hierarchy, expected_error, experiments, load_state, minimize_error, prior, simulate, uniform
from helpers.allocation import minimize_budget
from helpers.experiments import budgets, compared_rules, measure, over_levels, ratio, recut, regret, sweeps, z_scores
from helpers.experiments.sweeps import (
    agreement,
    consistency_change,
    predicted_gain,
    prior_regret,
    promises,
    state_experiment,
    sweep,
    trials,
)

LEVELS = ["state", "tract", "block"]
PARENTS = [None, [0, 0], [0, 0, 1]]
TRUTH = Hierarchy.from_counts([[12], [7, 5], [3, 4, 5]], PARENTS, LEVELS)
EARLIER = Hierarchy.from_counts([[300], [1, 299], [0, 1, 299]], PARENTS, LEVELS)
RULES = compared_rules(TRUTH, EARLIER)
# One node over eight, all so large that the clip at zero never happens: F_l = 2 n_l/ε_l², and the optimum is (1, 2)/3.
LARGE = Hierarchy.from_counts([[8e9], [1e9] * 8], [None, [0] * 8])


def case(table, *key):
    """The levels of one case, by the other index entries (`loc` would warn where rules are not in alphabetical order)."""
    return table.xs(key, level=[name for name in table.index.names if name != "level"])


def numbers(**columns):
    """A small table of errors by (rule, level)."""
    index = pd.MultiIndex.from_product([["uniform", "optimal"], ["state", "block"]], names=["rule", "level"])
    return pd.DataFrame(columns, index)


def test_trials_are_the_default_unless_the_environment_says_otherwise(monkeypatch):
    """Without BOOK_TRIALS, or with an empty one, it is the default; otherwise what BOOK_TRIALS says, spaces or not."""
    monkeypatch.delenv("BOOK_TRIALS", raising=False)
    assert trials(400) == 400
    for value, expected in {"": 400, "  ": 400, "4": 4, " 10000 ": 10_000}.items():
        monkeypatch.setenv("BOOK_TRIALS", value)
        assert trials(400) == expected


@pytest.mark.parametrize("value", ["3", "0", "-5", "2.5", "1e4", "many", "4 5", "²"])
def test_a_bad_environment_variable_is_refused_by_name(monkeypatch, value):
    """A BOOK_TRIALS that is no whole number of at least 4 raises a ValueError with the variable's name and its value."""
    monkeypatch.setenv("BOOK_TRIALS", value)
    assert refusal(trials, 400, by=ValueError) == f"BOOK_TRIALS must be a whole number of at least 4, got {value!r}"


@given(st.floats(0.01, 100))
def test_the_uniform_rule_is_uniform_and_the_optimal_one_knows_only_the_earlier_tree(total):
    """Uniform gives the levels the same; optimal is the best split of the earlier tree, not of the truth."""
    assert list(RULES) == ["uniform", "optimal"]
    assert_allclose(RULES["uniform"](total).eps, [total / 3] * 3, rtol=1e-15)  # one division
    assert RULES["optimal"](total).eps.tolist() == minimize_error(EARLIER, total).eps.tolist()
    assert not np.allclose(RULES["optimal"](1).eps, minimize_error(TRUTH, 1).eps, rtol=0.01)  # so that the law can fail


def test_a_sweep_holds_what_single_calls_give():
    """Each block of the table is error(rule(total)); rules and totals come in the order given; names of an index stay."""
    table = sweep(RULES, [2, 0.5], lambda eps: expected_error(TRUTH, eps))
    assert table.index.names == ["rule", "total", "level"]
    assert table.index.tolist() == [(r, t, level) for r in ("uniform", "optimal") for t in (2, 0.5) for level in LEVELS]
    for name, rule in RULES.items():
        for total in (2, 0.5):
            single = expected_error(TRUTH, rule(total)).rename_axis("level")
            pd.testing.assert_frame_equal(case(table, name, total), single, check_exact=True)
    frame = pd.DataFrame({"mse": [1.0]}, pd.MultiIndex.from_tuples([("log", 0)], names=["weight", "node"]))
    assert sweep(RULES, [1], lambda eps: frame).index.names == ["rule", "total", "weight", "node"]


def test_a_bar_counts_cases_and_goes_away(monkeypatch):
    """One step for each rule and total, shown after a second, and wiped when done."""
    asked = watch_bars(monkeypatch)
    sweep(RULES, [1, 2, 3], lambda eps: expected_error(TRUTH, eps))
    assert asked == [(6, {"desc": "budgets", "delay": 1, "leave": False})]


def test_over_levels_sums_errors_and_adds_standard_errors_in_quadrature():
    """The whole tree's error is the sum over its levels; its standard error is √(Σ se²), as 3 and 4 make 5."""
    table = numbers(mse=[1.0, 2.0, 10.0, 20.0], mse_se=[3.0, 4.0, 5.0, 12.0])
    found = over_levels(table)
    assert found.to_dict("index") == {"uniform": {"mse": 3.0, "mse_se": 5.0}, "optimal": {"mse": 30.0, "mse_se": 13.0}}
    assert table.mse_se.tolist() == [3.0, 4.0, 5.0, 12.0]  # the caller's table is left alone
    assert over_levels(table, fitted=True).mse_se.tolist() == [7.0, 17.0]  # levels of a fitted tree move together


def test_over_levels_keeps_every_other_index():
    """Sums are for each (consistent, rule, total) by itself, in the order of the table."""
    tables = {c: measure(TRUTH, RULES, [2, 1], 8, 1, c) for c in (True, False)}
    measured = pd.concat(tables, names=["consistent"])
    found = over_levels(measured)
    assert found.index.names == ["consistent", "rule", "total"]
    assert found.index.tolist() == [(c, r, t) for c in (True, False) for r in ("uniform", "optimal") for t in (2, 1)]
    assert found.columns.tolist() == measured.columns.tolist()
    for key, row in found.iterrows():
        levels = case(measured, *key)
        assert_allclose(row[["bias2", "mse"]], levels[["bias2", "mse"]].sum(), rtol=1e-12)  # three terms
        together = levels.bias2_se.sum() if key[0] else np.linalg.norm(levels.bias2_se)  # fitted levels move as one
        assert_allclose(row.bias2_se, together, rtol=1e-12)


def test_the_standard_error_of_a_fitted_tree_is_never_too_small():
    """Over 60 seeds, the spread of the total MSE of Delaware is at most what its levels' standard errors sum to.

    Weights of 0.9 for the blocks, where tracts move their blocks. A spread from 60 seeds is known to 9%: three of those.
    """
    tree = load_state("delaware")
    eps = minimize_error(tree, 2, [0.05, 0.05, 0.9])
    found = [simulate(tree, eps, 20, seed) for seed in range(60)]
    spread = np.std([table.mse.sum() for table in found], ddof=1)
    sums = np.sqrt(np.mean([table.mse_se.sum() ** 2 for table in found]))
    assert spread < 1.27 * sums


def test_an_unknown_standard_error_stays_unknown():
    """If one level's standard error cannot be told (NaN), that of the tree cannot either; it is not left out as a zero."""
    found = over_levels(numbers(mse=[1.0, 2.0, 3.0, 4.0], mse_se=[np.nan, 1.0, 3.0, 4.0]))
    assert np.isnan(found.mse_se["uniform"]) and found.mse_se["optimal"] == 5
    assert found.mse.tolist() == [3.0, 7.0]


def test_a_ratio_is_one_rule_over_another_without_standard_errors():
    """Each error under `of` is divided by that under `to`, level by level; standard errors have no place in it."""
    table = numbers(bias2=[1.0, 2.0, 4.0, 16.0], mse=[6.0, 9.0, 2.0, 3.0], mse_se=[1.0, 1.0, 1.0, 1.0])
    assert ratio(table).to_dict("list") == {"bias2": [0.25, 0.125], "mse": [3.0, 3.0]}
    assert ratio(table, of="optimal", to="uniform").bias2.tolist() == [4.0, 8.0]
    assert ratio(table).index.tolist() == ["state", "block"]
    both = ratio(pd.concat({False: table, True: table**2}, names=["consistent"]))  # rules need not come first
    assert both.bias2.to_dict() == {
        (False, "state"): 0.25, (False, "block"): 0.125, (True, "state"): 0.0625, (True, "block"): 0.015625,
    }  # fmt: skip


@pytest.mark.parametrize("total", [0.5, 1, 3])
def test_regret_and_ratio_by_hand(total):
    """One node over eight large ones: 2(4 + 32)/ε² for uniform against 2(9 + 18)/ε², a third too much."""
    even, best = 72 / total**2, 54 / total**2
    rules = {"uniform": lambda t: uniform(LARGE, t), "optimal": lambda t: minimize_error(LARGE, t)}
    table = over_levels(sweep(rules, [total], lambda eps: expected_error(LARGE, eps)))
    # What is clipped off is e^(−εN): nothing. The optimum is known to rounding, and errors there do not depend on it.
    assert_allclose(table.mse.loc["uniform", total], even, rtol=1e-12)
    assert_allclose(table.mse.loc["optimal", total], best, rtol=1e-12)
    assert_allclose(ratio(table).mse.loc[total], 4 / 3, rtol=1e-12)
    assert_allclose(regret(LARGE, rules, [total]).loc[total, "uniform"], 100 / 3, rtol=1e-10)  # less one: a digit is lost
    assert abs(regret(LARGE, rules, [total]).loc[total, "optimal"]) < 1e-9


@settings(max_examples=40)
@given(trees(), seeds(), st.floats(0.05, 20))
def test_nobody_beats_the_best_split_of_the_truth(tree, seed, total):
    """Regret is zero for the oracle and not negative for any split of the same total, up to rounding."""
    shares = np.random.default_rng(seed).dirichlet(np.full(len(tree.levels), 3.0)) + 1e-6

    def any_split(total):
        return Allocation(tree.levels, total * shares / shares.sum(), None, None)  # only the budgets count

    rules = {"oracle": lambda t: minimize_error(tree, t), "any": any_split}
    found = regret(tree, rules, [total, 2 * total])
    assert found.index.tolist() == [total, 2 * total] and found.index.name == "total"
    assert found.columns.tolist() == ["oracle", "any"]
    assert (found.oracle.abs() < 1e-9).all()  # percent; two ways to sum up to a hundred terms of 1e-16
    assert (found["any"] >= -1e-9).all()


@pytest.mark.parametrize("sizes", [[1, 8], [8, 1], [1], [3, 3, 3], [1, 128, 20_975]])
def test_the_predicted_gain_is_that_of_splits_that_the_formulas_give(sizes):
    """With large counts a level's error is n/ε²: the same for each, against parts like the cube roots of n."""
    n = np.array(sizes)
    even, best = np.full(len(n), 1 / len(n)), n ** (1 / 3) / (n ** (1 / 3)).sum()
    gain = predicted_gain(sizes)
    assert type(gain) is float
    assert_allclose(gain, (n / even**2).sum() / (n / best**2).sum(), rtol=1e-12)  # a few powers
    assert_allclose(predicted_gain([1, 8]), 4 / 3, rtol=1e-15)  # 4·9/27, as by hand above
    assert gain == predicted_gain(n.astype(np.min_scalar_type(n.max())))  # in any type of whole numbers


def test_priors_are_compared_on_the_truth(monkeypatch):
    """Each source is the best split of its own prior, judged on the published tree; without names, the two sources."""
    priors = {"embedded": EARLIER, "official": TRUTH}
    asked = []
    monkeypatch.setattr(sweeps, "load_state", lambda state: asked.append(state) or TRUTH)
    monkeypatch.setattr(sweeps, "prior", lambda state, source: asked.append((state, source)) or priors[source])
    found = prior_regret("WY")
    assert asked == ["WY", ("WY", "embedded"), ("WY", "official")]
    rules = {"embedded": RULES["optimal"], "official": lambda t: minimize_error(TRUTH, t)}
    pd.testing.assert_frame_equal(found, regret(TRUTH, rules, experiments.TOTALS), check_exact=True)
    assert (found.embedded > 0.01).all() and (found.official.abs() < 1e-9).all()  # percent, and rounding


def test_the_embedded_prior_costs_delaware_little():
    """The split of 2010 makes 0.21% more error in 2020 than the best one, at ε = 1, and a row is a total."""
    found = prior_regret("delaware", ["embedded"], [1, 2])
    assert found.index.tolist() == [1, 2] and found.columns.tolist() == ["embedded"]
    assert found.loc[1, "embedded"].round(2) == 0.21


def test_the_true_blocks_of_2010_cost_delaware_as_little():
    """Their split makes 0.17 to 0.26% more error than the best one: the spread groups are no worse a guess."""
    found = prior_regret("delaware", ["embedded", "blocks"], [0.5, 1, 4])
    assert found.blocks.round(2).tolist() == [0.17, 0.20, 0.26] and found.embedded.round(2).tolist() == [0.27, 0.21, 0.19]


# Program (2) on an earlier tree


def test_a_promise_is_judged_on_the_truth():
    """Promised on the truth it is kept to the letter; on an earlier tree it is the error of the truth, over the target."""
    found = promises(TRUTH, {"truth": TRUTH, "earlier": EARLIER}, 20)
    split = minimize_budget(EARLIER, 20)
    assert list(found) == ["leaves", "total", "kept"] and found.index.tolist() == ["truth", "earlier"]
    assert_allclose(found.loc["truth"], [1, minimize_budget(TRUTH, 20).total, 1], rtol=1e-9)  # the solver's own tolerance
    assert found.loc["earlier"].tolist() == [1, split.total, expected_error(TRUTH, split).mse.sum() / 20]
    assert abs(found.kept["earlier"] - 1) > 0.01  # so that the law can fail


@pytest.mark.parametrize("leaves", [4, 8, 16])
def test_the_promise_hangs_on_the_number_of_leaves(leaves):
    """With large counts the error is 2 Σ n/ε² and the split of m leaves is like (1, m^(1/3)): eight leaves, promised on m.

    A prior with half the leaves breaks the promise, one with twice as many keeps more than it.
    """
    found = promises(LARGE, {"other": recut(LARGE, leaves / 8)}, 1).loc["other"]
    eps = np.cbrt([1, leaves])
    assert found.leaves == leaves / 8
    assert_allclose(found.total, np.sqrt(2 * eps.sum() ** 3), rtol=1e-6)  # counts of 1e9: nothing is clipped
    assert_allclose(found.kept, (1 + 8 / eps[1] ** 2) / eps.sum(), rtol=1e-6)
    assert (found.kept > 1.001, found.kept < 0.999) == (leaves < 8, leaves > 8)


@pytest.mark.parametrize("priors, tau, word", [({}, 1, "priors"), ([TRUTH], 1, "priors"), ({"a": TRUTH}, 0, "tau")])
def test_promises_need_trees_and_a_target(priors, tau, word):
    """What is missing is named."""
    assert refusal(promises, TRUTH, priors, tau, by=ValueError).startswith(f"{word} must be ")


@given(trees(), st.sampled_from([0.3, 0.93, 1.0, 1.15, 2.0, 3.7]))
def test_a_tree_that_is_cut_anew_keeps_its_sums_and_has_the_leaves_asked_for(tree, factor):
    """Families keep their people and get round(k · factor) leaves, but one if they had any; 1 changes nothing."""
    if len(tree.levels) < 2:
        assert "tree must have at least 2 levels" in refusal(recut, tree, factor, by=ValueError)
        return
    found = recut(tree, factor)
    old, new = (np.bincount(t.parents[-1], minlength=tree.sizes[-2]) for t in (tree, found))
    assert new.tolist() == [max(min(k, 1), round(k * factor)) for k in old.tolist()] and found.levels == tree.levels
    assert [n.tolist() for n in found.counts[:-1]] == [n.tolist() for n in tree.counts[:-1]]
    sums = np.bincount(found.parents[-1], found.counts[-1], minlength=tree.sizes[-2])
    assert_allclose(sums, tree.counts[-2], rtol=1e-9, atol=1e-9 * (1 + tree.counts[-1].sum()))  # differences of running sums
    if factor == 1:
        assert found.counts[-1].tolist() == tree.counts[-1].tolist()


def test_a_street_is_cut_into_equal_lengths():
    """By hand: leaves of 3, 6 and 0 people in two pieces of one and a half, beside a family that keeps its one leaf."""
    tree = Hierarchy.from_counts([[10], [9, 1], [3, 6, 0, 1]], [None, [0, 0], [0, 0, 0, 1]])
    assert recut(tree, 0.7).counts[2].tolist() == [6, 3, 1] and recut(tree, 0.7).parents[2].tolist() == [0, 0, 1]
    assert recut(tree, 2).counts[2].tolist() == [1.5, 1.5, 3, 3, 0, 0, 0.5, 0.5]


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_a_factor_is_a_positive_number(factor):
    """Anything else is refused by name."""
    assert "factor must be" in refusal(recut, TRUTH, factor, by=ValueError)


def test_budgets_are_a_row_for_each_total():
    """(k, L): row i is what the rule gives the levels for the i-th total."""
    found = budgets(RULES["optimal"], [1, 4])
    assert found.shape == (2, 3)
    assert found.tolist() == [RULES["optimal"](1).eps.tolist(), RULES["optimal"](4).eps.tolist()]


@pytest.mark.parametrize("consistent", [False, True])
def test_cases_have_noise_of_their_own_from_one_generator(consistent):
    """One generator runs through all cases in their order, so that the same split twice is two independent simulations."""
    twins = {"a": RULES["uniform"], "b": RULES["uniform"]}
    found = measure(TRUTH, twins, [1, 2], 10, 7, consistent)
    rng = np.random.default_rng(7)
    for name, total in found.index.droplevel("level").unique():
        single = simulate(TRUTH, uniform(TRUTH, total), 10, rng, consistent).rename_axis("level")
        pd.testing.assert_frame_equal(case(found, name, total), single, check_exact=True)
    drawn = found.mse.drop("state", level="level") if consistent else found.mse  # the top of a fitted tree is known
    assert (drawn["a"] != drawn["b"]).all()
    # Four times the error at half the budget, were the noise the same: then the ratio would be exactly 4.
    assert not np.isclose(drawn["a", 1] / drawn["a", 2], 4, rtol=1e-6).any()


def test_with_and_without_consistency_the_noise_is_the_same():
    """From one seed, both draw the same noise: the generator is left in the same state. The step changes all but the top."""
    seen = []
    for consistent in (False, True):
        rng = np.random.default_rng(3)
        seen.append((measure(TRUTH, RULES, [1, 2], 20, rng, consistent), rng.random()))
    (without, after), (with_step, after_step) = seen
    assert after == after_step and (without.mse != with_step.mse).drop("state", level="level").all()
    other_seed = measure(TRUTH, RULES, [1, 2], 20, 4, False)
    assert (without.mse != other_seed.mse).all()


@pytest.fixture(scope="module", name="delaware")
def simulated():
    return state_experiment("delaware", trials=300, seed=1, totals=[1.05])


def test_an_experiment_is_about_the_published_tree_and_the_prior(delaware):
    """The truth is `load_state`, the earlier tree `prior`, and the rules are those of the paper on the two."""
    for found, expected in ((delaware.truth, load_state("delaware")), (delaware.earlier, prior("delaware"))):
        assert [n.tolist() for n in found.counts] == [n.tolist() for n in expected.counts]
    assert delaware.rules["uniform"](3).eps.tolist() == [1, 1, 1]
    assert delaware.rules["optimal"](1).eps.tolist() == minimize_error(delaware.earlier, 1).eps.tolist()


def test_closed_forms_cover_the_grid_and_the_totals(delaware):
    """`expected` is `expected_error` of the truth at every budget of the grid and every total, in rising order."""
    totals = delaware.expected.index.unique("total").tolist()
    assert 1.05 not in experiments.GRID and totals == sorted({*experiments.GRID, 1.05})
    for rule in ("uniform", "optimal"):
        for total in (0.3, 1.05, 5.0):
            single = expected_error(delaware.truth, delaware.rules[rule](total)).rename_axis("level")
            pd.testing.assert_frame_equal(case(delaware.expected, rule, total), single, check_exact=True)


def test_measured_errors_agree_with_closed_forms(delaware):
    """Without consistency every measured error is within five standard errors of its expectation (300 trials, seed 1)."""
    z = z_scores(delaware.measured.loc[False], delaware.expected)
    assert z.shape == (6, 3) and (z.abs() < 5).all(axis=None), z  # two rules, three levels; three estimates each


@pytest.mark.parametrize("count", [1, 10**12 + 1])
def test_an_experiment_with_bad_trials_is_refused_at_once(monkeypatch, count):
    """Before any count is read or any error computed."""
    monkeypatch.setattr(sweeps, "load_state", lambda state: pytest.fail("counts were read"))
    assert "trials must be a whole number of at" in refusal(state_experiment, "delaware", count, by=ValueError)


def test_an_experiment_measures_with_and_without_consistency(delaware):
    """Both halves of `measured` are what `measure` gives from the same seed, 0 if none is given, beside closed forms."""
    assert delaware.measured.index.names == ["consistent", "rule", "total", "level"]
    assert delaware.measured.index.unique("consistent").tolist() == [False, True]
    small = state_experiment("delaware", trials=4, totals=[1])
    for consistent in (False, True):
        direct = measure(small.truth, small.rules, [1], 4, 0, consistent)
        pd.testing.assert_frame_equal(small.measured.loc[consistent], direct, check_exact=True)
    single = expected_error(small.truth, uniform(small.truth, 1)).rename_axis("level")
    pd.testing.assert_frame_equal(case(small.expected, "uniform", 1), single, check_exact=True)


def test_the_simulated_budgets_are_on_the_grid():
    """TOTALS and GRID hold positive budgets in rising order, so that lines pass under all points of the figures."""
    for values in (experiments.TOTALS, experiments.GRID):
        assert list(values) == sorted(set(values)) and min(values) > 0
    assert {*experiments.TOTALS} <= {*experiments.GRID}


def test_z_scores_count_in_standard_errors():
    """A difference over its standard error, row by row, and where that is zero, over 1e-5 of the MSE."""
    rows = {"bias2": [2.0, 0.0], "variance": [8.0, 10.0], "mse": [10.0, 10.0]}
    measured = pd.DataFrame(rows | {"bias2_se": [0.5, 0.0], "variance_se": [2.0, 1.0], "mse_se": [1.0, 4.0]})
    expected = pd.DataFrame({"bias2": [1.0, 1e-5, 9], "variance": [9.0, 9.0, 9], "mse": [10.0, 14.0, 9]})
    assert_allclose(z_scores(measured, expected), [[2, -0.5, 0], [-0.1, 1, -1]])


def test_the_change_by_consistency_is_in_percent_of_the_closed_form():
    """By hand: 3 after 4 is −25%, give or take 2.5% if 3 is known to 0.1; the rows are those of `fitted`."""
    expected = pd.DataFrame({"bias2": [4.0, 1.0], "variance": [10.0, 1.0], "mse": [14.0, 2.0]}, ["a", "b"])
    fitted = pd.DataFrame({"bias2": [3.0], "variance": [10.5], "mse": [13.5]}, ["a"])
    fitted = fitted.assign(bias2_se=0.1, variance_se=0.2, mse_se=0.7)
    change = consistency_change(fitted, expected).loc["a"]
    assert_allclose(change[["bias2", "variance", "mse"]].tolist(), [-25, 5, -100 / 28])
    assert_allclose(change[["bias2_se", "variance_se", "mse_se"]].tolist(), [2.5, 2, 5])


MANY = Hierarchy.from_counts([[4000], [2, 6] * 500], [None, [0] * 1000])
CLOSED = sweep(compared_rules(MANY, MANY), [0.5, 1.0, 2.0], lambda eps: expected_error(MANY, eps))


@pytest.mark.parametrize("column, wrong", [("bias2", 1.05), ("variance", 1.02), ("mse", 0.98)])
def test_agreement_finds_a_closed_form_that_is_wrong(column, wrong):
    """Right ones agree; one that is off by more than `notices` does not. The top, one node, is not compared."""
    measured = measure(MANY, compared_rules(MANY, MANY), [0.5, 1.0, 2.0], 400, 1, False)
    right = agreement(measured, CLOSED)
    assert right.agree.all() and right.comparisons.max() == 6
    assert right.notices[column] < 100 * abs(wrong - 1)
    found = agreement(measured, CLOSED.assign(**{column: CLOSED[column] * wrong})).agree
    assert not found[column] and found.drop(column).all()


def test_too_few_releases_to_compare_are_refused():
    """With four releases nothing is known to 5%."""
    measured = measure(TRUTH, RULES, [1.0], 4, 1, False)
    assert "more releases" in refusal(agreement, measured, sweep(RULES, [1.0], lambda eps: expected_error(TRUTH, eps)))

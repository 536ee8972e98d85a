"""Splits that can be kept: decimals that add up exactly, sources that are remembered, files that are checked."""

import json
import locale
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.refusals import refusal
from support.strategies import trees, weights

from helpers import Hierarchy, cube_root, expected_error, minimize_budget, minimize_error, uniform
from helpers.allocation import Source
from helpers.publishing.split import BY_NODES, RULES, Split, choose

TREE = Hierarchy.from_counts([[40], [30, 10], [0, 30, 3, 7]], [None, [0, 0], [0, 0, 1, 1]], ["region", "store", "shelf"])
LIBRARY = {"cube-root": cube_root, "uniform": uniform, "optimal": minimize_error}


@given(trees(), st.sampled_from(RULES), st.decimals("0.001", "50", places=4))
def test_budgets_add_up_to_the_total_exactly(tree, rule, total):
    """The decimals of the budgets sum to the decimal of the total: nothing is lost and nothing overspent."""
    split = choose(tree, rule, total=float(total))
    assert sum(Decimal(repr(e)) for e in split.eps) == total and split.total == float(total)


def test_budgets_are_decimals_of_six_digits():
    """For a total, budgets are rounded down and the largest gets the rest; for tau, up, so that the error is kept to."""
    tree = Hierarchy.from_counts([[36], [1, 2, 3, 4, 5, 6, 7, 8]], [None, [0] * 8])
    assert choose(tree, "cube-root", total=1).eps == (0.333333, 0.666667)
    assert choose(tree, "cube-root", total=0.0002).eps == (0.0000666666, 0.0001333334)
    assert choose(tree, "cube-root", tau=7).eps == (0.925821, 1.85165)  # above √(6/7) and twice that


@pytest.mark.parametrize("rule, w", [*((rule, None) for rule in RULES), ("optimal", [1, 20, 1])])
def test_a_split_is_the_library_s_to_six_digits(rule, w):
    """A split is what the function of the same name gives, for the same weights, rounded."""
    expected = LIBRARY[rule](TREE, 1.7, w) if w else LIBRARY[rule](TREE, 1.7)
    assert_allclose(choose(TREE, rule, total=1.7, weights=w).eps, expected.eps, rtol=2e-5)


@given(trees(), st.sampled_from(["cube-root", "uniform"]), st.floats(0.5, 1e5))
def test_rules_on_nodes_keep_to_tau_for_any_counts(tree, rule, tau):
    """The total for tau keeps the error of the tree below tau, and of large counts not far below it."""
    split = choose(tree, rule, tau=tau)
    assert expected_error(tree, split.eps).mse.sum() <= tau
    worst = 2 * np.sum(tree.sizes / np.square(split.eps))  # of counts that are never clipped
    assert_allclose(worst, tau, rtol=1e-4)


def test_weights_count_in_what_tau_bounds():
    """With weights, what is kept to tau is the weighted error of counts that are never clipped."""
    split = choose(TREE, "cube-root", tau=30, weights=[1, 8, 27])
    assert_allclose(2 * np.sum(np.multiply([1, 8, 27], TREE.sizes) / np.square(split.eps)), 30, rtol=1e-4)


def test_optimal_needs_the_least_total_for_tau():
    """Program (2) keeps to tau with the budget of minimize_budget, which is less than a rule on nodes needs."""
    best = choose(TREE, "optimal", tau=30, weights=[1, 2, 1])
    assert_allclose(best.total, minimize_budget(TREE, 30, [1, 2, 1]).total, rtol=1e-5)
    assert best.total < choose(TREE, "cube-root", tau=30, weights=[1, 2, 1]).total


def test_weights_move_the_budget():
    """A level with a weight of eight gets twice the cube-root budget, relative to the others."""
    plain, heavy = (np.array(choose(TREE, "cube-root", total=1, weights=w).eps) for w in ([1, 1, 1], [1, 8, 1]))
    assert_allclose(heavy[1] / heavy[0], 2 * plain[1] / plain[0], rtol=1e-4)


@pytest.mark.parametrize("rule", RULES)
def test_a_split_remembers_what_it_was_chosen_on(rule):
    """A split that depends on counts carries the digest of those, any other that of the nodes; by a total or by tau."""
    for amount in ({"total": 1}, {"tau": 20}):
        split = choose(TREE, rule, **amount)
        assert split.chosen_on == (Source.counts(TREE) if rule == "optimal" else Source.nodes(TREE))
        assert split.by_nodes == (rule != "optimal") and split.rule == rule


def test_a_split_remembers_its_weights():
    """As plain numbers, in whatever form they came; without weights there are none."""
    assert choose(TREE, "optimal", total=1, weights=np.array([1, 20, 1])).weights == (1.0, 20.0, 1.0)
    assert choose(TREE, "cube-root", tau=5, weights=(1, 2, 3)).weights == (1.0, 2.0, 3.0)
    assert choose(TREE, "cube-root", total=1).weights is None


@pytest.mark.parametrize("w", [None, [1, 2, 0.5]])
@pytest.mark.parametrize("rule", ["cube-root", "optimal"])
def test_a_split_survives_its_file(tmp_path, rule, w):
    """What is written as JSON is read back unchanged."""
    split = choose(TREE, rule, total=0.3, weights=w)
    (tmp_path / "split.json").write_text(json.dumps(split.as_dict()))
    assert Split.read(str(tmp_path / "split.json")) == split


def test_a_split_as_a_dictionary():
    """The dictionary holds all fields and the total, under these names and in this order."""
    tree = Hierarchy.from_counts([[2], [1, 1]], [None, [0, 0]], ["a", "b"])
    fields = {"levels": ("a", "b"), "eps": (0.15, 0.15), "rule": "uniform", "weights": None, "chosen_on": "nodes"}
    found = choose(tree, "uniform", total=0.3).as_dict()
    assert found == fields | {"digest": tree.shape_digest, "total": 0.3}
    assert [*found] == ["levels", "eps", "rule", "weights", "chosen_on", "digest", "total"]


def chain(levels):
    """A tree of so many levels, the lowest of two nodes."""
    return Hierarchy.from_counts([*[[5]] * (levels - 1), [2, 3]], [None, *[[0]] * (levels - 2), [0, 0]])


@given(trees() | st.integers(2, 25).map(chain), st.sampled_from([*BY_NODES]), st.booleans(), st.floats(0.1, 50), st.data())
def test_a_rule_s_split_follows_from_its_nodes(tree, rule, by_total, amount, data):
    """What a rule has chosen is what it gives for these nodes, to the digits that a split has, however many levels."""
    w = None if rule == "uniform" else data.draw(st.none() | weights(tree))
    split = choose(tree, rule, **{"total" if by_total else "tau": float(f"{amount:.12g}")}, weights=w)
    assert split.follows_from(tree)


@pytest.mark.parametrize("levels", [2, 11, 25])
def test_cut_digits_of_many_levels_are_still_the_rule_s(levels):
    """Each level loses almost the sixth digit, and the largest gets all of that: this much is the rule's, twice is not."""
    tree = chain(levels)
    split = choose(tree, "uniform", total=round(levels * 0.10000099, 8))
    assert split.follows_from(tree)
    first, *rest = split.eps
    assert not replace(split, eps=(first * (1 + 2e-5 * levels), *rest)).follows_from(tree)


def test_a_forged_split_does_not_follow():
    """Budgets in another order, of other weights or of another tree are not what the rule gives; "optimal" has no rule."""
    split = choose(TREE, "cube-root", total=1, weights=[1, 8, 1])
    other = Hierarchy.from_counts([[40], [30, 10], [30, 3, 7]], [None, [0, 0], [0, 1, 1]])
    assert split.follows_from(TREE) and not split.follows_from(other)
    for forged in ({"eps": split.eps[::-1]}, {"weights": None}, {"weights": (1.0, 9.0, 1.0)}, {"rule": "uniform"}):
        assert not replace(split, **forged).follows_from(TREE)
    assert not replace(choose(TREE, "optimal", total=1), chosen_on=Source.nodes(TREE)).follows_from(TREE)


def test_a_forged_budget_does_not_follow_however_small_it_is():
    """Weights can make one so small that a tolerance of a fixed size would pass five times as much."""
    split = choose(TREE, "cube-root", total=1000, weights=[1e18, 1e18, 1e-12])
    assert split.follows_from(TREE) and split.eps[2] < 1e-6
    assert not replace(split, eps=(*split.eps[:2], 5 * split.eps[2])).follows_from(TREE)


@pytest.mark.parametrize("rule", RULES)
def test_a_person_in_several_rows_needs_that_many_times_the_budget(rule):
    """For the same noise: k rows move a count by k. So a total for k rows is split as a kth of it is for one."""
    three, one = choose(TREE, rule, tau=30, rows_per_person=3), choose(TREE, rule, tau=30)
    assert_allclose(three.eps, np.multiply(3, one.eps), rtol=1.1e-5)
    assert_allclose(choose(TREE, rule, total=6, rows_per_person=3).eps, 3 * LIBRARY[rule](TREE, 2).eps, rtol=2e-5)
    assert choose(TREE, rule, total=6, rows_per_person=3).total == 6


def test_rows_move_the_best_split():
    """On small counts the best split of a total is another when the noise is larger."""
    one, many = (choose(TREE, "optimal", total=3, rows_per_person=rows).eps for rows in (1, 10))
    assert np.abs(np.subtract(one, many)).max() > 0.01


def test_a_split_is_read_as_utf_8_wherever(tmp_path):
    """Names of levels come back also where the system's own encoding is another."""
    split = Split(("région", "store"), (0.5, 0.5), "uniform", None, Source("nodes", "0" * 64))
    (tmp_path / "split.json").write_text(json.dumps(split.as_dict(), ensure_ascii=False), encoding="utf-8")
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    try:
        assert Split.read(tmp_path / "split.json") == split
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


GOOD = choose(TREE, "cube-root", total=1, weights=[1, 2, 3]).as_dict()
BAD = {
    "not JSON": "budget: 1", "a list": "[1, 2]", "a number": "1", "empty": "", "no budgets": json.dumps({"levels": ["a"]}),
    "too few budgets": json.dumps(GOOD | {"eps": [1.0]}), "negative": json.dumps(GOOD | {"eps": [1, 1, -1]}),
    "text": json.dumps(GOOD | {"eps": ["1", "1", "1"]}), "another rule": json.dumps(GOOD | {"rule": "mine"}),
    "endlessly nested": "[" * 100_000, "levels that are no list": json.dumps(GOOD | {"levels": "abc"}),
    "levels that are no names": json.dumps(GOOD | {"levels": [1, 2, 3]}),
    "a digest that is a number": json.dumps(GOOD | {"digest": 7}),
    "a digest that is none": json.dumps(GOOD | {"digest": "0" * 63 + "g"}),
    "a digest and more": json.dumps(GOOD | {"digest": GOOD["digest"] + "\n"}),
    "an empty list of levels": json.dumps(GOOD | {"levels": [], "eps": [], "weights": None, "total": 0.0}),
    "a level twice": json.dumps(GOOD | {"levels": ["region", "store", "store"]}),
    "a name too few": json.dumps(GOOD | {"levels": ["region", "store", 3], "eps": GOOD["eps"][:2], "weights": None}),
    "another total": json.dumps(GOOD | {"total": 1.1}),
    "another total by a digit": json.dumps(GOOD | {"total": 1.0000000000000002}),
    "too few weights": json.dumps(GOOD | {"weights": [1, 2]}),
    "negative weights": json.dumps(GOOD | {"weights": [1, 2, -3]}),
    "weights that uniform does not have": json.dumps(GOOD | {"rule": "uniform"}),
    "a rule on nodes that looked at counts": json.dumps(GOOD | {"chosen_on": "counts"}),
    "the optimum without a look at counts": json.dumps(GOOD | {"rule": "optimal"}),
    "not chosen on anything": json.dumps(GOOD | {"chosen_on": None}),
    "not UTF-8": json.dumps(GOOD | {"levels": ["région", "store", "shelf"]}, ensure_ascii=False).encode("latin-1"),
    "of an earlier version": json.dumps(GOOD | {"sha256": None}),
    **{f"no {name}": json.dumps({key: GOOD[key] for key in GOOD if key != name}) for name in GOOD},
}  # fmt: skip


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_file_that_is_no_split_is_refused(tmp_path, text):
    """Whatever is wrong with the file, one sentence names it."""
    file = tmp_path / "split.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    words = "levels, eps, rule, weights, chosen_on, digest, total, but does not: make it anew with allocate"
    assert (
        refusal(Split.read, file, by=ValueError) == f"{file} must hold a split in JSON as allocate writes it, with {words}"
    )


def test_a_split_may_have_one_level(tmp_path):
    """A table without levels above its leaves has a budget, too."""
    split = choose(Hierarchy.from_counts([[3, 4]], [None]), "cube-root", total=1)
    (tmp_path / "split.json").write_text(json.dumps(split.as_dict()))
    assert Split.read(tmp_path / "split.json") == split and split.eps == (1.0,)


def test_the_split_that_the_bad_ones_were_made_of_is_good(tmp_path):
    """So each of the files above is refused for what was done to it."""
    (tmp_path / "split.json").write_text(json.dumps(GOOD))
    assert Split.read(tmp_path / "split.json") == choose(TREE, "cube-root", total=1, weights=[1, 2, 3])


def test_what_is_no_path_is_refused():
    """The sentence names the argument, not a file."""
    assert refusal(Split.read, 7, by=TypeError) == "path must be a path, as text or a Path, got 7"


CALLS = {
    "no amount": ({}, "either total, a budget, or tau"),
    "two amounts": ({"total": 1, "tau": 2}, "either total, a budget, or tau"),
    "unknown rule": ({"rule": "mine", "total": 1}, "rule must be one of cube-root, uniform, optimal, got 'mine'"),
    "weights for uniform": ({"rule": "uniform", "total": 1, "weights": [1, 1, 1]}, "weights must be left out"),
    "too few weights": ({"total": 1, "weights": [1]}, "weights must have one entry for each of the 3 levels"),
    "weights in words": ({"tau": 1, "weights": iter([1, 2, 3])}, "weights must be numbers"),
    "a negative total": ({"total": -1}, "total must be a finite number above zero, got -1"),
    "no tau": ({"tau": 0}, "tau must be a finite number above zero, got 0"),
    "a total in words": ({"total": "1"}, "total must be a finite number above zero, got '1'"),
    "a tau in words": ({"rule": "optimal", "tau": [1]}, r"tau must be a finite number above zero, got \[1\]"),
    "a negative total of many rows": (
        {"total": -1, "rows_per_person": 3},
        "total must be a finite number above zero, got -1",
    ),
    "no rows": ({"total": 1, "rows_per_person": 0}, "rows_per_person must be a whole number of at least 1, got 0"),
    "half a row": ({"total": 1, "rows_per_person": 1.5}, "rows_per_person must be a whole number of at least 1, got 1.5"),
    "endless rows": (
        {"total": 1, "rows_per_person": 10**6 + 1},
        "rows_per_person must be a whole number of at most 1,000,000, got 1000001",
    ),
}


@pytest.mark.parametrize("amount", ["total", "tau"])
def test_what_is_no_tree_is_refused(amount):
    """Whether a total or a tau is given."""
    with pytest.raises(TypeError, match="hierarchy must be a Hierarchy"):
        choose([1, 2], "cube-root", **{amount: 1})


@pytest.mark.parametrize("arguments, words", CALLS.values(), ids=CALLS)
def test_bad_arguments_are_refused(arguments, words):
    """A refusal names the argument and the value."""
    with pytest.raises((ValueError, TypeError), match=words):
        choose(TREE, **({"rule": "cube-root"} | arguments))

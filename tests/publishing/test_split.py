"""Splits that can be kept: decimals that add up exactly, sources that are remembered, files that are checked."""

import json
import locale
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.refusals import refusal
from support.strategies import trees

from helpers import Hierarchy, cube_root, expected_error, minimize_budget, minimize_error, uniform
from helpers.publishing.split import RULES, Split, choose

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


@pytest.mark.parametrize("rule, weights", [*((rule, None) for rule in RULES), ("optimal", [1, 20, 1])])
def test_a_split_is_the_library_s_to_six_digits(rule, weights):
    """A split is what the function of the same name gives, for the same weights, rounded."""
    expected = LIBRARY[rule](TREE, 1.7, weights) if weights else LIBRARY[rule](TREE, 1.7)
    assert_allclose(choose(TREE, rule, total=1.7, weights=weights).eps, expected.eps, rtol=2e-5)


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
    """Only a split that depends on counts carries the checksum of their file."""
    split = choose(TREE, rule, total=1, sha256="abc")
    expected = ("counts", "abc") if rule == "optimal" else ("nodes", None)
    assert (split.chosen_on, split.sha256) == expected


def test_a_split_survives_its_file(tmp_path):
    """What is written as JSON is read back unchanged."""
    split = choose(TREE, "optimal", total=0.3, sha256="abc")
    (tmp_path / "split.json").write_text(json.dumps(split.as_dict()))
    assert Split.read(tmp_path / "split.json") == split


def test_a_split_as_a_dictionary():
    """The dictionary holds all fields and the total, under these names."""
    tree = Hierarchy.from_counts([[2], [1, 1]], [None, [0, 0]], ["a", "b"])
    fields = {"levels": ("a", "b"), "eps": (0.15, 0.15), "rule": "uniform", "chosen_on": "nodes", "sha256": None}
    assert choose(tree, "uniform", total=0.3, sha256="abc").as_dict() == fields | {"total": 0.3}


def test_a_split_is_read_as_utf_8_wherever(tmp_path):
    """Names of levels come back also where the system's own encoding is another."""
    split = Split(("région", "store"), (0.5, 0.5), "uniform", "nodes")
    (tmp_path / "split.json").write_text(json.dumps(split.as_dict(), ensure_ascii=False), encoding="utf-8")
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    try:
        assert Split.read(tmp_path / "split.json") == split
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


GOOD = choose(TREE, "cube-root", total=1).as_dict()
BAD = {
    "not JSON": "budget: 1", "a list": "[1, 2]", "a number": "1", "empty": "", "no budgets": json.dumps({"levels": ["a"]}),
    "too few budgets": json.dumps(GOOD | {"eps": [1.0]}), "negative": json.dumps(GOOD | {"eps": [1, 1, -1]}),
    "text": json.dumps(GOOD | {"eps": ["1", "1", "1"]}), "another rule": json.dumps(GOOD | {"rule": "mine"}),
    "endlessly nested": "[" * 100_000, "levels that are no list": json.dumps(GOOD | {"levels": "abc"}),
    "levels that are no names": json.dumps(GOOD | {"levels": [1, 2, 3]}),
    "an odd checksum": json.dumps(GOOD | {"sha256": 7}),
    "no source": json.dumps({key: value for key, value in GOOD.items() if key != "chosen_on"}),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_file_that_is_no_split_is_refused(tmp_path, text):
    """Whatever is wrong with the file, one sentence names it."""
    (tmp_path / "split.json").write_text(text)
    words = "split.json must hold a split in JSON, with levels, eps, rule, chosen_on and sha256, but does not"
    assert words in refusal(Split.read, tmp_path / "split.json", by=ValueError)


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

"""Private releases: what they add up to, what they cost, what they refuse, and what they never show."""

import json
import pickle
import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refusal
from support.strategies import seeds, trees

import helpers
from helpers import Accountant, Hierarchy, cube_root, load_state, minimize_budget, minimize_error, private_release, uniform
from helpers.allocation import Source
from helpers.mechanisms import DISCRETE_LAPLACE, GAUSSIAN
from helpers.publishing.exact_noise import Noise, opendp_version
from helpers.publishing.publish import CHECKED, DECLARED, NO_ACCOUNT, PROMISED, WEIGHTED, WITH_THE_COUNTS, _budgets, prepare
from helpers.publishing.released import ADD_OR_REMOVE, CHANGE_PLACE
from helpers.publishing.split import BY_NODES, RULES, Split, choose

FAMILY = Hierarchy.from_counts([[70_707], [30_303, 40_404]], [None, [0, 0]], levels=["state", "block"])
NEAR = Hierarchy.from_counts([[70_706], [30_303, 40_403]], [None, [0, 0]], levels=["state", "block"])  # a person less


def released(tree=FAMILY, eps=(0.5, 0.5), budgets_from="policy", **options):
    return private_release(tree, eps, budgets_from=budgets_from, **options)


@settings(max_examples=25)
@given(trees(childless=False), st.sampled_from([ADD_OR_REMOVE, CHANGE_PLACE]), st.booleans(), st.sampled_from([1, 7, 10**6]))
def test_every_release_is_whole_and_not_negative(tree, neighbours, consistent, rows):
    """Counts are int64 and not negative, one a node; if consistent, parents are the exact sums of their children."""
    options = {"neighbours": neighbours, "consistent": consistent, "contributions": rows}
    found = released(tree, np.full(len(tree.levels), 0.5), **options)
    assert [len(x) for x in found.counts] == tree.sizes.tolist()
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in found.counts)
    for level in range(1, len(tree.levels) if consistent else 0):
        sums = np.zeros(tree.sizes[level - 1], dtype=np.int64)
        np.add.at(sums, tree.parents[level], found.counts[level])
        assert sums.tolist() == found.counts[level - 1].tolist()


@pytest.mark.parametrize("rows", [1, 3])
def test_the_noise_has_the_scale_of_its_level(rows):
    """Far from zero, a level's counts spread like discrete Laplace noise of the recorded scale (six standard errors)."""
    n = 20_000
    tree = Hierarchy.from_counts([[10**6] * n, [5 * 10**5] * 2 * n], [None, np.arange(2 * n) // 2])
    for neighbours in (ADD_OR_REMOVE, CHANGE_PLACE):
        found = released(tree, [0.4, 1.0], neighbours=neighbours, consistent=False, contributions=rows)
        for counts, true, level in zip(found.counts, tree.counts, found.record["levels"], strict=True):
            alpha = np.exp(-1 / level["scale"])
            squares = (counts - true) ** 2
            variance = 2 * alpha / (1 - alpha) ** 2
            assert abs(squares.mean() - variance) < 6 * squares.std() / np.sqrt(len(squares))
            assert level["scale"] == pytest.approx(level["sensitivity"] / level["epsilon"], rel=1e-14)
            assert level["sensitivity"] == rows * (1 if neighbours == ADD_OR_REMOVE else 2)


MOVED = [  # a person's rows, and where they are for the neighbour; the most that the counts of a level can differ by
    (ADD_OR_REMOVE, [0, 0, 1], [], 3), (CHANGE_PLACE, [0, 0, 0], [1, 1, 1], 6), (CHANGE_PLACE, [0, 0, 1], [1, 1, 0], 6),
]  # fmt: skip


@pytest.mark.parametrize("neighbours, before, after, most", MOVED)
def test_rows_of_a_person_move_the_counts_by_no_more_than_the_sensitivity(neighbours, before, after, most):
    """A person in up to three rows who leaves, or moves with all of them, is covered by the noise of every level."""
    one, other = (np.bincount(rows, minlength=2) for rows in (before, after))
    found = released(neighbours=neighbours, contributions=3).record
    block = found["levels"][1]
    assert np.abs(one - other).sum() <= block["sensitivity"] == most and found["rows_per_person"] == 3
    assert block["scale"] == pytest.approx(most / block["epsilon"], rel=1e-14)
    assert "rows about people in every node" in found["released"]


@pytest.mark.parametrize("consistent", [True, False])
def test_an_empty_node_may_come_out_empty(consistent):
    """At ε = 40 the noise is zero but once in 10¹⁷: the counts come back as they were, none of them raised."""
    tree = Hierarchy.from_counts([[5], [5, 0]], [None, [0, 0]])
    assert [n.tolist() for n in released(tree, [40, 40], consistent=consistent).counts] == [[5], [5, 0]]


def test_a_single_top_is_no_secret_when_people_only_move():
    """If neighbours differ by a move, a total of one node is the same for both: it is released as it is, at no cost."""
    purse = Accountant(1)
    found = released(neighbours=CHANGE_PLACE, accountant=purse)
    top, below = found.record["levels"]
    assert found.counts[0].tolist() == FAMILY.counts[0].tolist() and (top["epsilon"], top["scale"]) == (0.0, 0.0)
    assert (below["sensitivity"], below["scale"], found.record["epsilon"], purse.spent) == (2, 4.0, 0.5, 0.5)


@given(st.lists(st.one_of(st.floats(1e-9, 100), st.integers(1, 10**6).map(lambda n: n / 1000)), min_size=1, max_size=6))
def test_budgets_lose_a_hair_and_never_gain(eps):
    """In all no more is spent than was asked for, but for the rounding of floats, and each level is within 1e-12 a level."""
    found = _budgets(np.array(eps))
    asked = [Fraction(repr(e)) for e in eps]
    slack = min(sum(asked) / 10**14, Fraction(1, 2 * 10**12))
    assert sum(asked) - Fraction(1, 10**12) < sum(found) <= sum(asked) + slack
    assert all(abs(f - a) <= Fraction(len(eps), 10**12) + a / 10**13 for f, a in zip(found, asked, strict=True))
    assert all(Fraction(repr(float(f))) == f for f in found)  # so a record in decimals is exact


@pytest.mark.parametrize("total", [0.1, 0.3, 0.7, 1, 2.3, 50, 100, 700])
def test_a_split_of_a_total_costs_that_total(total):
    """Levels that were split from a total fill an account of that total to the last digit."""
    tree = load_state("DE", "geography", levels=["state", "county", "tract"])
    for rule in (uniform, cube_root):
        purse = Accountant(total)
        found = released(tree, rule(tree, total), accountant=purse)
        assert (purse.spent, purse.left, found.record["epsilon"]) == (total, 0.0, total)


def test_nothing_is_drawn_when_the_account_refuses(monkeypatch):
    """An account with too little in it stops the release before any noise is drawn, and stays as it was."""
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    purse = Accountant(0.9)
    with pytest.raises(ValueError, match=r"eps must be at most 0\.9.*got 1\.0 for 'private release: state, block'"):
        released(accountant=purse)
    assert purse.entries == ()


def test_the_record_can_be_checked_by_a_reader():
    """The levels of the record add up to its ε, and each scale is enough for its ε, in exact decimals."""
    record = json.loads(json.dumps(released(load_state("DE", "geography"), cube_root(load_state("DE"), 1)).record))
    assert sum(Fraction(repr(level["epsilon"])) for level in record["levels"]) == Fraction(repr(record["epsilon"])) == 1
    for level in record["levels"]:
        assert level["sensitivity"] / Fraction(level["scale"]) <= Fraction(repr(level["epsilon"]))
    assert [level["nodes"] for level in record["levels"]] == [1, 262, 20198]
    assert record["neighbours"] == ADD_OR_REMOVE and record["budgets_from"] == "policy"
    assert record["software"]["opendp"] and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", record["date"])


def test_no_true_count_is_kept_or_shown():
    """Neither text, nor record, nor fields of a release hold a true count (all of them five digits, noise of scale 10⁵)."""
    found = released(eps=[1e-5, 1e-5])
    shown = repr(found) + str(found) + json.dumps(found.record)
    kept = np.concatenate(found.counts)
    for true in (70_707, 30_303, 40_404):
        assert str(true) not in shown and f"{true:,}" not in shown
    assert (kept != [70_707, 30_303, 40_404]).sum() >= 2  # each agrees by chance once in 10⁵
    assert not any(isinstance(value, Hierarchy) for value in vars(found).values())


LOOKED = (
    "budgets_from must be a source that is known without the counts: budgets that depend on them change the scale "
    "of the noise from one neighbour to the other, and the privacy loss is then not bounded by their sum. "
    "Split by node counts (cube_root) or on public data, got "
)
OPTIMAL = LOOKED + "budgets that were chosen on these very counts"
UNKNOWN = "budgets_from must be one of node counts, public data, policy, got "
NO_CHILD = (
    "hierarchy must give each node above the lowest level a child, got {} without: "
    "nobody can be there, so leave them out of the geography, or list the places below them"
)
BOUND = "bounded_by must say in words how the rows of a person are bounded, got "
NOT_WHOLE = "hierarchy must hold whole numbers up to 2**40, got another (not shown) at level "
REFUSED = {
    "these counts": ({"budgets_from": "these counts"}, LOOKED + "'these counts'"),
    "these counts, with details": ({"budgets_from": "these counts : optimal"}, LOOKED + "'these counts : optimal'"),
    "an unknown source": ({"budgets_from": "a hunch: mine"}, UNKNOWN + "'a hunch'"),
    "no source": ({"budgets_from": None}, UNKNOWN + "None"),
    "a source that is no text": ({"budgets_from": 7}, UNKNOWN + "7"),
    "a missing source": ({"budgets_from": pd.NA}, UNKNOWN + "<NA>"),
    "neither consistent nor not": ({"consistent": "no"}, "consistent must be True or False, got 'no'"),
    "optimised here": ({"eps": minimize_error(FAMILY, 1)}, OPTIMAL),
    "optimised here, weighted": ({"eps": minimize_error(FAMILY, 1, [1, 5])}, OPTIMAL),
    "least budget here": ({"eps": minimize_budget(FAMILY, 50)}, OPTIMAL),
    "unknown neighbours": (
        {"neighbours": "a household"},
        "neighbours must be one of add or remove one person, change one person's place, got 'a household'",
    ),
    "too small a budget": ({"eps": [1e-10, 1]}, "eps must be at least 1e-09 at each level, got 1e-10"),
    "one budget": ({"eps": [1]}, "eps must have one entry for each of the 2 levels (state, block), got 1"),
    "not a tree": (
        {"tree": [[5], [2, 3]]}, "hierarchy must be a Hierarchy (see Hierarchy.from_frame and load_state), got list",
    ),
    "not an account": ({"accountant": 1.0}, "accountant must be an Accountant or None, got 1.0"),
    "a childless node": (
        {"tree": Hierarchy.from_counts([[5, 0], [2, 3]], [None, [0, 0]])}, NO_CHILD.format("1 of level 1"),
    ),
    "childless nodes further down": (
        {"tree": Hierarchy.from_counts([[5], [5, 0, 0], [2, 3]], [None, [0] * 3, [0] * 2]), "eps": [1, 1, 1]},
        NO_CHILD.format("2 of level 2"),
    ),
    "a fraction": ({"tree": Hierarchy.from_counts([[7], [3.25, 3.75]], [None, [0, 0]])}, NOT_WHOLE + "'level 2'"),
    "too many people": ({"tree": Hierarchy.from_counts([[2**40 + 1], [2**40, 1]], [None, [0, 0]])}, NOT_WHOLE + "'level 1'"),
    "another guarantee": (
        {"eps": minimize_error(FAMILY, 1, mechanism=GAUSSIAN)},
        "eps must be budgets ε of pure differential privacy, got budgets ρ for Gaussian noise",
    ),
    "optimised here for other noise": ({"eps": minimize_error(FAMILY, 1, mechanism=DISCRETE_LAPLACE)}, OPTIMAL),
    "a split chosen here": ({"eps": choose(FAMILY, "optimal", total=1), "budgets_from": None}, OPTIMAL),
    "a split chosen here, whatever is said": (
        {"eps": choose(FAMILY, "optimal", total=1), "budgets_from": "public data: the last census"}, OPTIMAL,
    ),
    "a split chosen here that denies it": (
        {"eps": replace(choose(FAMILY, "optimal", total=1), rule="cube-root", chosen_on=Source("nodes", FAMILY.digest))},
        OPTIMAL,
    ),
    "a split for other levels": (
        {"eps": choose(Hierarchy.from_counts([[3], [1, 2]], [None, [0, 0]], ["state", "tract"]), "uniform", total=1)},
        "eps must be a split for the levels state, block, got one for state, tract",
    ),
    "counts called node counts": (
        {"eps": minimize_error(NEAR, 1), "budgets_from": "node counts: 2020"},
        "budgets_from must be public data or policy, got 'node counts: 2020' for budgets that were chosen on counts",
    ),
    "a split on counts called node counts": (
        {"eps": choose(NEAR, "optimal", total=1), "budgets_from": "node counts"},
        "budgets_from must be public data or policy, got 'node counts' for budgets that were chosen on counts",
    ),
    "these counts for a rule": ({"eps": cube_root(FAMILY, 1), "budgets_from": "these counts"}, LOOKED + "'these counts'"),
    "a forged rule": (
        {"eps": replace(choose(FAMILY, "cube-root", total=1), eps=(0.5, 0.5))},
        "eps must be the budgets that its rule gives, got a split that says cube-root and has others: choose it anew",
    ),
    "a forged optimum": (
        {"eps": replace(choose(FAMILY, "optimal", total=1), chosen_on=Source.nodes(FAMILY))},
        "eps must be the budgets that its rule gives, got a split that says optimal and has others: choose it anew",
    ),
    "an allocation without a source": (
        {"eps": replace(uniform(FAMILY, 1), chosen_on=None), "budgets_from": None}, UNKNOWN + "None",
    ),
    "a source that no file can hold": (
        {"budgets_from": "policy: \ud800"},
        "budgets_from must say in words how the budgets were chosen, got 'policy: \\ud800'",
    ),
    "no rows": ({"contributions": 0}, "contributions must be a whole number of at least 1, got 0"),
    "half a row": ({"contributions": 1.5}, "contributions must be a whole number of at least 1, got 1.5"),
    "endless rows": ({"contributions": 10**6 + 1}, "contributions must be a whole number of at most 1,000,000, got 1000001"),
    "a bound without words": ({"bounded_by": ""}, BOUND + "''"),
    "a bound that is no text": ({"bounded_by": 3}, BOUND + "3"),
    "nodes from nowhere": ({"nodes_from": None}, "nodes_from must say in words where the list of nodes is from, got None"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_what_would_not_be_private_is_refused(change, words, monkeypatch):
    """Bad budgets, sources, neighbours and trees are refused in a sentence that shows no count, before anything is spent."""
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    purse = Accountant(5)
    assert refusal(released, **({"accountant": purse} | change), by=(ValueError, TypeError)) == words
    assert purse.entries == ()


def test_the_limits_themselves_are_allowed():
    """A budget of 1e-9, a million rows and a count of 2**40 are the least and the most that are taken, all at once."""
    tree = Hierarchy.from_counts([[2**40], [2**40, 0]], [None, [0, 0]])
    for rows in (1, 10**6):
        found = released(tree, [1e-9, 1e-9], contributions=rows)
        assert found.record["levels"][0]["scale"] == pytest.approx(1e9 * rows, rel=1e-14)
        assert found.counts[0][0] == found.counts[1].sum()


STEPS = [  # budgets, and how many steps of 1e-12 each of them then has
    ([1 / 3] * 3, [333_333_333_334, 333_333_333_333, 333_333_333_333]),
    ([1 / 6, 2 / 3, 1 / 6], [166_666_666_666, 666_666_666_668, 166_666_666_666]),
    ([2000.0], [2000 * 10**12]), ([2000.0000000000002], [2000 * 10**12]),
    ([2000.0000000000005], [2000 * 10**12 + 1]), ([2000.0000000000007], [2000 * 10**12 + 1]),
]  # fmt: skip


@pytest.mark.parametrize("eps, steps", STEPS)
def test_budgets_are_whole_steps(eps, steps):
    """What cutting leaves goes to the largest, the first of equals; above 50 a float may be half a step off: the nearest."""
    assert [int(e * 10**12) for e in _budgets(np.array(eps))] == steps


@given(st.lists(st.floats(-9, 8).map(lambda power: 10**power), min_size=3, max_size=3))
def test_a_record_says_what_was_booked_to_the_last_digit(eps):
    """However large budgets are: what floats cannot say exactly is refused before it is spent. It used to be released, with
    a record whose levels did not add up to its total, and which fitted no account.
    """
    tree, purse = Hierarchy.from_counts([[5], [2, 3], [1, 1, 3]], [None, [0, 0], [0, 0, 1]]), Accountant(10**9)
    try:
        found = released(tree, eps, accountant=purse)
    except ValueError as error:
        assert str(error).startswith("eps must be budgets that add up in fifteen digits, got ") and purse.entries == ()
        assert max(eps) > 1000
        return
    levels = [Fraction(repr(level["epsilon"])) for level in found.record["levels"]]
    assert sum(levels) == Fraction(repr(found.record["epsilon"])) == purse.entries[0].eps


def test_whole_floats_are_counts():
    """Counts that came as floats but are whole are released like any others."""
    assert released(Hierarchy.from_counts([[7.0], [3.0, 4.0]], [None, [0, 0]])).counts[0].dtype == np.int64


# ---- where the budgets come from ----


def origin(eps, tree=FAMILY, said=None):
    """What the record says of the budgets: in words, whether it was checked, and the digest."""
    record = prepare(tree, eps, budgets_from=said).record
    return record["budgets_from"], record["budgets"]["origin"], record["budgets"]["digest"]


def test_splits_that_did_not_look_are_taken():
    """Node counts, an earlier census and bare numbers pass; so does the optimal split of another tree."""
    tree, other = load_state("DE", "geography", ["state", "tract"]), load_state("WY", "geography", ["state", "tract"])
    for eps in (
        uniform(tree, 1),
        cube_root(tree, 1),
        minimize_error(other, 1),
        choose(other, "optimal", total=1),
        [0.2, 0.8],
    ):
        assert released(tree, eps, "public data: another state").record["budgets_from"] == "public data: another state"


def test_budgets_by_a_rule_are_checked():
    """That they follow from the list of nodes alone is seen from the digest of the nodes and from the budgets themselves."""
    shape = FAMILY.shape_digest
    for rule in (uniform, cube_root):
        assert origin(rule(FAMILY, 1)) == ("node counts", CHECKED, shape)
        assert origin(rule(FAMILY, 1), said="policy: by vote") == ("policy: by vote", CHECKED, shape)
    for rule in BY_NODES:
        assert origin(choose(FAMILY, rule, total=1)) == (f"node counts: rule {rule}", CHECKED, shape)
    assert origin(choose(FAMILY, "cube-root", tau=5), said="node counts") == ("node counts", CHECKED, shape)


def test_weights_are_in_the_record():
    """They can bend a rule to any budgets: whoever reads the record can ask where they are from."""
    split = choose(FAMILY, "cube-root", total=1, weights=[1, 8])
    budgets = {"origin": WEIGHTED, "digest": FAMILY.shape_digest, "weights": [1.0, 8.0]}
    assert released(eps=split, budgets_from=None).record["budgets"] == budgets


def test_an_allocation_is_checked_by_its_budgets():
    """One with weights, or with budgets that somebody put there, says it is by the nodes, and is not taken at its word."""
    bent = cube_root(FAMILY, 1, [1, 8]), replace(cube_root(FAMILY, 1), eps=np.array([0.3, 0.7]))
    for eps in bent:
        assert origin(eps) == ("declared public", DECLARED, FAMILY.shape_digest)


def test_what_cannot_be_checked_is_declared():
    """Budgets from other counts or from other nodes, with the digest of those; and bare numbers, with none."""
    old = Hierarchy.from_counts([[4000], [1000, 2000, 1000]], [None, [0, 0, 0]], FAMILY.levels)
    assert origin(minimize_error(old, 1)) == ("declared public", DECLARED, old.digest)
    assert origin(choose(old, "optimal", total=1)) == ("declared public: rule optimal", DECLARED, old.digest)
    assert origin(cube_root(old, 1)) == ("declared public", DECLARED, old.shape_digest)
    assert origin(choose(old, "cube-root", total=1)) == ("declared public: rule cube-root", DECLARED, old.shape_digest)
    assert origin([0.5, 0.5], said="node counts: cube roots") == ("node counts: cube roots", DECLARED, None)
    assert origin(minimize_error(old, 1), said="public data: 2010") == ("public data: 2010", DECLARED, old.digest)


@settings(max_examples=25)
@given(trees(least_levels=2, childless=False), seeds(), st.integers(0, 2))
def test_a_best_split_of_these_counts_is_refused_however_they_are_written(tree, seed, empty):
    """In another order, under other names, with empty leaves added, in other groups, as floats; kept in a file or not."""
    rng = np.random.default_rng(seed)
    leaves = np.append(rng.permutation(tree.counts[-1]), np.zeros(empty))
    other = Hierarchy.from_counts([[leaves.sum()], leaves], [None, np.zeros(len(leaves), dtype=int)], ["other", "names"])
    eps = np.full(len(tree.levels), 0.5)
    for source in (
        minimize_error(other, 1),
        minimize_budget(other, 50),
        pickle.loads(pickle.dumps(minimize_error(other, 1))),
    ):
        assert refusal(released, tree, replace(source, levels=tree.levels, eps=eps), by=ValueError) == OPTIMAL
    split = choose(other, "optimal", total=1)
    assert refusal(released, tree, replace(split, levels=tree.levels, eps=tuple(eps)), by=ValueError) == OPTIMAL


def test_a_best_split_of_a_reordered_table_is_refused(tmp_path):
    """By its file: rows in another order, an empty store more, other names of regions, and budgets read from JSON."""
    rows = [("N", "a", 4), ("N", "b", 9), ("S", "c", 2), ("S", "d", 7)]
    first = pd.DataFrame(rows, columns=["region", "store", "population"])
    again = pd.DataFrame([("X", d, n) if r == "S" else (r, d, n) for r, d, n in [*rows[::-1], ("N", "e", 0)]])
    one = Hierarchy.from_frame(first, ["region", "store"])
    other = Hierarchy.from_frame(again.set_axis(first.columns, axis=1), ["region", "store"])
    file = tmp_path / "split.json"
    file.write_text(json.dumps(choose(one, "optimal", total=1).as_dict()))
    assert refusal(released, other, Split.read(file), None, by=ValueError) == OPTIMAL
    assert refusal(released, other, minimize_error(one, 1), None, by=ValueError) == OPTIMAL


def test_only_an_optimum_of_this_very_tree_is_taken_for_one():
    """A single level has nothing to split, and errors that are tiny, or near, are not yet those of this tree."""
    lone = Hierarchy.from_counts([[3, 4]], [None])
    assert released(lone, minimize_error(lone, 1)).record["epsilon"] == 1.0
    assert refusal(released, lone, minimize_budget(lone, 4), by=ValueError) == OPTIMAL  # the total depends on the counts
    again = Hierarchy.from_counts(FAMILY.counts, FAMILY.parents)
    assert refusal(released, FAMILY, minimize_error(again, 1), by=ValueError) == OPTIMAL  # another object, the same counts
    empty, near = (Hierarchy.from_counts([[sum(n)], n], [None, [0, 0]]) for n in ([70_707, 0], [28, 36]))
    for other, total in [(empty, 1), (empty, 1e5), (near, 1)]:  # errors of 1e-10 people squared; errors within a millionth
        assert released(eps=minimize_error(other, total)).record["epsilon"] == pytest.approx(total)
    assert released(eps=minimize_error(NEAR, 1)).record["budgets"]["origin"] == DECLARED  # a person less


def test_a_rule_may_be_the_optimum():
    """Where all counts are large, node counts give the best split, and so does last year: neither looked at these."""
    old, new = (Hierarchy.from_counts([[sum(n)], n], [None, [0, 0]]) for n in ([4000, 6000], [4200, 6800]))
    for eps in (cube_root(new, 1), minimize_error(old, 1)):
        assert eps.kkt_spread < 1e-14 or eps.chosen_on == Source.counts(old)
        assert released(new, eps, "public data").record["epsilon"] == 1.0


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule in BY_NODES])
def test_a_split_costs_what_it_shows(rule):
    """The decimals of a split are what is spent, to the last digit, whatever the number of rows."""
    tree = load_state("DE", "geography", levels=["state", "county", "tract"])
    split = choose(tree, rule, tau=1e5, rows_per_person=4)
    found = released(tree, split, None, contributions=4)
    assert [level["epsilon"] for level in found.record["levels"]] == [*split.eps]
    assert found.record["epsilon"] == split.total


# ---- what it costs ----


def test_a_release_has_the_nodes_of_its_tree():
    """Levels, names and parents are public, and the same; what is not said is one row a person, and counts that add up."""
    frame = pd.DataFrame({"land": ["N", "N", "S"], "town": ["a", "b", "a"], "population": [3, 4, 5]})
    tree = Hierarchy.from_frame(frame, ["land", "town"])
    found = released(tree)
    assert found.levels == tree.levels and found.parents[0] is None and (found.parents[1] == tree.parents[1]).all()
    assert all((mine == theirs).all() for mine, theirs in zip(found.labels, tree.labels, strict=True))
    record = prepare(tree, [0.5, 0.5], budgets_from="policy").record
    assert record["rows_per_person"] == 1 and record["consistent"] is True


def test_preparing_spends_nothing_and_draws_nothing(monkeypatch):
    """All that can be refused is refused, and what it will cost is known, before anything is spent or drawn."""
    monkeypatch.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
    plan = prepare(FAMILY, [0.5, 0.25], budgets_from="policy", neighbours=CHANGE_PLACE)
    assert plan.epsilon == Fraction(1, 4) and "70707" not in repr(plan) and "30303" not in repr(plan)
    assert not {"date", "account"} & {*plan.record}


def test_each_draw_is_a_release_of_its_own():
    """Drawing twice gives other noise, and is paid for twice."""
    purse, plan = Accountant(1), prepare(FAMILY, [1e-4, 1e-4], budgets_from="policy")
    one, other = plan.draw(purse), plan.draw(purse)
    assert one.counts[1].tolist() != other.counts[1].tolist() or one.counts[0] != other.counts[0]  # by chance once in 10⁸
    assert len(purse.entries) == 2 and [found.record["account"]["line"] for found in (one, other)] == [1, 2]
    one.record["levels"][0]["epsilon"] = 1e-9  # by hand, and in the record of this one alone
    assert other.record["levels"][0]["epsilon"] == plan.record["levels"][0]["epsilon"] == 1e-4


def test_the_release_is_booked_before_anything_is_drawn(monkeypatch):
    """So that noise which somebody has seen is always paid for; and what was booked stays so if drawing fails."""
    purse = Accountant(1)

    def fail(noise, counts):
        assert len(purse.entries) == 1
        raise MemoryError

    monkeypatch.setattr(Noise, "add", fail)
    with pytest.raises(MemoryError):
        released(accountant=purse)
    assert purse.spent == 1.0


def test_the_receipt_is_in_the_record(tmp_path):
    """Which account, which line of it, and what is spent in all; or that nothing is keeping count."""
    purse = Accountant.open(tmp_path / "an.account", 3)
    purse.spend(0.5, "another release")
    assert released(accountant=purse).record["account"] == purse.receipt(2)
    assert purse.receipt(2)["spent"] == 1.5 and released().record["account"] == NO_ACCOUNT


def test_what_costs_nothing_is_not_charged():
    """Where neighbours differ by a move and every level is one node, all is known: no noise, no cost, no entry."""
    purse = Accountant(1)
    found = released(Hierarchy.from_counts([[5], [5]], [None, [0]]), neighbours=CHANGE_PLACE, accountant=purse)
    assert [n.tolist() for n in found.counts] == [[5], [5]]
    assert (found.record["epsilon"], purse.entries) == (0.0, ())
    assert found.record["account"] == "not charged: nothing is spent"


def test_the_account_says_what_was_released():
    """A release is one line of the account: its levels by name, and its whole budget."""
    purse = Accountant(1)
    released(accountant=purse)
    assert purse.entries == (("private release: state, block", Fraction(1)),)


def test_the_record_in_full():
    """Every word of the record is meant for its reader: for both kinds of neighbours, and with and without consistency."""
    before = datetime.now(UTC).replace(microsecond=0)
    first = released(eps=[0.5, 0.25]).record
    options = {"budgets_from": "policy: by vote", "neighbours": CHANGE_PLACE, "consistent": np.False_, "contributions": 3}
    promised = {"bounded_by": "the column person", "nodes_from": "a public list"}
    second = released(eps=[0.5, 0.25], **options, **promised).record
    for record in (first, second):
        assert before <= datetime.fromisoformat(record.pop("date")) <= datetime.now(UTC)
    assert first == {
        "released": "the number of people in every node of every level; the list of nodes is taken as public",
        "epsilon": 0.75,
        "levels": [
            {"level": "state", "nodes": 1, "epsilon": 0.5, "sensitivity": 1, "scale": 2.0},
            {"level": "block", "nodes": 2, "epsilon": 0.25, "sensitivity": 1, "scale": 4.0},
        ],
        "neighbours": "add or remove one person",
        "rows_per_person": 1,
        "bounded_by": "a promise about the data, not checked",
        "nodes_from": "they came with the counts, and are declared public",
        "budgets_from": "policy",
        "budgets": {"origin": "declared public, not checked", "digest": None},
        "composition": "a person moves the counts of a level by at most its sensitivity; the epsilons of the levels add up",
        "mechanism": "discrete Laplace on int64 (OpenDP make_laplace), P(k) proportional to exp(-|k|/scale)",
        "post_processing": "top down, each family the nearest whole numbers >= 0 summing to its parent",
        "consistent": True,
        "software": {"opendp": opendp_version(), "helpers": helpers.__version__},
        "account": "none: nothing adds up what is spent on these people",
    }
    assert (PROMISED, WITH_THE_COUNTS) == (first["bounded_by"], first["nodes_from"])
    assert second == first | promised | {
        "released": "the number of rows about people in every node of every level; the list of nodes is taken as public",
        "epsilon": 0.25,
        "levels": [
            {"level": "state", "nodes": 1, "epsilon": 0.0, "sensitivity": 0, "scale": 0.0},
            {"level": "block", "nodes": 2, "epsilon": 0.25, "sensitivity": 6, "scale": 24.0},
        ],
        "neighbours": "change one person's place",
        "rows_per_person": 3,
        "budgets_from": "policy: by vote",
        "post_processing": "clipped at zero",
        "consistent": False,
    }
    assert json.loads(json.dumps([first, second])) == [first, second]


def test_a_family_too_wide_is_refused_before_anything_is_spent(monkeypatch):
    """By its shape and the scale of the noise alone; it used to be refused after the budget was spent."""
    monkeypatch.setattr("helpers.consistency.integers._HALF", 2**41)
    wide = Hierarchy.from_counts([[0], [0] * 40], [None, [0] * 40])
    purse = Accountant(1)
    with monkeypatch.context() as nothing:
        nothing.setattr(Noise, "add", lambda *_: pytest.fail("noise was drawn"))
        words = refusal(released, wide, [1e-9, 1e-9], accountant=purse, by=ValueError)
    assert words.startswith("hierarchy must have families of at most 17 at level 2") and purse.entries == ()
    assert released(wide, [1e-9, 1e-9], accountant=purse, consistent=False).counts[0][0] >= 0

"""Whole numbers that add up: against all whole answers of small families, and by the laws of the real-valued projection."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles import families_of
from support.refusals import refusal
from support.strategies import seeds, trees

from helpers import Hierarchy, integer_top_down, layout, load_state, project_simplex, top_down
from helpers.consistency.integers import check_width, integer_fit


def family(values):
    """A tree of one parent with as many children as there are values."""
    return Hierarchy.from_counts([[len(values)], [1] * len(values)], [None, [0] * len(values)])


def fitted(values, total, seed=0):
    return integer_top_down(family(values), [[total], values], seed)[1]


def compositions(total, parts):
    """Every way to write `total` as a sum of `parts` whole numbers that are not negative."""
    return (c for c in product(range(total + 1), repeat=parts) if sum(c) == total)


@given(st.lists(st.integers(-4, 6), min_size=1, max_size=4), st.integers(0, 7), seeds())
def test_no_whole_family_is_nearer(values, total, seed):
    """Among all whole families with the right sum, none is nearer to the noisy one."""
    found = fitted(values, total, seed)
    nearest = min(sum((c - x) ** 2 for c, x in zip(cs, values, strict=True)) for cs in compositions(total, len(values)))
    assert ((found - values) ** 2).sum() == nearest


@st.composite
def whole_noisy_trees(draw):
    """A tree and whole noisy counts for it, some negative, some huge."""
    whole, tree = st.integers(-3, 3) | st.integers(-1000, 1000) | st.integers(-(10**9), 10**9), draw(trees())
    return tree, [draw(st.lists(whole, min_size=n, max_size=n)) for n in tree.sizes.tolist()]


@given(whole_noisy_trees(), seeds())
def test_children_add_up_exactly(problem, seed):
    """Every parent with children is their sum, to the last person; no count is negative; the top is clipped."""
    tree, noisy = problem
    out = integer_top_down(tree, noisy, seed)
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in out)
    assert out[0].tolist() == np.maximum(noisy[0], 0).tolist()
    for level in range(1, len(tree.levels)):
        for members, parent in families_of(tree, level):
            assert out[level][members].sum() == out[level - 1][parent]


@given(whole_noisy_trees(), seeds())
def test_each_family_is_within_one_of_its_projection(problem, seed):
    """A member differs from the real-valued solution for the same parent by less than one person."""
    tree, noisy = problem
    out = integer_top_down(tree, noisy, seed)
    for level in range(1, len(tree.levels)):
        for members, parent in families_of(tree, level):
            real = project_simplex(np.array(noisy[level])[members], out[level - 1][parent])
            assert np.abs(out[level][members] - real).max() < 1 + 1e-6  # rounding of the floats, near 1e9


@given(whole_noisy_trees(), seeds())
def test_a_second_pass_changes_nothing(problem, seed):
    """Counts that add up already stay as they are, whatever the seed."""
    tree, noisy = problem
    once = integer_top_down(tree, noisy, seed)
    for first, second in zip(once, integer_top_down(tree, once, seed + 1), strict=True):
        assert first.tolist() == second.tolist()


def test_the_same_seed_gives_the_same_people():
    """A seed decides who gets the odd person; other seeds decide otherwise, at the same distance."""
    values = [3] * 40
    first = fitted(values, 130, seed=1)
    assert fitted(values, 130, seed=1).tolist() == first.tolist() != fitted(values, 130, seed=2).tolist()
    assert sorted(first.tolist()) == [3] * 30 + [4] * 10


def test_odd_people_go_to_all_members_alike():
    """No two places in a family are favoured: over 20,000 families, each pair of five members is as often the odd two.

    Between these families lie others, where nobody is odd, where all but one are, and where one member keeps nobody.
    """
    n, kinds = 20_000, [([1] * 5, 7), ([1] * 3, 6), ([1] * 4, 7), ([-9, 1, 1, 1], 4)]
    noisy, sizes = np.array([x for xs, _ in kinds for x in xs] * n), [len(xs) for xs, _ in kinds] * n
    tree = Hierarchy.from_counts([sizes, [1] * sum(sizes)], [None, np.repeat(np.arange(4 * n), sizes)])
    extra = (integer_top_down(tree, [[t for _, t in kinds] * n, noisy], seed=3)[1] - noisy).reshape(n, 16)
    pairs, rest = extra[:, :5], extra[:, 5:]
    assert (pairs.sum(axis=1) == 2).all() and (rest[:, :3] == 1).all() and (rest[:, 7] == 9).all()
    shares = [(pairs[:, [i, j]] == 1).all(axis=1).mean() for i, j in combinations(range(5), 2)]
    assert np.abs(np.array(shares) - 0.1).max() < 4.5 * np.sqrt(0.1 * 0.9 / n)  # 4.5 standard errors of a share, seed 3
    left, one = (rest[:, 3:7] == 0).mean(axis=0), (rest[:, 8:] == 1).mean(axis=0)
    assert np.abs(left - 1 / 4).max() < 4.5 * np.sqrt(1 / 4 * 3 / 4 / n) and (rest[:, 3:7].sum(axis=1) == 3).all()
    assert np.abs(one - 1 / 3).max() < 4.5 * np.sqrt(1 / 3 * 2 / 3 / n) and (rest[:, 8:].sum(axis=1) == 1).all()


def noisy_delaware(seed):
    """The geography of Delaware, and its counts with noise of up to nine people."""
    tree, rng = load_state("DE", "geography"), np.random.default_rng(seed)
    return tree, [n + rng.integers(-9, 10, len(n)) for n in tree.counts]


def test_runs_do_not_matter(monkeypatch):
    """Families come out whole wherever the runs of a level are cut."""
    tree, noisy = noisy_delaware(4)
    monkeypatch.setattr(layout, "RUN_NODES", 700)
    short = load_state("DE", "geography")
    assert len(short.runs[-1]) > 10
    for levels in (integer_top_down(tree, noisy, 1), integer_top_down(short, noisy, 1)):
        assert np.array_equal(np.bincount(tree.parents[2], levels[2]), levels[1]) and levels[1].sum() == levels[0][0]


def test_rounding_costs_a_quarter_at_most():
    """On a whole state the squared distance to the noisy counts is that of the real-valued pass, plus at most ¼ a node."""
    tree, noisy = noisy_delaware(5)
    whole = integer_top_down(tree, noisy, 1)
    real = top_down(tree, [whole[0], whole[1], noisy[2]])  # the same tracts, blocks in real numbers
    cost = ((whole[2] - noisy[2]) ** 2).sum() - ((real[2] - noisy[2]) ** 2).sum()
    assert -1e-6 < cost <= len(noisy[2]) / 4  # rounding of a sum near 1e6


ROOM = 2**62 - 5
SUMS = "in each family, all members together and signs left out"
BAD = {
    "a fraction": ([[5], [2, 3.5]], "noisy[1] must be whole numbers, got 3.5 at index 1"),
    "too large": (
        [[5], [2, 2**62 + 2**10]],
        f"noisy[1] must be at most {ROOM} {SUMS}, got 4.611686018427389e+18 at index 0",
    ),
    "too large below zero": (
        [[-5], [-(2**61), -(2**61) - 2**10]],
        f"noisy[1] must be at most {2**62} {SUMS}, got 4.611686018427389e+18 at index 0",
    ),
    "too large at the top": (
        [[2**61 + 2**9], [2, 3]],
        f"noisy[0] must be between −{2**61} and {2**61}, got 2.3058430092136945e+18 at index 0",
    ),
    "too few": ([[5], [2]], "noisy[1] must have one entry for each of the 2 nodes of level 2, got shape (1,)"),
    "not a number": ([[5], [2, float("nan")]], "noisy[1] must be finite, got nan at index 1"),
}


@pytest.mark.parametrize(("noisy", "words"), BAD.values(), ids=BAD)
def test_what_is_not_whole_is_refused(noisy, words):
    """Fractions, numbers near the end of int64 and lists that do not fit are refused by name."""
    assert refusal(integer_top_down, family([1, 1]), noisy, by=ValueError) == words


def test_large_numbers_stay_exact_up_to_the_limit():
    """The top may hold 2**61, and a family what is left of 2**62, no float in between, however many members share it."""
    lone = Hierarchy.from_counts([[1, 1]], [None])
    assert integer_top_down(lone, [[2**61, -(2**61)]])[0].tolist() == [2**61, 0]
    message = f"noisy[0] must be between −{2**61} and {2**61}, got -2.3058430092136945e+18 at index 1"
    assert refusal(integer_top_down, lone, [[0, -(2**61) - 2**9]], by=ValueError) == message
    odd = 2**60 + 1  # no float
    assert [x.tolist() for x in integer_top_down(family([1, 1]), [[odd], [odd, -odd]])] == [[odd], [odd, 0]]
    lowest = fitted([1 - 2**60, -(2**60)], 2**61)
    assert lowest.sum() == 2**61 and np.abs(lowest - 2**60).max() <= 1
    assert fitted([2**61 - 11, *[-1] * 10], 7).tolist() == [7] + [0] * 10  # eleven times the largest would be too large


def test_a_family_of_four_million_is_not_too_wide():
    """It used to be refused, after the draw, because members times largest count is more than an int64 holds."""
    wide = np.zeros(2**22, dtype=np.int64)
    wide[0] = 2**40
    tree = Hierarchy.from_counts([[2**40], wide], [None, np.zeros_like(wide)])
    assert (integer_top_down(tree, [[2**40], wide])[1] == wide).all()


@given(trees(least_levels=2), st.integers(1, 2**61), seeds())
def test_what_passes_the_check_of_width_is_taken(tree, most, seed):
    """A tree that may have such noise is fitted exactly with the worst of it, and counts up to 2**38."""
    n, rng = 2**38 // max(int(tree.counts[0].max()), 1), np.random.default_rng(seed)
    widest = max(np.bincount(parents).max() for parents in tree.links)
    noise = min(most, (2**61 - 2**40) // int(widest))
    check_width(tree, [noise] * len(tree.levels))
    noisy = [n * counts + noise * rng.choice([-1, 1], len(counts)) for counts in tree.counts]
    out = integer_top_down(tree, noisy, seed)
    for level in range(1, len(tree.levels)):
        for members, parent in families_of(tree, level):
            assert sum(out[level][members].tolist()) == out[level - 1][parent] and (out[level][members] >= 0).all()


LIMIT = 2**61 - 2**40
AT_MOST = "hierarchy must have families of at most {} at level {}, where noise may move each count by {}e+18, got one of {}"
WIDTHS = {
    "a wide family": ([0, LIMIT // 2 + 1], AT_MOST.format(1, 2, 1.15292, 2)),
    "a large top": ([LIMIT + 1, 0], AT_MOST.format(0, 1, 2.30584, 1)),
    "no noise": ([0, 0], None),
    "all that fits": ([LIMIT, LIMIT // 2], None),
}


@pytest.mark.parametrize(("noise", "words"), WIDTHS.values(), ids=WIDTHS)
def test_too_much_noise_for_a_width_is_refused_whatever_the_counts(noise, words):
    """The sentence depends on the shape and the noise alone: trees with other counts get the same."""
    for n in (1, 2**39):
        tree = Hierarchy.from_counts([[2 * n], [n, n]], [None, [0, 0]])
        assert (refusal(check_width, tree, noise, by=ValueError) if words else check_width(tree, noise)) == words


def test_the_width_of_what_is_no_tree_is_refused():
    """The check names its argument."""
    assert refusal(check_width, [1], [1.0], by=TypeError).startswith("hierarchy must be a Hierarchy")


@pytest.mark.parametrize("noisy, expected", [([[7.0], [1.0, 4.0]], [2, 5]), ([[-5], [2, 3]], [0, 0])])
def test_whole_floats_come_out_as_whole_numbers(noisy, expected):
    """Floats without a fraction are counts, fitted as int64 like whole numbers; the caller's arrays are left alone."""
    arrays = [np.array(x) for x in noisy]
    out = integer_top_down(family([1, 1]), arrays)
    assert [x.dtype for x in out] == [np.int64, np.int64] and out[1].tolist() == expected
    assert [x.tolist() for x in arrays] == noisy


# Estimates that are no whole numbers


@given(st.lists(st.floats(-3, 6), min_size=1, max_size=4), st.floats(-1, 8), seeds())
def test_a_fitted_family_is_the_nearest_in_whole_numbers(x, top, seed):
    """Among all whole families that sum to the rounded parent, none is nearer to the estimates."""
    tree = Hierarchy.from_counts([[len(x)], [1] * len(x)], [None, [0] * len(x)])
    (parent,), family = integer_fit(tree, [[top], x], seed)
    assert parent == round(max(top, 0)) or abs(parent - max(top, 0)) == 0.5
    assert family.sum() == parent and (family >= 0).all()
    every = (c for c in product(range(parent + 1), repeat=len(x)) if sum(c) == parent)
    least = min(sum((a - b) ** 2 for a, b in zip(c, x, strict=True)) for c in every)
    assert ((family - x) ** 2).sum() <= least + 1e-4  # remainders that differ by less than 1e-6 draw lots


@given(trees(), seeds())
def test_a_fitted_tree_is_whole_and_adds_up(tree, seed):
    """Whatever the estimates are: no count below zero, parents the exact sums of their children."""
    rng = np.random.default_rng(seed)
    found = integer_fit(tree, [n + rng.normal(0, 9, len(n)) for n in tree.floats], seed)
    assert all(x.dtype == np.int64 and (x >= 0).all() for x in found)
    for level, (above, below) in enumerate(pairwise(found)):
        fertile, _ = tree.families[level]
        assert (tree.sum_children(level, below)[fertile] == above[fertile]).all()


def test_whole_estimates_that_add_up_stay_as_they_are():
    """There is nothing to fit."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    assert [x.tolist() for x in integer_fit(tree, tree.floats)] == [[5], [2, 3]]


def test_equal_remainders_draw_lots():
    """Of two equals, each gets the odd person in half of 400 fits (four standard errors of 10; seed 1)."""
    tree, rng = Hierarchy.from_counts([[3], [1, 2]], [None, [0, 0]]), np.random.default_rng(1)
    first = sum(int(integer_fit(tree, [[3.0], [1.5, 1.5]], rng)[1][0]) - 1 for _ in range(400))
    assert abs(first - 200) < 40


def test_estimates_too_large_for_floats_are_refused():
    """Where a double no longer knows a tenth of a person, by name and place."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    assert "estimates[1] must be between" in refusal(integer_fit, tree, [[5.0], [2.0, 1e16]], by=ValueError)

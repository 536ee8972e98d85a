"""Program (3) against an exact oracle in rational numbers, and by the laws of projections."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.oracles import assert_consistent, assert_same_counts, exact_projection, loop_of_sorts
from support.strategies import Family, families, noisy_trees, seeds

from helpers import Hierarchy, layout, load_state, project_simplex, top_down

ROUNDING = 1e-14  # a few dozen roundings, relative to the largest number involved


def exact(family):
    """The solution in rational arithmetic with sorting."""
    return [float(v) for v in exact_projection(family.values, family.total)]


@given(families())
def test_projection_equals_the_exact_one(family):
    """The solution is the exact one, not negative, adds up to the total, and the caller's array is left alone."""
    before = family.values.tolist()
    found = project_simplex(family.values, family.total)
    assert family.values.tolist() == before
    assert_allclose(found, exact(family), rtol=0, atol=ROUNDING * family.scale)
    assert (found >= 0).all()
    assert abs(found.sum() - family.total) <= ROUNDING * family.scale * len(found)


ADVERSARIAL = {
    "one member": Family(np.array([-5.0]), 3.0),
    "one member, nothing to share": Family(np.array([5.0]), 0.0),
    "all equal": Family(np.full(7, 2.5), 1.0),
    "all equal and negative": Family(np.full(7, -2.5), 1.0),
    "a tie at the threshold": Family(np.array([3.0, 2.0, 2.0, 2.0]), 1.0),
    "one drops out a round": Family(2.0 ** np.arange(40), 1.0),
    "a tiny total": Family(np.array([3.0, 2.9999, -1.0]), 1e-12),
    "already feasible": Family(np.array([1.0, 0.0, 2.0]), 3.0),
    "total far above": Family(np.array([1.0, -1.0]), 1e9),
    "a long family": Family(np.sin(np.arange(1_000.0)).round(4), 2.0),
}


@pytest.mark.parametrize("family", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_projection_withstands_adversaries(family):
    """Ties, tiny totals, single members and slow cascades are projected like any other family."""
    found = project_simplex(family.values, family.total)
    assert_allclose(found, exact(family), rtol=0, atol=ROUNDING * family.scale)
    assert (found >= 0).all()


HUGE = {
    "huge values, close together": Family(1e15 + np.array([0.0, 2.0, 4.0]), 3.0),
    "huge values, far apart": Family(np.array([1e17, 0.0]), 1.0),
    "huge negative values": Family(np.array([0.0, -1e17, -1e17]), 1.0),
    "values near the largest double": Family(np.array([1e308, -1e308]), 1.0),
    "a tiny total": Family(np.array([3.0, 5.0]), 1e-20),
    "a huge total": Family(np.array([1.0, 2.0]), 1e300),
}


@pytest.mark.parametrize("family", HUGE.values(), ids=HUGE)
def test_projection_is_exact_relative_to_the_total(family):
    """The values may be much larger than the total: the result still adds up to it."""
    assert_allclose(project_simplex(family.values, family.total), exact(family), rtol=0, atol=1e-12 * family.total)


@given(families(), seeds())
def test_projection_meets_its_inequality(family, seed):
    """⟨x − v, y − v⟩ ≤ 0 for every feasible y: v is the nearest feasible point."""
    x, v = family.values, project_simplex(family.values, family.total)
    y = family.total * np.random.default_rng(seed).dirichlet(np.full(len(x), 0.3), size=20)  # (20, m) feasible points
    corners = family.total * np.eye(len(x))
    assert (((np.vstack([y, corners]) - v) @ (x - v)) <= 1e-13 * len(x) * family.scale**2).all()  # rounding of the products


@given(families())
def test_projection_is_idempotent(family):
    """Projecting twice changes nothing."""
    once = project_simplex(family.values, family.total)
    assert_allclose(project_simplex(once, family.total), once, rtol=0, atol=ROUNDING * family.scale * len(once))


@given(families(), seeds())
def test_projection_is_not_expansive(family, seed):
    """Two projected points are no further apart than the points were."""
    other = family.values + np.random.default_rng(seed).normal(size=len(family.values)) * family.scale
    before = np.linalg.norm(other - family.values)
    after = np.linalg.norm(project_simplex(other, family.total) - project_simplex(family.values, family.total))
    assert after <= before + 1e-13 * family.scale * len(other)  # rounding of the two projections


@given(families(), st.randoms(use_true_random=False))
def test_projection_does_not_care_about_order(family, random):
    """Permuting the values permutes the result."""
    order = list(range(len(family.values)))
    random.shuffle(order)
    permuted = project_simplex(family.values[order], family.total)
    atol = ROUNDING * family.scale * len(order)  # sums in another order
    assert_allclose(permuted, project_simplex(family.values, family.total)[order], rtol=0, atol=atol)


@given(families(), st.integers(-1000, 1000))
def test_only_differences_matter(family, shift):
    """Adding the same number to every value changes nothing."""
    shifted = project_simplex(family.values + shift, family.total)
    atol = ROUNDING * (family.scale + abs(shift)) * len(shifted)  # the shift itself rounds
    assert_allclose(shifted, project_simplex(family.values, family.total), rtol=0, atol=atol)


@given(families())
def test_nothing_to_share_gives_nobody_anything(family):
    """A total of zero gives zeros, exactly."""
    assert project_simplex(family.values, 0).tolist() == [0.0] * len(family.values)


def test_what_adds_up_already_is_returned_to_the_last_bit():
    """Counts of zero or more that add up, in floating point, are left as they are: there is no excess to round."""
    x = np.array([0.1, 0.0, 0.2])
    assert project_simplex(x, x.sum()).tolist() == x.tolist()
    tree = Hierarchy.from_counts([[3], [1, 0, 2]], [None, [0, 0, 0]])
    assert top_down(tree, [[x.sum()], x])[1].tolist() == x.tolist()


@given(noisy_trees())
def test_top_down_equals_the_loop_of_sorts(problem):
    """All families at once give what one exact projection after the other gives, and inputs are left alone."""
    tree, noisy = problem
    before = [x.copy() for x in noisy]
    expected = loop_of_sorts(tree, noisy)
    scale = max(1, *(np.abs(x).max() for x in noisy))
    assert_same_counts(top_down(tree, noisy), expected, 1e-13 * scale)  # rounding of up to four levels, each on the last
    assert [x.tolist() for x in noisy] == [x.tolist() for x in before]


@given(noisy_trees())
def test_top_down_is_consistent_and_idempotent(problem):
    """Parents equal the sums of their children, nothing is negative, and a second pass changes nothing."""
    tree, noisy = problem
    once = top_down(tree, noisy)
    assert all((x >= 0).all() for x in once)
    assert_consistent(tree, once)
    scale = max(1, *(x.max() for x in once))
    assert_same_counts(top_down(tree, once), once, 1e-12 * scale)  # sums hold to rounding, so the pass moves by rounding


@given(noisy_trees(), st.sampled_from([1, 3]))
def test_the_length_of_runs_does_not_matter(problem, longest):
    """Runs of at most one or three nodes give the same release as runs of 65,536."""
    tree, noisy = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "RUN_NODES", longest)
        found = top_down(Hierarchy(tree.levels, tree.counts, tree.parents), noisy)
    scale = max(1, *(np.abs(x).max() for x in noisy))
    assert_same_counts(found, top_down(tree, noisy), 1e-13 * scale)  # longer runs may need more rounds, each a rounding


def test_a_negative_top_is_clipped():
    """A top below zero becomes zero, and with it everything below."""
    tree = Hierarchy.from_counts([[5, 1], [2, 3, 1]], [None, [0, 0, 1]])
    assert [x.tolist() for x in top_down(tree, [[-4, 2], [2, 3, 1]])] == [[0.0, 2.0], [0.0, 0.0, 2.0]]


def test_childless_nodes_keep_what_they_were_given():
    """A node without children hands nothing down, and its neighbours' children get their own parents' totals."""
    tree = Hierarchy.from_counts([[0, 5, 0, 7], [2, 3, 7]], [None, [1, 1, 3]])
    released = top_down(tree, [[9, 6, 8, 4], [1, 3, 0]])
    assert [x.tolist() for x in released] == [[9.0, 6.0, 8.0, 4.0], [2.0, 4.0, 4.0]]


def test_huge_noisy_counts_still_add_up():
    """Children far above their parent are brought down to it, all of them together."""
    tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    assert top_down(tree, [[1.0], [1e17, 0.0]])[1].tolist() == [1.0, 0.0]


def test_a_whole_state_is_consistent():
    """Wyoming's 53,769 blocks with noise of scale 20 come out consistent, and like the sorts in every twentieth tract."""
    tree, rng = load_state("WY", "geography"), np.random.default_rng(5)
    noisy = [n + rng.laplace(0, 20, len(n)) for n in tree.counts]
    state, tracts, blocks = top_down(tree, noisy)
    assert_allclose(tracts.sum(), state[0], rtol=1e-12)  # rounding of 160 terms
    assert_allclose(np.bincount(tree.parents[2], weights=blocks), tracts, rtol=0, atol=1e-9)  # about 1e3 terms near 1e4
    assert min(tracts.min(), blocks.min()) >= 0
    for tract in range(0, 160, 20):
        own = tree.parents[2] == tract
        assert_allclose(blocks[own], exact(Family(noisy[2][own], tracts[tract])), rtol=0, atol=1e-10)  # of sums near 1e4

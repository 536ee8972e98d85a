"""The bias of leaves: closed form before the fit, the numbers of `simulate` after it, and what plain releases show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.refusals import refusal

from helpers import Hierarchy, bias, release, simulate
from helpers.experiments import leaf_bias

TREE = Hierarchy.from_counts([[31], [6, 25], [1, 2, 3, 0, 25]], [None, [0, 0], [0, 0, 0, 1, 1]])
EPS = [0.4, 0.4, 0.5]
SMALL = TREE.counts[2] <= 3
GROUPS = {"small": SMALL, "large": ~SMALL}


def test_all_leaves_are_those_of_simulate():
    """One group of all leaves has the Bias² of the lowest level, drawn with the same seed; their mean is at the parents'."""
    found = leaf_bias(TREE, EPS, {"all": SMALL | ~SMALL}, 100, seed=3).loc["all"]
    assert_allclose(found[["bias2_after", "bias2_se"]].tolist(), simulate(TREE, EPS, 100, 3).iloc[2][["bias2", "bias2_se"]])
    assert_allclose(found["mean"], bias(TREE.counts[2], 0.5).mean())
    assert_allclose(found["bias2"], (bias(TREE.counts[2], 0.5) ** 2).sum())


def test_plain_releases_show_the_same_bias():
    """Means and squares of two groups, against 20,000 releases as they are: within 4.5 standard errors of both.

    The plain mean of a group has a standard error of 0.013 (small) and 0.024 (large), the biases are 0.37 and −1.2.
    """
    found = leaf_bias(TREE, EPS, GROUPS, 4000, seed=1)
    rng = np.random.default_rng(2)
    errors = np.array([release(TREE, EPS, rng)[2] for _ in range(20_000)]) - TREE.counts[2]
    for name, mask in GROUPS.items():
        mean, se = errors[:, mask].mean(), errors[:, mask].mean(axis=1).std() / np.sqrt(20_000)
        assert abs(found.mean_after[name] - mean) < 4.5 * np.hypot(se, found.mean_se[name])
        halves = errors[::2, mask].mean(axis=0), errors[1::2, mask].mean(axis=0)
        slack = 2 * np.sqrt((halves[0] ** 2).sum()) * errors[:, mask].std() / np.sqrt(20_000)  # of a square: 2 |mean| se
        assert abs(found.bias2_after[name] - np.dot(*halves)) < 4.5 * np.hypot(slack, found.bias2_se[name])


def test_standard_errors_are_the_spread_of_seeds():
    """Over 200 seeds the estimates scatter as far as they say: a spread of 200 is known to 5%, so 20% is four of these."""
    runs = [leaf_bias(TREE, EPS, GROUPS, 40, seed) for seed in range(200)]
    for column, se in (("mean_after", "mean_se"), ("bias2_after", "bias2_se")):
        spread = np.std([run[column] for run in runs], axis=0)
        assert_allclose(np.sqrt(np.mean([run[se] ** 2 for run in runs], axis=0)), spread, rtol=0.2)


@pytest.mark.parametrize("groups", [{}, {"a": [0, 1]}, {"a": np.zeros(5, bool)}, {"a": np.ones(4, bool)}, [SMALL]])
def test_groups_that_are_no_masks_are_refused(groups):
    """No group, indices instead of a mask, an empty one, one of another length."""
    assert refusal(leaf_bias, TREE, EPS, groups, 10).startswith("groups")

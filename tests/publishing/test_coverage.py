"""How often intervals hold the truth on trees of many kinds: by level, by size of the family, and of regions.

Estimates are unbiased and linear, so errors alone matter: a release is `gls` of pure noise on counts of zero. Nodes of one
release depend on each other, so the standard error is taken over releases. Whole noise may make coverage larger than what is
said. From above, coverage is therefore held against the same errors: if |error| ≤ 0.97 t − 0.05 covers clearly more than was
asked for, an interval that is shorter by 3% and by a twentieth of a person would have done, and the width is too large.
"""

from typing import NamedTuple

import numpy as np
import pytest

from helpers import (
    DISCRETE_LAPLACE,
    Hierarchy,
    cube_root,
    gls,
    load_example,
    load_state,
    minimize_fitted_error,
    top_down,
    uniform,
)
from helpers.consistency.uncertainty import region_gains
from helpers.mechanisms.discrete_laplace import simulated_discrete_laplace
from helpers.publishing.intervals import node_half_widths, noise_cumulants, region_half_width

CONFIDENCES = [0.5, 0.9, 0.95, 0.99]
FIVE = ("state", "county", "tract", "block group", "block")
SHORTER, CLOSER, SLACK, ERRORS = 0.97, 0.05, 0.004, 4.0


class Found(NamedTuple):
    """Coverage of a group of nodes, that of shorter intervals, and the standard errors of both over releases."""

    what: str
    said: float
    covered: float
    error: float
    shorter: float
    error_shorter: float

    @property
    def too_short(self) -> bool:
        return self.covered < self.said - ERRORS * self.error

    @property
    def too_wide(self) -> bool:
        return self.shorter > self.said + ERRORS * self.error_shorter + SLACK


def irregular(seed, levels=5, tops=150):
    """Families of one to three, at every level."""
    rng, sizes, parents = np.random.default_rng(seed), [tops], [None]
    for _ in range(levels - 1):
        children = rng.integers(1, 4, sizes[-1])
        parents.append(np.repeat(np.arange(sizes[-1]), children))
        sizes.append(int(children.sum()))
    return Hierarchy.from_counts([np.zeros(n, int) for n in sizes], parents)


def hospitals():
    return Hierarchy.from_frame(load_example(), ["region", "hospital", "ward", "diagnosis"], "patients")


def scales_of(split, tree, total):
    """One scale a level; a list has ε itself, 0 for a level that is not measured, inf for an exact one."""
    if split == "fitted":
        eps = np.asarray(minimize_fitted_error(tree, total, mechanism=DISCRETE_LAPLACE))
    else:
        eps = np.asarray({"cube": cube_root, "uniform": uniform}[split](tree, total)) if isinstance(split, str) else split
    with np.errstate(divide="ignore"):
        return 1 / np.asarray(eps, dtype=float)


def noise(rng, tree, scales):
    drawn = [np.zeros(n) for n in tree.sizes]
    for scale, out in zip(scales, drawn, strict=True):
        if 0 < scale < np.inf:
            simulated_discrete_laplace(rng, scale, out)
    return drawn


def groups(tree):
    """(level, name, nodes): every level, and the nodes of a level whose families have one, two, three, and more members."""
    for level, name in enumerate(tree.levels):
        yield level, name, slice(None)
        if level:
            parents = tree.links[level - 1]
            family = np.bincount(parents)[parents]
            for size, chosen in [(1, family == 1), (2, family == 2), (3, family == 3), ("4+", family > 3)]:
                if chosen.sum() > 20:
                    yield level, f"{name} of {size}", np.flatnonzero(chosen)


def regions(tree, seed):
    """(name, leaves): contiguous, random, and every k-th."""
    rng, n = np.random.default_rng(seed), int(tree.sizes[-1])
    for size in [m for m in (1, 2, 5, 50, 500, 5000) if m < n]:
        start = int(rng.integers(n - size))
        yield f"{size} in a row", np.arange(start, start + size)
        yield f"{size} at random", rng.choice(n, size, replace=False)
        yield f"{size}, every {n // size}th", np.arange(size) * (n // size)


def coverage(tree, scales, releases, seed):
    """What was found for every group and region, at every confidence."""
    rng, v = np.random.default_rng(seed), noise_cumulants(scales)[0]
    widths = {c: node_half_widths(c, tree, scales) for c in CONFIDENCES}
    chosen = list(regions(tree, seed))
    gains = [region_gains(tree, np.bincount(leaves, minlength=tree.sizes[-1]).astype(float), v) for _, leaves in chosen]
    wide = {c: [region_half_width(c, g, scales) for g in gains] for c in CONFIDENCES}
    parts, hits = list(groups(tree)), dict[tuple, list]()
    for _ in range(releases):
        x = gls(tree, noise(rng, tree, scales), np.maximum(v, 1e-12))  # which takes no exact level
        for c in CONFIDENCES:
            for level, name, nodes in parts:
                found, t = np.abs(x[level][nodes]), widths[c][level][nodes]
                hits.setdefault((name, c), []).append((np.mean(found <= t + 1e-9), np.mean(found <= SHORTER * t - CLOSER)))
            for (name, leaves), t in zip(chosen, wide[c], strict=True):
                found = abs(x[-1][leaves].sum())
                hits.setdefault((name, c), []).append((found <= t + 1e-9, found <= SHORTER * t - CLOSER))
    return [_found(name, c, np.array(rows, dtype=float)) for (name, c), rows in hits.items()]


def _found(name, c, rows):
    # a group of few nodes may be covered in every release: its standard error is then not zero, but that of what was said
    least = np.sqrt(c * (1 - c) / len(rows)) if set(np.unique(rows)) <= {0.0, 1.0} else 0.0
    (covered, shorter), (error, error_shorter) = rows.mean(axis=0), np.maximum(rows.std(axis=0) / np.sqrt(len(rows)), least)
    return Found(name, c, covered, error, shorter, error_shorter)


CASES = {
    "irregular, fitted": (lambda: irregular(1), "fitted", 2.0),
    "irregular, cube": (lambda: irregular(2), "cube", 5.0),
    "irregular, uniform": (lambda: irregular(3), "uniform", 4.0),
    "irregular, two levels skipped": (lambda: irregular(4), [0.3, 0, 0, 0.7, 1.0], None),
    "irregular, only leaves": (lambda: irregular(5), [0, 0, 0, 0, 0.8], None),
    "irregular, ε = 10": (lambda: irregular(6), [10.0] * 5, None),
    "irregular, scale 1000": (lambda: irregular(7), [0.001] * 5, None),
    "irregular, exact top": (lambda: irregular(8, 4, 1), [np.inf, 1.0, 0.5, 1.0], None),
    "hospitals, fitted": (hospitals, "fitted", 1.0),
    "hospitals, cube": (hospitals, "cube", 8.0),
    "hospitals, wards skipped": (hospitals, [0.1, 0.4, 0, 0.5], None),
    "Delaware, fitted": (lambda: load_state("delaware", "geography", FIVE), "fitted", 2.0),
    "Delaware, cube": (lambda: load_state("delaware", "populated", FIVE), "cube", 1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_what_they_say(case):
    """300 releases (100 of Delaware), seed 11: not below what is said, nor wider than need be.

    Four standard errors of a level are about 0.002 to 0.01, of a region or a top 0.09 at 95%: the test would miss a region
    whose coverage is off by less than that, and a level by less than 0.01.
    """
    make, split, total = CASES[case]
    tree = make()
    found = coverage(tree, scales_of(split, tree, total), 100 if "Delaware" in case else 300, seed=11)
    wrong = [f for f in found if f.too_short or f.too_wide]
    assert not wrong, wrong


@pytest.mark.parametrize("split", ["fitted", "cube", [0, 0, 0.5, 0.5]])
def test_a_region_of_one_leaf_is_that_node(split):
    """The same parts come out of the passes over the tree and of the gains of a region."""
    tree = irregular(9, 4, 5)
    scales = scales_of(split, tree, 2.0)
    leaves, v = node_half_widths(0.95, tree, scales)[-1], noise_cumulants(scales)[0]
    regions = [region_half_width(0.95, region_gains(tree, unit, v), scales) for unit in np.eye(len(leaves))]
    np.testing.assert_allclose(regions, leaves, rtol=2e-3)


def test_intervals_around_counts_without_negatives_cover_less():
    """Regions of 500 blocks of Wyoming, 60 releases, seed 12: unbiased estimates have 95%, non-negative counts do not."""
    tree = load_state("wyoming", "geography")
    scales = scales_of("fitted", tree, 1.0)
    v, rng, n = noise_cumulants(scales)[0], np.random.default_rng(12), int(tree.sizes[-1])
    chosen = [np.arange(start, start + 500) for start in range(0, n - 500, n // 40)]
    t = [region_half_width(0.95, region_gains(tree, np.bincount(c, minlength=n).astype(float), v), scales) for c in chosen]
    hits = []
    for _ in range(60):
        noisy = [m + e for m, e in zip(tree.counts, noise(rng, tree, scales), strict=True)]
        fitted = gls(tree, noisy, v)
        off = [x[-1] - tree.counts[-1] for x in (fitted, top_down(tree, fitted))]
        hits.append([[abs(e[c].sum()) <= w for c, w in zip(chosen, t, strict=True)] for e in off])
    covered = np.mean(hits, axis=2)
    (unbiased, clipped), error = covered.mean(axis=0), covered.std(axis=0) / np.sqrt(len(covered))
    assert abs(unbiased - 0.95) < ERRORS * error[0]
    assert clipped < 0.95 - 2 * ERRORS * error[1]

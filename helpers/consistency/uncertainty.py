"""How far the estimates of `gls` may be off: every node at once, and any set of leaves.

    v, f: (L,) variance and fourth cumulant of a measurement at each level; f = 3 v² for Laplace noise
    z, s, S, Z: as in `least_squares` · k: (n,) weight of a node's own measurement in z · q = s/S: a child's part of it all
    x = z + q (x_parent − Z): so, up to what lies outside the family, x_parent = a Z + r with r independent of Z

Cumulants of independent parts add up, and a factor c counts as c² or c⁴. So both travel up the tree with z and down with r.
"""

from typing import NamedTuple

import numpy as np

from ..hierarchy import Hierarchy
from .least_squares import leaf_families, spread_leaves, upward_variances


class Moments(NamedTuple):
    """What is known of the errors of a level's estimates, each (n,)."""

    variance: np.ndarray  #: in people squared
    fourth: np.ndarray  #: fourth cumulant
    own: np.ndarray  #: how much of its own measurement's error a node keeps: zero, if the level is not measured


def node_moments(hierarchy: Hierarchy, v: np.ndarray, f: np.ndarray) -> list[Moments]:
    """Variance, fourth cumulant and own part of the error of every estimate, in one pass up the tree and one down.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> top, below = node_moments(tree, np.array([2.0, 1.0]), np.array([12.0, 3.0]))
    >>> top.variance, below.variance, below.own
    (array([1.]), array([0.75, 0.75]), array([0.75, 0.75]))
    """
    s, S = upward_variances(hierarchy, v)
    lowest = len(v) - 1
    if not lowest:
        return [Moments(s[0].copy(), np.full_like(s[0], f[0]), np.ones_like(s[0]))]
    k = [_part(S[level], v[level]) for level in range(lowest)]
    fourth, sums = list[np.ndarray](), list[np.ndarray]()  # of z, and of Z
    for level in range(lowest - 1, -1, -1):
        sums.insert(0, hierarchy.sum_children(level, fourth[0]) if sums else f[-1] * leaf_families(hierarchy))
        fourth.insert(0, _power4(1 - k[level]) * sums[0] + _times(_power4(k[level]), f[level]))
    a, rest2, rest4 = 1 - k[0], _times(k[0] ** 2, v[0]), _times(_power4(k[0]), f[0])
    out = [Moments(s[0], fourth[0], k[0])]
    # Leaves of one parent are alike: one stands for all of them, at the place of its parent.
    alike = np.ones(len(S[-1]))
    s, k, fourth = [*s[:-1], v[-1] * alike], [*k, alike], [*fourth, f[-1] * alike]
    for level in range(1, lowest + 1):
        parents = hierarchy.links[level - 1] if level < lowest else slice(None)
        above, below = S[level - 1][parents], s[level]
        q = np.divide(below, above, out=np.zeros_like(below), where=above > 0)
        own, others = 1 - q + q * a[parents], q * (a - 1)[parents]  # what z and the z of each sibling count for
        beside2 = others**2 * (above - below) + q**2 * rest2[parents]
        beside4 = _power4(others) * (sums[level - 1][parents] - fourth[level]) + _power4(q) * rest4[parents]
        own4 = _power4(own)
        out.append(Moments(own**2 * below + beside2, own4 * fourth[level] + beside4, own * k[level]))
        a = own * (1 - k[level])
        rest2 = beside2 + own**2 * _times(k[level] ** 2, v[level])
        rest4 = beside4 + own4 * _times(_power4(k[level]), f[level])
    return [*out[:-1], Moments(*(spread_leaves(hierarchy, x) for x in out[-1]))]


def region_gains(hierarchy: Hierarchy, leaves: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """How much each measurement counts in the estimate of Σ leaves_i x_i, one array a level.

    With α the weight of a node in the sum, a family gives Σ (α − ᾱ) z + ᾱ x_parent, where ᾱ = Σ α s / S: up the tree, what
    is asked of children is asked of parents. Down the tree, what z of a parent counts for, its children's z count for.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [g.tolist() for g in region_gains(tree, np.array([1.0, 1.0]), np.array([2.0, 1.0]))]
    [[0.5], [0.5, 0.5]]
    """
    S, asked = _asked(hierarchy, leaves, v)
    if not S:
        return [leaves.copy()]
    counts_for, gains = asked[0], list[np.ndarray]()
    for level, parents in enumerate(hierarchy.links):
        k = _part(S[level], v[level])
        gains.append(k * counts_for)
        passed = (1 - k) * counts_for - asked[level]
        lowest = level == len(S) - 1
        counts_for = spread_leaves(hierarchy, passed) if lowest else passed[parents]
        counts_for += asked[level + 1]
    return [*gains, counts_for]


def region_variance(hierarchy: Hierarchy, leaves: np.ndarray, v: np.ndarray) -> float:
    """Var(Σ leaves_i x_i) after `gls`, in people squared: Σ α² s over all nodes less Σ α² S over those with children.

    With α as in `region_gains`: Σ (α − ᾱ) z of a family is independent of x_parent, so each family adds Σ (α − ᾱ)² s, which
    is Σ α² s − ᾱ² S. Only the way up is needed, and no gain of any leaf.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> region_variance(tree, np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    0.75
    """
    s, S = upward_variances(hierarchy, v)
    _, asked = _asked(hierarchy, leaves, v)
    own = sum(float(np.einsum("i,i,i", a, a, x)) for a, x in zip(asked[:-1], s, strict=False))
    own += float(v[-1] * np.einsum("i,i", leaves, leaves))
    return max(own - sum(float(np.einsum("i,i,i", a, a, x)) for a, x in zip(asked, S, strict=False)), 0.0)


def _asked(hierarchy: Hierarchy, leaves: np.ndarray, v: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """S of every level but the lowest, and α of every level."""
    s, S = upward_variances(hierarchy, v)
    asked = [leaves]
    for level in range(len(S) - 1, -1, -1):
        below = v[-1] * hierarchy.sum_children(level, leaves) if len(asked) == 1 else None
        weighed = hierarchy.sum_children(level, asked[0] * s[level + 1]) if below is None else below
        asked.insert(0, np.divide(weighed, S[level], out=np.zeros_like(weighed), where=S[level] > 0))
    return S, asked


def _power4(x: np.ndarray) -> np.ndarray:
    """x⁴, by two squares: a power takes thirty times as long."""
    square = x * x
    return square * square


def _part(S: np.ndarray, v: float) -> np.ndarray:
    """S / (v + S): zero where nothing was measured, one where the measurement is exact."""
    return np.ones_like(S) if v == 0 else S / (v + S)


def _times(k: np.ndarray, cumulant: float) -> np.ndarray:
    """k times a cumulant; zero where nothing was measured, whose cumulants are infinite."""
    return np.zeros_like(k) if np.isinf(cumulant) else k * cumulant

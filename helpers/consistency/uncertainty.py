"""How far the estimates of `gls` may be off: every node at once, and any set of leaves.

    v, f: (L,) variance and fourth cumulant of a measurement at each level; f = 3 v² for Laplace noise
    z, s, S, Z: as in `least_squares` · k: (n,) weight of a node's own measurement in z · q = s/S: a child's part of it all
    x = z + q (x_parent − Z): so, up to what lies outside the family, x_parent = a Z + r with r independent of Z

Cumulants of independent parts add up, and a factor c counts as c² or c⁴. So both travel up the tree with z and down with r.
"""

from typing import NamedTuple

import numpy as np

from ..hierarchy import Hierarchy
from .least_squares import upward_variances


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
    k = [_part(S[level], v[level]) for level in range(lowest)] + [np.ones(hierarchy.sizes[-1])]
    fourth = [np.full(hierarchy.sizes[-1], f[-1])]  # of z
    sums = list[np.ndarray]()  # of Z
    for level in range(lowest - 1, -1, -1):
        sums.insert(0, hierarchy.sum_children(level, fourth[0]))
        fourth.insert(0, (1 - k[level]) ** 4 * sums[0] + _times(k[level] ** 4, f[level]))
    a, rest2, rest4 = 1 - k[0], _times(k[0] ** 2, v[0]), _times(k[0] ** 4, f[0])
    out = [Moments(s[0], fourth[0], k[0])]
    for level in range(1, lowest + 1):
        parents = hierarchy.links[level - 1]
        q = np.divide(s[level], S[level - 1][parents], out=np.zeros_like(s[level]), where=S[level - 1][parents] > 0)
        own, others = 1 - q + q * a[parents], q * (a - 1)[parents]  # what z and the z of each sibling count for
        beside2 = others**2 * (S[level - 1][parents] - s[level]) + q**2 * rest2[parents]
        beside4 = others**4 * (sums[level - 1][parents] - fourth[level]) + q**4 * rest4[parents]
        out.append(Moments(own**2 * s[level] + beside2, own**4 * fourth[level] + beside4, own * k[level]))
        a = own * (1 - k[level])
        rest2 = beside2 + own**2 * _times(k[level] ** 2, v[level])
        rest4 = beside4 + own**4 * _times(k[level] ** 4, f[level])
    return out


def region_gains(hierarchy: Hierarchy, leaves: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """How much each measurement counts in the estimate of Σ leaves_i x_i, one array a level.

    With α the weight of a node in the sum, a family gives Σ (α − ᾱ) z + ᾱ x_parent, where ᾱ = Σ α s / S: up the tree, what
    is asked of children is asked of parents. Down the tree, what z of a parent counts for, its children's z count for.

    >>> tree = Hierarchy.from_counts([[5], [2, 3]], [None, [0, 0]])
    >>> [g.tolist() for g in region_gains(tree, np.array([1.0, 1.0]), np.array([2.0, 1.0]))]
    [[0.5], [0.5, 0.5]]
    """
    s, S = upward_variances(hierarchy, v)
    asked = [leaves]
    for level in range(len(v) - 2, -1, -1):
        weighed = hierarchy.sum_children(level, asked[0] * s[level + 1])
        asked.insert(0, np.divide(weighed, S[level], out=np.zeros_like(weighed), where=S[level] > 0))
    counts_for, gains = asked[0], list[np.ndarray]()
    for level, parents in enumerate(hierarchy.links):
        k = _part(S[level], v[level])
        gains.append(k * counts_for)
        counts_for = asked[level + 1] - asked[level][parents] + ((1 - k) * counts_for)[parents]
    return [*gains, counts_for]


def _part(S: np.ndarray, v: float) -> np.ndarray:
    """S / (v + S): zero where nothing was measured, one where the measurement is exact."""
    return np.ones_like(S) if v == 0 else S / (v + S)


def _times(k: np.ndarray, cumulant: float) -> np.ndarray:
    """k times a cumulant; zero where nothing was measured, whose cumulants are infinite."""
    return np.zeros_like(k) if np.isinf(cumulant) else k * cumulant
